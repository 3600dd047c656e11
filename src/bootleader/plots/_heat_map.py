"""A table of values as a heat map with the numbers written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bootleader.plots._axes import INK, plain

SPREAD = 20.0  # ratio of the largest to the smallest value from which colours are on a log scale
WIDEST, HIGHEST = 10.0, 8.0  # inches of a panel
MOST_COLUMNS, MOST_ROWS = 15, 20  # that have all their names and numbers written
LEAST_FACTOR = 1.1  # of ratios around 1 that has the full colour, so that noise is pale


class HeatMapText(NamedTuple):
    """Words around a heat map; ``bar`` is beside the colours."""

    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    bar: str = ""


def heat_map(
    table: npt.NDArray[np.float64],
    rows: Sequence[str],
    columns: Sequence[str],
    text: HeatMapText = HeatMapText(),  # noqa: B008  (immutable)
    *,
    relative: bool = False,
    ax: Any = None,
    make: Callable[..., Figure] | None = None,
) -> Figure:
    """Draw a table of values as coloured cells.

    Parameters
    ----------
    table : array, row x column
        The values.
    rows, columns : sequence of str
        Their names.
    text : HeatMapText
        Words of the panel, the axes and the colour bar.
    relative : bool
        The values are ratios: colours diverge from 1, on a log scale.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    make : callable, optional
        Constructs the new figure, if it is not to be a plain one.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that was drawn on.
    """
    if ax is None:
        panel_width = max(min(0.66 * len(columns), WIDEST), 0.085 * len(text.title))
        size = (2.6 + panel_width + 0.08 * max(map(len, rows)), 1.5 + min(0.42 * len(rows), HIGHEST))
        figure = (make or Figure)(figsize=size, layout="constrained")
        panel: Any = figure.subplots()
    else:
        panel, figure = ax, ax.figure
    norm, colours = _colours(table, relative)
    image = panel.imshow(table, cmap=colours, norm=norm, aspect="auto")
    if len(columns) <= MOST_COLUMNS and len(rows) <= MOST_ROWS:
        for y, x in np.ndindex(table.shape):
            red, green, blue, _ = image.cmap(norm(table[y, x]))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            number = f"{table[y, x]:,.0f}" if abs(table[y, x]) >= 1000 else f"{table[y, x]:.3g}"
            panel.text(x, y, number, ha="center", va="center", fontsize=8, color="white" if dark else INK)
    across, down = _some(len(columns), MOST_COLUMNS), _some(len(rows), MOST_ROWS)
    slanted = max(map(len, columns)) > 7
    panel.set_xticks(across, [columns[place] for place in across], fontsize=9, rotation=40 if slanted else 0)
    panel.set_yticks(down, [rows[place] for place in down], fontsize=9)
    panel.tick_params(length=0, colors=INK)
    panel.spines[:].set_visible(False)
    panel.set_xlabel(text.xlabel, color=INK)
    panel.set_ylabel(text.ylabel, color=INK)
    if text.title:
        panel.set_title(text.title, fontsize=11, loc="left", color=INK)
    bar = figure.colorbar(image, ax=panel, pad=0.02)
    bar.set_label(text.bar, fontsize=9)
    if isinstance(norm, LogNorm):
        bar.ax.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.yaxis.set_major_formatter(FuncFormatter(plain))
    bar.ax.tick_params(labelsize=8, length=2)
    bar.outline.set_visible(False)
    return figure


def _some(count: int, most: int) -> list[int]:
    """Evenly spaced places, at most so many.

    Examples
    --------
    >>> _some(4, 5), _some(11, 5)
    ([0, 1, 2, 3], [0, 3, 6, 9])
    """
    return list(range(0, count, -(-count // most)))


def _colours(table: npt.NDArray[np.float64], relative: bool) -> tuple[Normalize, str]:
    """The scale of the colours and their name."""
    known = table[np.isfinite(table)]
    if relative and (known > 0.0).any():
        positive = known[known > 0.0]
        factor = max(LEAST_FACTOR, float(positive.max()), 1.0 / float(positive.min()))
        return LogNorm(1.0 / factor, factor, clip=True), "RdBu_r"
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if low > 0.0 and high / low > SPREAD:
        return LogNorm(low, high), "YlGnBu"
    return Normalize(low, high if high > low else low + 1.0), "YlGnBu"
