"""Count, mean and RSS (residual sum of squares) of an arm's rewards: Welford's update and Chan's merge.

The paper's ``RSS = sum Y^2 - s Ybar^2`` cancels: at an offset of 1e8 it is wrong by an order of magnitude and can go
negative. Welford's form does not; and because the mean is kept as *anchor + drift*, the first reward plus a small
number, it does not stagnate either when ten million rewards sit around 1e9.

Both functions are plain arithmetic: Python, NumPy and compiled code share them.

References
----------
B. P. Welford (1962), Technometrics 4(3). T. F. Chan, G. H. Golub, R. J. LeVeque (1983), Am. Stat. 37(3).
"""

from __future__ import annotations

from typing import Any


def welford(count: Any, anchor: Any, drift: Any, rss: Any, value: Any) -> tuple[Any, Any, Any, Any]:
    """Moments after one more value.

    Examples
    --------
    >>> welford(0.0, 0.0, 0.0, 0.0, 7.0)
    (1.0, 7.0, 0.0, 0.0)
    >>> welford(1.0, 7.0, 0.0, 0.0, 9.0)
    (2.0, 7.0, 1.0, 2.0)
    """
    anchor = value if count == 0.0 else anchor
    deviation = value - anchor
    delta = deviation - drift
    count = count + 1.0
    drift = drift + delta / count
    return count, anchor, drift, rss + delta * (deviation - drift)


def chan(count_a: Any, mean_a: Any, rss_a: Any, count_b: Any, mean_b: Any, rss_b: Any) -> tuple[Any, Any, Any]:
    """Count, mean and RSS of two samples taken together (at least one of them not empty).

    Examples
    --------
    >>> chan(2.0, 8.0, 2.0, 1.0, 11.0, 0.0)
    (3.0, 9.0, 8.0)
    """
    count = count_a + count_b
    delta = mean_b - mean_a
    mean = mean_a + delta * (count_b / count)
    return count, mean, rss_a + rss_b + delta * delta * (count_a * (count_b / count))
