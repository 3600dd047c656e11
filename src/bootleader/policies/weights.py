r"""Bootstrap weights with two values, where an index needs the arm's whole history.

``rademacher`` is +-1; ``mammen`` is the skew-correcting weight, :math:`-(\sqrt5-1)/2` with probability
:math:`(\sqrt5+1)/(2\sqrt5)`, else :math:`(\sqrt5+1)/2`. Both have mean 0 and variance 1.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal, get_args

from bootleader.checks import one_of
from bootleader.policies.base import HistoryRule
from bootleader.streams import MASK, next_word

Weights = Literal["gaussian", "rademacher", "mammen"]

COINS: Final = 64  # in a word
ROOT5: Final = math.sqrt(5.0)
# (value when the coin shows 0, value when it shows 1, chance of a 1)
TWO_POINTS: Final = {
    "rademacher": (-1.0, 1.0, 0.5),
    "mammen": ((1.0 + ROOT5) / 2.0, (1.0 - ROOT5) / 2.0, (ROOT5 + 1.0) / (2.0 * ROOT5)),
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
    Compiled, :func:`bootleader.blockwise.blockwise_heads` does the same to the same bits.
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


def two_point_index(
    theta: Any, history: Any, start: Any, count: Any, anchor: Any, drift: Any, rss: Any, lowest: Any, highest: Any,
    best: Any, is_last: Any, state: Any, i: Any, gamma: Any,
) -> Any:  # fmt: skip
    """Ybar + (1/(s+p)) sum w_i e_i, with p = 0 or 2 pseudo residuals +-sqrt(s+2) sigma_a."""
    low, high, chance, sigma_a, pseudo = theta[0], theta[1], theta[2], theta[3], theta[4]
    # Residuals sum to zero, so sum w e = (high - low) * (sum of those whose coin shows 1).
    perturbation = (high - low) * heads_sum(chance, history, start, count, drift, state, i, gamma)
    if pseudo > 0.0:
        word = coins(chance, state, i, gamma)
        first = high if (word & 1) == 1 else low
        second = high if (word & 2) == 2 else low
        perturbation += (first - second) * math.sqrt(count + 2.0) * sigma_a
    return anchor + drift + perturbation / (count + pseudo)
