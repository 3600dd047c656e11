"""Regret over a tuning parameter, measured and published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from bootleader.plots._axes import INK, new_figure, remark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73")


def tuning_curves(tuning: Any, note: str = "") -> Figure:
    """Draw mean regret over the weights: measured as lines, published as circles, both with standard errors.

    ``tuning`` has the columns panel ("family, member"), sd_weights, mean_regret, standard_error, published and
    published_standard_error. Each family is a panel of the figure, each member a line.
    """
    families: dict[str, list[str]] = {}
    for name in dict.fromkeys(tuning["panel"]):
        families.setdefault(name.split(", ")[0], []).append(name)
    figure, axes = new_figure(4.0 * len(families), 3.6, len(families))
    for panel, (family, names) in zip(axes, families.items(), strict=True):
        ordered = sorted(names, key=lambda name: int(name.rsplit(" ", 1)[-1]))
        for name, colour in zip(ordered, COLOURS, strict=False):
            rows = tuning[tuning["panel"] == name]
            label = name.split(", ")[1]
            at = rows["sd_weights"]
            panel.errorbar(at, rows["mean_regret"], rows["standard_error"], color=colour, linewidth=1.6, label=label)
            panel.errorbar(
                at * 1.03, rows["published"], rows["published_standard_error"], fmt="o", color=colour, markersize=4,
                markerfacecolor="none", linewidth=0.8,
            )  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(family, fontsize=11, loc="left", color=INK)
        panel.set_xlabel("sd of the weights")
        panel.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("final regret")
    remark(figure, note)
    return figure
