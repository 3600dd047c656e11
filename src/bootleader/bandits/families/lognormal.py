"""Lognormal rewards: amounts of money, durations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bootleader._core.elementary import exp
from bootleader._core.sampling import standard_normal
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_log_sd, validated_means


def lognormal_draw(arm: Any, stream: Any) -> Any:
    """First (0, unless shifted) plus second times exp(third * normal)."""
    return arm.first + arm.second * exp(arm.third * standard_normal(stream))


@dataclass(frozen=True)
class LogNormalBandit(FamilyBandit):
    """Arm k pays a lognormal variable with mean means[k]; the standard deviation of its logarithm is sigma.

    The standard deviation of the rewards is means[k] sqrt(exp(sigma^2) - 1).

    Parameters
    ----------
    means : sequence of float, Uniform or Beta
        Mean reward of each arm, above 0; or the law by which every run draws them.
    sigma : float
        Standard deviation of the log reward, above 0 and at most 16, so that that of the rewards is a number.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, a mean is not a finite number above 0, or ``sigma`` is not above 0 and at most
        16.

    Examples
    --------
    >>> LogNormalBandit(means=[1, 1.2], sigma=0.5)
    LogNormalBandit(means=(1.0, 1.2), sigma=0.5)
    """

    means: Means
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means, "finite numbers above 0", low=0.0))
        validated_log_sd(self.sigma)

    @property
    def draw(self) -> Draw:
        return lognormal_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        variance = float(self.sigma) ** 2
        return 0.0, mean * math.exp(-0.5 * variance), float(self.sigma), mean * math.sqrt(math.expm1(variance))

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, math.inf
