"""Rewards of 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.rng import uniform
from bootleader.bandits.base import Draw, FamilyBandit, Floats, Means, validated_means


def bernoulli_draw(arm: Any, stream: Any) -> Any:
    """Third (1, unless rescaled) with probability first, else second (0)."""
    return arm.third if uniform(stream) < arm.first else arm.second


@dataclass(frozen=True)
class BernoulliBandit(FamilyBandit):
    """Arm k pays 1 with probability means[k], else 0.

    Parameters
    ----------
    means : sequence of float, Uniform, Normal or Beta
        Probability that each arm pays; or the law by which every run draws them.

    Raises
    ------
    TypeError
        If ``means`` is neither a sequence of numbers nor a law that draws them.
    ValueError
        If there are fewer than 2 arms, or a number is not a probability.

    Examples
    --------
    >>> BernoulliBandit(means=[0.02, 0.03])
    BernoulliBandit(means=(0.02, 0.03))
    """

    means: Means

    def __post_init__(self) -> None:
        accepted = "probabilities, from 0 to 1"
        object.__setattr__(self, "means", validated_means(self.means, accepted, low=0.0, open_low=False, high=1.0))

    @property
    def draw(self) -> Draw:
        return bernoulli_draw

    def family_parameters(self, mean: Floats, sd: Floats) -> tuple[Any, Any, Any, Any]:
        return mean, 0.0, 1.0, np.sqrt(mean * (1.0 - mean))

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(second=scale * parameters.second + shift, third=scale * parameters.third + shift)
