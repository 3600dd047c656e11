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


def masked_sum(word: Any, history: Any, start: Any, size: Any, drift: Any) -> Any:
    """Sum of ``history[start + j] - drift`` over the ones of a word, j < size <= 64.

    Four running sums, because one would wait for each addition to finish.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = size - size % 4
    for j in range(0, whole, 4):
        p, q, r, s = history[start + j], history[start + j + 1], history[start + j + 2], history[start + j + 3]
        bits = word >> j
        a += (p - drift) * ((bits & 1) == 1)
        b += (q - drift) * ((bits & 2) == 2)
        c += (r - drift) * ((bits & 4) == 4)
        d += (s - drift) * ((bits & 8) == 8)
    for j in range(whole, size):
        a += (history[start + j] - drift) * ((word >> j) & 1)
    return (a + b) + (c + d)


def two_point_index(
    theta: Any, history: Any, start: Any, count: Any, anchor: Any, drift: Any, state: Any, i: Any, gamma: Any
) -> Any:
    """Ybar + (1/(s+p)) sum w_i e_i, with p = 0 or 2 pseudo residuals +-sqrt(s+2) sigma_a."""
    low, high, chance, sigma_a, pseudo = theta[0], theta[1], theta[2], theta[3], theta[4]
    # Residuals sum to zero, so sum w e = (high - low) * (sum of those whose coin shows 1).
    heads_sum = 0.0
    for block in range(start, start + count, 64):
        size = min(64, start + count - block)
        heads_sum += masked_sum(coins(chance, state, i, gamma), history, block, size, drift)
    perturbation = (high - low) * heads_sum
    if pseudo > 0.0:
        word = coins(chance, state, i, gamma)
        first = high if (word & 1) == 1 else low
        second = high if (word & 2) == 2 else low
        perturbation += (first - second) * math.sqrt(count + 2.0) * sigma_a
    return anchor + drift + perturbation / (count + pseudo)
