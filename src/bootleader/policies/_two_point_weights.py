r"""Bootstrap weights with two values, where an index needs the arm's whole history.

``rademacher`` is +-1; ``mammen`` is the skew-correcting weight, :math:`(\sqrt5+1)/2` with probability
:math:`(\sqrt5-1)/(2\sqrt5)`, else :math:`-(\sqrt5-1)/2`. Both have mean 0 and variance 1.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal, get_args

from bootleader._core.bootstrap_sums import coins, heads_sum
from bootleader._core.rng import uniform
from bootleader._core.rules import HistoryRule
from bootleader._core.tilted_rejection import LEAST_TERMS, ROUNDING, accept_tilted, bound_excludes, bound_pays
from bootleader._core.validation import one_of

Weights = Literal["gaussian", "rademacher", "mammen"]

ROOT5: Final = math.sqrt(5.0)
# (value when the coin is 0, larger value when it is 1, probability of a 1)
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


def two_point_index(params: Any, history: Any, contest: Any, stream: Any) -> Any:
    """Ybar + (1/(s+p)) sum w_i e_i, with p = 0 or 2 pseudo residuals +-sqrt(s+2) sigma_a.

    Residuals sum to zero, so the sum of w_i e_i is (high - low) times the sum of the e_i whose coin is 1; and even
    that need not be drawn where rejection decides on which side of ``contest.best`` the index lies.
    """
    low, high, chance, sigma_a, pseudo = params[0], params[1], params[2], params[3], params[4]
    s, anchor, drift, best = history.count, history.anchor, history.drift, contest.best
    mean, n, spread, aid = anchor + drift, s + pseudo, high - low, 0.0
    if pseudo > 0.0:
        word = coins(chance, stream)
        aid = spread * (float(word & 1) - float((word >> 1) & 1)) * math.sqrt(s + 2.0) * sigma_a
    if best > -math.inf and s >= LEAST_TERMS:
        wanted = ((best - mean) * n - aid) / spread
        size = ((abs(best) + abs(anchor) + abs(drift)) * n + abs(aid)) / spread
        ones = heads_or_side(wanted, size, chance, history, contest.is_last, stream)
    else:
        ones = heads_sum(chance, history.values, history.start, s, drift, stream)
    return mean + (spread * ones + aid) / n


def heads_or_side(wanted: Any, size: Any, chance: Any, history: Any, is_last: Any, stream: Any) -> Any:
    """The sum over ones, or +-inf when rejection already decides on which side of ``wanted`` it lies.

    See :mod:`bootleader._core.tilted_rejection`; the width is Hoeffding's.
    """
    distance, width = abs(wanted) - ROUNDING * size, 0.25 * history.rss
    side = 1.0 if wanted > 0.0 else -1.0
    if bound_pays(distance, width, side, is_last):
        tilt = distance / width
        if bound_excludes(distance, tilt, stream):
            return -side * math.inf
        return tilted_heads(distance, side, tilt, chance, history, stream)
    return heads_sum(chance, history.values, history.start, history.count, history.drift, stream)


def tilted_heads(distance: Any, side: Any, tilt: Any, chance: Any, history: Any, stream: Any) -> Any:
    """A sum at least ``distance`` to this side of zero, or infinite on the other side; each coin is tilted."""
    log_mgf, total = 0.0, 0.0
    for j in range(history.count):
        residual = history.values[history.start + j] - history.drift
        one = chance * math.exp(tilt * side * residual)
        either = one + (1.0 - chance)
        log_mgf += math.log(either)
        if uniform(stream) * either < one:
            total += residual
    return total if accept_tilted(side * total, distance, tilt, log_mgf, stream) else -side * math.inf
