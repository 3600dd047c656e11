"""One panel of curves over rounds: what ``Simulation.plot`` draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bootleader._core.validation import one_of
from bootleader.plots._axes import INK, MUTED, Style, label_ends, log_axis, new_figure, plain, tidy
from bootleader.plots._curve_data import Curve
from bootleader.plots._styles import family_styles, line_of

Scale = Literal["linear", "log"]
Labels = Literal["end", "legend"]
BAND = 0.16  # opacity
ERROR_BARS = 10  # places along a curve
FEW_CURVES, LONGEST_BELOW = 6, 34  # curves, and letters of a name, up to which a legend fits below the panel
LETTER = 0.075  # inches of a letter in an end label


def draw_curves(
    panel: Any,
    curves: Mapping[str, Curve],
    styles: Mapping[str, Style] | None = None,
    *,
    xscale: Scale = "linear",
    yscale: Scale = "linear",
    xlabel: str = "round",
    markers: bool = False,
) -> None:
    """Draw mean curves with their bands, and the band's edges as bars at some places.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where to draw.
    curves : mapping of str to Curve
        By name.
    styles : mapping of str to style, optional
        By name; families of policies in shades of one colour by default.
    xscale, yscale : "linear" or "log"
        Scales of the axes.
    xlabel : str
        What is along x.
    markers : bool
        Draw a dot at every x instead of a band: x is whole numbers, and there is nothing between them.
    """
    chosen = styles or family_styles(curves)
    for name, curve in curves.items():
        style = line_of(chosen[name])
        dot = {"marker": "o", "markersize": 4.5} if markers or len(curve.x) == 1 else {}
        panel.plot(curve.x, curve.mean, label=name, **dot, **style)
        if markers:
            continue
        panel.fill_between(curve.x, curve.low, curve.high, color=style["color"], alpha=BAND, linewidth=0)
        at = _bar_places(curve.x, xscale)
        reach = np.clip([curve.mean[at] - curve.low[at], curve.high[at] - curve.mean[at]], 0.0, None)
        panel.errorbar(
            curve.x[at], curve.mean[at], reach, fmt="none", ecolor=style["color"], elinewidth=1.0, capsize=2, zorder=3
        )
    _scale_axes(panel, curves, xscale, yscale)
    if markers and xscale == "linear":
        edges = next(iter(curves.values())).x[[0, -1]]
        panel.set_xlim(edges[0] - 0.25, edges[1] + 0.25)
    panel.set_xlabel(xlabel + (" (log scale)" if xscale == "log" else ""))


def start_log_axis(panel: Any, curves: Sequence[Curve]) -> None:
    """Start a log axis at the values that the curves have after the first rounds."""
    after = [float(value) for curve in curves for value in curve.mean[len(curve.mean) // 25 :]]
    if lowest := [value for value in after if value > 0.0]:
        panel.set_ylim(bottom=0.8 * min(lowest))


def _bar_places(x: npt.NDArray[Any], xscale: Scale) -> npt.NDArray[np.int64]:
    if xscale == "log":
        wanted = np.geomspace(max(float(x[0]), 1e-300), float(x[-1]), ERROR_BARS)
    else:
        wanted = np.linspace(0.0, float(x[-1]), ERROR_BARS + 1)[1:]
    return np.unique(np.searchsorted(x, wanted * (1.0 - 1e-12)))


def _scale_axes(panel: Any, curves: Mapping[str, Curve], xscale: Scale, yscale: Scale) -> None:
    first, last = (float(edge) for edge in next(iter(curves.values())).x[[0, -1]])
    if xscale == "log":
        panel.set_xscale("log")
        panel.set_xlim(first, last if last > first else 2 * first)
    else:
        panel.set_xlim(0, last)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.xaxis.set_major_formatter(FuncFormatter(plain))
    if yscale == "log":
        log_axis(panel)
        start_log_axis(panel, list(curves.values()))
    else:
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_formatter(FuncFormatter(plain))


class PanelText(NamedTuple):
    """Words around a panel."""

    title: str = ""
    subtitle: str = ""
    xlabel: str = "round"
    ylabel: str = "mean regret"


class PanelOptions(NamedTuple):
    """How a panel is drawn: its scales, where the names of the curves are, and whether dots stand for bands."""

    xscale: Scale = "linear"
    yscale: Scale = "linear"
    labels: Labels = "end"
    markers: bool = False


def curves_figure(
    curves: Mapping[str, Curve],
    text: PanelText = PanelText(),  # noqa: B008  (immutable)
    options: PanelOptions = PanelOptions(),  # noqa: B008
    *,
    ax: Any = None,
    styles: Mapping[str, Style] | None = None,
    make: Callable[..., Figure] | None = None,
) -> Figure:
    """Draw one panel of curves and name them.

    Parameters
    ----------
    curves : mapping of str to Curve
        By name.
    text : PanelText
        Title, subtitle and axis labels.
    options : PanelOptions
        Scales of the axes; names beside the ends of the curves, or in a legend, from the highest curve to the lowest;
        a dot at every x instead of a band.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    styles : mapping of str to style, optional
        By name; families of policies in shades of one colour by default.
    make : callable, optional
        Constructs the new figure, if it is not to be a plain one.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that was drawn on.

    Raises
    ------
    ValueError
        If ``xscale``, ``yscale`` or ``labels`` is none of the accepted words.
    """
    xscale, yscale, labels, markers = options
    one_of("xscale", xscale, get_args(Scale))
    one_of("yscale", yscale, get_args(Scale))
    one_of("labels", labels, get_args(Labels))
    chosen = styles or family_styles(curves)
    longest = max(map(len, curves))
    beside_panel = labels == "end" or len(curves) > FEW_CURVES or longest > LONGEST_BELOW
    if ax is None:
        beside = LETTER * longest + 0.5 if beside_panel else 0.0
        figure, (panel,) = new_figure(6.6 + beside, max(4.2, 0.26 * len(curves)), make=make)
    else:
        panel = ax
        figure = panel.figure
        tidy(panel)
    draw_curves(panel, curves, chosen, xscale=xscale, yscale=yscale, xlabel=text.xlabel, markers=markers)
    panel.set_ylabel(text.ylabel + (" (log scale)" if yscale == "log" else ""))
    ends = {name: float(curve.mean[-1]) for name, curve in curves.items()}
    if labels == "end":
        label_ends(panel, {name: value for name, value in ends.items() if np.isfinite(value)}, chosen)
    else:
        _legend(panel, None if ax is not None else figure, ends, beside_panel)
    if text.title:
        panel.set_title(text.title, fontsize=12, loc="left", color=INK, pad=22 if text.subtitle else 8)
    if text.subtitle:
        panel.annotate(
            text.subtitle, (0.0, 1.0), xytext=(0, 7), xycoords="axes fraction", textcoords="offset points", fontsize=9,
            color=MUTED, annotation_clip=False,
        )  # fmt: skip
    return figure


def _legend(panel: Any, figure: Any, ends: Mapping[str, float], column: bool) -> None:
    handles, names = panel.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda place: -ends[names[place]])
    options: dict[str, Any] = {"frameon": False, "fontsize": 9, "handlelength": 3}
    listed = [handles[place] for place in order], [names[place] for place in order]
    if figure is None:
        panel.legend(*listed, **options)
    else:
        place = "outside right upper" if column else "outside lower center"
        figure.legend(*listed, loc=place, ncols=1 if column else 2, **options)
