"""The four moments that every answer is made of, over arms; and exact running sums of them.

The running sums are whole numbers (a float is a whole number times a power of two), so that the order of the rewards
does not matter, and an amended or withdrawn reward leaves no trace: moments after it are those of a log that never
had it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Moments(NamedTuple):
    """Moments of the rewards of each arm: arrays with one entry an arm.

    Parameters
    ----------
    count, mean : array
    rss : array
        Residual sum of squares, sum of (y - mean)^2.
    fourth : array
        Sum of (y - mean)^4.
    """

    count: Floats  # type: ignore[assignment]  # the tuple's method of this name is not needed
    mean: Floats
    rss: Floats
    fourth: Floats

    @classmethod
    def of(cls, count: Any, mean: Any, rss: Any, fourth: Any) -> Moments:
        """Moments from sequences, or from numbers for a single arm."""
        return cls(*(np.atleast_1d(np.asarray(column, np.float64)) for column in (count, mean, rss, fourth)))

    def scaled(self, low: float, high: float) -> Moments:
        """The moments of (y - low) / (high - low)."""
        width = high - low
        mean = np.clip((self.mean - low) / width, 0.0, 1.0)
        return Moments(self.count, mean, self.rss / width**2, self.fourth / width**4)

    def negated(self) -> Moments:
        """The moments of -y."""
        return self._replace(mean=-self.mean)

    def grown(self, factor: Floats) -> Moments:
        """Moments as they would be with so many times the rewards and the same distribution."""
        return Moments(self.count * factor, self.mean, self.rss * factor, self.fourth * factor)

    def only(self, arms: Any) -> Moments:
        """The moments of some of the arms."""
        return Moments(*(column[arms] for column in self))


def moments_by_arm(arm: npt.NDArray[np.intp], reward: Floats, arms: int) -> Moments:
    """Moments of a log: ``arm`` holds numbers from 0 to ``arms - 1``. Two passes, so nothing cancels."""
    count = np.bincount(arm, minlength=arms).astype(np.float64)
    anchor = np.zeros(arms)
    anchor[arm[::-1]] = reward[::-1]  # the first reward of each arm: the sums of the rest stay small
    shifted = reward - anchor[arm]
    some = np.maximum(count, 1.0)
    drift = np.bincount(arm, shifted, arms) / some
    deviation = shifted - drift[arm]
    rest = np.bincount(arm, deviation, arms) / some  # what rounding left in the mean
    deviation -= rest[arm]
    squared = deviation * deviation
    rss, fourth = np.bincount(arm, squared, arms), np.bincount(arm, squared * squared, arms)
    return Moments.of(count, anchor + (drift + rest), rss, fourth)


def checked_moments(moments: Any, arms: int | None = None) -> Moments:
    """The moments as arrays, if they can be moments of rewards."""
    found = Moments.of(*moments)
    for name, column in zip(Moments._fields, found, strict=True):
        if column.shape != (len(found.count) if arms is None else arms,):
            raise ValueError(f"{name} must have one entry for each arm, got {column.size}")
        wrong = column[~np.isfinite(column) | ((column < 0.0) if name != "mean" else False)]
        if len(wrong):
            accepted = "finite" if name == "mean" else "a finite number of at least 0"
            raise ValueError(f"{name} must be {accepted} for each arm, got {float(wrong[0])!r}")
    return found


def own_number(moments: Moments) -> Floats:
    """``RSS^2 / sum d^4`` of each arm by itself."""
    known = (moments.rss > 0.0) & (moments.fourth > 0.0)
    own = np.divide(moments.rss**2, moments.fourth, out=np.zeros_like(moments.rss), where=known)
    return np.minimum(own, moments.count)  # rounding aside it is at most the count


def effective_number(moments: Moments) -> Floats:
    """Effective number of rewards of each arm: how many of the events that make up the variance it has seen.

    The smaller of ``RSS^2 / sum d^4`` and ``count / kurtosis``, the kurtosis being pooled over the arms: an arm that
    has only seen calm rewards while others had a jackpot does not count as known. About count / 3 for Gaussian
    rewards, the number of successes for rare ones, 0 while all rewards of an arm are equal.

    Examples
    --------
    >>> effective_number(Moments.of([4.0], [0.0], [4.0], [4.0]))  # two rewards of -1, two of 1
    array([4.])
    """
    own = own_number(moments)
    kurtosis = np.divide(moments.count, own, out=np.zeros_like(own), where=own > 0.0)
    total = moments.rss.sum()
    pooled = float((moments.rss * kurtosis).sum() / total) if total > 0.0 else 0.0
    return np.minimum(own, moments.count / pooled) if pooled > 0.0 else own


class ExactSums:
    """Count and sums of y, y^2, y^3 and y^4, exactly, of any rewards in any order.

    Examples
    --------
    >>> sums = ExactSums()
    >>> for y in (1e9, 1e9 + 1.0, 7.0):
    ...     sums.add(y)
    >>> sums.remove(7.0)
    >>> sums.moments()
    (2, 1000000000.5, 0.5, 0.125)
    """

    def __init__(self) -> None:
        self.count = 0
        self._exponent = 0  # values are kept as whole numbers of 2^-exponent
        self._powers = [0, 0, 0, 0]

    def add(self, value: float) -> None:
        """Take in a reward."""
        self._change(value, 1)

    def remove(self, value: float) -> None:
        """Take back a reward that was added."""
        self._change(value, -1)

    def _change(self, value: float, sign: int) -> None:
        numerator, denominator = value.as_integer_ratio()
        exponent = denominator.bit_length() - 1
        if exponent > self._exponent:
            more = exponent - self._exponent
            self._powers = [total << (more * power) for power, total in enumerate(self._powers, 1)]
            self._exponent = exponent
        y = numerator << (self._exponent - exponent)
        square = y * y
        for place, power in enumerate((y, square, square * y, square * square)):
            self._powers[place] += sign * power
        self.count += sign

    @property
    def is_possible(self) -> bool:
        """Whether some rewards have these sums; they need not if a reward was removed that had not been added."""
        first, second = self._powers[:2]
        return self.count * second >= first * first if self.count else not any(self._powers)

    def moments(self) -> tuple[int, float, float, float]:
        """Count, mean, RSS and the fourth central sum, each correctly rounded."""
        n = self.count
        if n == 0:
            return 0, 0.0, 0.0, 0.0
        first, second, third, fourth = self._powers
        # n RSS and n^3 (sum d^4) are whole numbers of 2^(-2 exponent) and 2^(-4 exponent).
        rss = n * second - first * first
        sum_fourth = n * n * n * fourth - 4 * n * n * first * third + 6 * n * first * first * second - 3 * first**4
        unit = 1 << self._exponent
        return (
            n, float(Fraction(first, n * unit)), float(Fraction(rss, n * unit**2)),
            float(Fraction(sum_fourth, n**3 * unit**4)),
        )  # fmt: skip
