"""SVG figures that follow the reader's light or dark mode, with no script and no second file."""

from __future__ import annotations

import colorsys
import re
from typing import Final

BACKGROUND: Final = "#14181d"  # the dark page's
CONTRAST: Final = 4.5  # least contrast with the background, as WCAG asks of text
GREY: Final = 0.15  # largest saturation of a colour that is inverted, not lightened
ON_CELLS: Final = ("#202020", "#fefefe")  # text on the cells of a heat map: see bootleader.plots
COLOUR: Final = re.compile(r"\b(fill|stroke): (#[0-9a-fA-F]{6})\b")


def adaptive(svg: str) -> str:
    """Return the SVG with every colour a variable that dark mode redefines.

    Greys are inverted. Other colours keep their hue and become lighter where the dark background needs it. Text on
    the cells of a heat map stays as it is: its background is the cell, not the page.

    Parameters
    ----------
    svg : str
        As matplotlib writes it.

    Returns
    -------
    str

    Examples
    --------
    >>> print(adaptive('<svg><path style="fill: #ffffff"/></svg>'))
    <svg><style>:root{--c0:#ffffff}@media(prefers-color-scheme:dark){:root{--c0:#14181d;fill:#ebebeb}}...
    """
    found = dict.fromkeys(match[2].lower() for match in COLOUR.finditer(svg))
    colours = [colour for colour in found if colour not in ON_CELLS]
    names = {colour: f"--c{place}" for place, colour in enumerate(colours)}
    light = ";".join(f"{name}:{colour}" for colour, name in names.items())
    dark = ";".join(f"{name}:{dark_variant(colour)}" for colour, name in names.items())
    # Black text has no colour of its own in matplotlib's SVG: it inherits the root's.
    dark += f";fill:{dark_variant('#000000')}"
    style = f"<style>:root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    recoloured = COLOUR.sub(
        lambda match: f"{match[1]}: var({names[match[2].lower()]})" if match[2].lower() in names else match[0], svg
    )
    return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + style, recoloured, count=1)


def dark_variant(colour: str) -> str:
    """Return the colour for a dark background.

    Examples
    --------
    >>> dark_variant("#ffffff"), dark_variant("#000000")
    ('#14181d', '#ebebeb')
    """
    if colour == "#ffffff":
        return BACKGROUND
    hue, lightness, saturation = colorsys.rgb_to_hls(*_rgb(colour))
    if saturation < GREY:
        return _hex(colorsys.hls_to_rgb(hue, 0.92 - 0.8 * lightness, saturation))
    while lightness < 0.95 and contrast(_hex(colorsys.hls_to_rgb(hue, lightness, saturation))) < CONTRAST:
        lightness += 0.01
    return _hex(colorsys.hls_to_rgb(hue, lightness, saturation))


def contrast(colour: str, background: str = BACKGROUND) -> float:
    """Return the contrast ratio of two colours, as WCAG defines it, from 1 to 21."""
    bright, dim = sorted((_luminance(colour), _luminance(background)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _hex(rgb: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
