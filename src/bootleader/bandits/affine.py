"""Another bandit's rewards in another unit: scale * reward + shift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootleader.bandits.base import Arms, Bandit, Draw
from bootleader.bandits.empirical import empirical_draw
from bootleader.bandits.families import (
    bernoulli_draw,
    exponential_draw,
    gaussian_draw,
    logistic_draw,
    revenue_draw,
    student_draw,
)
from bootleader._core.validation import positive, real


def _location_and_scale(arms: Arms, scale: float, shift: float) -> Arms:
    return arms._replace(first=scale * arms.first + shift, second=scale * arms.second)


def _two_values(arms: Arms, scale: float, shift: float) -> Arms:
    return arms._replace(second=scale * arms.second + shift, third=scale * arms.third + shift)


def _base_and_log_amount(arms: Arms, scale: float, shift: float) -> Arms:
    return arms._replace(first=arms.first + np.log(scale), samples=scale * arms.samples + shift)


def _samples(arms: Arms, scale: float, shift: float) -> Arms:
    return arms._replace(samples=scale * arms.samples + shift)


# How each family's parameters carry the change of unit, so that its draw stays the one there is.
CHANGES: dict[Draw, Callable[[Arms, float, float], Arms]] = {
    gaussian_draw: _location_and_scale,
    exponential_draw: _location_and_scale,
    logistic_draw: _location_and_scale,
    student_draw: _location_and_scale,
    bernoulli_draw: _two_values,
    revenue_draw: _base_and_log_amount,
    empirical_draw: _samples,
}


@dataclass(frozen=True)
class AffineBandit(Bandit):
    """Another bandit's rewards in another unit.

    Arm k pays ``scale * reward + shift``, where the reward is what arm k of ``bandit`` pays in the same run.

    Parameters
    ----------
    bandit : Bandit
        Any bandit of the library.
    scale : float
        Factor of the rewards, above 0, so that the best arm stays the best.
    shift : float
        Added to every reward, after scaling.

    Raises
    ------
    TypeError
        If ``bandit`` is not a bandit of the library.
    ValueError
        If ``scale`` is not a finite number above 0, or ``shift`` is not finite.

    Examples
    --------
    >>> from bootleader import BernoulliBandit
    >>> cents = AffineBandit(BernoulliBandit([0.02, 0.03]), scale=100)
    >>> cents.arms_of(seed=0, runs=np.arange(1, dtype=np.uint64)).mean.ravel()
    array([2., 3.])
    """

    bandit: Bandit
    scale: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.bandit, Bandit):
            raise TypeError(
                f"bandit must be one of the library's, such as BernoulliBandit([0.1, 0.2]), got {self.bandit!r}"
            )
        if self.bandit.draw not in CHANGES:
            raise TypeError(f"bandit must be of a family that AffineBandit knows how to rescale, got {self.bandit!r}")
        positive("scale", self.scale)
        real("shift", self.shift)

    @property
    def draw(self) -> Draw:
        return self.bandit.draw

    @property
    def arms(self) -> int:
        return self.bandit.arms

    @property
    def uniforms(self) -> int:
        return self.bandit.uniforms

    def arms_from(self, uniforms: npt.NDArray[np.float64]) -> Arms:
        scale, shift = float(self.scale), float(self.shift)
        arms = self.bandit.arms_from(uniforms)
        changed = CHANGES[self.draw](arms, scale, shift)
        return changed._replace(mean=scale * arms.mean + shift, sd=scale * arms.sd)
