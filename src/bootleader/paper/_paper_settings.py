"""What several parts share: the paper's bandits, and curves taken out of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bootleader.bandits import Bandit, ExponentialBandit, GaussianBandit, LogisticBandit, Uniform
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._regret_growth import stretches
from bootleader.paper._report_part import Size

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.plots import Curve

FIG1_BANDIT = GaussianBandit(Uniform(-1, 1, arms=10))
SHAPES: dict[str, Bandit] = {
    "Gaussian": GaussianBandit(Uniform(5, 7, arms=10)),
    "exponential": ExponentialBandit(Uniform(5, 7, arms=10), shift=5),
    "logistic": LogisticBandit(Uniform(5, 7, arms=10)),
}
SHIFTS = tuple(range(21))
SDS = tuple(range(1, 21))


def shifted(c: float) -> Bandit:
    """The left panel of figure 2: two arms (c+1, c), sd 1."""
    return GaussianBandit((c + 1.0, float(c)))


def spread_out(sd: float) -> Bandit:
    """The right panel of figure 2: two arms (1, 0) with the given sd."""
    return GaussianBandit((1.0, 0.0), sd=float(sd))


def with_stretches(cells: list[Cell]) -> list[Cell]:
    """Cells at T, T/2 and T/4, for growth exponents."""
    return [stretch for cell in cells for stretch in stretches(cell)]


def curve(results: Results, cell: Cell) -> Curve:
    """A cell's regret curve."""
    from bootleader.plots import Curve

    found = results[cell]
    return Curve(found.rounds, found.mean_regret[0], found.standard_error[0])


def final_curve(results: Results, cells: Mapping[float, Cell]) -> Curve:
    """Final regret of a sweep of cells."""
    import numpy as np

    from bootleader.plots import Curve

    ends = [(results[cell].mean_regret[0, -1], results[cell].standard_error[0, -1]) for cell in cells.values()]
    mean, sem = (np.array(column) for column in zip(*ends, strict=True))
    return Curve(np.array(list(cells)), mean, sem)


def curves_frame(panels: Mapping[str, Mapping[str, Curve]], x: str) -> pd.DataFrame:
    """Curves as tidy numbers, for the CSV beside a figure."""
    import pandas as pd

    frames = [
        pd.DataFrame({"panel": title, "policy": name, x: c.x, "mean_regret": c.mean, "sem": c.sem})
        for title, curves in panels.items()
        for name, c in curves.items()
    ]
    return pd.concat(frames, ignore_index=True)


def how_many(size: Size) -> str:
    """The size in words, for captions."""
    return f"{size.runs_of():,} runs of {size.rounds_of():,} rounds"
