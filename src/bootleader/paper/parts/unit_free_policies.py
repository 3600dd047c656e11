"""Beyond the paper: policies that are told no scale, on the paper's own panels."""

from __future__ import annotations

from typing import Any

from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._paper_settings import (
    SDS,
    SHAPES,
    SHIFTS,
    curve,
    curves_frame,
    final_curve,
    how_many,
    shifted,
    spread_out,
)
from bootleader.paper._regret_growth import mean
from bootleader.paper._report_part import Drawing, Outcome, Part, Size, Table
from bootleader.paper._styles import ADAPTIVE, FLAT_TS, REBOOT, STUDENT, STYLES, label
from bootleader.policies import Policy, ReBoot

NEW: tuple[Policy, ...] = (ADAPTIVE, STUDENT, FLAT_TS)
PANELS = {f"Figure 3: {shape} rewards": bandit for shape, bandit in SHAPES.items()}


def _at(sd: float) -> dict[str, Policy]:
    return {"ReBoot": ReBoot(sigma_a=1.5 * sd)} | {label(policy): policy for policy in NEW}


def _shift_cells(size: Size, name: str) -> dict[float, Cell]:
    return {c: size.cell(_at(1.0)[name], shifted(c)) for c in SHIFTS}


def _noise_cells(size: Size, name: str) -> dict[float, Cell]:
    return {sd: size.cell(_at(float(sd))[name], spread_out(sd)) for sd in SDS}


def cells(size: Size) -> list[Cell]:
    """Four policies on the three panels with curves and along the two sweeps."""
    curves = [size.cell(policy, bandit) for bandit in PANELS.values() for policy in (REBOOT, *NEW)]
    sweeps = [cell for name in _at(1.0) for by in (_shift_cells, _noise_cells) for cell in by(size, name).values()]
    return curves + sweeps


def analyse(size: Size, results: Results) -> Outcome:
    """The panels again, and final regret as a table."""
    from bootleader.plots import regret_panels, sweep

    panels = {
        title: {label(p): curve(results, size.cell(p, bandit)) for p in (REBOOT, *NEW)}
        for title, bandit in PANELS.items()
    }
    sweeps = {
        "Figure 2 left: means (c + 1, c), sd 1": {n: final_curve(results, _shift_cells(size, n)) for n in _at(1.0)},
        "Figure 2 right: means (1, 0)": {n: final_curve(results, _noise_cells(size, n)) for n in _at(1.0)},
    }
    told = "AdaptiveReBoot and StudentThompson are told nothing; flat-prior TS and ReBoot 1.5 that the sd is 1"
    note = size.remark()
    return Outcome(
        drawings=[
            Drawing(
                "beyond-fig3", regret_panels(panels, STYLES, note=note),
                f"Beyond the paper: mean regret over {how_many(size)} on the panels of figure 3. {told}. "
                "Figure 1’s bandit is the left panel’s less 6, which moves none of these policies: its curves are "
                "the same.",
            ),
            Drawing(
                "beyond-fig2", sweep(sweeps, STYLES, ["shift c of both means", "standard deviation"], note),
                f"Beyond the paper: the sweeps of figure 2, {how_many(size)}. Along the right panel ReBoot is told "
                "the sd (σ_a = 1.5 sd), flat-prior TS still believes it to be 1, the other two are told nothing.",
            ),
        ],
        tables=[_table(size, results, told)],
        numbers={"beyond-fig3": curves_frame(panels, "round"), "beyond-fig2": curves_frame(sweeps, "value")},
    )  # fmt: skip


def _table(size: Size, results: Results, told: str) -> Table:
    import pandas as pd

    rows: list[dict[str, Any]] = []
    numbers: list[dict[str, Any]] = []
    for policy in (REBOOT, *NEW):
        row: dict[str, Any] = {"policy": label(policy)}
        for title, bandit in PANELS.items():
            regret = mean(results.final(size.cell(policy, bandit)))
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
        "beyond", "Final regret with 95 % intervals", pd.DataFrame(rows),
        f"{told}. AdaptiveReBoot has no regret theorem: its case is empirical.", pd.DataFrame(numbers),
    )  # fmt: skip


PART = Part("beyond", "The paper’s panels with policies that need no tuning", cells, analyse, beyond_the_paper=True)
