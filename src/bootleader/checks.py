"""Validation: every message names the value and says what is accepted."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any


def real(
    name: str,
    value: Any,
    accepted: str = "a finite number",
    *,
    low: float = -math.inf,
    open_low: bool = True,
    high: float = math.inf,
    infinite: bool = False,
) -> float:
    """Return ``value`` as a float in (low, high], or raise naming what is ``accepted``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {accepted}, got {value!r}")
    number = float(value)
    too_low = number <= low if open_low and low > -math.inf else number < low
    if math.isnan(number) or too_low or number > high or (math.isinf(number) and not infinite):
        raise ValueError(f"{name} must be {accepted}, got {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    """Return ``value`` as a finite float above zero."""
    return real(name, value, "a finite number above 0", low=0.0)


def whole(name: str, value: Any, low: int) -> int:
    """Return ``value`` as an int of at least ``low``."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number of at least {low}, got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number of at least {low}, got {value!r}") from None
    if number < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {value!r}")
    return number


def one_of(name: str, value: Any, accepted: Sequence[str]) -> str:
    """Return ``value`` if it is among the ``accepted`` words."""
    if value not in accepted:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, accepted))}, got {value!r}")
    return str(value)


def seed_of(value: Any) -> int:
    """Return ``value`` as a 64-bit seed."""
    number = whole("seed", value, 0)
    if number >= 2**64:
        raise ValueError(f"seed must be a whole number from 0 to 2**64 - 1, got {value!r}")
    return number
