"""Betting: an e-process of an arm's mean for rewards in [0, 1] [1]_.

A bet of size ``k`` that the mean is above m multiplies the wealth by ``(1 + k x) / (1 + k m)`` at each reward x; one
that it is below, by ``(1 + k (1 - x)) / (1 + k (1 - m))``. E is a mixture over sizes and both directions.
``sum log(1 + k x)`` is replaced by the larger of two lower bounds that need an arm's moments only (count n, mean,
residual sum of squares RSS):

- the chord: ``log(1 + k x) >= x log(1 + k)``, an equality for rewards that are 0 or 1;
- the parabola that touches at the mean and meets ``log(1 + k x)`` at 0, which is below it on all of [0, infinity) [2]_.

A lower bound on wealth keeps the guarantee: the interval can only be wider. ``log E`` is convex in m. The interval of a
difference of two arms (:mod:`bootleader.inference._pair_wealth`) has half of the level at each end, and each end bets
in one direction only: that a's mean is smaller and b's larger, or the reverse.

Scalars in, scalars out, compiled: the same for one look and for a million.

References
----------
.. [1] I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting. JRSS-B 86(1).
.. [2] X. Fan, I. Grama, Q. Liu (2015), Exponential inequalities for martingales with applications. EJP 20.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.disk_cache import kernel
from bootleader.inference._pair_wealth import ASIDE, with_aside, without_aside


class ArmBets(NamedTuple):
    """An arm's moments in the unit interval, its bets in each direction, and where they reach the level."""

    n: Any
    mean: Any
    up: Any
    down: Any
    low: Any
    high: Any


# Bet sizes: a geometric grid. A size off by a quarter costs 0.2 in log wealth at most. Sizes from 0.02 to 2 are what
# differences of some per cent of the mean call for; the others are there for very many and for very small rewards.
RATIO = 1.5
SIZES = 2e-4 * RATIO ** np.arange(58)
_PLACE = np.log(SIZES / 0.2) / 1.8
_RAW = np.exp(-0.5 * _PLACE**2) + 0.1 / (1.0 + _PLACE**2)
LOG_WEIGHTS = np.log(_RAW / _RAW.sum())
BETS = len(SIZES)
NEGLIGIBLE = -40.0  # log of a share of the wealth
KEPT = 14.0  # log of how far below the largest bet one is kept

# The bets of an arm are an array of three rows: for bet j, log E has the term exp(rows[2, j] - n log(rows[0, j] +
# rows[1, j] m)). An upward bet has 1 + size m, a downward one (1 + size) - size m.


@kernel
def log_growth(size: float, n: float, mean: float, rss: float, is_bounded: bool) -> float:
    """Lower bound of ``sum log(1 + size x)`` over n values x >= 0 (in [0, 1] if bounded) with these moments."""
    if n == 0.0 or mean <= 0.0:
        return 0.0
    y = -size * mean / (1.0 + size * mean)
    curvature = -0.5 + y / 3.0 - y * y / 4.0 if y > -1e-3 else (math.log1p(y) - y) / (y * y)
    slope = size / (1.0 + size * mean)
    parabola = n * math.log1p(size * mean) + curvature * slope * slope * rss
    if is_bounded:
        return max(parabola, n * mean * math.log1p(size))
    return parabola


@kernel
def upward_bets(n: float, mean: float, rss: float, is_bounded: bool) -> Any:
    """The bets that the mean is larger than m: an e-process by themselves. Values are at least 0."""
    rows = np.empty((3, BETS))
    for j in range(BETS):
        rows[0, j], rows[1, j] = 1.0, SIZES[j]
        rows[2, j] = LOG_WEIGHTS[j] + log_growth(SIZES[j], n, mean, rss, is_bounded)
    return rows


@kernel
def downward_bets(n: float, mean: float, rss: float) -> Any:
    """The bets that the mean is smaller than m: an e-process by themselves. Values are in [0, 1]."""
    rows = np.empty((3, BETS))
    for j in range(BETS):
        rows[0, j], rows[1, j] = 1.0 + SIZES[j], -SIZES[j]
        rows[2, j] = LOG_WEIGHTS[j] + log_growth(SIZES[j], n, 1.0 - mean, rss, True)
    return rows


@kernel
def all_bets(n: float, mean: float, rss: float) -> Any:
    """Half of the wealth on each direction."""
    rows = np.empty((3, 2 * BETS))
    rows[:, :BETS] = upward_bets(n, mean, rss, True)
    rows[:, BETS:] = downward_bets(n, mean, rss)
    rows[2] -= math.log(2.0)
    return rows


@kernel
def betting_log_e(n: float, rows: Any, m: float) -> Any:
    """Log E of the hypothesis that the mean is m, and its first two derivatives in m."""
    bets = rows.shape[1]
    h = np.empty(bets)
    top = -math.inf
    for j in range(bets):
        h[j] = rows[2, j] - n * math.log(rows[0, j] + rows[1, j] * m)
        top = max(top, h[j])
    total, first, second = 0.0, 0.0, 0.0
    for j in range(bets):
        if h[j] - top > NEGLIGIBLE:
            e = math.exp(h[j] - top)
            slope = rows[1, j] / (rows[0, j] + rows[1, j] * m)
            total += e
            first -= e * n * slope
            second += e * n * (n + 1.0) * slope * slope
    first /= total
    return top + math.log(total), first, second / total - first * first


@kernel
def betting_end(n: float, mean: float, spread: float, rows: Any, level: float, is_upper: bool) -> float:
    """The end of the interval: where log E reaches ``level`` above or below the mean, or the bound, 0 or 1.

    ``spread`` is a first guess of the distance, 0 for none.
    """
    inside, outside = mean, 1.0 if is_upper else 0.0
    value, slope, _ = betting_log_e(n, rows, outside)
    if value < level:
        return outside
    m = mean + spread if is_upper else mean - spread
    if spread > 0.0 and 0.0 < m < 1.0:
        value, slope, _ = betting_log_e(n, rows, m)
        inside, outside = (m, outside) if value < level else (inside, m)
    else:
        m = outside
    for _ in range(200):
        # Newton from outside converges from one side, for log E is convex; halving is the safeguard.
        newton = m - (value - level) / slope if slope != 0.0 else inside
        halved = 0.5 * (inside + outside)
        m = newton if min(inside, outside) < newton < max(inside, outside) else halved
        value, slope, _ = betting_log_e(n, rows, m)
        if value < level:
            inside = m
        else:
            outside = m
        if abs(value - level) < 1e-11 * level:
            return m
        if abs(outside - inside) <= 1e-15:
            break
    return outside


@kernel
def first_guess(n: float, rss: float, level: float) -> float:
    """About how far an end is from the mean: that of a normal approximation, with what the mixture costs."""
    return math.sqrt(2.0 * (level + 2.5) * rss) / n if n > 0.0 else 0.0


@kernel
def betting_lower_end(n: float, mean: float, rows: Any, level: float) -> float:
    """The lower end with upward bets only: values are at least 0, the mean may be any number."""
    if betting_log_e(n, rows, 0.0)[0] < level:
        return 0.0
    low, high = 0.0, mean
    for _ in range(100):
        m = 0.5 * (low + high)
        if betting_log_e(n, rows, m)[0] < level:
            high = m
        else:
            low = m
    return low


@kernel
def main_bets(n: float, mean: float, end: float, rows: Any) -> Any:
    """The bets that matter between the mean and an end. Leaving out the others widens by less than 1e-5."""
    wanted = np.zeros(rows.shape[1], np.bool_)
    for m in (mean, end):
        h = rows[2] - n * np.log(rows[0] + rows[1] * m)
        wanted |= h > h.max() - KEPT
    return rows[:, wanted]


@kernel
def arm_bets(n: float, mean: float, rss: float, level: float) -> Any:
    """The bets of an arm in each direction, with the points where they reach this level."""
    up, down = upward_bets(n, mean, rss, True), downward_bets(n, mean, rss)
    spread = first_guess(n, rss, level)
    low = betting_end(n, mean, spread, up, level, False)
    high = betting_end(n, mean, spread, down, level, True)
    return ArmBets(n, mean, main_bets(n, mean, low, up), main_bets(n, mean, high, down), low, high)


@kernel
def aside_log_e(n: float, rows: Any, m: float) -> Any:
    """Log of E' = ASIDE + (1 - ASIDE) E at m, and its first two derivatives. Convex, as log E is."""
    log_e, first, second = betting_log_e(n, rows, m)
    value = with_aside(log_e)
    share = (1.0 - ASIDE) * math.exp(log_e - value)
    return value, share * first, share * second + share * (1.0 - share) * first * first


@kernel
def aside_at_slope(n: float, rows: Any, slope: float) -> float:
    """The mean in [0, 1] at which log E' has this slope, or the nearer bound."""
    low, high = 0.0, 1.0
    if aside_log_e(n, rows, low)[1] >= slope:
        return low
    if aside_log_e(n, rows, high)[1] <= slope:
        return high
    for _ in range(60):
        m = 0.5 * (low + high)
        if aside_log_e(n, rows, m)[1] < slope:
            low = m
        else:
            high = m
    return 0.5 * (low + high)


@kernel
def pair_end_by_slope(a: Any, b: Any, level: float) -> Any:
    """The largest difference by two nested bisections: slow, but right wherever the bounds cut the region off."""
    low, high = -30.0, 60.0  # of the log of the common slope
    for _ in range(60):
        slope = math.exp(0.5 * (low + high))
        m_a, m_b = aside_at_slope(a.n, a.down, slope), aside_at_slope(b.n, b.up, -slope)
        if aside_log_e(a.n, a.down, m_a)[0] + aside_log_e(b.n, b.up, m_b)[0] < level:
            low = 0.5 * (low + high)
        else:
            high = 0.5 * (low + high)
    slope = math.exp(high)
    return aside_at_slope(a.n, a.down, slope) - aside_at_slope(b.n, b.up, -slope)


@kernel
def pair_end_at_bound(a: Any, b: Any, level: float) -> Any:
    """The largest difference where m_b is 0 or m_a is 1; NaN where neither is the solution."""
    f_a, d_a, _ = aside_log_e(a.n, a.down, 1.0)
    f_b, d_b, _ = aside_log_e(b.n, b.up, 0.0)
    if f_a + f_b <= level:
        return 1.0
    left = without_aside(level - f_b)
    if left > 0.0:
        m_a = betting_end(a.n, a.mean, a.high - a.mean, a.down, left, True)
        if m_a < 1.0 and aside_log_e(a.n, a.down, m_a)[1] + d_b >= 0.0:
            return m_a
    left = without_aside(level - f_a)
    if left > 0.0:
        m_b = betting_end(b.n, b.mean, b.mean - b.low, b.up, left, False)
        if m_b > 0.0 and d_a + aside_log_e(b.n, b.up, m_b)[1] <= 0.0:
            return 1.0 - m_b
    return math.nan


@kernel
def betting_pair_end(a: Any, b: Any, level: float) -> Any:
    """The largest m_a - m_b with log E'_a(m_a) + log E'_b(m_b) at most ``level``: Newton on the two conditions.

    E'_a is made of the bets that a's mean is smaller, E'_b of those that b's is larger. At the solution the slopes are
    opposite and the sum is at the level. Where Newton leaves the bounds, the solution is sought on a bound; where it
    does not converge, by two nested bisections.
    """
    m_a, m_b = a.high, b.low
    for _ in range(40):
        f_a, d_a, dd_a = aside_log_e(a.n, a.down, m_a)
        f_b, d_b, dd_b = aside_log_e(b.n, b.up, m_b)
        slopes, excess = d_a + d_b, f_a + f_b - level
        if abs(excess) < 1e-10 * level and abs(slopes) < 1e-7 * d_a:
            return m_a - m_b
        determinant = dd_a * d_b - dd_b * d_a
        if not (determinant < 0.0 and d_a > 0.0):
            break
        m_a += (dd_b * excess - slopes * d_b) / determinant
        m_b += (slopes * d_a - dd_a * excess) / determinant
        if not (0.0 < m_a < 1.0 and 0.0 < m_b < 1.0):
            break
    end = pair_end_at_bound(a, b, level)
    return pair_end_by_slope(a, b, level) if math.isnan(end) else end


@kernel
def betting_ends(count: Any, mean: Any, rss: Any, level: float) -> Any:
    """The ends of each arm's interval, rewards in [0, 1]."""
    ends = np.empty((len(count), 2))
    for k in range(len(count)):
        rows = all_bets(count[k], mean[k], rss[k])
        spread = first_guess(count[k], rss[k], level)
        ends[k, 0] = betting_end(count[k], mean[k], spread, rows, level, False)
        ends[k, 1] = betting_end(count[k], mean[k], spread, rows, level, True)
    return ends


@kernel
def betting_pairs(count: Any, mean: Any, rss: Any, pairs: Any, level: float) -> Any:
    """The ends of the interval of each pair's difference, rewards in [0, 1]: half of the level on each end."""
    level += math.log(2.0)
    arms = [arm_bets(count[k], mean[k], rss[k], level) for k in range(len(count))]
    ends = np.empty((len(pairs), 2))
    for i in range(len(pairs)):
        a, b = arms[pairs[i, 0]], arms[pairs[i, 1]]
        ends[i, 0] = -betting_pair_end(b, a, level)
        ends[i, 1] = betting_pair_end(a, b, level)
    return ends
