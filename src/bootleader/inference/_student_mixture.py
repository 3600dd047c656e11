"""The Student mixture: an e-process of an arm's mean for rewards without bounds [1]_.

A function of an arm's moments (count n, mean, residual sum of squares RSS) alone, so that it needs no history, and an
amended reward or a merge is an update of the moments. Exact for Gaussian rewards of unknown variance:
``log E(m) = -log(1 + n c2) / 2 + (n/2) [log(1 + q) - log(1 + q / (1 + n c2))]``, ``q = n (mean - m)^2 / RSS``.
It depends on ``|m - mean|`` alone. Scalars in, scalars out, compiled: the same for one look and for a million.

References
----------
.. [1] T. L. Lai (1976), Annals of Statistics 4(2); H. Wang, A. Ramdas (2025), anytime-valid t-tests.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bootleader._core.disk_cache import kernel
from bootleader.inference._pair_wealth import with_aside, without_aside

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
PLACES = 32  # of the first, coarse search for the best split of a level over two arms


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
def _split_reach(n_a: float, rss_a: float, n_b: float, rss_b: float, level: float, u: float, c2: float) -> Any:
    """How far both arms together reach if the first may go to ``u`` and the second to ``level - u``."""
    return student_reach(n_a, rss_a, without_aside(u), c2) + student_reach(n_b, rss_b, without_aside(level - u), c2)


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
def student_pairs(count: Any, rss: Any, pairs: Any, level: float, c2: float) -> Any:
    """How far the interval of each pair's difference reaches from the difference of the means."""
    reach = np.empty(len(pairs))
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        is_known = min(count[a], count[b]) > 1.0 and min(rss[a], rss[b]) > 0.0
        reach[i] = student_pair_reach(count[a], rss[a], count[b], rss[b], level, c2) if is_known else math.inf
    return reach
