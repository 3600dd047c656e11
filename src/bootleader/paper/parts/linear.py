"""Linear bandits: the LinReBoot paper's panels, figures and claims, and a robustness suite with contexts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bootleader.bandits import (
    ContextualBandit,
    FixedFeatures,
    GaussianContexts,
    LinearBandit,
    SegmentContexts,
    UniformCoefficients,
)
from bootleader.paper import _linreboot_panels as panels
from bootleader.paper._bootstrap_intervals import Interval, quotient, ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._linreboot_baselines import published_figures
from bootleader.paper._linreboot_panels import (
    ADAPTIVE,
    COLOURS,
    ORACLE,
    PANELS,
    ROUNDS,
    RUNS,
    THOMPSON,
    covariates,
    drawn,
    fixed,
    panel_policies,
)
from bootleader.paper._report_part import QUICK_ROUNDS_DIVISOR, Drawing, Outcome, Part, Size, Table
from bootleader.policies import ContextualPolicy, LinReBoot

SUITE_RUNS = 1_000
QUANTILE = 0.99


@dataclass(frozen=True)
class Case:
    """A bandit of the suite with its horizon."""

    bandit: ContextualBandit
    rounds: int
    description: str


SUITE: dict[str, Case] = {
    "fixed 5": Case(fixed(5), 10_000, "100 arms, 5 fixed features"),
    "fixed 20": Case(fixed(20), 10_000, "100 arms, 20 fixed features"),
    "random 5": Case(drawn(5), 5_000, "100 arms, 5 features drawn in every round"),
    "covariates 5": Case(covariates(5), 10_000, "10 arms, a context of 5 features"),
    "covariates 20": Case(covariates(20), 10_000, "10 arms, a context of 20 features"),
    "unequal": Case(
        LinearBandit(GaussianContexts(5, 5), sd=(2.0, 0.1, 0.5, 0.1, 2.0)), 10_000,
        "5 arms with sd (2, .1, .5, .1, 2), a context of 5 features",
    ),
    "unequal, shared": Case(
        LinearBandit(FixedFeatures(20, 5), sd=(0.1, 1.0) * 10), 10_000, "20 arms with sd .1 or 1, 5 fixed features",
    ),
    "student-t3": Case(
        LinearBandit(FixedFeatures(50, 10), noise="student", df=3.0, sd=0.5), 10_000,
        "50 arms, 10 fixed features, Student noise (3 df)",
    ),
    "clicks": Case(
        LinearBandit(SegmentContexts(4, (0.5, 0.3, 0.2)), UniformCoefficients(0.005, 0.05), noise="bernoulli"), 30_000,
        "4 arms, 3 segments, rare clicks U(.005, .05)",
    ),
    "revenue": Case(
        LinearBandit(SegmentContexts(4, (0.5, 0.3, 0.2)), UniformCoefficients(0.8, 1.2), noise="revenue"), 30_000,
        "4 arms, 3 segments, 5 % pay a lognormal amount",
    ),
    "collinear": Case(
        LinearBandit(GaussianContexts(5, 5, unit_length=False, correlation=0.999), UniformCoefficients(-0.5, 0.5)),
        10_000, "5 arms, 5 features with correlation .999",
    ),
    "useless intercept": Case(
        LinearBandit(
            GaussianContexts(5, 6, intercept=True), UniformCoefficients(-0.5, 0.5, intercept=(0.0, 0.0)), sd=0.5
        ),
        10_000, "5 arms, 5 features and the number 1, which does not matter",
    ),
    "useless features": Case(
        LinearBandit(GaussianContexts(5, 20, unit_length=False), UniformCoefficients(-0.5, 0.5, useful=2)), 10_000,
        "5 arms, 2 features that matter and 18 that do not",
    ),
    "logistic": Case(
        LinearBandit(
            GaussianContexts(4, 4, intercept=True, unit_length=False),
            UniformCoefficients(-0.5, 0.5, intercept=(-3.0, -2.0)), noise="logistic",
        ),
        20_000, "4 arms, clicks whose chance is logistic in the context: the linear model is wrong",
    ),
}  # fmt: skip


def suite_ratios(runs: int, seed: int) -> dict[str, dict[str, float]]:
    """Statistic -> case -> AdaptiveLinReBoot's regret over that of LinThompson with the true noise sd."""
    from bootleader.simulation._simulate import simulate

    found: dict[str, dict[str, float]] = {"mean": {}, "99 % quantile": {}}
    for name, case in SUITE.items():
        ours, oracle = simulate(
            [ADAPTIVE, ORACLE], case.bandit, rounds=case.rounds, runs=runs, seed=seed, checkpoints=1
        ).final_regret
        found["mean"][name] = quotient(ours.mean(), oracle.mean())
        found["99 % quantile"][name] = quotient(np.quantile(ours, QUANTILE), np.quantile(oracle, QUANTILE))
    return found


def _suite_cell(size: Size, policy: ContextualPolicy, case: Case) -> Cell:
    rounds = case.rounds
    if size.rounds is not None:
        rounds = min(rounds, size.rounds)
    elif size.quick:
        rounds //= QUICK_ROUNDS_DIVISOR
    return Cell(policy, case.bandit, rounds, size.runs_of(SUITE_RUNS), size.seed)


def cells(size: Size) -> list[Cell]:
    """The cells of the panels, and two policies on every case of the suite."""
    suite = [_suite_cell(size, policy, case) for case in SUITE.values() for policy in (ADAPTIVE, ORACLE)]
    return list(dict.fromkeys([*panels.cells(size), *suite]))


def analyse(size: Size, results: Results) -> Outcome:
    """Figures and tables of the panels, the published figures and the suite, and the claims."""
    found = _panel_ratios(size, results)
    tuning = _tuning_frame(size, results)
    return Outcome(
        drawings=[_panels_drawing(size, found), _tuning_drawing(size, tuning)],
        numbers={"linear": _ratios_frame(found), "linear-tuning": tuning},
        tables=[
            panels.panels_table(size, results),
            panels.published_table(size, results),
            _suite_table(size, results),
        ],
        claims=panels.judge(size, results),
    )


def _panel_ratios(size: Size, results: Results) -> dict[str, dict[str, float]]:
    """Policy -> panel -> mean regret over LinThompson's."""
    found: dict[str, dict[str, float]] = {label: {} for label in COLOURS}
    for name in PANELS:
        policies = panel_policies(name)
        for label in COLOURS:
            value = panels.regret_ratio(size, results, name, policies[label], policies[THOMPSON]).value
            found[label][name] = value
    return found


def _panels_drawing(size: Size, found: dict[str, dict[str, float]]) -> Drawing:
    from bootleader.plots import dot_rows

    title = "The nine panels of the LinReBoot paper"
    axis = "mean regret ÷ LinThompson’s (log scale)"
    figure = dot_rows({title: found}, COLOURS, axis, size.remark(RUNS, ROUNDS))
    caption = (
        f"One dot a panel: mean final regret over that of LinThompson with the true noise sd, {size.runs_of(RUNS):,} "
        f"runs of {size.rounds_of(ROUNDS):,} rounds; the bar is the geometric mean, the worst panel is named. The "
        "weights of LinReBoot are those of the paper’s scripts. The last five are its baselines as its scripts play "
        "them."
    )
    return Drawing("linear", figure, caption)


def _tuning_frame(size: Size, results: Results) -> Any:
    """LinReBoot's regret for every weight of the tuning files, ours and published."""
    import pandas as pd

    rows = []
    for figure in published_figures():
        if figure.file == "tuning":
            policy, bandit = LinReBoot(sd_weights=figure.sd_weights), PANELS[figure.panel][0]
            mean, error = panels.mean_and_error(results.final_regret(panels.cell(size, policy, bandit)))
            rows.append(
                {
                    "panel": figure.panel, "sd_weights": figure.sd_weights,
                    "mean_regret": mean, "standard_error": error,
                    "published": figure.regret, "published_standard_error": figure.standard_error,
                }
            )  # fmt: skip
    return pd.DataFrame(rows).sort_values(["panel", "sd_weights"], kind="stable", ignore_index=True)


def _tuning_drawing(size: Size, tuning: Any) -> Drawing:
    from bootleader.plots import tuning_curves

    figure = tuning_curves(tuning, size.remark(RUNS, ROUNDS))
    caption = (
        "Final regret of LinReBoot for every weight of the paper’s tuning files: ours (lines, bars of one standard "
        f"error, {size.runs_of(RUNS):,} runs) and published (circles, 100 runs)."
    )
    return Drawing("linear-tuning", figure, caption)


def _ratios_frame(found: dict[str, dict[str, float]]) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {"policy": label, "panel": name, "ratio": value}
            for label, row in found.items()
            for name, value in row.items()
        ]
    )


def _suite_ratio(size: Size, results: Results, case: Case) -> tuple[Interval, float]:
    ours, oracle = (results.final_regret(_suite_cell(size, policy, case)) for policy in (ADAPTIVE, ORACLE))
    return ratio(ours, oracle), quotient(np.quantile(ours, QUANTILE), np.quantile(oracle, QUANTILE))


def _suite_table(size: Size, results: Results) -> Table:
    import pandas as pd

    shown, data = [], []
    for name, case in SUITE.items():
        mean, tail = _suite_ratio(size, results, case)
        shown.append({"case": name, "bandit": case.description, "mean": str(mean), "99 %": f"{tail:.3g}"})
        data.append({"case": name, "mean_ratio": mean.value, "low": mean.low, "high": mean.high, "q99_ratio": tail})
    means, tails = ([row[column] for row in data] for column in ("mean_ratio", "q99_ratio"))
    typical = (math.exp(float(np.log(np.array(values, float)).mean())) for values in (means, tails))
    note = (
        "AdaptiveLinReBoot’s regret over that of LinThompson with the true noise sd. Geometric means: {:.3g}, {:.3g}."
    ).format(*typical)
    return Table("linear-suite", "The robustness suite with contexts", pd.DataFrame(shown), pd.DataFrame(data), note)


PART = Part(
    "linear", "Linear bandits", cells, analyse,
    beyond_the_paper=True, by_default=False, takes="10 to 15 minutes on two cores",
)  # fmt: skip
