"""Another bandit's rewards in another unit: scale * reward + shift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.validation import positive, real
from bootleader.bandits.base import Bandit, Draw


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
    >>> cents.parameters_of(seed=0, runs=np.arange(1, dtype=np.uint64)).mean.ravel()
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
        if type(self.bandit).rescaled is Bandit.rescaled:
            raise TypeError(f"bandit must be of a family that defines rescaled(), got {self.bandit!r}")
        positive("scale", self.scale)
        real("shift", self.shift)

    @property
    def draw(self) -> Draw:
        return self.bandit.draw

    @property
    def arms(self) -> int:
        return self.bandit.arms

    @property
    def reward_range(self) -> tuple[float, float]:
        low, high = self.bandit.reward_range
        return self.scale * low + self.shift, self.scale * high + self.shift

    @property
    def uniforms(self) -> int:
        return self.bandit.uniforms

    def parameters_from(self, uniforms: npt.NDArray[np.float64]) -> ArmParameters:
        return self.rescaled(self.bandit.parameters_from(uniforms), float(self.scale), float(self.shift))

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        changed = self.bandit.rescaled(parameters, scale, shift)
        return changed._replace(mean=scale * parameters.mean + shift, sd=scale * parameters.sd)
