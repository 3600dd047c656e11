"""How fast regret grows, and how sure one can be of it: intervals by the bootstrap over runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader.paper._cell_cache import Cell, Results

Floats = npt.NDArray[np.float64]

RESAMPLES = 2_000
LEVEL = 0.95
SEED = 20_020_843  # of the bootstrap; any number, but one and the same, so that reports repeat

HOW = (
    "Growth exponent: g = log2[(R(T) − R(T/2)) / (R(T/2) − R(T/4))], with R the mean regret over the same runs "
    "stopped at T, T/2 and T/4. If R(T) = a + b·T^β it is β whatever a and b; a straight line gives 1, a logarithm "
    f"0. Its 95 % interval is the percentile bootstrap over runs ({RESAMPLES:,} resamples). Regret is called linear "
    "if the whole interval lies above 0.85, sublinear if the whole interval lies below, and undecided (“in part”) "
    "otherwise."
)


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_short(self.value)} [{_short(self.low)}, {_short(self.high)}]"


class Growth(Interval):
    """A growth exponent of regret."""

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def _short(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def resampled_means(*samples: Floats) -> list[Floats]:
    """Means of paired samples over the same bootstrap resamples of the runs."""
    runs = len(samples[0])
    rng = np.random.default_rng(SEED)
    chosen = rng.integers(0, runs, (RESAMPLES, runs))
    return [np.asarray(sample)[chosen].mean(axis=1) for sample in samples]


def bootstrap(statistic: Callable[..., Any], *samples: Floats) -> Interval:
    """Percentile interval of a function of paired samples' means."""
    value = statistic(*(np.asarray(sample).mean() for sample in samples))
    edges = (1.0 - LEVEL) / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = np.quantile(
            np.nan_to_num(statistic(*resampled_means(*samples)), nan=0.0), [edges, 1.0 - edges], method="nearest"
        )
    return Interval(float(value), float(low), float(high))


def exponent(full: Any, half: Any, quarter: Any) -> Any:
    """log2 of the last half's regret over that of the quarter before it; minus infinity if the last half has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(full - half) - np.log2(half - quarter)


def growth(full: Floats, half: Floats, quarter: Floats) -> Growth:
    """Growth exponent of the same runs' regret at T, T/2 and T/4.

    Examples
    --------
    >>> steady = np.array([90.0, 110.0, 100.0])
    >>> str(growth(steady, steady / 2, steady / 4))
    '1.00 [1.00, 1.00]'
    """
    found = bootstrap(exponent, full, half, quarter)
    return Growth(found.value, found.low, found.high)


def mean(sample: Floats) -> Interval:
    """Mean over runs."""
    return bootstrap(lambda value: value, sample)


def ratio(numerator: Floats, denominator: Floats) -> Interval:
    """Ratio of mean regrets over the same runs."""
    return bootstrap(lambda top, bottom: top / bottom, numerator, denominator)


def typical(ratios: Iterable[float]) -> Interval:
    """Geometric mean of ratios from several settings, with its 95 % interval (Student, on the logarithms).

    Examples
    --------
    >>> str(typical([2.0, 2.0, 2.0]))
    '2 [2, 2]'
    """
    from scipy import stats

    logs = np.log(list(ratios))
    reach = float(stats.t.ppf(0.5 + LEVEL / 2.0, len(logs) - 1) * stats.sem(logs))
    centre = float(logs.mean())
    return Interval(math.exp(centre), math.exp(centre - reach), math.exp(centre + reach))


def stretches(cell: Cell) -> list[Cell]:
    """A cell at T, T/2 and T/4: run 17 is run 17 at each, so these are three looks at the same runs."""
    return [replace(cell, rounds=cell.rounds // part) for part in (1, 2, 4)]


def growth_of(results: Results, cell: Cell) -> Growth:
    """Growth exponent of a cell whose stretches were played."""
    full, half, quarter = (results.final(stretch) for stretch in stretches(cell))
    return growth(full, half, quarter)
