"""The robustness suite: reward shapes and scales from practice, each also in another unit."""

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
from bootleader.paper._bootstrap_intervals import Interval, quotient, ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._paper_policies import (
    ADAPTIVE,
    FLAT_TS,
    FOLLOW_THE_LEADER,
    ORACLE_TS,
    PHE_2_1,
    REBOOT,
    STUDENT,
    TS,
    VANILLA_BOOTSTRAP,
    label,
)
from bootleader.paper._report_part import QUICK_ROUNDS_DIVISOR, Drawing, Outcome, Part, Size, Table
from bootleader.policies import UCB1, EpsilonGreedy, Policy, ReBoot

if TYPE_CHECKING:
    import pandas as pd

RUNS = 2_000
SCALE, SHIFT = 1_000.0, -1e6
AS_GIVEN, RESCALED = "rewards as given", "the same rewards × 1,000 − 10⁶"
UNITS = {AS_GIVEN: False, RESCALED: True}
QUANTILE = 0.99
SIGMA_A_PER_SD = 1.5
KNOWN_SD = "ReBoot, known sd"


@dataclass(frozen=True)
class Case:
    """A bandit of the suite with its horizon."""

    bandit: Bandit
    rounds: int
    description: str


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

# What a user must know about the rewards to use each policy.
REQUIRED_KNOWLEDGE = {
    label(ADAPTIVE): "nothing",
    label(STUDENT): "nothing",
    KNOWN_SD: f"the rewards’ sd: σ_a = {SIGMA_A_PER_SD:g} × root mean square of the arms’ true sd",
    label(FLAT_TS): "that the sd is 1",
    label(REBOOT): "σ_a = 1.5, right if the sd is 1",
    label(UCB1()): "that the unit is 1",
    label(EpsilonGreedy()): "nothing; always explores one round in ten",
    label(VANILLA_BOOTSTRAP): "nothing",
    label(PHE_2_1): "that rewards lie in [0, 1]",
    label(TS): "that means are N(0, 1) and the sd is 1",
    label(FOLLOW_THE_LEADER): "nothing; never explores",
}
COLOURS = {
    label(ADAPTIVE): "#000000", label(STUDENT): "#6B4C9A", KNOWN_SD: "#0072B2", label(FLAT_TS): "#B07D00",
    label(REBOOT): "#0072B2", label(UCB1()): "#009E73", label(EpsilonGreedy()): "#009E73",
    label(VANILLA_BOOTSTRAP): "#56B4E9", label(PHE_2_1): "#A8508A", label(TS): "#D55E00",
    label(FOLLOW_THE_LEADER): "#8C8C00",
}  # fmt: skip


@cache
def root_mean_square_sd(bandit: Bandit) -> float:
    """Root mean square of the arms' true sd, over the arms and 2,000 runs of seed 0."""
    sd = bandit.parameters_of(0, np.arange(RUNS, dtype=np.uint64)).sd
    return float(f"{math.sqrt((sd**2).mean()):.6g}")


def policies_of(bandit: Bandit) -> dict[str, Policy]:
    """The policies of the suite by name."""
    unit_free = (ADAPTIVE, STUDENT, EpsilonGreedy(), VANILLA_BOOTSTRAP, FOLLOW_THE_LEADER)
    fixed = (*unit_free, FLAT_TS, REBOOT, UCB1(), PHE_2_1, TS)
    found: dict[str, Policy] = {label(policy): policy for policy in fixed}
    found[KNOWN_SD] = ReBoot(sigma_a=SIGMA_A_PER_SD * root_mean_square_sd(bandit))
    return {name: found[name] for name in REQUIRED_KNOWLEDGE}


def _bandit(case: Case, rescaled: bool) -> Bandit:
    return AffineBandit(case.bandit, SCALE, SHIFT) if rescaled else case.bandit


def _cell(size: Size, policy: Policy, case: Case, rescaled: bool) -> Cell:
    rounds = case.rounds
    if size.rounds is not None:
        rounds = min(rounds, size.rounds)
    elif size.quick:
        rounds //= QUICK_ROUNDS_DIVISOR
    return Cell(policy, _bandit(case, rescaled), rounds, size.runs_of(RUNS), size.seed)


def cells(size: Size) -> list[Cell]:
    """Every policy and the oracle, on every case, in both units."""
    return [
        _cell(size, policy, case, rescaled)
        for rescaled in UNITS.values()
        for case in SUITE.values()
        for policy in (ORACLE_TS, *policies_of(_bandit(case, rescaled)).values())
    ]


@dataclass(frozen=True)
class Ratios:
    """A policy's regret on a case over the oracle's."""

    mean: Interval
    quantile: float


RatiosByUnit = dict[str, dict[str, dict[str, Ratios]]]  # unit -> policy -> case -> ratios


def measure(size: Size, results: Results) -> RatiosByUnit:
    """The ratios of every policy on every case in both units."""
    found: RatiosByUnit = {}
    for unit, rescaled in UNITS.items():
        table: dict[str, dict[str, Ratios]] = {name: {} for name in REQUIRED_KNOWLEDGE}
        for title, case in SUITE.items():
            oracle = results.final_regret(_cell(size, ORACLE_TS, case, rescaled))
            for name, policy in policies_of(_bandit(case, rescaled)).items():
                regret = results.final_regret(_cell(size, policy, case, rescaled))
                tail = quotient(np.quantile(regret, QUANTILE), np.quantile(oracle, QUANTILE))
                table[name][title] = Ratios(ratio(regret, oracle), tail)
        found[unit] = table
    return found


def _geometric_mean(values: Any) -> float:
    return float(np.exp(np.log(np.array(list(values))).mean()))


def analyse(size: Size, results: Results) -> Outcome:
    """Figures and tables of the ratios."""
    from bootleader.plots import dot_rows, ratio_map

    found = measure(size, results)
    first = found[AS_GIVEN]
    ranked = sorted(first, key=lambda name: max(cell.quantile for cell in first[name].values()))
    means = {u: {n: {c: r.mean.value for c, r in t[n].items()} for n in ranked} for u, t in found.items()}
    tails = {u: {n: {c: r.quantile for c, r in t[n].items()} for n in ranked} for u, t in found.items()}
    note = _note(size)
    oracle = "Thompson sampling with every arm’s true sd"
    return Outcome(
        drawings=[
            Drawing(
                "robustness", dot_rows(means, COLOURS, "mean regret ÷ the oracle’s (log scale)", note),
                f"One dot a case: mean regret over that of {oracle}, {size.runs_of(RUNS):,} runs; the bar is the "
                "geometric mean, the worst case is named. Left: rewards as given. Right: the same rewards times "
                "1,000, less a million.",
            ),
            Drawing(
                "robustness-map",
                ratio_map({"Mean regret ÷ the oracle’s": means[AS_GIVEN],
                          "99 % quantile ÷ the oracle’s": tails[AS_GIVEN]},
                         "times the oracle’s regret", note),
                "The same numbers, case by case, and below them the bad runs: the 99 % quantile of regret over that of "
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


def _summary(ranked: list[str], found: RatiosByUnit) -> Table:
    import pandas as pd

    rows, numbers = [], []
    for name in ranked:
        row: dict[str, Any] = {"policy": name, "must know": REQUIRED_KNOWLEDGE[name]}
        for unit, table in found.items():
            cells = table[name]
            typical = _geometric_mean(ratios.mean.value for ratios in cells.values())
            mean, worst_mean_case = max((ratios.mean.value, case) for case, ratios in cells.items())
            quantile, worst_quantile_case = max((ratios.quantile, case) for case, ratios in cells.items())
            short = "×1,000 − 10⁶" if unit == RESCALED else "as given"
            row[f"{short}: mean, typical"] = f"{typical:.3g}"
            row[f"{short}: mean, worst"] = f"{mean:,.3g} ({worst_mean_case})"
            row[f"{short}: 99 %, worst"] = f"{quantile:,.3g} ({worst_quantile_case})"
            numbers.append(
                {"policy": name, "unit": unit, "typical_mean_ratio": typical, "worst_mean_ratio": mean,
                 "worst_mean_case": worst_mean_case, "worst_q99_ratio": quantile,
                 "worst_q99_case": worst_quantile_case}
            )  # fmt: skip
        rows.append(row)
    note = "Ratios to the oracle; typical: geometric mean over the cases; worst: over the cases, which is named."
    return Table("robustness", "Summary", pd.DataFrame(rows), pd.DataFrame(numbers), note)


def _detail(ranked: list[str], found: RatiosByUnit) -> Table:
    import pandas as pd

    table = found[AS_GIVEN]
    rows = [
        {"policy": name} | {case: f"{table[name][case].mean} | {table[name][case].quantile:.3g}" for case in SUITE}
        for name in ranked
    ]
    note = "Each entry: ratio of mean regret with its 95 % interval | ratio of the 99 % quantile. Rewards as given."
    return Table("robustness-detail", "Every case", pd.DataFrame(rows), _numbers({AS_GIVEN: table}), note)


def _cases(size: Size) -> Table:
    import pandas as pd

    data = pd.DataFrame(
        [
            {"case": title, "bandit": case.description, "rounds": _cell(size, TS, case, False).rounds,
             "root_mean_square_sd": root_mean_square_sd(case.bandit)}
            for title, case in SUITE.items()
        ]
    )  # fmt: skip
    shown = data.assign(
        rounds=data["rounds"].map("{:,}".format), root_mean_square_sd=data["root_mean_square_sd"].map("{:.3g}".format)
    ).rename(columns={"root_mean_square_sd": "root mean square sd"})
    return Table("robustness-cases", "The cases", shown, data)


def _numbers(found: RatiosByUnit) -> pd.DataFrame:
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


PART = Part(
    "robustness", "The robustness suite", cells, analyse,
    beyond_the_paper=True, by_default=False, takes="some 4 minutes on two cores",
)  # fmt: skip
