"""Validation of arguments. Every message names the value and says what is accepted."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any, Final

from bootleader._core.printable_text import shown

LARGEST: Final = 1e120  # absolute value of a parameter: squares of sums of such numbers are far from overflow
SMALLEST: Final = 1e-80  # of a parameter that must be above 0: its square and its reciprocal are far from the ends
LARGEST_WHOLE: Final = 2**63 - 1  # limit of whole numbers that have no smaller one: compiled code has 64 bits


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
    if value.__class__ is float and low == -math.inf and -LARGEST <= value <= min(high, LARGEST):
        return value  # nearly always
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {accepted}, got {shown(value)}")
    try:
        number = float(value)
    except (OverflowError, ValueError):  # a whole number or a fraction that is too large for a float
        raise ValueError(f"{name} must be at most {LARGEST:g} in size, got {shown(value)}") from None
    too_low = number <= low if open_low and low > -math.inf else number < low
    if math.isnan(number) or too_low or number > high or (math.isinf(number) and not infinite):
        raise ValueError(f"{name} must be {accepted}, got {shown(value)}")
    if LARGEST < abs(number) < math.inf:
        raise ValueError(
            f"{name} must be at most {LARGEST:g} in size, so that its square is a number, got {shown(value)}"
        )
    if low == 0.0 < number < SMALLEST and high == math.inf:
        raise ValueError(f"{name} must be at least {SMALLEST:g}, so that its square is not 0, got {shown(value)}")
    return number


def positive(name: str, value: Any) -> float:
    """Return ``value`` as a finite float above zero."""
    return real(name, value, "a finite number above 0", low=0.0)


def whole(name: str, value: Any, low: int, high: int = LARGEST_WHOLE, range_: str = "") -> int:
    """Return ``value`` as an int from ``low`` to ``high``; ``range_`` says so in words."""
    message = f"{name} must be a whole number {range_ or f'of at least {low}'}, got {shown(value)}"
    if isinstance(value, bool):
        raise TypeError(message)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(message) from None
    if not low <= number <= high:
        raise ValueError(message if number < low or range_ else f"{message}, which is more than {high}")
    return number


def one_of(name: str, value: Any, accepted: Sequence[str]) -> str:
    """Return ``value`` if it is among the ``accepted`` words."""
    if value not in accepted:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, accepted))}, got {shown(value)}")
    return str(value)


def seed_of(value: Any) -> int:
    """Return ``value`` as a 64-bit seed."""
    return whole("seed", value, 0, 2**64 - 1, "from 0 to 2**64 - 1")


def counted(number: int, thing: str) -> str:
    """A number with its noun, in the plural where needed.

    Examples
    --------
    >>> counted(1, "run"), counted(2_000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
