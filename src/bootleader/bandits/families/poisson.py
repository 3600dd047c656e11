"""Poisson rewards: counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.sampling import WHOLE_NUMBERS, poisson
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_means


def poisson_draw(arm: Any, stream: Any) -> Any:
    """Second (0, unless shifted) plus third (1, unless scaled) times Poisson(first)."""
    return arm.second + arm.third * poisson(arm.first, stream)


@dataclass(frozen=True)
class PoissonBandit(FamilyBandit):
    """Arm k pays a count, Poisson with mean means[k].

    Parameters
    ----------
    means : sequence of float, Uniform or Beta
        Mean reward of each arm, from 0 to 2**53, where floats stop being whole numbers one by one; or the law by which
        every run draws them.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a mean is not a number from 0 to 2**53.

    Examples
    --------
    >>> PoissonBandit(means=[3, 4.5])
    PoissonBandit(means=(3.0, 4.5))
    """

    means: Means

    def __post_init__(self) -> None:
        accepted = "numbers from 0 to 2**53"
        means = validated_means(self.means, accepted, low=0.0, open_low=False, high=WHOLE_NUMBERS)
        object.__setattr__(self, "means", means)

    @property
    def draw(self) -> Draw:
        return poisson_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, 0.0, 1.0, np.sqrt(mean)

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, math.inf

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(second=scale * parameters.second + shift, third=scale * parameters.third)
