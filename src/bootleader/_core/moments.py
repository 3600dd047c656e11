"""Count, mean, RSS (residual sum of squares), third and fourth central power sums of an arm's rewards.

There are updates by one value and merges of two samples, with the two higher sums and without them.

The paper's ``RSS = sum Y^2 - s Ybar^2`` cancels: at an offset of 1e8 it is wrong by an order of magnitude and can be
negative. Welford's form does not cancel. The mean is stored as *anchor + drift*, the first reward plus a small number,
so it stays accurate after ten million rewards around 1e9.

All functions are plain arithmetic: Python, NumPy and compiled code share them. A faded sample, all of whose sums are
multiplied by the same weight, is updated and merged like any other.

References
----------
B. P. Welford (1962), Technometrics 4(3). T. F. Chan, G. H. Golub, R. J. LeVeque (1983), Am. Stat. 37(3).
P. Pebay (2008), Formulas for robust, one-pass parallel computation of covariances and arbitrary-order statistical
moments, Sandia report SAND2008-6212.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

# Sums of fourth powers, and squares of sums of squares, of differences between 2^53 such rewards stay finite.
# Differences below 1e-76 have fourth powers below the smallest normal float.
LARGEST_FOURTH_POWER: Final = 1e65


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


def pebay(
    count: Any, anchor: Any, drift: Any, rss: Any, third: Any, fourth: Any, value: Any
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Moments after one more value, with the sums of third and fourth powers of the deviations.

    Count, anchor, drift and RSS are those of :func:`welford`, bit for bit.

    Examples
    --------
    >>> pebay(1.0, 7.0, 0.0, 0.0, 0.0, 0.0, 9.0)
    (2.0, 7.0, 1.0, 2.0, 0.0, 2.0)
    """
    anchor = value if count == 0.0 else anchor
    deviation = value - anchor
    delta = deviation - drift
    total = count + 1.0
    step = delta / total  # of the mean
    drift = drift + step
    growth = delta * step * count  # of the RSS
    fourth = fourth + step * (step * (growth * (total * (total - 3.0) + 3.0) + 6.0 * rss) - 4.0 * third)
    third = third + step * (growth * (total - 2.0) - 3.0 * rss)
    return total, anchor, drift, rss + delta * (deviation - drift), third, fourth


class PowerSums(NamedTuple):
    """Count and mean of a sample, and the sums of second, third and fourth powers of the deviations from the mean."""

    count: Any
    mean: Any
    rss: Any
    third: Any
    fourth: Any


def pebay_merge(a: PowerSums, b: PowerSums) -> PowerSums:
    """Power sums of two samples taken together (at least one not empty).

    Count, mean and RSS are those of :func:`chan`, bit for bit.

    Examples
    --------
    >>> pebay_merge(PowerSums(1.0, 7.0, 0.0, 0.0, 0.0), PowerSums(1.0, 9.0, 0.0, 0.0, 0.0))
    PowerSums(count=2.0, mean=8.0, rss=2.0, third=0.0, fourth=2.0)
    """
    count, mean, rss = chan(a.count, a.mean, a.rss, b.count, b.mean, b.rss)
    delta, share_a, share_b = b.mean - a.mean, a.count / count, b.count / count
    between = delta * delta * (a.count * share_b)
    crossed = share_a * b.rss - share_b * a.rss
    third = a.third + b.third + delta * (between * (share_a - share_b) + 3.0 * crossed)
    spread = between * (share_a * share_a - share_a * share_b + share_b * share_b)
    within = share_a * share_a * b.rss + share_b * share_b * a.rss
    skew = share_a * b.third - share_b * a.third
    fourth = a.fourth + b.fourth + delta * (delta * (spread + 6.0 * within) + 4.0 * skew)
    return PowerSums(count, mean, rss, third, fourth)


def effective_number(rss: Any, fourth: Any) -> Any:
    """How many rewards make up the variance: (sum d^2)^2 / sum d^4 with d the deviations from the mean.

    It is about a third of the count for Gaussian rewards, and about the number of successes where those are rare; 0
    while all rewards are equal.

    Examples
    --------
    >>> effective_number(2.0, 2.0)
    2.0
    >>> effective_number(0.0, 0.0)
    0.0
    """
    return rss * (rss / fourth) if fourth > 0.0 else 0.0


def pooled_variance(count: Any, rss: Any) -> Any:
    """Variance pooled over the arms: sum of RSS over sum of (s - 1)."""
    squares, freedom = 0.0, 0.0
    for k in range(len(count)):
        squares += rss[k]
        freedom += max(count[k] - 1.0, 0.0)
    return squares / freedom if freedom > 0.0 else 0.0


def pooled_kurtosis(count: Any, rss: Any, fourth: Any) -> Any:
    """Kurtosis pooled over the arms: the mean of s sum d^4 / RSS^2, weighted by RSS. It is at least 1."""
    squares, weighted = 0.0, 0.0
    for k in range(len(count)):
        squares += rss[k]
        weighted += count[k] * (fourth[k] / rss[k]) if rss[k] > 0.0 else 0.0
    return weighted / squares if weighted > squares else 1.0
