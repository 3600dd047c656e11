"""Giro: garbage in, reward out. A bootstrap of the history padded with pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader.checks import real
from bootleader.policies.base import HistoryRule, Policy
from bootleader.sampling import binomial, fair_binomial
from bootleader.streams import below, next_word, uniform

QUARTER: Final = 0x10000  # what a quarter of a word can tell apart
WORDS: Final = 64  # looked at before counting how many draws are still missing
MANY: Final = 32.0  # draws from which it pays to ask first whether they are needed
UNLIKELY: Final = 9.0  # twice the exponent of a chance of one in ninety: what follows a yes costs so many times more
ROUNDING: Final = 1e-12  # relative errors in sums, and far more
TIGHT: Final = 1.0 - 1e-9  # what rounding may take from an exponent


def resampled_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement from ``history[start:start + count]``.

    A quarter of a word makes a draw by Lemire's method; one that would bias the draw is left out and made up for later.
    Compiled, long sums are taken by :func:`bootleader.blockwise.blockwise_sum`, to the same bits.
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

    Bernstein's inequality bounds the chance that the sum lies beyond ``wanted`` as seen from its mean. A coin with that
    chance says "no" nearly always, which settles the matter; where it says "yes", :func:`sum_beyond` thins it to the
    true chance. Unless the arm ``is_last``, a sum that is probably too large is drawn: others have to beat it. ``size``
    is that of the numbers ``wanted`` was made from, whose rounding must not decide.
    """
    centre = draws * drift
    off = abs(wanted - centre) - ROUNDING * (size + abs(centre))
    if off > 0.0 and (is_last or wanted > centre):
        side = 1.0 if wanted > centre else -1.0
        reach = highest - drift if wanted > centre else drift - lowest
        width = draws * (rss / count) + reach * off / 3.0
        if 0.0 < UNLIKELY * width < off * off:
            tilt = off / width
            if uniform(state, i, gamma) >= math.exp(-0.5 * TIGHT * tilt * off):
                return -side * math.inf
            return sum_beyond(off, side, reach, tilt, history, start, count, drift, draws, state, i, gamma)
    return resampled_sum(history, start, count, draws, state, i, gamma)


def sum_beyond(
    off: Any, side: Any, reach: Any, tilt: Any, history: Any, start: Any, count: Any, drift: Any, draws: Any,
    state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """The resampled sum given that it lies at least ``off`` to this side of its mean, or infinite on the other side.

    The former with the chance that it does so over Bernstein's bound: draws are tilted to that side, value by value,
    and the sum is taken with the ratio of its likelihood to what Bernstein allows beyond ``off``. That is exact, as
    rejection sampling is: the coin's chance times this one is the chance of the sum, whatever the bound.
    """
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
    if beyond >= off and uniform(state, i, gamma) < math.exp(growth - tilt * beyond + 0.5 * TIGHT * tilt * off):
        return total
    return -side * math.inf


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

    Examples
    --------
    >>> Giro(a=1)
    Giro(a=1)
    """

    a: float = 1.0
    reference: ClassVar[str] = "Kveton et al. (2019). Garbage in, reward out. ICML."

    def __post_init__(self) -> None:
        real("a", self.a, "a finite number of at least 0", low=0.0, open_low=False)

    @property
    def rule(self) -> HistoryRule:
        return HistoryRule(giro_index, (float(self.a),))
