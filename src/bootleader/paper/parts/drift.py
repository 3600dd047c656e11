"""Rewards that change: policies that forget, against oracles that know the changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from bootleader.bandits import Bandit, Drifting, GaussianBandit, Piecewise, Uniform
from bootleader.paper._bootstrap_intervals import ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._change_oracles import RestartedThompson, TrackingThompson
from bootleader.paper._paper_policies import ADAPTIVE, FLAT_TS
from bootleader.paper._regret_curves import curves_frame, regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size, Table
from bootleader.policies import UCB1, Discounted, Policy, SlidingWindowUCB

ARMS: Final = 5
PHASES: Final = 5
DRIFT_SD: Final = 0.01
HALF_LIVES: Final = (0.01, 0.03, 0.1)  # shares of the horizon
ORACLE: Final = "oracle"
ABRUPT, DRIFTING, CONSTANT = "five phases, means drawn anew", "means on random walks", "nothing changes"


def _arms() -> GaussianBandit:
    return GaussianBandit(Uniform(0, 1, arms=ARMS))


def bandits(size: Size) -> dict[str, Bandit]:
    """Abrupt changes, drift, and none: what forgetting costs where there is nothing to forget."""
    phase = size.rounds_of() // PHASES
    return {
        ABRUPT: Piecewise([(_arms(), phase)] * PHASES),
        DRIFTING: Drifting(_arms(), sd=DRIFT_SD),
        CONSTANT: _arms(),
    }


def oracle_of(title: str, size: Size) -> Policy:
    """Thompson sampling that knows the noise and the changes, but not the means."""
    if title == ABRUPT:
        return RestartedThompson(period=size.rounds_of() // PHASES)
    return TrackingThompson(drift_sd=DRIFT_SD) if title == DRIFTING else FLAT_TS


def half_lives(size: Size) -> list[int]:
    """Half-lives in rounds."""
    return [max(1, round(share * size.rounds_of())) for share in HALF_LIVES]


def window(size: Size) -> int:
    """The window that Garivier and Moulines advise for a known number of changes: 2 sqrt(T log T / changes)."""
    rounds = size.rounds_of()
    return round(2.0 * math.sqrt(rounds * math.log(rounds) / (PHASES - 1)))


def policies(size: Size) -> dict[str, Policy]:
    """Those that forget, at several half-lives, and two that do not."""
    found: dict[str, Policy] = {"AdaptiveReBoot": ADAPTIVE, "TS flat": FLAT_TS}
    for name, policy in {"AdaptiveReBoot": ADAPTIVE, "TS flat": FLAT_TS, "UCB1": UCB1()}.items():
        for half_life in half_lives(size):
            found[f"{name}, half-life {half_life:,}"] = Discounted(policy, half_life=half_life)
    # Rewards within a range of b have an sd of at most b / 2: b = 2 for the sd of 1.
    found[f"SlidingWindowUCB {window(size):,}"] = SlidingWindowUCB(window=window(size), b=2.0)
    return found


def _cells(size: Size) -> dict[str, dict[str, Cell]]:
    return {
        title: {
            name: size.cell(policy, bandit)
            for name, policy in {ORACLE: oracle_of(title, size), **policies(size)}.items()
        }
        for title, bandit in bandits(size).items()
    }


def cells(size: Size) -> list[Cell]:
    """Every policy and the oracle on every bandit."""
    return [cell for row in _cells(size).values() for cell in row.values()]


def analyse(size: Size, results: Results) -> Outcome:
    """Regret curves, and final regret with its ratio to the oracle's."""
    from bootleader.plots import family_styles, regret_panels

    found = _cells(size)
    shown = _drawn(size)
    panels = {
        title: {name: regret_curve(results, row[name]) for name in shown}
        for title, row in found.items()
        if title != CONSTANT
    }
    figure = regret_panels(panels, family_styles(shown), note=size.remark(), sharey=False)
    return Outcome(
        drawings=[
            Drawing(
                "drift", figure,
                f"Mean regret against the best arm of each round, {size.in_words()}, {ARMS} Gaussian arms, sd 1, means "
                f"U(0, 1) at first. Left: drawn anew {PHASES - 1} times. Right: random walks with steps of sd "
                f"{DRIFT_SD:g}. The oracle is Thompson sampling that knows when, or how fast, the means change.",
            )
        ],
        tables=[_table(found, results)],
        numbers={"drift": curves_frame({t: {n: regret_curve(results, c) for n, c in row.items()}
                                        for t, row in found.items()}, "round")},
    )  # fmt: skip


def _drawn(size: Size) -> list[str]:
    """The curves of the figure: every policy with one half-life, and one without."""
    middle = f"half-life {half_lives(size)[1]:,}"
    return [
        name for name in (ORACLE, *policies(size))
        if name in (ORACLE, "AdaptiveReBoot") or name.endswith(middle) or name.startswith("Sliding")
    ]  # fmt: skip


def _table(found: Mapping[str, Mapping[str, Cell]], results: Results) -> Table:
    import pandas as pd

    shown, data = [], []
    for name in next(iter(found.values())):
        row = {"policy": name}
        for title, cells in found.items():
            regret, oracle = (results.final_regret(cells[who]) for who in (name, ORACLE))
            result = results[cells[name]]
            mean, error = float(result.mean_regret[0, -1]), float(result.standard_error[0, -1])
            times = ratio(regret, oracle)
            row[title] = f"{mean:,.0f} ± {error:.2g}"
            row[f"{title}: over the oracle’s"] = str(times)
            data.append(
                {"bandit": title, "policy": name, "mean_regret": mean, "standard_error": error, "ratio": times.value,
                 "low": times.low, "high": times.high}
            )  # fmt: skip
        shown.append(row)
    note = (
        "Mean regret ± standard error, and its ratio to the oracle’s with a 95 % interval. Half-lives and the window "
        "are in rounds; the window is the one that Garivier and Moulines (2011) advise for a known number of changes."
    )
    return Table("drift", "Regret with and without forgetting", pd.DataFrame(shown), pd.DataFrame(data), note)


PART = Part(
    "drift", "Rewards that change", cells, analyse,
    beyond_the_paper=True, by_default=False, takes="some 30 seconds on two cores",
)  # fmt: skip
