"""Table 2: seconds a run, measured here beside those of the paper."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from bootleader.bandits import GaussianBandit, Uniform
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import geometric_mean, quotient
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._paper_policies import GIRO, PHE_2_1, REBOOT, TS, label
from bootleader.paper._report_part import PAPER_ROUNDS, Outcome, Part, Size, Table
from bootleader.policies import HistoryRule, Policy

POLICIES: tuple[Policy, ...] = (TS, GIRO, PHE_2_1, REBOOT)
ARMS = (5, 10, 20)
# Seconds that the paper reports, by (K, T): TS, Giro, PHE, ReBoot.
PAPER_SECONDS = {
    (5, 1_000): (0.030, 0.174, 0.051, 0.029),
    (10, 1_000): (0.030, 0.280, 0.052, 0.029),
    (20, 1_000): (0.030, 0.491, 0.052, 0.029),
    (5, 10_000): (0.330, 3.903, 0.541, 0.344),
    (10, 10_000): (0.326, 4.979, 0.545, 0.319),
    (20, 10_000): (0.325, 7.065, 0.551, 0.315),
}
COMPARABLE = 3.0  # the paper's own largest ratio among ReBoot, TS and PHE is 1.9
MUCH_HIGHER = 3.0
AS_EFFICIENT = 1.5

Seconds = dict[tuple[int, int], dict[str, float]]


def _horizons(size: Size) -> tuple[int, ...]:
    return (PAPER_ROUNDS // 10, PAPER_ROUNDS) if size.rounds_of() >= PAPER_ROUNDS else (PAPER_ROUNDS // 10,)


def _cell(size: Size, policy: Policy, arms: int, rounds: int) -> Cell:
    runs = 8 if isinstance(policy.rule, HistoryRule) else 64
    return Cell(policy, GaussianBandit(Uniform(5, 7, arms=arms)), rounds, runs, size.seed, timed=True)


def cells(size: Size) -> list[Cell]:
    """Every K, T and policy of the table, timed (T = 10,000 only at full size)."""
    return [_cell(size, p, K, T) for T, K, p in product(_horizons(size), ARMS, POLICIES)]


def analyse(size: Size, results: Results) -> Outcome:
    """The table and the claims about it."""
    ours: Seconds = {}
    for T, K in product(_horizons(size), ARMS):
        timed = {label(p): _cell(size, p, K, T) for p in POLICIES}
        ours[K, T] = {name: float(results[cell].seconds[0]) / cell.runs for name, cell in timed.items()}
    return Outcome(tables=[_table(ours)], claims=judge(ours))


def _table(ours: Seconds) -> Table:
    import pandas as pd

    names = [label(p) for p in POLICIES]
    rows: list[dict[str, Any]] = []
    numbers: list[dict[str, Any]] = []
    for (K, T), seconds in ours.items():
        paper = dict(zip(names, PAPER_SECONDS[K, T], strict=True))
        rows.append(
            {"K": K, "T": f"{T:,}"} | {n: f"{1000 * seconds[n]:.3g} ms | {1000 * paper[n]:,.0f} ms" for n in names}
        )
        numbers += [
            {"arms": K, "rounds": T, "policy": n, "seconds": seconds[n], "paper_seconds": paper[n]} for n in names
        ]
    note = (
        "Each entry: measured here | in the paper. Here: processor time a run on one core, Gaussian arms, fastest of "
        "three, runs simulated together in lock step (64; Giro 8 one after the other); compilation is not counted. The "
        "paper does not say what its runs were timed on, so compare columns rather than entries."
    )
    return Table("table2", "Run time, milliseconds a run", pd.DataFrame(rows), pd.DataFrame(numbers), note)


def judge(ours: Seconds) -> list[claims.Judged]:
    """The ordering that section 4.3 reports."""
    giro, ts, phe, reboot = (label(p) for p in (GIRO, TS, PHE_2_1, REBOOT))
    fast = (ts, phe, reboot)

    def spread(seconds: dict[str, float]) -> float:
        return quotient(max(seconds[n] for n in fast), min(seconds[n] for n in fast))

    def slowest_first(seconds: dict[str, float]) -> str:
        times = sorted(seconds.items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {1000 * value:.3g} ms" for name, value in times)

    def in_all(name: str, ratios: dict[tuple[int, int], float], low: float, high: float) -> claims.Finding:
        inside = [low <= value <= high for value in ratios.values()]
        verdict = claims.joint_verdict(
            claims.holds_if(holds, "", numbers=[value]).verdict
            for holds, value in zip(inside, ratios.values(), strict=True)
        )
        measured = (
            f"{name}: {min(ratios.values()):.2g} to {max(ratios.values()):.2g} over {len(ratios)} settings, geometric "
            f"mean {geometric_mean(ratios.values())}"
        )
        if any(math.isnan(value) for value in ratios.values()):
            return claims.Finding(verdict, measured, f"{name} cannot be computed in some settings: a time is zero.")
        (K, T), worst = max(ratios.items(), key=lambda item: max(low - item[1], item[1] - high))
        limit = f"above {high:g}" if worst > high else f"below {low:g}"
        return claims.explained(
            claims.Finding(verdict, measured),
            f"{name} is {limit} in {inside.count(False)} of {len(ratios)} settings, {worst:.2g} at K = {K}, T = {T:,} "
            f"({slowest_first(ours[K, T])}).",
        )

    where = "§4.3, table 2"
    return [
        claims.judged(
            where, "Run times of ReBoot, TS and PHE are comparable in all settings.",
            f"Slowest of the three over the fastest, at most {COMPARABLE:g}, in every setting.",
            in_all("Slowest / fastest", {k: spread(s) for k, s in ours.items()}, 0.0, COMPARABLE),
        ),
        claims.judged(
            where, "Giro’s run time is significantly higher in all settings.",
            f"Giro over the slowest of the three, at least {MUCH_HIGHER:g}, in every setting.",
            in_all("Giro / slowest of the others",
                   {k: quotient(s[giro], max(s[n] for n in fast)) for k, s in ours.items()}, MUCH_HIGHER, float("inf")),
        ),
        claims.judged(
            "§2.5; abstract", "With Gaussian weights ReBoot is as efficient as TS.",
            f"ReBoot over TS, at most {AS_EFFICIENT:g}, in every setting.",
            in_all("ReBoot / TS", {k: quotient(s[reboot], s[ts]) for k, s in ours.items()}, 0.0, AS_EFFICIENT),
        ),
    ]  # fmt: skip


PART = Part("table2", "Table 2. Run time", cells, analyse)
