"""The robustness suite: reward shapes and scales that a practitioner meets, and the same in another unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader.bandits import (
    AffineBandit,
    Bandit,
    BernoulliBandit,
    ExponentialBandit,
    GaussianBandit,
    LogUniform,
    RevenueBandit,
    StudentTBandit,
    Uniform,
)
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._regret_growth import Interval, ratio
from bootleader.paper._report_part import FEWER_ROUNDS, Drawing, Outcome, Part, Size, Table
from bootleader.paper._styles import ADAPTIVE, FLAT_TS, LEADER, ORACLE_TS, PHE_2_1, REBOOT, STUDENT, TS, VANILLA, label
from bootleader.policies import UCB1, EpsilonGreedy, Policy, ReBoot

if TYPE_CHECKING:
    import pandas as pd

RUNS = 2_000
SCALE, SHIFT = 1_000.0, -1e6
PLAIN, OTHER = "rewards as they come", "the same rewards × 1,000 − 10⁶"
UNITS = {PLAIN: False, OTHER: True}
QUANTILE = 0.99
TOLD_RATIO = 1.5
TOLD_NAME = "ReBoot, told the sd"


@dataclass(frozen=True)
class Case:
    """A bandit of the suite with its horizon."""

    bandit: Bandit
    rounds: int
    what: str


SUITE: dict[str, Case] = {
    "gauss2": Case(GaussianBandit((0.5, 0.0)), 20_000, "2 Gaussian arms (.5, 0), sd 1"),
    "gauss10": Case(GaussianBandit(Uniform(5, 7, arms=10)), 10_000, "10 Gaussian arms, means U(5, 7), sd 1"),
    "exp10": Case(ExponentialBandit(Uniform(5, 7, arms=10), shift=5), 10_000, "10 arms, 5 + Exp, means U(5, 7)"),
    "bern .02/.03": Case(BernoulliBandit((0.02, 0.03)), 50_000, "2 Bernoulli arms"),
    "bern .002/.006": Case(BernoulliBandit((0.002, 0.006)), 50_000, "2 Bernoulli arms, rare rewards"),
    "bern10 rare": Case(BernoulliBandit(Uniform(0.01, 0.05, arms=10)), 50_000, "10 Bernoulli arms, U(.01, .05)"),
    "bern10": Case(BernoulliBandit(Uniform(0.25, 0.75, arms=10)), 10_000, "10 Bernoulli arms, U(.25, .75)"),
    "revenue5": Case(
        RevenueBandit(Uniform(0.8, 1.2, arms=5), conversion=0.05, sigma=1.0), 50_000,
        "5 arms, 5 % pay a lognormal amount, means U(.8, 1.2)",
    ),
    "student-t3": Case(StudentTBandit(Uniform(5, 7, arms=10), df=3), 10_000, "10 arms, Student (3 df), means U(5, 7)"),
    "sd 10/.1": Case(GaussianBandit((1.0, 0.0), sd=(10.0, 0.1)), 10_000, "means (1, 0), sd (10, .1)"),
    "sd .1/10": Case(GaussianBandit((1.0, 0.0), sd=(0.1, 10.0)), 10_000, "means (1, 0), sd (.1, 10)"),
    "sd 3/.3": Case(GaussianBandit((1.0, 0.0), sd=(3.0, 0.3)), 10_000, "means (1, 0), sd (3, .3)"),
    "sd mixed5": Case(
        GaussianBandit((1.0, 0.8, 0.6, 0.4, 0.2), sd=(5.0, 0.2, 1.0, 0.2, 5.0)), 10_000,
        "means (1, .8, .6, .4, .2), sd (5, .2, 1, .2, 5)",
    ),
    "sd drawn10": Case(
        GaussianBandit(Uniform(0, 1, arms=10), sd=LogUniform(0.1, 5)), 10_000, "10 arms, means U(0, 1), sd in [.1, 5]"
    ),
}  # fmt: skip

# What each policy is told about the rewards, which is what a practitioner has to know to use it.
TOLD = {
    label(ADAPTIVE): "nothing",
    label(STUDENT): "nothing",
    TOLD_NAME: f"the rewards’ sd: σ_a = {TOLD_RATIO:g} × root mean square of the arms’ true sd",
    label(FLAT_TS): "that the sd is 1",
    label(REBOOT): "σ_a = 1.5, right if the sd is 1",
    label(UCB1()): "that the unit is 1",
    label(EpsilonGreedy()): "nothing; explores one round in ten for ever",
    label(VANILLA): "nothing",
    label(PHE_2_1): "that rewards lie in [0, 1]",
    label(TS): "that means are N(0, 1) and the sd is 1",
    label(LEADER): "nothing; never explores",
}
COLOURS = {
    label(ADAPTIVE): "#000000", label(STUDENT): "#6B4C9A", TOLD_NAME: "#0072B2", label(FLAT_TS): "#B07D00",
    label(REBOOT): "#0072B2", label(UCB1()): "#009E73", label(EpsilonGreedy()): "#009E73", label(VANILLA): "#56B4E9",
    label(PHE_2_1): "#A8508A", label(TS): "#D55E00", label(LEADER): "#8C8C00",
}  # fmt: skip


@cache
def typical_sd(bandit: Bandit) -> float:
    """Root mean square of the arms' true sd, over the arms and 2,000 runs of seed 0."""
    sd = bandit.parameters_of(0, np.arange(RUNS, dtype=np.uint64)).sd
    return float(f"{math.sqrt((sd**2).mean()):.6g}")


def policies_of(bandit: Bandit) -> dict[str, Policy]:
    """The policies of the suite by name, each told what ``TOLD`` says."""
    fixed = (ADAPTIVE, STUDENT, FLAT_TS, REBOOT, UCB1(), EpsilonGreedy(), VANILLA, PHE_2_1, TS, LEADER)
    found: dict[str, Policy] = {label(policy): policy for policy in fixed}
    found[TOLD_NAME] = ReBoot(sigma_a=TOLD_RATIO * typical_sd(bandit))
    return {name: found[name] for name in TOLD}


def _bandit(case: Case, other_unit: bool) -> Bandit:
    return AffineBandit(case.bandit, SCALE, SHIFT) if other_unit else case.bandit


def _cell(size: Size, policy: Policy, case: Case, other_unit: bool) -> Cell:
    rounds = (
        min(case.rounds, size.rounds) if size.rounds else case.rounds // FEWER_ROUNDS if size.quick else case.rounds
    )
    return Cell(policy, _bandit(case, other_unit), rounds, size.runs_of(RUNS), size.seed)


def cells(size: Size) -> list[Cell]:
    """Every policy and the oracle, on every case, in both units."""
    return [
        _cell(size, policy, case, other_unit)
        for other_unit in UNITS.values()
        for case in SUITE.values()
        for policy in (ORACLE_TS, *policies_of(_bandit(case, other_unit)).values())
    ]


@dataclass(frozen=True)
class Ratios:
    """A policy's regret on a case over the oracle's."""

    mean: Interval
    quantile: float


def measure(size: Size, results: Results) -> dict[str, dict[str, dict[str, Ratios]]]:
    """Unit -> policy -> case -> ratios."""
    found: dict[str, dict[str, dict[str, Ratios]]] = {}
    for unit, other in UNITS.items():
        table: dict[str, dict[str, Ratios]] = {name: {} for name in TOLD}
        for title, case in SUITE.items():
            oracle = results.final(_cell(size, ORACLE_TS, case, other))
            for name, policy in policies_of(_bandit(case, other)).items():
                regret = results.final(_cell(size, policy, case, other))
                tail = float(np.quantile(regret, QUANTILE) / np.quantile(oracle, QUANTILE))
                table[name][title] = Ratios(ratio(regret, oracle), tail)
        found[unit] = table
    return found


def geometric(values: Any) -> float:
    """Geometric mean."""
    return float(np.exp(np.log(np.array(list(values))).mean()))


def analyse(size: Size, results: Results) -> Outcome:
    """Pictures and tables of the ratios."""
    from bootleader.plots import dot_rows, heat_map

    found = measure(size, results)
    first = found[PLAIN]
    ranked = sorted(first, key=lambda name: max(cell.quantile for cell in first[name].values()))
    means = {u: {n: {c: r.mean.value for c, r in t[n].items()} for n in ranked} for u, t in found.items()}
    tails = {u: {n: {c: r.quantile for c, r in t[n].items()} for n in ranked} for u, t in found.items()}
    note = _note(size)
    oracle = "Thompson sampling that is told every arm’s true sd"
    return Outcome(
        drawings=[
            Drawing(
                "robustness", dot_rows(means, COLOURS, "mean regret ÷ the oracle’s (log scale)", note),
                f"One dot a case: mean regret over that of {oracle}, {size.runs_of(RUNS):,} runs; the bar is the "
                "geometric mean, the worst case is named. Left: rewards as they come. Right: the same rewards times "
                "1,000, less a million.",
            ),
            Drawing(
                "robustness-map",
                heat_map({"Mean regret ÷ the oracle’s": means[PLAIN],
                          "99 % quantile ÷ the oracle’s": tails[PLAIN]},
                         "times the oracle’s regret", note),
                "The same numbers, case by case, with the bad runs below: the 99 % quantile of regret over that of "
                f"{oracle}. Policies are ordered by their worst 99 % ratio.",
            ),
        ],
        tables=[_summary(ranked, found), _detail(ranked, found), _cases(size)],
        numbers={"robustness-ratios": _numbers(found)},
    )  # fmt: skip


def _note(size: Size) -> str:
    shortened = size.quick or size.rounds is not None
    if size.runs_of(RUNS) == RUNS and not shortened:
        return ""
    horizons = ", shortened horizons" if shortened else ""
    return f"Not full size: {size.runs_of(RUNS):,} runs{horizons} (full size: {RUNS:,} runs)"


def _summary(ranked: list[str], found: dict[str, dict[str, dict[str, Ratios]]]) -> Table:
    import pandas as pd

    rows = []
    for name in ranked:
        row: dict[str, Any] = {"policy": name, "is told": TOLD[name]}
        for unit, table in found.items():
            cells = table[name]
            mean, worst = max((ratios.mean.value, case) for case, ratios in cells.items())
            quantile, tail = max((ratios.quantile, case) for case, ratios in cells.items())
            short = "×1,000 − 10⁶" if unit == OTHER else "as they come"
            row[f"{short}: mean, typical"] = f"{geometric(c.mean.value for c in cells.values()):.3g}"
            row[f"{short}: mean, worst"] = f"{mean:,.3g} ({worst})"
            row[f"{short}: 99 %, worst"] = f"{quantile:,.3g} ({tail})"
        rows.append(row)
    note = "Ratios to the oracle; typical: geometric mean over the cases; worst: over the cases, which is named."
    return Table("robustness", "The suite in short", pd.DataFrame(rows), note)


def _detail(ranked: list[str], found: dict[str, dict[str, dict[str, Ratios]]]) -> Table:
    import pandas as pd

    table = found[PLAIN]
    rows = [
        {"policy": name} | {case: f"{table[name][case].mean} | {table[name][case].quantile:.3g}" for case in SUITE}
        for name in ranked
    ]
    note = "Each entry: ratio of mean regret with its 95 % interval | ratio of the 99 % quantile. Rewards as they come."
    return Table("robustness-detail", "Every case", pd.DataFrame(rows), note)


def _cases(size: Size) -> Table:
    import pandas as pd

    rows = [
        {"case": title, "bandit": case.what, "rounds": f"{_cell(size, TS, case, False).rounds:,}",
         "typical sd": f"{typical_sd(case.bandit):.3g}"}
        for title, case in SUITE.items()
    ]  # fmt: skip
    return Table("robustness-cases", "The cases", pd.DataFrame(rows))


def _numbers(found: dict[str, dict[str, dict[str, Ratios]]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {"unit": unit, "policy": name, "case": case, "mean_ratio": r.mean.value, "low": r.mean.low,
             "high": r.mean.high, "q99_ratio": r.quantile}
            for unit, table in found.items()
            for name, row in table.items()
            for case, r in row.items()
        ]
    )  # fmt: skip


PART = Part("robustness", "The robustness suite", cells, analyse, beyond_the_paper=True, by_default=False)
