"""Revenue a visitor: mostly nothing, sometimes a lognormal amount."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.elementary import exp
from bootleader._core.rng import uniform
from bootleader._core.sampling import standard_normal
from bootleader._core.validation import real
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_log_sd, validated_means


def revenue_draw(arm: Any, stream: Any) -> Any:
    """The base (0, unless shifted), plus, with probability third, a lognormal amount exp(first + second * normal)."""
    if uniform(stream) >= arm.third:
        return arm.table[0]
    return arm.table[0] + exp(arm.first + arm.second * standard_normal(stream))


@dataclass(frozen=True)
class RevenueBandit(FamilyBandit):
    """Arm k pays nothing, or with probability ``conversion`` a lognormal amount; its mean is means[k].

    Parameters
    ----------
    means : sequence of float, Uniform, Normal or Beta
        Mean revenue a visitor, the non-buyers included; above 0.
    conversion : float
        Probability that a visitor pays, above 0 and at most 1.
    sigma : float
        Standard deviation of the log amount, above 0 and at most 16, so that that of the rewards is a number.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, a mean or ``sigma`` is not above 0, or
        ``conversion`` is not a probability.

    Examples
    --------
    >>> RevenueBandit(means=[1.0, 1.2], conversion=0.1)
    RevenueBandit(means=(1.0, 1.2), conversion=0.1, sigma=1.0)
    """

    means: Means
    conversion: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means, "finite numbers above 0", low=0.0))
        real("conversion", self.conversion, "a probability above 0, at most 1", low=0.0, high=1.0)
        validated_log_sd(self.sigma)

    @property
    def draw(self) -> Draw:
        return revenue_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        log_amount = np.log(mean / self.conversion) - 0.5 * self.sigma**2
        second_moment = mean * mean * (math.exp(self.sigma**2) / self.conversion)
        return log_amount, float(self.sigma), float(self.conversion), np.sqrt(second_moment - mean * mean)

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, math.inf

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(first=parameters.first + np.log(scale), table=scale * parameters.table + shift)
