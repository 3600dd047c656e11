"""Colours and line styles: apart for the colour-blind and in grey, and alike within a family of policies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from matplotlib.colors import to_hex, to_rgb

from bootleader.plots._axes import Style

# Okabe and Ito's colour-blind-safe set, darkest first; with line styles, so that curves stay apart in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#B07D00", "#56B4E9", "#7A5195", "#8C8C00")
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
LIGHTEST, DARKEST = 0.45, -0.35  # shares of white and black in the shades of a family


def style_of(place: int) -> dict[str, Any]:
    """Return colour and line style of a curve by its place; when the colours repeat, the line styles differ."""
    lap, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": STYLES[(colour + lap) % len(STYLES)], "linewidth": 1.8}


def line_of(style: Style) -> dict[str, Any]:
    """Return a style for a line of many points: without the marker."""
    return {name: value for name, value in style.items() if name != "marker"}


def family_of(name: str) -> str:
    """Return the family of a policy: its name up to the parameters.

    Examples
    --------
    >>> family_of("ReBoot(sigma_a=1.5)"), family_of("PHE 2.1"), family_of("UCB1")
    ('ReBoot', 'PHE', 'UCB1')
    """
    return re.split(r"[\s(]", name, maxsplit=1)[0] or name


def family_styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return a style for every policy: policies of one family have shades of one colour, light to dark.

    Parameters
    ----------
    names : iterable of str
        The policies, in the order in which families take their colours.

    Returns
    -------
    dict of str to style

    Examples
    --------
    >>> styles = family_styles(["ReBoot(sigma_a=1)", "UCB1()", "ReBoot(sigma_a=2)"])
    >>> styles["UCB1()"] == style_of(1)
    True
    """
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(family_of(name), []).append(name)
    styles: dict[str, dict[str, Any]] = {}
    for place, members in enumerate(families.values()):
        style = style_of(place)
        for position, name in enumerate(members):
            if len(members) == 1:
                styles[name] = style
                continue
            share = LIGHTEST + (DARKEST - LIGHTEST) * position / (len(members) - 1)
            line = STYLES[position % len(STYLES)]
            styles[name] = {**style, "color": _shade(style["color"], share), "linestyle": line}
    return styles


def _shade(colour: str, share: float) -> str:
    """The colour mixed with white, or with black where the share is negative."""
    target = 1.0 if share > 0.0 else 0.0
    red, green, blue = (part + abs(share) * (target - part) for part in to_rgb(colour))
    return str(to_hex((red, green, blue)))
