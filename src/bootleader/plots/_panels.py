"""Figures of several panels: regret over rounds, sweeps of a parameter, curves on two log axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MultipleLocator

from bootleader.plots._axes import INK, Style, label_ends, log_axis, new_figure, plain, remark, tidy
from bootleader.plots._curve_data import Curve
from bootleader.plots._curve_panel import BAND, draw_curves, start_log_axis
from bootleader.plots._styles import line_of


def regret_panels(
    panels: Mapping[str, Mapping[str, Curve]],
    styles: Mapping[str, Style],
    log: bool = False,
    note: str = "",
    height: float = 4.2,
    sharey: bool = True,
    ylabel: str = "mean regret",
) -> Figure:
    """Draw regret curves side by side, one panel per title, every curve labelled at its end."""
    figure, axes = new_figure(1.4 + 4.6 * len(panels) if len(panels) > 1 else 7.0, height, len(panels), sharey)
    for panel, (title, curves) in zip(axes, panels.items(), strict=True):
        rounds = next(iter(curves.values())).x
        draw_curves(panel, curves, styles, yscale="log" if log else "linear")
        panel.set_title(title, fontsize=11, loc="left", color=INK)
        panel.xaxis.set_major_locator(_halves(float(rounds[-1])))
    axes[0].set_ylabel(f"{ylabel}, ± 1 standard error" + (" (log scale)" if log else ""))
    if log:
        start_log_axis(axes[0], [curve for curves in panels.values() for curve in curves.values()])
    elif sharey:  # limits set panel by panel would leave the last one's
        axes[0].set_ylim(0, 1.04 * max(float((c.high).max()) for cs in panels.values() for c in cs.values()))
    for panel, curves in zip(axes, panels.values(), strict=True):
        label_ends(panel, {name: float(c.mean[-1]) for name, c in curves.items()}, styles)
    remark(figure, note)
    return figure


def _halves(end: float) -> Any:
    return FixedLocator([0.0, end / 2, end])


def sweep(
    panels: Mapping[str, Mapping[str, Curve]], styles: Mapping[str, Style], xlabels: Sequence[str], note: str = ""
) -> Figure:
    """Draw final regret against a parameter, with error bars, on a log axis."""
    figure, axes = new_figure(1.4 + 4.6 * len(panels) if len(panels) > 1 else 6.8, 4.0, len(panels), sharey=True)
    for panel, (title, curves), xlabel in zip(axes, panels.items(), xlabels, strict=True):
        for name, curve in curves.items():
            style = styles[name]
            panel.errorbar(
                curve.x, curve.mean, curve.standard_error, label=name, color=style["color"],
                linestyle=style["linestyle"], marker=style.get("marker", "o"), markersize=4.5,
                linewidth=1.5, elinewidth=1.2, capsize=2.5,
            )  # fmt: skip
        panel.set_xlabel(xlabel)
        panel.set_title(title, fontsize=11, loc="left", color=INK)
        log_axis(panel)
        panel.xaxis.set_major_locator(MultipleLocator(5))
        panel.margins(x=0.02)
    axes[0].set_ylabel("mean final regret, ± 1 standard error\n(log scale)")
    for panel, curves in zip(axes, panels.values(), strict=True):
        end = max(c.x[-1] for c in curves.values())
        label_ends(panel, {name: float(c.mean[-1]) for name, c in curves.items() if c.x[-1] == end}, styles)
        for name, curve in curves.items():
            if curve.x[-1] < end:
                panel.annotate(
                    name, (curve.x[-1], curve.mean[-1]), xytext=(8, 0), textcoords="offset points", va="center",
                    color=styles[name]["color"], fontsize=9,
                )  # fmt: skip
    remark(figure, note)
    return figure


def tail_panels(
    panels: Mapping[str, Mapping[str, tuple[Any, Any]]], styles: Mapping[str, Style], note: str = ""
) -> Figure:
    """Draw the share of the runs with more regret against regret, on two log axes, two panels a row."""
    rows = -(-len(panels) // 2)
    figure = Figure(figsize=(9.6, 3.7 * rows), layout="constrained")
    axes = list(np.ravel(figure.subplots(rows, 2, sharey=True, squeeze=False)))
    for panel, (title, curves) in zip(axes, panels.items(), strict=False):
        tidy(panel)
        for name, (regret, share) in curves.items():
            panel.plot(regret, share, label=name, **line_of(styles[name]))
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.xaxis.set_major_formatter(FuncFormatter(plain))
        panel.set_title(title, fontsize=10, loc="left", color=INK)
        panel.set_xlabel("regret (log scale)")
    for panel in axes[len(panels) :]:
        panel.set_visible(False)
    for panel in axes[::2]:
        panel.set_ylabel("share of runs with more (log scale)")
    axes[0].legend(frameon=False, fontsize=8.5)
    remark(figure, note)
    return figure


def log_log(panels: Mapping[str, Mapping[str, Curve]], styles: Mapping[str, Style], note: str = "") -> Figure:
    """Draw curves on two log axes, each labelled at its end."""
    figure, axes = new_figure(1.6 + 4.4 * len(panels), 4.0, len(panels), sharey=True)
    for panel, (title, curves) in zip(axes, panels.items(), strict=True):
        for name, curve in curves.items():
            style = line_of(styles[name])
            panel.plot(curve.x, curve.mean, **style)
            panel.fill_between(curve.x, curve.low, curve.high, color=style["color"], alpha=BAND, linewidth=0)
        panel.set_xscale("log")
        panel.set_xlabel("round (log scale)")
        panel.xaxis.set_major_formatter(FuncFormatter(plain))
        panel.set_title(title, fontsize=10, loc="left", color=INK)
        panel.set_xlim(right=float(next(iter(curves.values())).x[-1]))
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(FuncFormatter(plain))
    axes[0].set_ylabel("regret (log scale)")
    for panel, curves in zip(axes, panels.values(), strict=True):
        label_ends(panel, {name: float(c.mean[-1]) for name, c in curves.items()}, styles)
    remark(figure, note)
    return figure
