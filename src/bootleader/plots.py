"""Draws numbers, computes none. Matplotlib is imported only here, and only when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

# Okabe and Ito's colour-blind-safe set, darkest first; with line styles, so that curves stay apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7A5195", "#8C8C00")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
BAND = 0.18


def style_of(place: int) -> dict[str, Any]:
    """Colour and line style of the place-th curve."""
    return {"color": COLOURS[place % len(COLOURS)], "linestyle": STYLES[place % len(STYLES)], "linewidth": 1.8}


def new_figure(width: float = 6.4, height: float = 4.0, columns: int = 1) -> tuple[Figure, list[Any]]:
    """A figure with ``columns`` plain panels side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(np.ravel(figure.subplots(1, columns)))
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        panel.set_axisbelow(True)
    return figure, axes


def draw_curves(panel: Any, rounds: npt.NDArray[np.int64], curves: Mapping[str, tuple[Floats, Floats]]) -> None:
    """Mean curves with a band of one standard error each."""
    for place, (name, (mean, sem)) in enumerate(curves.items()):
        style = style_of(place)
        panel.plot(rounds, mean, label=name, **style)
        panel.fill_between(rounds, mean - sem, mean + sem, color=style["color"], alpha=BAND, linewidth=0)
    panel.set_xlim(0, rounds[-1])
    panel.set_ylim(bottom=0)
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.yaxis.set_major_formatter("{x:,.0f}")
    panel.set_xlabel("round")
    panel.set_ylabel("mean regret (band: ± 1 standard error)")


def regret_curves(
    rounds: npt.NDArray[np.int64], curves: Mapping[str, tuple[Floats, Floats]], title: str = "", subtitle: str = ""
) -> Figure:
    """One panel of regret curves with a legend sorted from worst to best, as the curves end."""
    figure, (panel,) = new_figure(7.2, 4.4)
    draw_curves(panel, rounds, curves)
    ends = [mean[-1] for mean, _ in curves.values()]
    handles, labels = panel.get_legend_handles_labels()
    order = np.argsort(ends)[::-1]
    figure.legend(
        [handles[i] for i in order], [labels[i] for i in order], loc="outside lower center", frameon=False, fontsize=9,
        ncols=1 if max(map(len, labels)) > 34 else 2, handlelength=3,
    )  # fmt: skip
    panel.set_title("\n".join(line for line in (title, subtitle) if line), fontsize=10, loc="left")
    return figure


def write(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure; the ending of the path chooses the format."""
    figure.savefig(path, dpi=150)
