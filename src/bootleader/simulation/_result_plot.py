"""What ``Simulation.plot`` draws: the numbers of a quantity over time, or of pulls by rank."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from bootleader._core.validation import counted, one_of
from bootleader.simulation._bandit_json import text_of
from bootleader.simulation._block_runs import QUANTITIES
from bootleader.simulation._merge import position, positions
from bootleader.simulation._tables import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bootleader.plots import Curve, Labels, Scale
    from bootleader.simulation.result import Simulation

What = Literal["regret", "best_arm_share", "simple_regret", "pulls_by_rank"]
LONG = 24  # letters of an axis label that leave room for the band's name


class Words(NamedTuple):
    """Title and axis label of a quantity."""

    title: str
    axis: str


WORDS = {
    "regret": Words("Mean regret", "mean regret"),
    "best_arm_share": Words("Share of pulls of the best arm", "share of best-arm pulls so far"),
    "simple_regret": Words("Simple regret", "mean simple regret"),
    "pulls_by_rank": Words("Pulls by the arm's true rank", "mean number of pulls"),
}


class PictureOptions(NamedTuple):
    """Options of ``Simulation.plot``."""

    policies: Sequence[str | int] | None
    what: What
    xscale: Scale
    yscale: Scale
    band: Any
    labels: Labels
    title: str | None
    relative_to: str | int | None


def picture(sim: Simulation, path: str | PathLike[str] | None, ax: Any, options: PictureOptions) -> Figure:
    """Draw a quantity of some policies, into a file or onto ``ax`` where one is given."""
    from bootleader.plots import (
        PanelOptions,
        PanelText,
        curves_figure,
        family_styles,
        mark_level,
        relative_curves,
        shown_figure,
        write,
    )

    policies, what, xscale, yscale, band, labels, title, relative_to = options
    if path is not None and not isinstance(path, str | PathLike):
        raise TypeError(f"path must be the name of a file to write, such as 'regret.png', or None, got {path!r}")
    one_of("what", what, get_args(What))
    places = positions(sim, policies) if policies is not None else list(range(len(sim.policies)))
    divisor = None if relative_to is None else position(sim, relative_to)
    computed = sorted({*places, *(() if divisor is None else (divisor,))})
    curves, band_words = _numbers(sim, what, band, computed)
    subject, label = WORDS[what]
    if divisor is not None:
        name = sim.policies[divisor]
        curves = relative_curves(curves, name)
        subject, label = f"{subject} relative to {name}", f"{'regret ratio' if what == 'regret' else 'ratio'} to {name}"
    heading = f"{subject} over {counted(sim.runs, 'run')}" if title is None else title
    by_rank = what == "pulls_by_rank"
    text = PanelText(
        title=heading,
        subtitle=shortened(text_of(sim.bandit)) if title is None else "",
        xlabel="arm's true rank (1 is the best)" if by_rank else "round",
        ylabel=f"{label}, {band_words}" if band_words and len(label) < LONG else f"{label}\n{band_words}".rstrip(),
    )
    figure = curves_figure(
        {sim.policies[place]: curves[sim.policies[place]] for place in places},
        text,
        PanelOptions(xscale, yscale, labels, markers=by_rank),
        ax=ax,
        styles=family_styles(sim.policies),  # of all: a policy looks the same in every picture
        make=shown_figure if path is None else None,
    )
    if divisor is not None:
        mark_level(ax or figure.axes[0], 1.0)
    if path is not None:
        write(figure, path)
    return figure


def _numbers(sim: Simulation, what: What, band: Any, places: list[int]) -> tuple[dict[str, Curve], str]:
    """The curves of some policies, and what their band is."""
    from bootleader.plots import band_in_words, curves_of

    names = [sim.policies[place] for place in places]
    if what == "pulls_by_rank":
        pulls = sim.pulls_by_rank[places]
        ranks = np.arange(1, pulls.shape[1] + 1)
        return curves_of(names, ranks, pulls, np.zeros_like(pulls), runs=sim.runs), ""
    if what != "regret" and not isinstance(band, str):
        raise ValueError(f"quantiles over runs are kept of the regret alone; of {what} draw band='se' or '95%'")
    mean, error = np.moveaxis(sim.over_time[places, QUANTITIES.index(what)], 1, 0)
    per_run = None if sim.curves is None else sim.curves[places]
    found = curves_of(names, sim.rounds, mean, error, runs=sim.runs, band=band, per_run=per_run)
    return found, band_in_words(band)
