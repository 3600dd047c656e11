"""Pareto rewards: a power law, with rare and very large rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bootleader._core.elementary import exp
from bootleader._core.sampling import standard_exponential
from bootleader._core.validation import real
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_means


def pareto_draw(arm: Any, stream: Any) -> Any:
    """First (0, unless shifted) plus second times a Pareto variable from 1 up, with exponent third."""
    return arm.first + arm.second * exp(standard_exponential(stream) / arm.third)


@dataclass(frozen=True)
class ParetoBandit(FamilyBandit):
    """Arm k pays a Pareto variable with mean means[k]: P(reward > x) = (m / x)^alpha for x above the smallest, m.

    The smallest reward m is means[k] (alpha - 1) / alpha, the standard deviation means[k] / sqrt(alpha (alpha - 2)).

    Parameters
    ----------
    means : sequence of float, Uniform or Beta
        Mean reward of each arm, above 0; or the law by which every run draws them.
    alpha : float
        Exponent of the tail, above 2, so that the standard deviation is finite. The smaller, the heavier the tail.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, a mean is not a finite number above 0, or ``alpha`` is not above 2.

    Examples
    --------
    >>> ParetoBandit(means=[1, 1.2], alpha=2.5)
    ParetoBandit(means=(1.0, 1.2), alpha=2.5)
    """

    means: Means
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means, "finite numbers above 0", low=0.0))
        real("alpha", self.alpha, "a finite number above 2 (the sd is infinite below)", low=2.0)

    @property
    def draw(self) -> Draw:
        return pareto_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        alpha = float(self.alpha)
        return 0.0, mean * ((alpha - 1.0) / alpha), alpha, mean / math.sqrt(alpha * (alpha - 2.0))

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, math.inf
