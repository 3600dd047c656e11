"""A leaderboard: one row a policy, one dot a group of problems, the geometric mean written beside the row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bootleader.plots._axes import GRID, INK, new_figure, remark

MARKERS = ("o", "s", "^", "D", "v", "P")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B07D00", "#A8508A", "#56B4E9")
HIGHLIGHT = "#fff3cd"
ROW, HEADING = 0.27, 1.25  # inches of a row; rows that a heading takes


def ranked_dots(
    sections: Mapping[str, Mapping[str, Mapping[str, float]]], xlabel: str, highlight: str = "", note: str = "",
    most: float = 100.0,
) -> Figure:  # fmt: skip
    """Draw policies in sections, each from the best to the worst.

    Parameters
    ----------
    sections : mapping of str to mapping
        Heading -> policy -> group of problems -> ratio.
    xlabel : str
        What the ratios are.
    highlight : str
        The policy whose row has a coloured ground.
    note : str
        A warning above the figure.
    most : float
        Ratios above this one are drawn at it.

    Returns
    -------
    matplotlib.figure.Figure
    """
    groups = list(dict.fromkeys(group for rows in sections.values() for row in rows.values() for group in row))
    count = sum(len(rows) + HEADING for rows in sections.values())
    figure, (panel,) = new_figure(8.6, 1.2 + ROW * count)
    panel.set_xscale("log")
    panel.grid(axis="y", visible=False)
    panel.grid(axis="x", color=GRID, linewidth=0.8)
    panel.axvline(1.0, color=INK, linewidth=1.0)
    y, labels = 0.0, {}
    lowest, highest = 0.9, 1.1
    for heading, rows in sections.items():
        panel.text(
            0.0, y + 0.1, heading, transform=panel.get_yaxis_transform(), fontsize=9.5, weight="bold", color=INK,
            va="center", ha="right",
        )  # fmt: skip
        y += HEADING - 0.35
        for name, row in rows.items():
            values = np.clip(np.array([row[group] for group in row]), None, most)
            lowest, highest = min(lowest, values.min()), max(highest, values.max())
            if name == highlight:
                panel.axhspan(y - 0.5, y + 0.5, color=HIGHLIGHT, zorder=0)
            panel.plot([values.min(), values.max()], [y, y], color="#c8c8c8", linewidth=3.5, solid_capstyle="round")
            for group, value in zip(row, values, strict=True):
                at = groups.index(group)
                panel.plot(
                    [value], [y], MARKERS[at % len(MARKERS)], color=COLOURS[at % len(COLOURS)], markersize=5.5,
                    alpha=0.9, markeredgewidth=0, label="_",
                )  # fmt: skip
            middle = float(np.exp(np.log(values).mean()))
            panel.plot([middle], [y], "|", color=INK, markersize=14, markeredgewidth=2)
            panel.text(
                1.015, y, f"{_times(middle)}", transform=panel.get_yaxis_transform(), va="center", fontsize=9,
                color=INK, weight="bold" if name == highlight else "normal",
            )  # fmt: skip
            labels[y] = name
            y += 1.0
        y += 0.35
    for at, group in enumerate(groups):
        panel.plot([], [], MARKERS[at % len(MARKERS)], color=COLOURS[at % len(COLOURS)], markersize=6, label=group)
    panel.plot([], [], "|", color=INK, markersize=12, markeredgewidth=2, label="geometric mean")
    panel.legend(
        ncols=len(groups) + 1, loc="lower center", bbox_to_anchor=(0.45, 1.0), fontsize=8.5, frameon=False,
        handletextpad=0.2, columnspacing=1.1,
    )  # fmt: skip
    panel.set_yticks(list(labels), list(labels.values()))
    panel.set_ylim(y - 0.4, -0.7)
    panel.set_xlim(lowest * 0.94, highest * 1.06)
    panel.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _times(value)))
    panel.tick_params(axis="y", length=0)
    panel.set_xlabel(xlabel)
    panel.spines["left"].set_visible(False)
    remark(figure, note)
    return figure


def _times(value: float) -> str:
    return f"{value:,.0f}×" if value >= 10 else f"{value:.2f}×" if value < 2 else f"{value:.1f}×"
