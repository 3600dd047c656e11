"""The growth exponent of regret in the horizon, from the same runs stopped at T, T/2 and T/4."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bootleader.paper._bootstrap_intervals import RESAMPLES, Floats, Interval, bootstrap
from bootleader.paper._cell_cache import Cell, Results

LINEAR_FROM = 0.85  # exponents above this are called linear; a logarithm has 0, a straight line 1

HOW = (
    "Growth exponent: g = log2[(R(T) − R(T/2)) / (R(T/2) − R(T/4))], with R the mean regret over the same runs "
    "stopped at T, T/2 and T/4. If R(T) = c + b·T^β it is β for all b and c; a straight line gives 1, a logarithm "
    f"0. Its 95 % interval is the percentile bootstrap over runs ({RESAMPLES:,} resamples). Regret is called linear "
    f"if the whole interval lies above {LINEAR_FROM:g}, sublinear if the whole interval lies below. A claim whose "
    "interval lies on both sides of its line, or whose number cannot be computed, is undecided."
)


class Growth(Interval):
    """A growth exponent of regret."""

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


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
    >>> nothing = np.zeros(3)
    >>> growth(nothing, nothing, nothing).is_computed
    False
    """
    found = bootstrap(exponent, full, half, quarter)
    return Growth(found.value, found.low, found.high)


def growth_cells(cell: Cell) -> list[Cell]:
    """A cell at T, T/2 and T/4. Run r has the same rewards at each, so they are the same runs stopped earlier."""
    return [replace(cell, rounds=cell.rounds // divisor) for divisor in (1, 2, 4)]


def all_growth_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell at T, T/2 and T/4."""
    return [shorter for cell in cells for shorter in growth_cells(cell)]


def growth_of(results: Results, cell: Cell) -> Growth:
    """Growth exponent of a cell whose growth cells were played."""
    full, half, quarter = (results.final_regret(shorter) for shorter in growth_cells(cell))
    return growth(full, half, quarter)
