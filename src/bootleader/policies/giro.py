"""Giro: garbage in, reward out. A bootstrap of the history padded with pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader.checks import real
from bootleader.policies.base import HistoryRule, Policy
from bootleader.sampling import binomial, fair_binomial
from bootleader.streams import MASK, as_word, below, mix64, uniform


def value_at(history: Any, place: Any, count: Any) -> Any:
    """A value of the history, or zero beyond its ``count`` values.

    A compiled kernel keeps zeros there instead of asking (see ``compilation.py``).
    """
    return history[place] if place < count else 0.0


QUARTER_WORD: Final = 0x10000


def resampled_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement from ``history[start:start + count]``.

    A quarter of a word, cut to the bits of the next power of two, is a place; one beyond the count is no draw and
    adds nothing. No multiplication, no branch, and four running sums so that additions do not wait for each other.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    left = int(draws)
    if count <= QUARTER_WORD:
        size, offset, mask = as_word(count), as_word(start), MASK >> 48
        while mask >> 1 >= as_word(count - 1) and mask > as_word(1):
            mask = mask >> 1
        position = state[i]
        while left >= 4:
            position = (position + gamma) & MASK
            word = mix64(position)
            p, q, r, s = word & mask, (word >> 16) & mask, (word >> 32) & mask, (word >> 48) & mask
            a += value_at(history, offset + p, offset + size)
            b += value_at(history, offset + q, offset + size)
            c += value_at(history, offset + r, offset + size)
            d += value_at(history, offset + s, offset + size)
            left -= (p < size) + (q < size) + (r < size) + (s < size)
        state[i] = position
    for _ in range(left):
        a += history[start + below(state, i, gamma, count)]
    return (a + b) + (c + d)


def giro_index(
    theta: Any, history: Any, start: Any, count: Any, anchor: Any, drift: Any, state: Any, i: Any, gamma: Any
) -> Any:
    """Mean of n = s + 2m draws with replacement from s rewards, m zeros and m ones.

    How many of the n draws are rewards, and how many of the others are ones, are binomial, so only the rewards have
    to be looked up.
    """
    m = math.floor(theta[0] * count)
    if uniform(state, i, gamma) < theta[0] * count - m:
        m = m + 1
    n = count + 2.0 * m
    rewards = binomial(n, count / n, state, i, gamma)
    ones = fair_binomial(n - rewards, state, i, gamma)
    total = rewards * anchor + resampled_sum(history, start, count, rewards, state, i, gamma) + ones
    return total / n


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
