"""Estimates with 95 % intervals: the percentile bootstrap over runs, and the geometric mean over settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES = 2_000
LEVEL = 0.95
SEED = 20_020_843  # fixed, so that reports repeat


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval.

    The ends may be infinite. Minus infinity as an estimate is the growth exponent of regret that has stopped. Plus
    infinity comes from a division by zero; like NaN it is not a result.

    Examples
    --------
    >>> str(Interval(1234.5, 0.1234, float("inf")))
    '1,234 [0.123, inf]'
    """

    value: float
    low: float
    high: float

    @property
    def is_computed(self) -> bool:
        """Whether there is a result that can be judged."""
        return not (math.isnan(self.value) or self.value == math.inf or math.isnan(self.low) or math.isnan(self.high))

    def __str__(self) -> str:
        return f"{_short(self.value)} [{_short(self.low)}, {_short(self.high)}]"


NOT_COMPUTED = Interval(math.nan, math.nan, math.nan)


def _short(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def quotient(numerator: float, denominator: float) -> float:
    """A quotient of numbers; NaN if the denominator is zero.

    Examples
    --------
    >>> quotient(1.0, 4.0), quotient(1.0, 0.0)
    (0.25, nan)
    """
    return float(numerator) / float(denominator) if denominator != 0.0 else math.nan


def resampled_means(*samples: Floats) -> list[Floats]:
    """Means of paired samples over the same bootstrap resamples of the runs."""
    runs = len(samples[0])
    rng = np.random.default_rng(SEED)
    chosen = rng.integers(0, runs, (RESAMPLES, runs))
    return [np.asarray(sample)[chosen].mean(axis=1) for sample in samples]


def bootstrap(statistic: Callable[..., Any], *samples: Floats) -> Interval:
    """Percentile interval of a function of paired samples' means.

    A resample on which the statistic is NaN could lie anywhere. It counts as minus infinity for the lower end and as
    plus infinity for the upper end, so that it can only widen the interval.

    Parameters
    ----------
    statistic : callable
        Function of the means, one for each sample; takes scalars and arrays.
    *samples : array
        Paired samples: entry r of each is run r.

    Returns
    -------
    Interval
        Without a value (NaN) if the statistic cannot be computed from the samples.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(*(np.asarray(sample).mean() for sample in samples)))
        resampled = np.asarray(statistic(*resampled_means(*samples)), np.float64)
    low, high = (
        float(np.sort(np.where(np.isnan(resampled), extreme, resampled))[round((RESAMPLES - 1) * share)])
        for extreme, share in ((-math.inf, (1.0 - LEVEL) / 2.0), (math.inf, (1.0 + LEVEL) / 2.0))
    )
    return Interval(value, low, high)


def mean(sample: Floats) -> Interval:
    """Mean over runs."""
    return bootstrap(lambda value: value, sample)


def ratio(numerator: Floats, denominator: Floats) -> Interval:
    """Ratio of mean regrets over the same runs."""
    return bootstrap(np.divide, numerator, denominator)


def geometric_mean(ratios: Iterable[float]) -> Interval:
    """Geometric mean of ratios from several settings, with its 95 % interval (Student, on the logarithms).

    Examples
    --------
    >>> str(geometric_mean([2.0, 2.0, 2.0]))
    '2 [2, 2]'
    >>> str(geometric_mean([2.0, 0.0]))
    'nan [nan, nan]'
    """
    from scipy import stats

    values = np.array(list(ratios), np.float64)
    if len(values) < 2 or not np.all((values > 0.0) & np.isfinite(values)):
        return NOT_COMPUTED
    logs = np.log(values)
    half_width = float(stats.t.ppf((1.0 + LEVEL) / 2.0, len(logs) - 1) * stats.sem(logs))
    centre = float(logs.mean())
    return Interval(math.exp(centre), math.exp(centre - half_width), math.exp(centre + half_width))
