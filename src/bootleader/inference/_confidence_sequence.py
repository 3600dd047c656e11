"""The confidence sequence of a mean: an interval that stays valid however often one looks, and whenever one stops."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader._core.validation import real, whole
from bootleader.inference._intervals import (
    GUARD,
    LEAST,
    alpha_of,
    arm_intervals,
    bounds_of,
    check_moments,
    check_within,
    method_of,
)
from bootleader.inference._log_reader import numbers
from bootleader.inference._moments import ExactSums, Floats, Moments, checked_moments, effective_number, own_number
from bootleader.inference._sample_size import visits_for_guard

if TYPE_CHECKING:
    import pandas as pd


def confidence_sequence(
    rewards: Iterable[float] = (), low: float | None = None, high: float | None = None, alpha: float = 0.05
) -> ConfidenceSequence:
    """The confidence sequence of the mean of some rewards.

    With both bounds it is a betting sequence: with probability ``1 - alpha`` the mean is in the interval at *every*
    moment, whatever the distribution. Without bounds no interval can promise that for every distribution (Bahadur,
    Savage 1956): this one is exact for Gaussian rewards of unknown variance, and gives no answer yet while fewer than
    400 rewards, or 50 effective ones, have been seen, which holds its error near or below ``alpha`` on skewed and
    heavy-tailed rewards too.

    Parameters
    ----------
    rewards : iterable of float
        Rewards of one arm in any order; more can come by :meth:`ConfidenceSequence.update`.
    low, high : float, optional
        Bounds that no reward can exceed. Both or neither.
    alpha : float
        Chance of ever being wrong that is allowed.

    Returns
    -------
    ConfidenceSequence
        The interval, which takes more rewards by its method ``update``.

    Raises
    ------
    ValueError
        If a reward is not finite or outside the bounds.

    Examples
    --------
    >>> clicks = confidence_sequence([0, 1] * 500, low=0, high=1)
    >>> round(clicks.low, 3), round(clicks.high, 3)
    (0.449, 0.551)
    >>> clicks.update(1)
    >>> clicks.count
    1001
    """
    sequence = ConfidenceSequence(low, high, alpha)
    sequence.update_many(rewards)
    return sequence


class ConfidenceSequence:
    """A confidence sequence that learns one reward at a time. :func:`confidence_sequence` makes it.

    Rewards may be amended and withdrawn: the interval afterwards is that of the rewards as they stand, bit for bit.
    """

    def __init__(self, low: float | None = None, high: float | None = None, alpha: float = 0.05) -> None:
        self.bounds = bounds_of(low, high)
        self.alpha = alpha_of(alpha)
        self._sums = ExactSums()
        self._found: tuple[float, float, bool] | None = None

    # Learn -----------------------------------------------------------------------------------------------------------

    def update(self, reward: float) -> None:
        """Take in a reward."""
        self._sums.add(self._checked(reward))
        self._found = None

    def update_many(self, rewards: Iterable[float]) -> None:
        """Take in many rewards: all of them, or, if one is bad, none."""
        if not isinstance(rewards, Iterable):
            raise TypeError(f"rewards must be a sequence of numbers, got {rewards!r}")
        for value in [self._checked(reward) for reward in rewards]:
            self._sums.add(value)
        self._found = None

    def amend(self, old: float, new: float) -> None:
        """Replace a reward that was taken in by its new value."""
        old, new = self._checked(old), self._checked(new)
        self.withdraw(old)
        self._sums.add(new)

    def withdraw(self, reward: float) -> None:
        """Take back a reward. One that was never taken in is an error where the sums show it."""
        value = self._checked(reward)
        if not self.count:
            raise ValueError(f"there is no reward to withdraw, got {reward!r}")
        self._sums.remove(value)
        if not self._sums.is_possible:
            self._sums.add(value)
            raise ValueError(f"a reward to withdraw must have been taken in, got {reward!r}")
        self._found = None

    def _checked(self, reward: Any) -> float:
        if np.ndim(reward):
            raise TypeError("one arm's rewards are expected; for several arms use bl.verdict or confidence_sequences")
        plain = reward.item() if isinstance(reward, np.generic) else reward
        value = real("reward", float(plain) if isinstance(plain, bool) else plain)  # a click may be True
        check_within(self.bounds, np.array([value]))
        return value

    # Answer ----------------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many rewards it has."""
        return self._sums.count

    @property
    def moments(self) -> Moments:
        """Count, mean, RSS and sum of fourth powers of deviations."""
        return Moments.of(*self._sums.moments())

    @property
    def mean(self) -> float:
        """The mean of the rewards; NaN if there are none. Of rewards that a bandit collected it is biased."""
        return float(self.moments.mean[0]) if self.count else math.nan

    @property
    def effective_number(self) -> float:
        """Effective number of rewards: (sum d^2)^2 / sum d^4."""
        return float(effective_number(self.moments)[0])

    @property
    def method(self) -> str:
        """``betting (exact)`` or ``Student mixture (guarded)``."""
        return method_of(self.bounds)

    @property
    def is_ready(self) -> bool:
        """Whether there is an answer. If not, the interval is the whole line."""
        return self._interval()[2]

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self._interval()[0]

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self._interval()[1]

    @property
    def more(self) -> int | None:
        """About how many more rewards until there is an answer: 0 if there is one, None if that is not known yet."""
        if self.is_ready:
            return 0
        return visits_for_guard(self.moments, effective_number(self.moments), np.ones(1))

    def _interval(self) -> tuple[float, float, bool]:
        if self._found is None:
            if self.count:
                found = arm_intervals(self.moments, self.alpha, self.bounds)
                self._found = float(found.low[0]), float(found.high[0]), bool(found.is_ready[0])
            else:
                ends = self.bounds or (-math.inf, math.inf)
                self._found = ends[0], ends[1], self.bounds is not None
        return self._found

    def __repr__(self) -> str:
        level = f"{100 * (1 - self.alpha):g} %, valid at any time"
        if self.is_ready:
            return f"{self.mean:.6g} ({self.low:.6g} to {self.high:.6g}; {level}) from {self.count:,} rewards"
        more = self.more
        needed = f"about {more:,} more rewards" if more is not None else "too few different rewards to say how many"
        return (
            f"not yet: {needed} ({self.count:,} rewards of {LEAST:g}, effective number "
            f"{self.effective_number:.3g} of {GUARD:g})"
        )


def confidence_sequences(
    moments: Moments, low: float | None = None, high: float | None = None, alpha: float = 0.05
) -> pd.DataFrame:
    """The confidence sequences of many arms at once, from the moments of their rewards.

    Each interval has the level ``alpha``. For a statement about all arms together divide ``alpha`` by their number, as
    :func:`verdict` does. Without bounds the guard also takes the kurtosis pooled over the arms.

    Parameters
    ----------
    moments : Moments
        Count, mean, residual sum of squares and sum of fourth powers of the deviations, one entry an arm.
    low, high, alpha
        As in :func:`confidence_sequence`.

    Returns
    -------
    pandas.DataFrame
        One row an arm; columns ``count``, ``mean``, ``low``, ``high``, ``is_ready``. An arm without rewards has the
        mean NaN.

    Raises
    ------
    ValueError
        If no rewards between ``low`` and ``high`` have these moments.

    Examples
    --------
    >>> clicks = Moments.of(count=[1000, 1000], mean=[0.5, 0.2], rss=[250, 160], fourth=[62.5, 83.2])
    >>> confidence_sequences(clicks, low=0, high=1)[["low", "high"]].round(3).to_numpy().tolist()
    [[0.449, 0.551], [0.161, 0.243]]
    """
    import pandas as pd

    bounds, alpha, moments = bounds_of(low, high), alpha_of(alpha), checked_moments(moments)
    if bounds is not None:
        check_moments(bounds, moments)
    found = arm_intervals(moments, alpha, bounds)
    is_seen = moments.count > 0
    nothing = bounds or (-math.inf, math.inf)
    return pd.DataFrame({
        "count": moments.count.astype(np.int64), "mean": np.where(is_seen, moments.mean, math.nan),
        "low": np.where(is_seen, found.low, nothing[0]), "high": np.where(is_seen, found.high, nothing[1]),
        "is_ready": found.is_ready,
    })  # fmt: skip


def over_time(
    rewards: Any, low: float | None = None, high: float | None = None, alpha: float = 0.05, *, points: int = 200
) -> pd.DataFrame:
    """The interval as it was after 1, 2, 3, ... rewards, at evenly spaced looks.

    Parameters
    ----------
    rewards : sequence of float
        Rewards of one arm, in the order in which they came.
    low, high, alpha
        As in :func:`confidence_sequence`.
    points : int
        At how many looks, the last reward's included.

    Returns
    -------
    pandas.DataFrame
        Columns ``count``, ``mean``, ``low``, ``high``, ``is_ready``.

    Examples
    --------
    >>> over_time([0.0, 1.0, 1.0, 0.0], 0, 1, points=2)["count"].tolist()
    [2, 4]
    """
    import pandas as pd

    values = numbers("rewards", rewards)
    bounds, alpha = bounds_of(low, high), alpha_of(alpha)
    check_within(bounds, values)
    looks = np.unique(np.linspace(0, len(values), whole("points", points, 1) + 1).round().astype(np.intp))[1:]
    moments = moments_at(values, looks)
    found = arm_intervals(moments, alpha, bounds, own_number(moments))
    return pd.DataFrame({"count": looks, "mean": moments.mean, "low": found.low, "high": found.high,
                         "is_ready": found.is_ready})  # fmt: skip


def moments_at(values: Floats, looks: Any) -> Moments:
    """Moments of the first ``looks[i]`` values, for every i (each at least 1)."""
    centre = values.mean() if len(values) else 0.0
    d = values - centre  # deviations from what every mean is near: little cancels below
    sums = [np.concatenate([[0.0], np.cumsum(d**power)])[looks] for power in (1, 2, 3, 4)]
    n = np.asarray(looks, np.float64)
    mean = sums[0] / n
    rss = np.maximum(sums[1] - n * mean**2, 0.0)
    fourth = np.maximum(sums[3] - 4 * mean * sums[2] + 6 * mean**2 * sums[1] - 3 * n * mean**4, 0.0)
    rss[rss <= 1e-13 * sums[1]] = 0.0  # rounding, not spread
    return Moments(n, centre + mean, rss, fourth)
