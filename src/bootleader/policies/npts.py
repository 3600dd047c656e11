"""NPTS: non-parametric Thompson sampling for rewards with an upper bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import exp, log, log1p
from bootleader._core.rng import uniform
from bootleader._core.rules import HistoryRule
from bootleader._core.sampling import standard_exponential, standard_gamma
from bootleader._core.tilted_rejection import UNLIKELY
from bootleader._core.validation import real
from bootleader.policies._gamma_pairs import gamma_pair, scale_of
from bootleader.policies._two_values import NO, number_at_highest
from bootleader.policies.base import Knowledge, Policy

LEAST_TERMS: Final = 8  # rewards from which the bound pays
LARGEST_TILT: Final = 0.9  # of the tilt times the largest term: at 1 the moment generating function is infinite
TIGHT: Final = 1.0 - 1e-9  # margin for rounding in the exponent


def npts_index(params: Any, history: Any, contest: Any, stream: Any) -> Any:
    """Sum of w_i Y_i + w_0 upper with (w_0, ..., w_s) ~ Dirichlet(1, ..., 1).

    Dirichlet weights are exponential variables divided by their sum, so the index is above ``best`` where
    S = sum of E_i (Y_i - best) is above 0. Where a bound on the probability of that decides, no variable is drawn.
    """
    best, upper = contest.best, params[0] - history.anchor
    high = number_at_highest(history)
    if high != NO:
        return two_valued_index(history, high, upper, stream)
    if best > -math.inf and history.count >= LEAST_TERMS:
        level = best - history.anchor
        distance = history.count * (history.drift - level) + (upper - level)  # mean of S
        side = 1.0 if distance < 0.0 else -1.0
        if side > 0.0 or contest.is_last:
            largest = upper - level if side > 0.0 else level - history.lowest
            gap = history.drift - level
            squares = history.rss + history.count * gap * gap + (upper - level) * (upper - level)
            tilt, exponent = tilt_and_exponent(abs(distance), squares, largest)
            if exponent > 0.5 * UNLIKELY:
                if uniform(stream) >= exp(-TIGHT * exponent):
                    return -side * math.inf
                return tilted_index(history, best, upper - level, side * tilt, TIGHT * exponent, stream)
    weights = standard_exponential(stream)
    total = weights * upper
    for j in range(history.count):
        weight = standard_exponential(stream)
        weights += weight
        total += weight * history.values[history.start + j]
    return history.anchor + total / weights


def two_valued_index(history: Any, high: Any, upper: Any, stream: Any) -> Any:
    """The index where ``high`` rewards have one value and the rest another: equal rewards share a gamma variable."""
    low = history.count - high
    if low >= 1.0 and (high == 0.0 or history.highest == upper):  # the upper bound is one of two values
        above, below = gamma_pair(high + 1.0, low, scale_of(high + 1.0), scale_of(low), stream)
        return history.anchor + (above * upper + below * history.lowest) / (above + below)
    bonus = standard_exponential(stream)
    above = standard_gamma(high, stream)
    below = standard_gamma(low, stream)
    total = bonus * upper + above * history.highest + below * history.lowest
    return history.anchor + total / (bonus + above + below)


def tilt_and_exponent(distance: Any, squares: Any, largest: Any) -> tuple[Any, Any]:
    """A tilt, and a bound: P(S is beyond 0) <= exp(-exponent).

    -log(1 - y) <= y + c(a) y^2 for y <= a, with c(a) = (-log(1 - a) - a) / a^2. Summed over the terms, with a tilt that
    makes none of them larger than a, this bounds the logarithm of the moment generating function.
    """
    if not (squares > 0.0 and distance > 0.0):
        return 0.0, 0.0
    a = min(LARGEST_TILT, distance / squares * max(largest, 0.0))
    c = 0.5 + 0.5 * a if a < 1e-3 else (-log1p(-a) - a) / (a * a)
    tilt = distance / (2.0 * c * squares)
    if largest > 0.0 and tilt * largest > a:
        tilt = a / largest
    return tilt, tilt * (distance - c * tilt * squares)


def tilted_index(history: Any, best: Any, bonus: Any, tilt: Any, exponent: Any, stream: Any) -> Any:
    """The index drawn from its tilted law, or infinite on the other side of ``best`` if it is not accepted.

    The tilted variables are exponential again, with rates 1 - tilt (Y_i - best).
    """
    level = best - history.anchor
    rate = 1.0 - tilt * bonus
    weights = standard_exponential(stream) / rate
    total = weights * bonus
    log_mgf = -log(rate)
    for j in range(history.count):
        term = history.values[history.start + j] - level
        rate = 1.0 - tilt * term
        weight = standard_exponential(stream) / rate
        weights += weight
        total += weight * term
        log_mgf -= log(rate)
    if tilt * total >= 0.0 and uniform(stream) < exp(log_mgf - tilt * total + exponent):
        return best + total / weights
    return -math.inf if tilt > 0.0 else math.inf


@dataclass(frozen=True, repr=False)
class NPTS(Policy):
    r"""Play the largest randomly weighted mean of an arm's rewards and the upper bound.

    .. math:: \sum_{i=1}^s w_i Y_i + w_0\, u, \qquad (w_0, \dots, w_s) \sim \mathrm{Dirichlet}(1, \dots, 1)

    Every arm is pulled once first; in the paper an arm without rewards has the index u, which amounts to the same
    unless an arm has had no reward below u.

    A draw takes O(s). Most are not made: exact rejection decides first on which side of the best index so far a
    draw would be. Where the rewards have two values, such as 0 and 1, a draw takes a constant time.

    Parameters
    ----------
    upper : float
        Upper bound u of the rewards.

    Raises
    ------
    ValueError
        If ``upper`` is not a finite number.

    Examples
    --------
    >>> NPTS(upper=5.0)
    NPTS(upper=5.0)
    """

    upper: float = 1.0
    reference: ClassVar[str] = (
        "Riou, Honda (2020). Bandit algorithms based on Thompson sampling for bounded reward distributions. ALT."
    )

    def __post_init__(self) -> None:
        real("upper", self.upper)

    @property
    def reward_range(self) -> tuple[float, float]:
        return -math.inf, float(self.upper)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> HistoryRule:
        return HistoryRule(npts_index, (float(self.upper),))
