"""Charts of an answer as SVG text: no script, no network."""

from __future__ import annotations

import math
from html import escape
from typing import Final

import numpy as np

from bootleader.inference._interval_history import History
from bootleader.inference._moments import Floats
from bootleader.inference._sentences import number

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#B07D00", "#A8508A", "#56B4E9", "#6B4C9A", "#8C8C00")
NAMED: Final = {"blue": "#0072B2", "red": "#D55E00", "green": "#009E73", "yellow": "#B07D00", "purple": "#6B4C9A"}
OTHERS: Final = "#8b949e"
MOST_LINES: Final = 6
MOST_BANDS: Final = 4  # more of them cannot be told apart


def colours_of(names: list[str]) -> list[str]:
    """A colour for every arm, in this order. An arm that is named after a colour gets that one.

    Examples
    --------
    >>> colours_of(["green", "large"]) == [NAMED["green"], COLOURS[0]]
    True
    """
    named = {name: NAMED[name.lower()] for name in names if name.lower() in NAMED}
    free = iter([colour for colour in COLOURS if colour not in named.values()])
    return [named.get(name) or next(free, OTHERS) for name in names]


class Frame:
    """A chart's plane: data coordinates to pixels, with ticks."""

    def __init__(self, size: tuple[int, int], x: tuple[float, float], y: tuple[float, float], margin: int) -> None:
        self.width, self.height = size
        self.left, self.right, self.top, self.bottom = margin, self.width - 12, 12, self.height - 40
        self.x_range, self.y_range = x, y

    def x(self, value: float) -> float:
        """The pixel column of a value."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """The pixel row of a value, kept inside the plane."""
        low, high = self.y_range
        place = self.bottom - (value - low) / (high - low) * (self.bottom - self.top)
        return min(max(place, self.top), self.bottom)

    def axes(self, x_label: str, y_format: str = "") -> list[str]:
        """Grid lines and labels."""
        parts = []
        for value in ticks(*self.y_range, 5):
            row = self.y(value)
            text = y_format.format(value) if y_format else number(value, self.y_range[1] - self.y_range[0])
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{row:.1f}" y2="{row:.1f}"/>')
            parts.append(f'<text class="tick" x="{self.left - 6}" y="{row + 4:.1f}" text-anchor="end">{text}</text>')
        for value in ticks(*self.x_range, 5 if self.width > 600 else 3):
            place = self.x(value)
            anchor = "end" if place > self.right - 30 else "middle"
            parts.append(
                f'<text class="tick" x="{place:.1f}" y="{self.bottom + 17}" text-anchor="{anchor}">{value:,.0f}</text>'
            )
        parts.append(f'<text class="tick" x="{self.right}" y="{self.height - 5}" text-anchor="end">{x_label}</text>')
        return parts

    def svg(self, title: str, parts: list[str]) -> str:
        """The whole picture."""
        body = "".join(parts)
        return (
            f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}"><title>{escape(title)}</title>{body}</svg>'
        )


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers between two others.

    Examples
    --------
    >>> ticks(0.0, 1.0, 4)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if (high - low) / (step * factor) <= count + 1)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def interval_chart(past: History, order: list[int], names: list[str], unit: str, size: tuple[int, int]) -> str:
    """Means and intervals over the visits, of the first arms of the order."""
    shown = order[:MOST_LINES]
    y_range = _range(past, shown)
    frame = Frame(size, (0.0, float(past.visits[-1])), y_range, 64)
    parts = frame.axes(f"{unit}s")
    colours = colours_of([names[arm] for arm in order])
    for arm, colour in reversed(list(zip(shown[:MOST_BANDS], colours, strict=False))):
        ready = np.flatnonzero(np.isfinite(past.low[:, arm]))
        for run in np.split(ready, np.flatnonzero(np.diff(ready) > 1) + 1) if len(ready) else []:
            corners = [(i, past.high[i, arm]) for i in run] + [(i, past.low[i, arm]) for i in run[::-1]]
            points = " ".join(f"{frame.x(past.visits[i]):.1f},{frame.y(v):.1f}" for i, v in corners)
            look = 'fill-opacity=".13" stroke-opacity=".45" stroke-width="1" class="mark"'
            parts.append(f'<polygon points="{points}" fill="{colour}" stroke="{colour}" {look}/>')
    for arm, colour in reversed(list(zip(shown, colours, strict=False))):
        known = np.flatnonzero(np.isfinite(past.mean[:, arm]))
        points = " ".join(f"{frame.x(past.visits[i]):.1f},{frame.y(past.mean[i, arm]):.1f}" for i in known)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.4" class="mark">'
            f"<title>{escape(names[arm])}</title></polyline>"
        )
    return frame.svg("Mean and interval of each arm over time", parts)


def _range(past: History, shown: list[int]) -> tuple[float, float]:
    """What the last third of the log needs, with some air; the wide intervals of the beginning are cut off."""
    late = slice(len(past.visits) * 2 // 3, None)
    values = np.concatenate([column[late][:, shown].ravel() for column in (past.low, past.mean, past.high)])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    air = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
    return low - air, high + air


def traffic_chart(past: History, order: list[int], names: list[str], unit: str, size: tuple[int, int]) -> str:
    """Shares of the traffic over the visits, stacked."""
    frame = Frame(size, (0.0, float(past.visits[-1])), (0.0, 1.0), 64)
    starts = np.concatenate([[0.0], past.visits[:-1]])
    parts = []
    floor = np.zeros(len(past.visits))
    for arm, colour in zip(order, colours_of([names[arm] for arm in order]), strict=True):
        top = floor + past.share[:, arm]
        upper = _steps(frame, starts, past.visits, top)
        lower = _steps(frame, starts, past.visits, floor)[::-1]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in upper + lower)
        parts.append(
            f'<polygon points="{points}" fill="{colour}" fill-opacity=".85" class="mark share">'
            f"<title>{escape(names[arm])}</title></polygon>"
        )
        floor = top
    return frame.svg("Share of the traffic over time", frame.axes(f"{unit}s", "{:.0%}") + parts)


def _steps(frame: Frame, starts: Floats, ends: Floats, values: Floats) -> list[tuple[float, float]]:
    corners = []
    for start, end, value in zip(starts, ends, values, strict=True):
        corners += [(frame.x(start), frame.y(value)), (frame.x(end), frame.y(value))]
    return corners


def interval_bar(low: float, mean: float, high: float, span: tuple[float, float], colour: str) -> str:
    """An interval in a row of a table: a bar with a dot, on a scale common to all rows; a line where 0 is inside it."""
    width = 260
    first, last = span if span[1] > span[0] else (span[0] - 1.0, span[1] + 1.0)

    def place(value: float) -> float:
        return 6 + (min(max(value, first), last) - first) / (last - first) * (width - 12)

    parts = [f'<line x1="6" x2="{width - 6}" y1="12" y2="12" class="grid"/>']
    if first < 0.0 < last:
        parts.append(f'<line x1="{place(0.0):.1f}" x2="{place(0.0):.1f}" y1="1" y2="23" class="zero"/>')
    if math.isfinite(low) and math.isfinite(high):
        x, wide = place(low), max(place(high) - place(low), 2.0)
        shape = f'x="{x:.1f}" y="7" width="{wide:.1f}" height="10" rx="5"'
        parts.append(f'<rect {shape} fill="{colour}" fill-opacity=".35" class="mark"/>')
    if math.isfinite(mean):
        parts.append(f'<circle cx="{place(mean):.1f}" cy="12" r="4.5" fill="{colour}" class="mark"/>')
    attributes = f'class="bar" viewBox="0 0 {width} 24" preserveAspectRatio="none" aria-hidden="true"'
    return f"<svg {attributes}>{''.join(parts)}</svg>"
