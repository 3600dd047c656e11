"""Figures of ratios: rows of dots, and a map of policies and cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bootleader.plots._axes import GRID, INK, MUTED, new_figure, remark

ON_CELLS = ("#202020", "#fefefe")  # text on light and on dark cells; no other text has these colours


def dot_rows(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], colours: Mapping[str, str], xlabel: str, note: str = ""
) -> Figure:
    """Draw one row per policy and one dot per case on a log axis; the worst dot is named, the line marks 1.

    ``panels``: title -> policy -> case -> ratio.
    """
    first = next(iter(panels.values()))
    rows = list(first)
    figure, axes = new_figure(3.0 + 4.6 * len(panels), 1.3 + 0.42 * len(rows), len(panels), sharey=True)
    for panel, (title, table) in zip(axes, panels.items(), strict=True):
        panel.grid(axis="y", visible=False)
        panel.grid(axis="x", color=GRID, linewidth=0.8)
        panel.axvline(1.0, color=INK, linewidth=1.0)
        panel.set_xscale("log")
        for y, name in enumerate(rows):
            cases = table[name]
            values = np.array(list(cases.values()))
            panel.plot(
                [values.min(), values.max()],
                [y, y],
                color=colours[name],
                linewidth=5,
                alpha=0.18,
                solid_capstyle="round",
            )
            panel.plot(
                values, np.full(len(values), y), "o", color=colours[name], markersize=5, alpha=0.75, markeredgewidth=0
            )
            middle = float(np.exp(np.log(values).mean()))
            panel.plot([middle], [y], "|", color=INK, markersize=15, markeredgewidth=2)
            worst = max(cases, key=lambda case: cases[case])
            panel.annotate(
                f"worst: {worst}, {_times(cases[worst])}", (cases[worst], y), xytext=(7, 0), textcoords="offset points",
                va="center", fontsize=8, color=MUTED,
            )  # fmt: skip
        panel.set_title(title, fontsize=11, loc="left", color=INK)
        panel.set_xlabel(xlabel)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _times(value)))
        low, high = panel.get_xlim()
        panel.set_xlim(low, high * (high / low) ** 0.28)
        panel.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(len(rows)), rows)
    axes[0].invert_yaxis()
    remark(figure, note)
    return figure


def _times(value: float) -> str:
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2g}×"


def ratio_map(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], label: str, note: str = "", brightest: float = 100.0
) -> Figure:
    """Draw rows by columns of ratios, coloured on a log scale, with the numbers written in.

    ``panels``: title -> row -> column -> ratio. The first row has all columns; NaN and what is missing stay blank.
    """
    first = next(iter(panels.values()))
    rows, columns = list(first), list(next(iter(first.values())))
    figure = Figure(
        figsize=(3.0 + 0.62 * len(columns), (1.2 + 0.36 * len(rows)) * len(panels) + 0.8), layout="constrained"
    )
    axes = list(np.ravel(figure.subplots(len(panels), 1, sharex=True)))
    image: Any = None
    for panel, (title, table) in zip(axes, panels.items(), strict=True):
        values: Any = np.array([[table[row].get(column, np.nan) for column in columns] for row in rows])
        norm = LogNorm(1.0, brightest)
        image = panel.imshow(np.clip(values, 1.0, brightest), cmap="OrRd", norm=norm, aspect="auto")
        for y, x in np.argwhere(~np.isnan(values)):
            shade = ON_CELLS[int(norm(min(max(values[y, x], 1.0), brightest)) > 0.6)]
            panel.text(x, y, _cell(values[y, x]), ha="center", va="center", fontsize=8, color=shade)
        panel.set_yticks(range(len(rows)), rows, fontsize=9)
        panel.set_xticks(range(len(columns)), columns, rotation=40, ha="right", fontsize=8.5)
        panel.tick_params(length=0)
        panel.spines[:].set_visible(False)
        panel.set_title(title, fontsize=11, loc="left", color=INK)
    bar = figure.colorbar(image, ax=axes, shrink=0.5, aspect=30, pad=0.01)
    bar.set_label(label, fontsize=9)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _times(value)))
    bar.outline.set_visible(False)
    remark(figure, note)
    return figure


def _cell(value: float) -> str:
    if value < 0.095:
        return f"{value:.1g}"
    return f"{value:.1f}" if value < 9.95 else f"{value:,.0f}" if value < 10_000 else f"{value / 1000:,.0f}k"
