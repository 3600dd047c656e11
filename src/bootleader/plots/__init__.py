"""Pictures of results. :mod:`._curve_data` computes the numbers that are drawn; the other modules draw them."""

from bootleader.plots._axes import label_ends, mark_level, new_figure, plain, spread, svg_of, write
from bootleader.plots._curve_data import Band, Curve, band_in_words, curves_of, relative_curves
from bootleader.plots._curve_panel import Labels, PanelOptions, PanelText, Scale, curves_figure, draw_curves
from bootleader.plots._heat_map import HeatMapText, heat_map
from bootleader.plots._notebook_figure import ShownFigure, shown_figure
from bootleader.plots._panels import log_log, regret_panels, sweep, tail_panels
from bootleader.plots._ranked_dots import ranked_dots
from bootleader.plots._regret_ratios import dot_rows, ratio_map
from bootleader.plots._segment_shares import stacked_shares
from bootleader.plots._styles import COLOURS, family_of, family_styles, style_of
from bootleader.plots._tuning_curves import tuning_curves

__all__ = [
    "COLOURS",
    "Band",
    "Curve",
    "HeatMapText",
    "Labels",
    "PanelOptions",
    "PanelText",
    "Scale",
    "ShownFigure",
    "band_in_words",
    "curves_figure",
    "curves_of",
    "dot_rows",
    "draw_curves",
    "family_of",
    "family_styles",
    "heat_map",
    "label_ends",
    "log_log",
    "mark_level",
    "new_figure",
    "plain",
    "ranked_dots",
    "ratio_map",
    "regret_panels",
    "relative_curves",
    "shown_figure",
    "spread",
    "stacked_shares",
    "style_of",
    "svg_of",
    "sweep",
    "tail_panels",
    "tuning_curves",
    "write",
]
