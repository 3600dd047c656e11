"""Beta rewards: between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.sampling import standard_beta
from bootleader._core.validation import positive
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_means


def beta_draw(arm: Any, stream: Any) -> Any:
    """First (0) plus second (1, unless rescaled) times Beta with mean third; the table has the concentration."""
    a = arm.table[0] * arm.third
    return arm.first + arm.second * standard_beta(a, arm.table[0] * (1.0 - arm.third), stream)


@dataclass(frozen=True)
class BetaBandit(FamilyBandit):
    """Arm k pays a number between 0 and 1: Beta(c means[k], c (1 - means[k])), where c is the concentration.

    The variance is means[k] (1 - means[k]) / (c + 1).

    Parameters
    ----------
    means : sequence of float, Uniform or Beta
        Mean reward of each arm, from 0 to 1; or the law by which every run draws them.
    concentration : float
        Sum of the two parameters of the beta law, above 0. The larger, the closer the rewards are to their mean.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, a mean is not from 0 to 1, or ``concentration`` is not above 0.

    Examples
    --------
    >>> BetaBandit(means=[0.4, 0.6], concentration=10)
    BetaBandit(means=(0.4, 0.6), concentration=10)
    """

    means: Means
    concentration: float

    def __post_init__(self) -> None:
        means = validated_means(self.means, "numbers from 0 to 1", low=0.0, open_low=False, high=1.0)
        object.__setattr__(self, "means", means)
        positive("concentration", self.concentration)

    @property
    def draw(self) -> Draw:
        return beta_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return 0.0, 1.0, mean, np.sqrt(mean * (1.0 - mean) / (self.concentration + 1.0))

    def parameters_from(self, uniforms: Floats) -> ArmParameters:
        return super().parameters_from(uniforms)._replace(table=np.array([float(self.concentration)]))

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0
