"""How late rewards arrive: what ``simulate(..., delay=)`` accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader._core.changes_and_delays import FIXED, GEOMETRIC, OBSERVED, Delay
from bootleader._core.validation import positive, whole

LONGEST = 2**40  # rounds


@dataclass(frozen=True)
class GeometricDelay:
    """A delay of 0, 1, 2, ... rounds with geometric probabilities: it has no memory.

    Parameters
    ----------
    mean : float
        Mean delay in rounds.

    Raises
    ------
    ValueError
        If ``mean`` is not above 0.

    Examples
    --------
    >>> GeometricDelay(mean=50)
    GeometricDelay(mean=50)
    """

    mean: float

    def __post_init__(self) -> None:
        positive("mean", self.mean)


def delay_from(spec: Any) -> Delay | None:
    """What a kernel reads, from a number of rounds, a distribution or observed delays; None without a delay."""
    if spec is None:
        return None
    if isinstance(spec, GeometricDelay):
        return Delay(GEOMETRIC, 1.0 / (1.0 + float(spec.mean)), np.zeros(1))
    if isinstance(spec, Sequence | np.ndarray) and not isinstance(spec, str):
        if len(spec) == 0:
            raise ValueError("delay must be a number of rounds, a distribution or observed delays, got an empty list")
        return Delay(OBSERVED, 0.0, np.array([float(_rounds(value)) for value in spec]))
    return Delay(FIXED, float(_rounds(spec)), np.zeros(1))


def _rounds(value: Any) -> int:
    return whole(
        "delay", value, 0, LONGEST, "of rounds, from 0 to 2**40, GeometricDelay(mean), or a list of such numbers"
    )
