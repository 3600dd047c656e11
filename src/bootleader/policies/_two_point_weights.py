r"""Bootstrap weights with two values, where an index needs the arm's whole history.

``rademacher`` is +-1; ``mammen`` is the skew-correcting weight, :math:`(\sqrt5+1)/2` with probability
:math:`(\sqrt5-1)/(2\sqrt5)`, else :math:`-(\sqrt5-1)/2`. Both have mean 0 and variance 1.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal, get_args

from bootleader._core.validation import one_of
from bootleader.policies.base import HistoryRule
from bootleader._core.tilted_rejection import MANY, ROUNDING, surely_not_beyond, taken, worth_asking
from bootleader._core.rng import MASK, next_word, uniform

Weights = Literal["gaussian", "rademacher", "mammen"]

COINS: Final = 64  # in a word
ROOT5: Final = math.sqrt(5.0)
# (value when the coin shows 0, larger value when it shows 1, chance of a 1)
TWO_POINTS: Final = {
    "rademacher": (-1.0, 1.0, 0.5),
    "mammen": ((1.0 - ROOT5) / 2.0, (1.0 + ROOT5) / 2.0, (ROOT5 - 1.0) / (2.0 * ROOT5)),
}


def validated_weights(weights: Any) -> None:
    """Raise unless ``weights`` names a law of weights."""
    one_of("weights", weights, get_args(Weights))


def two_point_rule(weights: str, *, sigma_a: float, pseudo_residuals: int) -> HistoryRule:
    """The rule of a residual bootstrap with two-point weights."""
    low, high, chance = TWO_POINTS[weights]
    return HistoryRule(two_point_index, (low, high, chance, sigma_a, float(pseudo_residuals)))


def biased_coins(chance: Any, state: Any, i: Any, gamma: Any) -> Any:
    """64 coins at once, each 1 with probability ``chance``.

    Each coin is a uniform number compared with ``chance`` binary digit by digit; a digit settles half of the coins
    still open, so a word settles for 64 coins what would take 64 draws.
    """
    heads, unsettled = MASK ^ MASK, MASK
    while unsettled != 0 and chance > 0.0:
        chance = chance * 2.0
        word = next_word(state, i, gamma)
        if chance >= 1.0:
            chance = chance - 1.0
            heads = heads | (unsettled & (word ^ MASK))
            unsettled = unsettled & word
        else:
            unsettled = unsettled & (word ^ MASK)
    return heads


def coins(chance: Any, state: Any, i: Any, gamma: Any) -> Any:
    """64 coins, fair ones for the price of a word."""
    if chance == 0.5:
        return next_word(state, i, gamma)
    return biased_coins(chance, state, i, gamma)


def heads_sum(chance: Any, history: Any, start: Any, count: Any, drift: Any, state: Any, i: Any, gamma: Any) -> Any:
    """Sum of ``history[start + j] - drift`` over the j < count whose coin shows 1.

    There are as many running sums as a word has coins, so that none waits for another; they are folded in the end.
    Compiled, :func:`bootleader._core.history_sums.blockwise_heads` does the same to the same bits.
    """
    sums = [0.0] * COINS
    for block in range(0, count, COINS):
        word = coins(chance, state, i, gamma)
        for j in range(min(COINS, count - block)):
            sums[j] += (history[start + block + j] - drift) * ((word >> j) & 1)
    width = COINS // 2
    while width > 0:
        for j in range(width):
            sums[j] += sums[j + width]
        width //= 2
    return sums[0]


def heads_against(
    wanted: Any, size: Any, chance: Any, history: Any, start: Any, count: Any, drift: Any, rss: Any, is_last: Any,
    state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """The sum under ones; or, if it can be told from ``wanted`` unseen, infinite on the side that it is on.

    As :mod:`bootleader._core.tilted_rejection` says, with Hoeffding's width.
    """
    off, width = abs(wanted) - ROUNDING * size, 0.25 * rss
    side = 1.0 if wanted > 0.0 else -1.0
    if worth_asking(off, width, side, is_last):
        tilt = off / width
        if surely_not_beyond(off, tilt, state, i, gamma):
            return -side * math.inf
        return heads_beyond(off, side, tilt, chance, history, start, count, drift, state, i, gamma)
    return heads_sum(chance, history, start, count, drift, state, i, gamma)


def heads_beyond(
    off: Any, side: Any, tilt: Any, chance: Any, history: Any, start: Any, count: Any, drift: Any, state: Any, i: Any,
    gamma: Any,
) -> Any:  # fmt: skip
    """After a yes: a sum at least ``off`` to this side of zero, or infinite on the other; tilted coin by coin."""
    growth, total = 0.0, 0.0
    for j in range(count):
        residual = history[start + j] - drift
        one = chance * math.exp(tilt * side * residual)
        either = one + (1.0 - chance)
        growth += math.log(either)
        if uniform(state, i, gamma) * either < one:
            total += residual
    return total if taken(side * total, off, tilt, growth, state, i, gamma) else -side * math.inf


def two_point_index(
    theta: Any, history: Any, start: Any, count: Any, anchor: Any, drift: Any, rss: Any, lowest: Any, highest: Any,
    best: Any, is_last: Any, state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """Ybar + (1/(s+p)) sum w_i e_i, with p = 0 or 2 pseudo residuals +-sqrt(s+2) sigma_a.

    Residuals sum to zero, so the sum of w_i e_i is (high - low) times the sum of the e_i whose coin shows 1; and even
    that need not be drawn, if it can be told without on which side of ``best`` the index is.
    """
    low, high, chance, sigma_a, pseudo = theta[0], theta[1], theta[2], theta[3], theta[4]
    mean, n, spread, aid = anchor + drift, count + pseudo, high - low, 0.0
    if pseudo > 0.0:
        word = coins(chance, state, i, gamma)
        aid = spread * (float(word & 1) - float((word >> 1) & 1)) * math.sqrt(count + 2.0) * sigma_a
    if best > -math.inf and count >= MANY:
        wanted = ((best - mean) * n - aid) / spread
        size = ((abs(best) + abs(anchor) + abs(drift)) * n + abs(aid)) / spread
        ones = heads_against(wanted, size, chance, history, start, count, drift, rss, is_last, state, i, gamma)
    else:
        ones = heads_sum(chance, history, start, count, drift, state, i, gamma)
    return mean + (spread * ones + aid) / n
