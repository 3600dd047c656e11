"""Logistic rewards: a little heavier in the tails than Gaussian ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bootleader._core.elementary import log
from bootleader._core.rng import UNIT, uniform
from bootleader.bandits.base import Draw, Floats
from bootleader.bandits.families.gaussian import GaussianBandit


def logistic_draw(arm: Any, stream: Any) -> Any:
    """Logistic(first, second), by inversion at the middle of one of the 2^52 equal cells that a stream chooses from."""
    u = uniform(stream) + 0.5 * UNIT
    return arm.first + arm.second * log(u / (1.0 - u))


@dataclass(frozen=True)
class LogisticBandit(GaussianBandit):
    """Arm k pays a logistic variable with mean means[k] and standard deviation sd.

    Parameters
    ----------
    means : sequence of float, Uniform, Normal or Beta
        Mean reward of each arm; or the law by which every run draws them.
    sd : float, sequence of float, or LogUniform
        Standard deviation of the rewards: one number, one per arm, or the law by which every run draws one per arm.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a number is not finite, or ``sd`` is not above 0.

    Examples
    --------
    >>> LogisticBandit(means=[1, 0], sd=2)
    LogisticBandit(means=(1.0, 0.0), sd=2.0)
    """

    @property
    def draw(self) -> Draw:
        return logistic_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, sd * (math.sqrt(3.0) / math.pi), 0.0, sd
