"""Gamma rewards: above 0, skewed to the right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bootleader._core.sampling import standard_gamma
from bootleader._core.validation import positive
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_means


def gamma_draw(arm: Any, stream: Any) -> Any:
    """First (0, unless shifted) plus second times Gamma(third, 1)."""
    return arm.first + arm.second * standard_gamma(arm.third, stream)


@dataclass(frozen=True)
class GammaBandit(FamilyBandit):
    """Arm k pays a gamma variable with mean means[k]; its standard deviation is means[k] / sqrt(shape).

    Parameters
    ----------
    means : sequence of float, Uniform or Beta
        Mean reward of each arm, above 0; or the law by which every run draws them.
    shape : float
        Shape of the gamma law, above 0. At 1 the rewards are exponential.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a mean or ``shape`` is not a finite number above 0.

    Examples
    --------
    >>> GammaBandit(means=[1, 1.5], shape=2)
    GammaBandit(means=(1.0, 1.5), shape=2)
    """

    means: Means
    shape: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means, "finite numbers above 0", low=0.0))
        positive("shape", self.shape)

    @property
    def draw(self) -> Draw:
        return gamma_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return 0.0, mean / self.shape, float(self.shape), mean / math.sqrt(self.shape)

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, math.inf
