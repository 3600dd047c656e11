"""Shares of the arms in segments, as bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from bootleader._core.printable_text import printable
from bootleader.plots._axes import INK, new_figure
from bootleader.plots._styles import COLOURS

HATCHES = ("", "//", "..", "xx", "\\\\")  # bars stay apart in grey, and when the colours repeat


def stacked_shares(
    shares: Mapping[str, Sequence[float]], segments: Sequence[str], by: str, make: Callable[..., Figure] | None = None
) -> Figure:
    """Draw a bar for each segment, divided by arms.

    Parameters
    ----------
    shares : mapping of str to sequence of float
        For each arm, its share in each segment; NaN where a segment has no choices.
    segments : sequence of str
        Their names.
    by : str
        What the segments are of.
    make : callable, optional
        Constructs the figure.

    Returns
    -------
    Figure
        With one panel.
    """
    figure, (panel,) = new_figure(2.6 + 1.1 * len(segments), 3.6, make=make)
    bottom = [0.0] * len(segments)
    places = range(len(segments))
    for k, (arm, column) in enumerate(shares.items()):
        heights = [value if value == value else 0.0 for value in column]
        colour, hatch = COLOURS[k % len(COLOURS)], HATCHES[(k // len(COLOURS)) % len(HATCHES)]
        panel.bar(places, heights, 0.7, bottom, label=printable(arm, 30), color=colour, hatch=hatch, edgecolor="white")
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    panel.set_xticks(list(places), [printable(segment, 20) for segment in segments])
    panel.set_xlabel(by)
    panel.set_ylabel("share of the choices", color=INK)
    panel.set_ylim(0.0, 1.0)
    panel.yaxis.set_major_formatter(PercentFormatter(1.0))
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    return figure
