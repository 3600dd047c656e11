"""Figures that show by themselves in a notebook, and through pyplot where that is in use."""

from __future__ import annotations

import io
import sys
from typing import Any

from matplotlib.figure import Figure

RESOLUTION = 110  # dots per inch in a notebook


class ShownFigure(Figure):
    """A figure that a notebook shows as the value of a cell, whether pyplot has been imported or not."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=RESOLUTION, bbox_inches="tight", facecolor="white")
        return content.getvalue()


def shown_figure(**options: Any) -> Figure:
    """Return a new figure; it is pyplot's current one if pyplot has been imported.

    Notebooks that draw inline show the value of a cell and every figure that pyplot has: there the figure is not
    pyplot's, so that it shows once.

    Parameters
    ----------
    **options
        Of :class:`matplotlib.figure.Figure`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or "inline" in str(pyplot.get_backend()).lower():
        return ShownFigure(**options)
    figure: Figure = pyplot.figure(FigureClass=ShownFigure, **options)
    return figure
