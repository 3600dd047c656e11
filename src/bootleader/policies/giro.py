"""Giro: garbage in, reward out. A bootstrap of the history padded with pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.validation import real
from bootleader.policies.base import MOST_PSEUDO_REWARDS, HistoryRule, Policy
from bootleader._core.tilted_rejection import MANY, ROUNDING, surely_not_beyond, taken, worth_asking
from bootleader._core.sampling import binomial, fair_binomial
from bootleader._core.rng import below, next_word, uniform

QUARTER: Final = 0x10000  # what a quarter of a word can tell apart
WORDS: Final = 64  # looked at before counting how many draws are still missing


def resampled_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement from ``history[start:start + count]``.

    A quarter of a word makes a draw by Lemire's method; one that would bias the draw is left out and made up for later.
    Compiled, long sums are taken by :func:`bootleader._core.history_sums.blockwise_sum`, to the same bits.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left = int(draws)
    if count < QUARTER:
        threshold = QUARTER % count
        while left >= 4:
            for _ in range(min(WORDS, left // 4)):
                word = next_word(state, i, gamma)
                p, q = (word & 0xFFFF) * count, ((word >> 16) & 0xFFFF) * count
                r, s = ((word >> 32) & 0xFFFF) * count, (word >> 48) * count
                if p & 0xFFFF >= threshold:
                    a += history[start + (p >> 16)]
                    left -= 1
                if q & 0xFFFF >= threshold:
                    b += history[start + (q >> 16)]
                    left -= 1
                if r & 0xFFFF >= threshold:
                    c += history[start + (r >> 16)]
                    left -= 1
                if s & 0xFFFF >= threshold:
                    d += history[start + (s >> 16)]
                    left -= 1
    for _ in range(left):
        a += history[start + below(state, i, gamma, count)]
    return (a + b) + (c + d)


def sum_against(
    wanted: Any, size: Any, history: Any, start: Any, count: Any, drift: Any, rss: Any, lowest: Any, highest: Any,
    draws: Any, is_last: Any, state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """The resampled sum; or, if it can be told from ``wanted`` unseen, infinite on the side that it is on.

    As :mod:`bootleader._core.tilted_rejection` says, with Bernstein's width.
    """
    centre = draws * drift
    off = abs(wanted - centre) - ROUNDING * (size + abs(centre))
    side = 1.0 if wanted > centre else -1.0
    reach = highest - drift if wanted > centre else drift - lowest
    width = draws * (rss / count) + reach * off / 3.0
    if worth_asking(off, width, side, is_last):
        tilt = off / width
        if surely_not_beyond(off, tilt, state, i, gamma):
            return -side * math.inf
        return sum_beyond(off, side, reach, tilt, history, start, count, drift, draws, state, i, gamma)
    return resampled_sum(history, start, count, draws, state, i, gamma)


def sum_beyond(
    off: Any, side: Any, reach: Any, tilt: Any, history: Any, start: Any, count: Any, drift: Any, draws: Any,
    state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """After a yes: a sum at least ``off`` to this side of its mean, or infinite on the other; tilted value by value."""
    growth = 0.0
    for j in range(count):
        growth += math.exp(tilt * side * (history[start + j] - drift))
    growth = draws * math.log(growth / count)
    total = 0.0
    for _ in range(int(draws)):
        value = history[start + below(state, i, gamma, count)]
        while uniform(state, i, gamma) >= math.exp(tilt * (side * (value - drift) - reach)):
            value = history[start + below(state, i, gamma, count)]
        total += value
    beyond = side * (total - draws * drift)
    return total if taken(beyond, off, tilt, growth, state, i, gamma) else -side * math.inf


def giro_index(
    theta: Any, history: Any, start: Any, count: Any, anchor: Any, drift: Any, rss: Any, lowest: Any, highest: Any,
    best: Any, is_last: Any, state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """Mean of n = s + 2m draws with replacement from s rewards, m zeros and m ones.

    How many of the n draws are rewards, and how many of the others are ones, are binomial, so only the rewards have
    to be looked up; and not even they, if it can be told without on which side of ``best`` the index is.
    """
    m = math.floor(theta[0] * count)
    fraction = theta[0] * count - m
    if fraction > 0.0 and uniform(state, i, gamma) < fraction:
        m = m + 1
    n = count + 2.0 * m
    rewards = binomial(n, count / n, state, i, gamma)
    ones = fair_binomial(n - rewards, state, i, gamma)
    if best > -math.inf and rewards >= MANY:
        wanted = best * n - rewards * anchor - ones
        size = abs(best) * n + rewards * abs(anchor) + ones
        total = sum_against(
            wanted, size, history, start, count, drift, rss, lowest, highest, rewards, is_last, state, i, gamma
        )
    else:
        total = resampled_sum(history, start, count, rewards, state, i, gamma)
    return (rewards * anchor + total + ones) / n


@dataclass(frozen=True, repr=False)
class Giro(Policy):
    """Bootstrap the mean of an arm's rewards and, per reward, ``a`` zeros and ``a`` ones.

    The index is the mean of n draws with replacement from the padded history, n its own size, s(1+2a). If ``a s`` is
    not whole, ``ceil(a s)`` pseudo rewards of each kind are used with probability ``a s - floor(a s)``, else
    ``floor(a s)``. Made for rewards in [0, 1].

    Parameters
    ----------
    a : float
        Pseudo rewards of each kind per reward.

    Raises
    ------
    ValueError
        If ``a`` is not a number from 0 to a million.

    Examples
    --------
    >>> Giro(a=1)
    Giro(a=1)
    """

    a: float = 1.0
    reference: ClassVar[str] = "Kveton et al. (2019). Garbage in, reward out. ICML."

    def __post_init__(self) -> None:
        most = MOST_PSEUDO_REWARDS
        real("a", self.a, f"a number from 0 to {most:g}", low=0.0, open_low=False, high=most)

    @property
    def rule(self) -> HistoryRule:
        return HistoryRule(giro_index, (float(self.a),))
