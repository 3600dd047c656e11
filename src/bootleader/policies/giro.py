"""Giro: garbage in, reward out. A bootstrap of the history padded with pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.bootstrap_sums import resampled_sum
from bootleader._core.rng import below, uniform
from bootleader._core.rules import HistoryRule
from bootleader._core.sampling import binomial, fair_binomial
from bootleader._core.tilted_rejection import LEAST_TERMS, ROUNDING, accept_tilted, bound_excludes, bound_pays
from bootleader._core.validation import real
from bootleader.policies._two_values import NO, number_at_highest
from bootleader.policies.base import MOST_PSEUDO_REWARDS, Knowledge, Policy


def giro_index(params: Any, history: Any, contest: Any, stream: Any) -> Any:
    """Mean of n = s + 2m draws with replacement from s rewards, m zeros and m ones.

    How many of the n draws are rewards, and how many of the others are ones, are binomial, so only the rewards have
    to be looked up; and not even they, where rejection decides on which side of ``contest.best`` the index lies.
    Where the rewards are zeros and ones themselves, the sum of all draws is binomial.
    """
    s = history.count
    m = math.floor(params[0] * s)
    fraction = params[0] * s - m
    if fraction > 0.0 and uniform(stream) < fraction:
        m = m + 1
    n = s + 2.0 * m
    high = number_at_highest(history)
    if high != NO and are_pseudo_rewards(history):
        successes = s * history.anchor + high * history.highest + (s - high) * history.lowest
        return binomial(n, (successes + m) / n, stream) / n
    rewards = binomial(n, s / n, stream)
    ones = fair_binomial(n - rewards, stream)
    best, anchor = contest.best, history.anchor
    if best > -math.inf and rewards >= LEAST_TERMS:
        wanted = best * n - rewards * anchor - ones
        size = abs(best) * n + rewards * abs(anchor) + ones
        total = sum_or_side(wanted, size, rewards, history, contest.is_last, stream)
    else:
        total = resampled_sum(history.values, history.start, s, rewards, stream)
    return (rewards * anchor + total + ones) / n


def are_pseudo_rewards(history: Any) -> Any:
    """Whether smallest and largest reward are 0 or 1."""
    low, high = history.anchor + history.lowest, history.anchor + history.highest
    return low * (1.0 - low) == 0.0 and high * (1.0 - high) == 0.0


def sum_or_side(wanted: Any, size: Any, draws: Any, history: Any, is_last: Any, stream: Any) -> Any:
    """The resampled sum, or +-inf when rejection already decides on which side of ``wanted`` it lies.

    See :mod:`bootleader._core.tilted_rejection`; the width is Bernstein's.
    """
    drift = history.drift
    centre = draws * drift
    distance = abs(wanted - centre) - ROUNDING * (size + abs(centre))
    side = 1.0 if wanted > centre else -1.0
    largest_term = history.highest - drift if wanted > centre else drift - history.lowest
    width = draws * (history.rss / history.count) + largest_term * distance / 3.0
    if bound_pays(distance, width, side, is_last):
        tilt = distance / width
        if bound_excludes(distance, tilt, stream):
            return -side * math.inf
        return tilted_sum(distance, side, largest_term, tilt, draws, history, stream)
    return resampled_sum(history.values, history.start, history.count, draws, stream)


def tilted_sum(distance: Any, side: Any, largest_term: Any, tilt: Any, draws: Any, history: Any, stream: Any) -> Any:
    """A sum at least ``distance`` to this side of its mean, or infinite on the other side; each value is tilted."""
    values, start, count, drift = history.values, history.start, history.count, history.drift
    mgf = 0.0
    for j in range(count):
        mgf += math.exp(tilt * side * (values[start + j] - drift))
    log_mgf = draws * math.log(mgf / count)
    total = 0.0
    for _ in range(int(draws)):
        value = values[start + below(stream, count)]
        while uniform(stream) >= math.exp(tilt * (side * (value - drift) - largest_term)):
            value = values[start + below(stream, count)]
        total += value
    beyond = side * (total - draws * drift)
    return total if accept_tilted(beyond, distance, tilt, log_mgf, stream) else -side * math.inf


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
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> HistoryRule:
        return HistoryRule(giro_index, (float(self.a),))
