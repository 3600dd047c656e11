"""Beyond the paper: policies that need no scale of the rewards, on the paper's panels."""

from __future__ import annotations

from typing import Any

from bootleader.paper._bootstrap_intervals import mean
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG2_SDS, FIG2_SHIFTS, FIG3_BANDITS, fig2_left_bandit, fig2_right_bandit
from bootleader.paper._paper_policies import ADAPTIVE, FLAT_TS, REBOOT, STUDENT, label
from bootleader.paper._regret_curves import curves_frame, final_regret_curve, regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size, Table
from bootleader.policies import Policy, ReBoot

UNIT_FREE: tuple[Policy, ...] = (ADAPTIVE, STUDENT, FLAT_TS)
PANELS = {f"Figure 3: {shape} rewards": bandit for shape, bandit in FIG3_BANDITS.items()}


def _policies(sd: float) -> dict[str, Policy]:
    return {"ReBoot": ReBoot(sigma_a=1.5 * sd)} | {label(policy): policy for policy in UNIT_FREE}


def _shift_cells(size: Size, name: str) -> dict[float, Cell]:
    return {c: size.cell(_policies(1.0)[name], fig2_left_bandit(c)) for c in FIG2_SHIFTS}


def _noise_cells(size: Size, name: str) -> dict[float, Cell]:
    return {sd: size.cell(_policies(float(sd))[name], fig2_right_bandit(sd)) for sd in FIG2_SDS}


def cells(size: Size) -> list[Cell]:
    """Four policies on the three panels with curves and along the two sweeps."""
    curves = [size.cell(policy, bandit) for bandit in PANELS.values() for policy in (REBOOT, *UNIT_FREE)]
    sweeps = [
        cell for name in _policies(1.0) for by in (_shift_cells, _noise_cells) for cell in by(size, name).values()
    ]
    return curves + sweeps


def analyse(size: Size, results: Results) -> Outcome:
    """The panels of the paper with these policies, and final regret as a table."""
    from bootleader.plots import regret_panels, sweep

    panels = {
        title: {label(p): regret_curve(results, size.cell(p, bandit)) for p in (REBOOT, *UNIT_FREE)}
        for title, bandit in PANELS.items()
    }
    sweeps = {
        "Figure 2 left: means (c + 1, c), sd 1": {
            n: final_regret_curve(results, _shift_cells(size, n)) for n in _policies(1.0)
        },
        "Figure 2 right: means (1, 0)": {n: final_regret_curve(results, _noise_cells(size, n)) for n in _policies(1.0)},
    }
    knowledge = "AdaptiveReBoot and StudentThompson know nothing; flat-prior TS and ReBoot 1.5 assume that the sd is 1"
    note = size.remark()
    return Outcome(
        drawings=[
            Drawing(
                "beyond-fig3", regret_panels(panels, STYLES, note=note),
                f"Beyond the paper: mean regret over {size.in_words()} on the panels of figure 3. {knowledge}. "
                "Figure 1’s bandit is the left panel’s shifted by −6, which changes no choice of these policies: its "
                "curves are the same.",
            ),
            Drawing(
                "beyond-fig2", sweep(sweeps, STYLES, ["shift c of both means", "standard deviation"], note),
                f"Beyond the paper: the sweeps of figure 2, {size.in_words()}. Along the right panel ReBoot knows "
                "the sd (σ_a = 1.5 sd), flat-prior TS still assumes 1, the other two know nothing.",
            ),
        ],
        tables=[_table(size, results, knowledge)],
        numbers={"beyond-fig3": curves_frame(panels, "round"), "beyond-fig2": curves_frame(sweeps, "value")},
    )  # fmt: skip


def _table(size: Size, results: Results, knowledge: str) -> Table:
    import pandas as pd

    rows: list[dict[str, Any]] = []
    numbers: list[dict[str, Any]] = []
    for policy in (REBOOT, *UNIT_FREE):
        row: dict[str, Any] = {"policy": label(policy)}
        for title, bandit in PANELS.items():
            regret = mean(results.final_regret(size.cell(policy, bandit)))
            row[title] = str(regret)
            numbers.append(
                {
                    "policy": label(policy),
                    "panel": title,
                    "regret": regret.value,
                    "low": regret.low,
                    "high": regret.high,
                }
            )
        rows.append(row)
    return Table(
        "beyond", "Final regret with 95 % intervals", pd.DataFrame(rows), pd.DataFrame(numbers),
        f"{knowledge}. AdaptiveReBoot has no regret theorem: the evidence for it is empirical.",
    )  # fmt: skip


PART = Part("beyond", "The paper’s panels with policies that need no tuning", cells, analyse, beyond_the_paper=True)
