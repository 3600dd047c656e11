"""Regret curves from the results of cells, for figures and the CSV files beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bootleader.paper._cell_cache import Cell, Results

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.plots import Curve


def regret_curve(results: Results, cell: Cell) -> Curve:
    """Mean regret of a cell at its checkpoints."""
    from bootleader.plots import Curve

    found = results[cell]
    return Curve(found.rounds, found.mean_regret[0], found.standard_error[0])


def final_regret_curve(results: Results, cells: Mapping[float, Cell]) -> Curve:
    """Mean final regret of several cells against the value that is their key."""
    from bootleader.plots import Curve

    ends = [(results[cell].mean_regret[0, -1], results[cell].standard_error[0, -1]) for cell in cells.values()]
    means, standard_errors = (np.array(column) for column in zip(*ends, strict=True))
    return Curve(np.array(list(cells)), means, standard_errors)


def curves_frame(panels: Mapping[str, Mapping[str, Curve]], x: str) -> pd.DataFrame:
    """Curves as a tidy frame: one row a panel, policy and point; ``x`` names the column of the horizontal axis."""
    import pandas as pd

    frames = [
        pd.DataFrame(
            {"panel": title, "policy": name, x: c.x, "mean_regret": c.mean, "standard_error": c.standard_error}
        )
        for title, curves in panels.items()
        for name, c in curves.items()
    ]
    return pd.concat(frames, ignore_index=True)
