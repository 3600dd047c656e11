"""How many more rewards an answer takes, if the rewards to come are like those that came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from bootleader.inference._intervals import GUARD, LEAST, Bounds, pair_intervals
from bootleader.inference._moments import Floats, Moments

LONGEST: Final = 1e9  # times the rewards so far: beyond it there is no estimate
PRECISION: Final = 0.005  # relative, of the number of rewards: the estimate itself is far rougher
PAIR: Final = np.array([[0, 1]], np.intp)


def visits_until(is_answered: Callable[[float], bool], visits: float) -> int | None:
    """The fewest further visits after which ``is_answered(further visits)``; None if none are enough.

    Examples
    --------
    >>> visits_until(lambda more: more >= 1000.0, 100.0)
    1000
    """
    low, high = 0.0, max(1.0, visits / 64.0)
    while not is_answered(high):
        low, high = high, 2.0 * high
        if high > LONGEST * max(visits, 1.0):
            return None
    while high - low > max(1.0, PRECISION * high):
        middle = 0.5 * (low + high)
        if is_answered(middle):
            high = middle
        else:
            low = middle
    return round(high)


def growth(moments: Moments, shares: Floats, more: float) -> Floats:
    """How many times as many rewards each arm has after so many further visits at these shares of them."""
    return np.asarray(1.0 + more * shares / np.maximum(moments.count, 1.0))


def visits_for_guard(moments: Moments, effective: Floats, shares: Floats) -> int | None:
    """Further visits until every arm has the rewards, and the effective number of them, that an answer needs."""
    if not ((effective > 0.0) & (shares > 0.0)).all():
        return None
    needed = np.maximum(moments.count * (GUARD / effective - 1.0), LEAST - moments.count) / shares
    return max(0, int(np.ceil(needed.max())))


def visits_for_pair(
    moments: Moments,
    effective: Floats,
    shares: Floats,
    alpha: float,
    bounds: Bounds | None,
    margin: float | None = None,
) -> int | None:
    """Further visits until the difference of two arms is distinguished from 0, or is known to be within the margin.

    Parameters
    ----------
    moments : Moments
        Of the two arms.
    effective : array
        The two arms' effective numbers of rewards.
    shares : array
        The two arms' shares of the visits to come.
    """

    def is_answered(more: float) -> bool:
        factor = growth(moments, shares, more)
        found = pair_intervals(moments.grown(factor), PAIR, alpha, bounds, effective * factor)
        low, high = float(found.low[0]), float(found.high[0])
        return low > 0.0 or high < 0.0 or (margin is not None and -margin < low and high < margin)

    return visits_until(is_answered, float(moments.count.sum()))
