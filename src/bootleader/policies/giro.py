"""Giro: garbage in, reward out. A bootstrap of the history padded with pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader.checks import real
from bootleader.policies.base import HistoryRule, Policy
from bootleader.sampling import binomial, fair_binomial
from bootleader.streams import MASK, below, mix64, uniform


def resampled_sum(history: Any, start: Any, count: Any, draws: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``draws`` values taken with replacement from ``history[start:start + count]``.

    A word makes two draws, half a word each by Lemire's method; four running sums keep the processor busy. The rare
    halves that would bias the draw are left out and made up for at the end.
    """
    threshold = (0x100000000 - count) % count
    place = state[i]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    missing = int(draws)
    for _ in range(missing // 4):
        place = (place + gamma) & MASK
        first = mix64(place)
        place = (place + gamma) & MASK
        second = mix64(place)
        p = (first & 0xFFFFFFFF) * count
        q = (first >> 32) * count
        r = (second & 0xFFFFFFFF) * count
        s = (second >> 32) * count
        if min(p & 0xFFFFFFFF, q & 0xFFFFFFFF, r & 0xFFFFFFFF, s & 0xFFFFFFFF) >= threshold:
            a += history[start + (p >> 32)]
            b += history[start + (q >> 32)]
            c += history[start + (r >> 32)]
            d += history[start + (s >> 32)]
            missing -= 4
    state[i] = place
    for _ in range(missing):
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
