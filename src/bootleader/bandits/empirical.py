"""A bandit made of observed rewards: "simulate on rewards like mine"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.rng import below
from bootleader._core.validation import LARGEST
from bootleader.bandits.base import Bandit, Draw

ACCEPTED: Final = "samples must be a list with the rewards of each arm, such as [[1.0, 2.0], [0.0, 9.0]]"


def empirical_draw(arm: Any, stream: Any) -> Any:
    """One of the arm's observed rewards, drawn with replacement: ``second`` of them begin at ``first`` in the table."""
    return arm.table[int(arm.first) + below(stream, int(arm.second))]


@dataclass(frozen=True, eq=False, repr=False)
class EmpiricalBandit(Bandit):
    """Arm k pays one of its observed rewards, drawn with replacement.

    Parameters
    ----------
    samples : sequence of arrays
        For each arm the rewards that were observed.

    Raises
    ------
    TypeError
        If ``samples`` is not a list with a list of numbers for each arm.
    ValueError
        If there are fewer than 2 arms, an arm has no reward, or a reward is not finite.

    Examples
    --------
    >>> EmpiricalBandit([[1.0, 2.0], [0.0, 0.0, 9.0]])
    EmpiricalBandit(2 arms, 2 to 3 rewards each)
    """

    samples: Sequence[npt.ArrayLike]

    def __post_init__(self) -> None:
        samples = _per_arm(self.samples)
        if len(samples) < 2:
            raise ValueError(f"a bandit needs at least 2 arms, got samples of {len(samples)}")
        arrays = tuple(_validated(k, sample) for k, sample in enumerate(samples))
        object.__setattr__(self, "samples", arrays)

    def __repr__(self) -> str:
        sizes = [np.size(sample) for sample in self.samples]
        return f"EmpiricalBandit({self.arms} arms, {min(sizes)} to {max(sizes)} rewards each)"

    @property
    def draw(self) -> Draw:
        return empirical_draw

    @property
    def arms(self) -> int:
        return len(self.samples)

    @property
    def reward_range(self) -> tuple[float, float]:
        return min(float(np.min(s)) for s in self.samples), max(float(np.max(s)) for s in self.samples)

    def rescaled(self, parameters: ArmParameters, scale: float, shift: float) -> ArmParameters:
        return parameters._replace(table=scale * parameters.table + shift)

    def parameters_from(self, uniforms: npt.NDArray[np.float64]) -> ArmParameters:
        arrays = [np.asarray(sample) for sample in self.samples]
        sizes = np.array([float(array.size) for array in arrays])
        columns = (
            np.concatenate([[0.0], np.cumsum(sizes)[:-1]]),
            sizes,
            np.zeros(len(arrays)),
            np.array([array.mean() for array in arrays]),
            np.array([array.std() for array in arrays]),
        )
        offset, size, zero, mean, sd = (np.repeat(column[:, None], uniforms.shape[1], axis=1) for column in columns)
        return ArmParameters(offset, size, zero, np.concatenate(arrays), mean, sd)


def _per_arm(samples: Any) -> list[Any]:
    if isinstance(samples, Mapping):
        raise TypeError(f"{ACCEPTED}; of a dict, whose names a bandit cannot keep, give list(samples.values())")
    try:
        return list(samples)
    except TypeError:
        raise TypeError(f"{ACCEPTED}, got {samples!r}") from None


def _validated(k: int, sample: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        array = np.array(sample, dtype=float)
    except OverflowError:  # a whole number beyond all floats
        raise ValueError(f"samples must be at most {LARGEST:g} in size, got more for arm {k}") from None
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim == 0:  # one number, or none at all
        raise TypeError(f"{ACCEPTED}, got {sample!r:.100} for the rewards of arm {k}")
    array = array.ravel()
    if array.size == 0:
        raise ValueError(f"samples must hold at least one reward per arm, got none for arm {k}")
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise ValueError(f"samples must be finite numbers, got {bad!r} for arm {k}")
    if np.abs(array).max() > LARGEST:
        raise ValueError(
            f"samples must be at most {LARGEST:g} in size, got {array[np.abs(array).argmax()]!r} for arm {k}"
        )
    array.flags.writeable = False
    return array
