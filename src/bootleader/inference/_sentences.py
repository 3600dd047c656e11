"""Answers in sentences."""

from __future__ import annotations

import math
from typing import Final

ANY_TIME: Final = "valid at any time you look"
FAR: Final = 100.0  # times the visits so far: an answer this far away is none in sight


def number(value: float, scale: float = 0.0) -> str:
    """A number with about three digits of ``scale`` (of itself without one).

    Examples
    --------
    >>> number(1234.5678, 10.0), number(0.031416), number(-2e-9)
    ('1,234.6', '0.0314', '-2e-09')
    """
    size = max(abs(value), 0.0) if scale <= 0.0 else min(scale, max(abs(value), scale))
    if not math.isfinite(value) or size == 0.0:
        return f"{value:g}"
    if size < 1e-5 or abs(value) >= 1e15:
        return f"{value:.3g}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(size)))}f}"


def rounded(count: float) -> str:
    """A rough count with two digits: an estimate should not look exact.

    Examples
    --------
    >>> rounded(12_345), rounded(7), rounded(3_456_789)
    ('12,000', '7', '3,500,000')
    """
    if count < 10:
        return f"{math.ceil(count)}"
    step = 10 ** (math.floor(math.log10(count)) - 1)
    return f"{round(count / step) * step:,}"


def level(alpha: float) -> str:
    """The level in words: ``95 %, valid at any time you look``."""
    return f"{100 * (1 - alpha):.6g} %, {ANY_TIME}"


def beats(winner: str, loser: str, low: float, high: float, unit: str, alpha: float, maximize: bool) -> str:
    """The sentence of a difference that is distinguished from 0: by ``low`` to ``high``, both above 0."""
    scale = (high - low) / 2
    amount = f"by {number(low, scale)} to {number(high, scale)} a {unit}"
    return f"{winner} beats {loser} {amount}{'' if maximize else ', less being better'} ({level(alpha)})"


def same(arm: str, other: str, within: float, alpha: float) -> str:
    """The sentence of two arms that do not differ by more than this."""
    return f"{arm} and {other} are the same to within {number(within)} ({level(alpha)})"


def not_yet(arm: str, other: str, difference: float, within: float, more: int | None, visits: int, unit: str) -> str:
    """The sentence of a difference that is not distinguished from 0: ``arm`` is ahead by ``difference``."""
    known = f"{arm} and {other} are the same to within {number(within)}" if math.isfinite(within) else ""
    if more is None or more > FAR * visits:
        tail = f"; to tell them apart would take {f'about {rounded(more)} more {unit}s' if more else 'far more'}"
        return (
            f"no difference in sight: {known}{tail}" if known else f"not yet: too little is known of {arm} and {other}"
        )
    guess = (
        f"not yet: about {rounded(more)} more {unit}s if {arm} is ahead of {other} by {number(difference)}, as it seems"
    )
    return f"{guess}; until then, {known}" if known else guess


def waiting(arms: list[str], more: int | None, unit: str) -> str:
    """The sentence of arms that have seen too few of the events that make up their variance."""
    who = " and ".join(arms)
    needed = f"about {rounded(more)} more {unit}s" if more else "how many more cannot be told yet"
    return f"not yet: {needed}; too little is known so far of how the rewards of {who} vary"
