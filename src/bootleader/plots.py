"""Draws numbers, computes none. Matplotlib is imported only here, and only when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from matplotlib import rc_context
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, MultipleLocator, NullFormatter

from bootleader._core.files import replacing

Floats = npt.NDArray[np.float64]
Style = Mapping[str, Any]

# Okabe and Ito's colour-blind-safe set, darkest first; with line styles, so that curves stay apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#B07D00", "#56B4E9", "#7A5195", "#8C8C00")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
BAND = 0.16
INK, MUTED, GRID, WARNING = "#222222", "#666666", "#e8e8e8", "#B00020"
ERROR_BARS = 10  # places along a curve
FEW_CURVES = 6  # up to so many have their legend below them, more at their side
LABEL_GAP = 0.056  # least distance between direct labels, as a share of the panel's height


@dataclass(frozen=True)
class Curve:
    """A mean with its standard error along x."""

    x: npt.NDArray[Any]
    mean: Floats
    sem: Floats


def style_of(place: int) -> dict[str, Any]:
    """Colour and line style of the place-th curve; when colours come round again, the line is another."""
    lap, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": STYLES[(colour + lap) % len(STYLES)], "linewidth": 1.8}


def line_of(style: Style) -> dict[str, Any]:
    """A style for a line of many points: without the marker."""
    return {name: value for name, value in style.items() if name != "marker"}


def new_figure(
    width: float = 6.4, height: float = 4.0, columns: int = 1, sharey: bool = False
) -> tuple[Figure, list[Any]]:
    """A figure with ``columns`` plain panels side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(np.ravel(figure.subplots(1, columns, sharey=sharey)))
    for panel in axes:
        tidy(panel)
    return figure, axes


def tidy(panel: Any) -> None:
    """A panel with little ink."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color("#999999")
    panel.tick_params(colors=INK, labelsize=9, color="#999999")
    panel.grid(axis="y", color=GRID, linewidth=0.8)
    panel.set_axisbelow(True)


def draw_curves(
    panel: Any,
    rounds: npt.NDArray[np.int64],
    curves: Mapping[str, tuple[Floats, Floats]],
    styles: Mapping[str, Style] | None = None,
    log: bool = False,
) -> None:
    """Mean curves with a band and sparse bars of one standard error each."""
    for place, (name, (mean, sem)) in enumerate(curves.items()):
        style = line_of((styles or {}).get(name) or style_of(place))
        panel.plot(rounds, mean, label=name, marker="o" if len(rounds) == 1 else None, **style)
        panel.fill_between(rounds, mean - sem, mean + sem, color=style["color"], alpha=BAND, linewidth=0)
        step = max(1, len(rounds) // ERROR_BARS)
        at = slice(step - 1, None, step)
        panel.errorbar(
            rounds[at], mean[at], sem[at], fmt="none", ecolor=style["color"], elinewidth=1.0, capsize=2, zorder=3
        )
    panel.set_xlim(0, rounds[-1])
    if log:
        log_axis(panel)
    else:
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter(FuncFormatter(plain))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.xaxis.set_major_formatter(FuncFormatter(plain))
    panel.set_xlabel("round")


def log_axis(panel: Any) -> None:
    """A logarithmic y axis with plain numbers on it."""
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(plain))
    panel.yaxis.set_minor_formatter(NullFormatter())


def plain(value: float, _: Any = None) -> str:
    """A number as people write it: 20,000 and 0.05, not 2e4.

    Examples
    --------
    >>> [plain(value) for value in (2.5, 0.05, 1e7, 0.1 + 0.2)]
    ['2.5', '0.05', '10,000,000', '0.3']
    """
    return f"{value:,.12g}"


def label_ends(panel: Any, ends: Mapping[str, float], styles: Mapping[str, Style], fontsize: float = 9) -> None:
    """Write each curve's name beside its right end, moved apart where they would overlap."""
    to_share = panel.transData + panel.transAxes.inverted()
    right = panel.get_xlim()[1]
    wanted = {name: float(to_share.transform((right, value))[1]) for name, value in ends.items()}
    for name, place in spread(wanted, LABEL_GAP).items():
        colour = styles[name]["color"]
        line = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
        panel.annotate(
            name, xy=(1.0, wanted[name]), xytext=(1.045, place), xycoords="axes fraction", textcoords="axes fraction",
            color=colour, fontsize=fontsize, va="center", ha="left", annotation_clip=False, arrowprops=line,
        )  # fmt: skip


def spread(wanted: Mapping[str, float], gap: float) -> dict[str, float]:
    """Places as near as may be to those wanted, at least ``gap`` apart, in the same order.

    Examples
    --------
    >>> {name: round(place, 2) for name, place in spread({"a": 0.5, "b": 0.5}, 0.1).items()}
    {'a': 0.45, 'b': 0.55}
    """
    names = sorted(wanted, key=lambda name: wanted[name])
    groups: list[tuple[list[str], float]] = []  # neighbours that touch move as one, about the mean of what they want
    for name in names:
        members, centre = [name], wanted[name]
        while groups and centre - groups[-1][1] < gap * (len(members) + len(groups[-1][0])) / 2:
            before, _ = groups.pop()
            members = before + members
            centre = float(np.mean([wanted[member] for member in members]))
        groups.append((members, centre))
    return {
        name: centre + gap * (place - (len(members) - 1) / 2)
        for members, centre in groups
        for place, name in enumerate(members)
    }


def remark(figure: Figure, text: str) -> None:
    """Say on the figure itself what a reader must not miss."""
    if text:
        figure.text(0.5, 1.015, text, ha="center", va="bottom", color=WARNING, fontsize=9, weight="bold")


def regret_curves(
    rounds: npt.NDArray[np.int64], curves: Mapping[str, tuple[Floats, Floats]], title: str = "", subtitle: str = ""
) -> Figure:
    """One panel of regret curves with a legend sorted from worst to best, as the curves end."""
    longest = max(map(len, curves))
    many = len(curves) > FEW_CURVES
    figure, (panel,) = new_figure(7.2 + (0.8 + 0.075 * longest if many else 0.0), max(4.4, 0.24 * len(curves)))
    draw_curves(panel, rounds, curves)
    panel.set_ylabel("mean regret, ± 1 standard error")
    ends = [mean[-1] for mean, _ in curves.values()]
    handles, labels = panel.get_legend_handles_labels()
    order = np.argsort(ends)[::-1]
    figure.legend(
        [handles[i] for i in order], [labels[i] for i in order], frameon=False, fontsize=9, handlelength=3,
        loc="outside right upper" if many else "outside lower center", ncols=1 if many or longest > 34 else 2,
    )  # fmt: skip
    panel.set_title("\n".join(line for line in (title, subtitle) if line), fontsize=10, loc="left")
    return figure


def regret_panels(
    panels: Mapping[str, Mapping[str, Curve]],
    styles: Mapping[str, Style],
    log: bool = False,
    note: str = "",
    height: float = 4.2,
    sharey: bool = True,
) -> Figure:
    """Regret curves side by side, one panel a title, every curve labelled at its end."""
    figure, axes = new_figure(1.4 + 4.6 * len(panels) if len(panels) > 1 else 7.0, height, len(panels), sharey)
    for panel, (title, curves) in zip(axes, panels.items(), strict=True):
        rounds = next(iter(curves.values())).x
        draw_curves(panel, rounds, {name: (c.mean, c.sem) for name, c in curves.items()}, styles, log)
        panel.set_title(title, fontsize=11, loc="left", color=INK)
        panel.xaxis.set_major_locator(_quarters(float(rounds[-1])))
    axes[0].set_ylabel("mean regret, ± 1 standard error" + (" (log scale)" if log else ""))
    if log:
        _frame_from(axes[0], [c.mean[max(0, len(c.mean) // 25)] for curves in panels.values() for c in curves.values()])
    elif sharey:  # limits set panel by panel would leave the last one's
        axes[0].set_ylim(0, 1.04 * max(float((c.mean + c.sem).max()) for cs in panels.values() for c in cs.values()))
    for panel, curves in zip(axes, panels.values(), strict=True):
        label_ends(panel, {name: float(c.mean[-1]) for name, c in curves.items()}, styles)
    remark(figure, note)
    return figure


def _quarters(end: float) -> Any:
    from matplotlib.ticker import FixedLocator

    return FixedLocator([0.0, end / 2, end])


def _frame_from(panel: Any, values: Sequence[float]) -> None:
    """Start a log axis where the curves have left the first rounds behind."""
    panel.set_ylim(bottom=0.8 * min(value for value in values if value > 0))


def sweep(
    panels: Mapping[str, Mapping[str, Curve]], styles: Mapping[str, Style], xlabels: Sequence[str], note: str = ""
) -> Figure:
    """Final regret against a parameter, with error bars, on a log axis."""
    figure, axes = new_figure(1.4 + 4.6 * len(panels) if len(panels) > 1 else 6.8, 4.0, len(panels), sharey=True)
    for panel, (title, curves), xlabel in zip(axes, panels.items(), xlabels, strict=True):
        for name, curve in curves.items():
            style = styles[name]
            panel.errorbar(
                curve.x, curve.mean, curve.sem, label=name, color=style["color"], linestyle=style["linestyle"],
                marker=style.get("marker", "o"), markersize=4.5, linewidth=1.5, elinewidth=1.2, capsize=2.5,
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


def log_log(panels: Mapping[str, Mapping[str, Curve]], styles: Mapping[str, Style], note: str = "") -> Figure:
    """Curves on two log axes, each labelled at its end."""
    figure, axes = new_figure(1.6 + 4.4 * len(panels), 4.0, len(panels), sharey=True)
    for panel, (title, curves) in zip(axes, panels.items(), strict=True):
        for name, curve in curves.items():
            style = line_of(styles[name])
            panel.plot(curve.x, curve.mean, **style)
            panel.fill_between(
                curve.x, curve.mean - curve.sem, curve.mean + curve.sem, color=style["color"], alpha=BAND, linewidth=0
            )
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


def dot_rows(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], colours: Mapping[str, str], xlabel: str, note: str = ""
) -> Figure:
    """One row a policy, one dot a case, on a log axis; the line at 1 is par, and the worst dot is named.

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


def heat_map(
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], label: str, note: str = "", brightest: float = 100.0
) -> Figure:
    """Rows by columns of ratios, coloured on a log scale with the numbers written in.

    ``panels``: title -> row -> column -> ratio.
    """
    first = next(iter(panels.values()))
    rows, columns = list(first), list(next(iter(first.values())))
    figure = Figure(
        figsize=(3.0 + 0.62 * len(columns), (1.2 + 0.36 * len(rows)) * len(panels) + 0.8), layout="constrained"
    )
    axes = list(np.ravel(figure.subplots(len(panels), 1, sharex=True)))
    image: Any = None
    for panel, (title, table) in zip(axes, panels.items(), strict=True):
        values: Any = np.array([[table[row][column] for column in columns] for row in rows])
        norm = LogNorm(1.0, brightest)
        image = panel.imshow(np.clip(values, 1.0, brightest), cmap="OrRd", norm=norm, aspect="auto")
        for y, x in np.ndindex(values.shape):
            shade = "white" if norm(min(max(values[y, x], 1.0), brightest)) > 0.6 else INK
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


def write(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure, whole or not at all; the ending of the path chooses the format."""
    with replacing(path) as unfinished:
        _save(figure, unfinished, str(path).rpartition(".")[2])


def write_to(figure: Figure, file: BinaryIO) -> None:
    """Write a figure as SVG into an open file."""
    _save(figure, file, "svg")


def _save(figure: Figure, target: Any, ending: str) -> None:
    # No date and no random names, so that the same numbers give the same file.
    undated = {"Date": None} if ending == "svg" else None
    with rc_context({"svg.hashsalt": "bootleader"}):
        figure.savefig(
            target, format=ending or None, dpi=160, bbox_inches="tight", pad_inches=0.08, facecolor="white",
            metadata=undated,
        )  # fmt: skip
