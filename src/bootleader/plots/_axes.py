"""Figures, axes and labels: the look that all plots share. Matplotlib is imported in this package only."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from bootleader._core.files import replacing

Style = Mapping[str, Any]

INK, MUTED, GRID, WARNING = "#222222", "#666666", "#e8e8e8", "#B00020"
LABEL_GAP = 0.056  # least distance between end labels, as a share of the panel's height


def new_figure(
    width: float = 6.4,
    height: float = 4.0,
    columns: int = 1,
    sharey: bool = False,
    make: Callable[..., Figure] | None = None,
) -> tuple[Figure, list[Any]]:
    """Return a figure with ``columns`` panels side by side; ``make`` constructs it, if it is not a plain Figure."""
    figure = (make or Figure)(figsize=(width, height), layout="constrained")
    axes = list(np.ravel(figure.subplots(1, columns, sharey=sharey)))
    for panel in axes:
        tidy(panel)
    return figure, axes


def tidy(panel: Any) -> None:
    """Set a panel's spines, ticks and grid."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color("#999999")
    panel.tick_params(colors=INK, labelsize=9, color="#999999")
    panel.grid(axis="y", color=GRID, linewidth=0.8)
    panel.set_axisbelow(True)
    for axis in (panel.xaxis, panel.yaxis):
        axis.label.set_color(INK)


def log_axis(panel: Any) -> None:
    """Make the y axis logarithmic, with plain numbers on it."""
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(plain))
    panel.yaxis.set_minor_formatter(NullFormatter())


def mark_level(panel: Any, value: float) -> None:
    """Draw a thin line across a panel."""
    panel.axhline(value, color=MUTED, linewidth=0.8, zorder=0)


def plain(value: float, _: Any = None) -> str:
    """Return a number as people write it: 20,000 and 0.05, not 2e4.

    Examples
    --------
    >>> [plain(value) for value in (2.5, 0.05, 1e7, 0.1 + 0.2)]
    ['2.5', '0.05', '10,000,000', '0.3']
    """
    return f"{value:,.12g}"


def label_ends(panel: Any, ends: Mapping[str, float], styles: Mapping[str, Style], fontsize: float = 9) -> None:
    """Write each curve's name beside its right end, moved apart where they would overlap."""
    to_share = panel.transData + panel.transAxes.inverted()
    right, lowest = panel.get_xlim()[1], panel.get_ylim()[0]  # zero has no place on a log axis
    wanted = {name: float(to_share.transform((right, max(value, lowest)))[1]) for name, value in ends.items()}
    for name, place in spread(wanted, LABEL_GAP).items():
        colour = styles[name]["color"]
        line = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 2, "shrinkB": 0, "relpos": (0.0, 0.5)}
        panel.annotate(
            name, xy=(1.0, wanted[name]), xytext=(1.045, place), xycoords="axes fraction", textcoords="axes fraction",
            color=colour, fontsize=fontsize, va="center", ha="left", annotation_clip=False, arrowprops=line,
        )  # fmt: skip


def spread(wanted: Mapping[str, float], gap: float) -> dict[str, float]:
    """Return places close to those wanted, at least ``gap`` apart, in the same order, from 0 to 1 if there is room.

    Examples
    --------
    >>> {name: round(place, 2) for name, place in spread({"a": 0.5, "b": 0.5}, 0.1).items()}
    {'a': 0.45, 'b': 0.55}
    >>> {name: round(place, 2) for name, place in spread({"a": 0.0, "b": 0.0}, 0.1).items()}
    {'a': 0.0, 'b': 0.1}
    """
    groups: list[tuple[list[str], float]] = []  # labels that would overlap move together, around their mean place
    for name in sorted(wanted, key=lambda name: wanted[name]):
        members = [name]
        centre = _centre(members, wanted, gap)
        while groups and centre - groups[-1][1] < gap * (len(members) + len(groups[-1][0])) / 2 - 1e-12:
            before, _ = groups.pop()
            members = before + members
            centre = _centre(members, wanted, gap)
        groups.append((members, centre))
    return {
        name: centre + gap * (place - (len(members) - 1) / 2)
        for members, centre in groups
        for place, name in enumerate(members)
    }


def _centre(members: list[str], wanted: Mapping[str, float], gap: float) -> float:
    half = gap * (len(members) - 1) / 2
    mean = float(np.mean([wanted[member] for member in members]))
    return min(max(mean, half), 1.0 - half) if half <= 0.5 else mean


def remark(figure: Figure, text: str) -> None:
    """Write a warning above the figure."""
    if text:
        figure.text(0.5, 1.015, text, ha="center", va="bottom", color=WARNING, fontsize=9, weight="bold")


def write(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure, whole or not at all; the ending of the path chooses the format."""
    with replacing(path) as unfinished:
        _save(figure, unfinished, str(path).rpartition(".")[2])


def svg_of(figure: Figure) -> str:
    """A figure as SVG."""
    buffer = io.BytesIO()
    _save(figure, buffer, "svg")
    return buffer.getvalue().decode("utf-8")


def _save(figure: Figure, target: Any, ending: str) -> None:
    # No date and no random names: the same numbers give the same file.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    # Type 42: text in a PDF stays text, and journals accept it.
    with rc_context({"svg.hashsalt": "bootleader", "pdf.fonttype": 42, "ps.fonttype": 42}):
        figure.savefig(
            target, format=ending or None, dpi=160, bbox_inches="tight", pad_inches=0.08, facecolor="white",
            metadata=undated,
        )  # fmt: skip
