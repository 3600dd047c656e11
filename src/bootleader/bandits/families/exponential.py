"""Exponential rewards, shifted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bootleader._core.sampling import standard_exponential
from bootleader._core.validation import real
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_means
from bootleader.bandits.priors import Prior


def exponential_draw(arm: Any, stream: Any) -> Any:
    """A shift, first, plus Exp(second)."""
    return arm.first + arm.second * standard_exponential(stream)


@dataclass(frozen=True)
class ExponentialBandit(FamilyBandit):
    """Arm k pays shift + Exp(means[k] - shift), so that its mean is means[k].

    Parameters
    ----------
    means : sequence of float, Uniform, Normal or Beta
        Mean reward of each arm; or the law by which every run draws them.
    shift : float
        Smallest possible reward, below every mean.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, or a mean is not above the shift.

    Examples
    --------
    >>> ExponentialBandit(means=[6, 7], shift=5)
    ExponentialBandit(means=(6.0, 7.0), shift=5)
    """

    means: Means
    shift: float = 0.0

    def __post_init__(self) -> None:
        shift = real("shift", self.shift)
        drawn = isinstance(self.means, Prior)  # a drawn mean is above the shift with probability 1
        accepted = f"finite numbers {'of at least' if drawn else 'above'} the shift, {self.shift!r}"
        object.__setattr__(self, "means", validated_means(self.means, accepted, low=shift, open_low=not drawn))

    @property
    def draw(self) -> Draw:
        return exponential_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return float(self.shift), mean - self.shift, 0.0, mean - self.shift

    @property
    def reward_range(self) -> tuple[float, float]:
        return float(self.shift), math.inf
