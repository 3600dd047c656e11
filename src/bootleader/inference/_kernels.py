"""Compiled formulas of the confidence sequences: scalars in, scalars out, the same for one look and for a million.

Two families of e-processes, both functions of an arm's moments (count n, mean, residual sum of squares RSS) alone, so
that they need no history, and an amended reward or a merge is an update of the moments.

**Student mixture**, for rewards without bounds [1]_. Exact for Gaussian rewards of unknown variance:
``log E(m) = -log(1 + n c2) / 2 + (n/2) [log(1 + q) - log(1 + q / (1 + n c2))]``, ``q = n (mean - m)^2 / RSS``.

**Betting**, for rewards in [0, 1] [2]_. A bet of size ``k`` that the mean is above m multiplies the wealth by ``(1 +
k x) / (1 + k m)`` at each reward x; one that it is below, by ``(1 + k (1 - x)) / (1 + k (1 - m))``. E is a mixture
over sizes and both directions. ``sum log(1 + k x)`` is replaced by the larger of two lower bounds that need the
moments only:

- the chord: ``log(1 + k x) >= x log(1 + k)``, an equality for rewards that are 0 or 1;
- the parabola that touches at the mean and meets ``log(1 + k x)`` at 0, which is below it on all of [0, infinity) [3]_.

A lower bound on wealth keeps the guarantee: the interval can only be wider. ``log E`` is convex in m in the betting
case, and it depends on ``|m - mean|`` alone in the Student case.

For a difference of two arms, each arm's wealth keeps a quarter aside, ``E' = 1/4 + 3/4 E``, and the product
``E'_a(m_a) E'_b(m_b)`` is an e-process too; the interval of ``m_a - m_b`` is the projection of the pairs at which it is
below ``1 / alpha``. Without the quarter an arm with very many rewards, whose E at its own mean is far below 1, would
pay for the other arm's deviations: with 500 and 10^6 rewards the interval would be a quarter wider. With equally many
it costs 3 to 4 per cent of the width. Betting, each end of the interval has half of the level and bets in one direction
only: that a's mean is smaller and b's larger, or the reverse.

References
----------
.. [1] T. L. Lai (1976), Annals of Statistics 4(2); H. Wang, A. Ramdas (2025), anytime-valid t-tests.
.. [2] I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting. JRSS-B 86(1).
.. [3] X. Fan, I. Grama, Q. Liu (2015), Exponential inequalities for martingales with applications. EJP 20.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from bootleader._core.disk_cache import warn_of_no_cache


class ArmBets(NamedTuple):
    """An arm's moments in the unit interval, its bets in each direction, and where they reach the level."""

    n: Any
    mean: Any
    up: Any
    down: Any
    low: Any
    high: Any


def kernel(function: Any) -> Any:
    """Compile a function when it is first called, and keep it on disk where that is possible."""
    compiled = numba.njit(nogil=True, error_model="numpy")(function)
    try:
        compiled.enable_caching()
    except (RuntimeError, OSError) as error:
        warn_of_no_cache(str(error))
    return compiled


# Bet sizes: a geometric grid. A size off by a quarter costs 0.2 in log wealth at most. Sizes from 0.02 to 2 are what
# differences of some per cent of the mean call for; the others are there for very many and for very small rewards.
RATIO = 1.5
SIZES = 2e-4 * RATIO ** np.arange(58)
_PLACE = np.log(SIZES / 0.2) / 1.8
_RAW = np.exp(-0.5 * _PLACE**2) + 0.1 / (1.0 + _PLACE**2)
LOG_WEIGHTS = np.log(_RAW / _RAW.sum())
BETS = len(SIZES)
ASIDE = 0.25  # share of an arm's wealth that is not bet where two arms are compared
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
NEGLIGIBLE = -40.0  # log of a share of the wealth
KEPT = 14.0  # log of how far below the largest bet one is kept
PLACES = 32  # of the first, coarse search for the best split of a level over two arms


# Student mixture ---------------------------------------------------------------------------------------------------


@kernel
def student_log_e(n: float, mean: float, rss: float, m: float, c2: float) -> float:
    """Log E of the hypothesis that the arm's mean is m (RSS above 0)."""
    spread = 1.0 + n * c2
    q = n * (mean - m) * (mean - m) / rss
    return 0.5 * (n * (math.log1p(q) - math.log1p(q / spread)) - math.log(spread))


@kernel
def student_reach(n: float, rss: float, level: float, c2: float) -> float:
    """How far from the mean log E reaches ``level``: infinitely far if it never does."""
    spread = 1.0 + n * c2
    power = (2.0 * level + math.log(spread)) / n
    if power <= 0.0:
        return 0.0
    if power >= math.log(spread):
        return math.inf
    return math.sqrt(rss / n * math.expm1(power) / (1.0 - math.exp(power) / spread))


@kernel
def with_aside(log_e: float) -> float:
    """Log of E' = ASIDE + (1 - ASIDE) E."""
    if log_e > 0.0:
        return log_e + math.log(ASIDE * math.exp(-log_e) + 1.0 - ASIDE)
    return math.log(ASIDE + (1.0 - ASIDE) * math.exp(log_e))


@kernel
def without_aside(level: float) -> float:
    """The log E at which log E' is ``level``; minus infinity where it is always above."""
    if level <= math.log(ASIDE):
        return -math.inf
    return level + math.log((1.0 - ASIDE * math.exp(-level)) / (1.0 - ASIDE))


@kernel
def student_pair_reach(n_a: float, rss_a: float, n_b: float, rss_b: float, level: float, c2: float) -> float:
    """How far the difference can be from the difference of the means while the product is below ``exp(level)``."""
    low = with_aside(-0.5 * math.log(1.0 + n_a * c2))
    high = level - with_aside(-0.5 * math.log(1.0 + n_b * c2))
    step = (high - low) / PLACES
    best, place = -1.0, 0
    for i in range(PLACES + 1):
        reach = _split_reach(n_a, rss_a, n_b, rss_b, level, low + i * step, c2)
        if reach > best:
            best, place = reach, i
    if best == math.inf:
        return math.inf
    left, right = low + max(place - 1, 0) * step, low + min(place + 1, PLACES) * step
    for _ in range(36):
        width = GOLDEN * (right - left)
        u, v = right - width, left + width
        at_u = _split_reach(n_a, rss_a, n_b, rss_b, level, u, c2)
        at_v = _split_reach(n_a, rss_a, n_b, rss_b, level, v, c2)
        if at_u > at_v:
            right = v
        else:
            left = u
        best = max(best, at_u, at_v)
    return best


@kernel
def _split_reach(n_a: float, rss_a: float, n_b: float, rss_b: float, level: float, u: float, c2: float) -> Any:
    """How far both arms together reach if the first may go to ``u`` and the second to ``level - u``."""
    return student_reach(n_a, rss_a, without_aside(u), c2) + student_reach(n_b, rss_b, without_aside(level - u), c2)


# Betting -----------------------------------------------------------------------------------------------------------
#
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


# What the library calls: all arms and all pairs at once ---------------------------------------------------------------


@kernel
def student_pairs(count: Any, rss: Any, pairs: Any, level: float, c2: float) -> Any:
    """How far the interval of each pair's difference reaches from the difference of the means."""
    reach = np.empty(len(pairs))
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        is_known = min(count[a], count[b]) > 1.0 and min(rss[a], rss[b]) > 0.0
        reach[i] = student_pair_reach(count[a], rss[a], count[b], rss[b], level, c2) if is_known else math.inf
    return reach


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
