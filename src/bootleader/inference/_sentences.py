"""Answers in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

ANY_TIME: Final = "valid at any time you look"
OPENINGS: Final = ("not yet", "no difference", "the log", "the policy", "shares of", "the bandit", "the control")
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


def as_line(sentence: str) -> str:
    """A sentence with a capital letter and a full stop. The name of an arm stays as it is.

    Examples
    --------
    >>> as_line("not yet: about 12 more visits"), as_line("v2 beats v1")
    ('Not yet: about 12 more visits.', 'v2 beats v1.')
    """
    begin = sentence[0].upper() if sentence.startswith(OPENINGS) else sentence[0]
    return f"{begin}{sentence[1:]}."


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


def each(unit: str) -> str:
    """The unit after a number: ``a visit``, ``an order``."""
    return f"{'an' if unit[:1].lower() in 'aeio' else 'a'} {unit}"


def beats(winner: str, loser: str, low: float, high: float, unit: str, alpha: float, maximize: bool) -> str:
    """The sentence of a difference that is distinguished from 0: by ``low`` to ``high``, both above 0."""
    scale = (high - low) / 2
    amount = f"by {number(low, scale)} to {number(high, scale)} {each(unit)}"
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


def listed(names: Sequence[str], most: int = 4) -> str:
    """Some names in a sentence, the rest as a number.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c, d and 3 more')
    """
    rest = [f"{len(names) - most} more"] if len(names) > most else []
    shown = [*names[:most], *rest]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def against_control(
    control: str, arms: Mapping[str, Sequence[str]], within: float, more: int | None, unit: str, alpha: float
) -> str:
    """The sentence of several arms that are compared with one: ``arms`` by outcome."""
    better, worse, alike, undecided = (arms.get(outcome, ()) for outcome in ("better", "worse", "same", "not yet"))
    known = [f"{listed(better)} {'beats' if len(better) == 1 else 'beat'} {control}"] if better else []
    known += [f"{control} beats {listed(worse)}"] if worse else []
    known += [f"{listed([*alike, control])} are the same to within {number(within)}"] if alike else []
    text = f"{'; '.join(known)} ({level(alpha)})" if known else ""
    if not undecided:
        return text
    needed = f"about {rounded(more)} more {unit}s" if more is not None else "the end is not in sight"
    who = f"whether {listed(undecided)} {'differs' if len(undecided) == 1 else 'differ'} from {control}"
    return f"{text}; not yet known: {who} ({needed})" if text else f"not yet: {needed} to tell {who}"


def waiting(arms: list[str], more: int | None, unit: str) -> str:
    """The sentence of arms that have seen too few of the events that make up their variance."""
    who = " and ".join(arms)
    needed = f"about {rounded(more)} more {unit}s" if more else "how many more cannot be told yet"
    return f"not yet: {needed}; too little is known so far of how the rewards of {who} vary"
