"""The nine panels of the LinReBoot paper: bandits, policies, published figures and claims."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader.bandits import FixedFeatures, GaussianContexts, LinearBandit, RandomFeatures
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import Interval, ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._linreboot_baselines import LAM, published_baselines, published_figures
from bootleader.paper._report_part import Size, Table
from bootleader.policies import (
    AdaptiveLinReBoot,
    CoefficientRule,
    ContextualPolicy,
    LinGiro,
    LinPHE,
    LinReBoot,
    LinThompson,
    LinUCB,
)

RUNS, ROUNDS = 100, 10_000
HISTORY_RUNS = 20  # of policies whose rounds grow longer
WITHIN: Final = 3.0  # standard errors between a published figure and ours

ADAPTIVE = AdaptiveLinReBoot()
ORACLE = LinThompson(lam=LAM, noise_sd="oracle")


def fixed(dimension: int) -> LinearBandit:
    """K = 100 fixed unit vectors, noise variance .1."""
    return LinearBandit(FixedFeatures(100, dimension), sd=math.sqrt(0.1))


def drawn(dimension: int) -> LinearBandit:
    """K = 100 unit vectors drawn in every round about fixed centres, noise variance .5."""
    return LinearBandit(RandomFeatures(100, dimension), sd=math.sqrt(0.5))


def covariates(dimension: int) -> LinearBandit:
    """10 arms with coefficients of their own, one context, noise sd .1."""
    return LinearBandit(GaussianContexts(10, dimension), sd=0.1)


# The panels, with the weights that the scripts of the comparison name.
PANELS: dict[str, tuple[LinearBandit, float]] = {
    "fixed, d = 5": (fixed(5), 0.3),
    "fixed, d = 10": (fixed(10), 0.4),
    "fixed, d = 20": (fixed(20), 0.5),
    "random, d = 5": (drawn(5), 0.05),
    "random, d = 10": (drawn(10), 0.05),
    "random, d = 20": (drawn(20), 0.05),
    "covariates, d = 5": (covariates(5), 1.0),
    "covariates, d = 10": (covariates(10), 1.0),
    "covariates, d = 20": (covariates(20), 0.5),
}
CHANGING = tuple(name for name in PANELS if not name.startswith("fixed"))

# Final regret and standard error of the paper's tuning files, four that are required to agree.
PUBLISHED: dict[str, tuple[LinReBoot, LinearBandit, float, float]] = {
    "fixed, d = 5, weights .3": (LinReBoot(sd_weights=0.3), fixed(5), 80.0, 3.3),
    "fixed, d = 20, weights .5": (LinReBoot(sd_weights=0.5), fixed(20), 147.9, 7.8),
    "random, d = 5, weights .05": (LinReBoot(sd_weights=0.05), drawn(5), 133.2, 6.4),
    "covariates, d = 10, weights 1": (LinReBoot(sd_weights=1.0), covariates(10), 57.1, 2.1),
}

THOMPSON = "LinThompson, true sd"
CORRECT = (THOMPSON, "LinUCB, 2 sd", "LinPHE, centred", "LinGiro, ± sd")
AS_PUBLISHED = tuple(f"{name} as published" for name in ("LinTS-G", "LinTS-IG", "LinGIRO", "LinPHE", "LinUCB"))
COLOURS = {
    "LinReBoot": "#0072B2", "AdaptiveLinReBoot": "#000000", CORRECT[1]: "#009E73", CORRECT[2]: "#56B4E9",
    CORRECT[3]: "#CC79A7", AS_PUBLISHED[0]: "#D55E00", AS_PUBLISHED[1]: "#E69F00", AS_PUBLISHED[2]: "#B2592B",
    AS_PUBLISHED[3]: "#999933", AS_PUBLISHED[4]: "#882255",
}  # fmt: skip


def correct_rivals(bandit: LinearBandit) -> dict[str, ContextualPolicy]:
    """Sound baselines: they know the true noise sd, LinPHE's pseudo rewards do not shift the others.

    LinPHE has the scripts' pseudo rewards but for the shift, LinGiro some of the size of the noise.
    """
    sd = _noise_sd(bandit)
    far = 1.0 + 3.0 * sd
    policies = (
        ORACLE, LinUCB(alpha=2.0 * sd, lam=LAM), LinPHE(a=0.5, low=-far, high=far, lam=LAM),
        LinGiro(a=1, low=-sd, high=sd, lam=LAM),
    )  # fmt: skip
    return dict(zip(CORRECT, policies, strict=True))


def _noise_sd(bandit: LinearBandit) -> float:
    return math.sqrt(float(np.mean(np.square(np.array(bandit.sd, float)))))


def baselines(bandit: LinearBandit) -> dict[str, ContextualPolicy]:
    """The paper's baselines as its scripts have them."""
    found = published_baselines(_noise_sd(bandit), bandit.arms, not bandit.disjoint)
    return {f"{name} as published": policy for name, policy in found.items()}


def panel_policies(name: str) -> dict[str, ContextualPolicy]:
    """What is compared in a panel, by name."""
    bandit, weight = PANELS[name]
    ours = {"LinReBoot": LinReBoot(sd_weights=weight), "AdaptiveLinReBoot": ADAPTIVE}
    return {**ours, **correct_rivals(bandit), **baselines(bandit)}


def tuning_weights(name: str) -> list[float]:
    """The weights in a panel's tuning files."""
    found = {f.sd_weights for f in published_figures() if f.panel == name and f.file == "tuning"}
    return sorted(found)


def cell(size: Size, policy: ContextualPolicy, bandit: LinearBandit) -> Cell:
    """A policy in a panel; policies that keep all rows play fewer runs."""
    rule = policy.rule
    full = HISTORY_RUNS if isinstance(rule, CoefficientRule) and rule.history else RUNS
    return Cell(policy, bandit, size.rounds_of(ROUNDS), min(full, size.runs_of(RUNS)), size.seed)


def cells(size: Size) -> list[Cell]:
    """Every policy in every panel, and LinReBoot with every weight of the tuning files."""
    found = []
    for name, (bandit, _) in PANELS.items():
        tuned = [LinReBoot(sd_weights=weight) for weight in tuning_weights(name)]
        found += [cell(size, policy, bandit) for policy in (*panel_policies(name).values(), *tuned)]
    return list(dict.fromkeys(found))


def regret_ratio(size: Size, results: Results, name: str, numerator: Any, denominator: Any) -> Interval:
    """Ratio of mean final regrets in a panel, over the runs that both have played."""
    bandit = PANELS[name][0]
    over, under = (results.final_regret(cell(size, policy, bandit)) for policy in (numerator, denominator))
    runs = min(len(over), len(under))
    return ratio(over[:runs], under[:runs])


# Published figures ----------------------------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """A published final regret beside ours."""

    setting: str
    file: str
    policy: str
    mean: float
    standard_error: float
    published: float
    published_error: float

    @property
    def distance(self) -> float:
        """The difference in standard errors: ours less theirs."""
        return (self.mean - self.published) / math.hypot(self.standard_error, self.published_error)

    def __str__(self) -> str:
        ours, theirs = f"{self.mean:.1f} ± {self.standard_error:.1f}", f"{self.published} ± {self.published_error}"
        return f"{self.setting}: {ours} here, {theirs} published, {self.distance:+.1f} standard errors"


def compared(size: Size, results: Results) -> list[Comparison]:
    """Every final regret of the paper's files beside ours."""
    found = []
    for figure in published_figures():
        bandit = PANELS[figure.panel][0]
        if figure.policy == "LinReBoot":
            policy: ContextualPolicy = LinReBoot(sd_weights=figure.sd_weights)
            name = f"LinReBoot, weights {figure.sd_weights:g}"
        else:
            name = f"{figure.policy} as published"
            policy = baselines(bandit)[name]
        numbers = mean_and_error(results.final_regret(cell(size, policy, bandit)))
        found.append(Comparison(figure.panel, figure.file, name, *numbers, figure.regret, figure.standard_error))
    return found


def required(size: Size, results: Results) -> list[Comparison]:
    """The four figures that are required to agree."""
    return [
        Comparison(
            name, "tuning", str(policy), *mean_and_error(results.final_regret(cell(size, policy, bandit))), value, error
        )
        for name, (policy, bandit, value, error) in PUBLISHED.items()
    ]


def mean_and_error(regret: Any) -> tuple[float, float]:
    """Mean and standard error."""
    return float(regret.mean()), float(regret.std(ddof=1) / math.sqrt(len(regret)))


def published_table(size: Size, results: Results) -> Table:
    """Published figures beside ours, with the distance in standard errors."""
    import pandas as pd

    found = compared(size, results)
    columns = ("panel", "file", "policy", "mean_regret", "standard_error", "published", "published_standard_error")
    data = pd.DataFrame([{**dict(zip(columns, row, strict=True)), "distance": row.distance} for row in found])
    shown = pd.DataFrame(
        [
            {
                "panel": row.setting, "file": row.file, "policy": row.policy,
                "here": f"{row.mean:.1f} ± {row.standard_error:.1f}",
                "published": f"{row.published:.1f} ± {row.published_error:.1f}",
                "standard errors apart": f"{row.distance:+.1f}",
            }
            for row in found
        ]
    )  # fmt: skip
    near = sum(abs(row.distance) <= WITHIN for row in found)
    note = (
        f"{near} of {len(found)} figures are within {WITHIN:g} standard errors of ours. The scripts draw the centres "
        "of the features in the random panels once for all 100 runs, and we draw them in every run: the standard "
        "errors of those files do not contain the spread between centres."
    )
    return Table("linear-published", "Published figures of the LinReBoot paper", shown, data, note)


def panels_table(size: Size, results: Results) -> Table:
    """Final regret of every policy in every panel."""
    import pandas as pd

    shown, data = [], []
    for name, (bandit, weight) in PANELS.items():
        row: dict[str, Any] = {"panel": name, "weight": f"{weight:g}"}
        for label, policy in panel_policies(name).items():
            mean, error = mean_and_error(results.final_regret(cell(size, policy, bandit)))
            row[label] = f"{mean:.1f} ± {error:.1f}"
            data.append({"panel": name, "policy": label, "mean_regret": mean, "standard_error": error})
        shown.append(row)
    note = (
        f"Mean final regret ± standard error, {size.runs_of(RUNS):,} runs of {size.rounds_of(ROUNDS):,} rounds "
        f"({min(HISTORY_RUNS, size.runs_of(RUNS))} for LinGiro, and for LinGIRO and LinPHE as published, which need "
        "all rows in every round)."
    )
    return Table("linear-panels", "The panels of the LinReBoot paper", pd.DataFrame(shown), pd.DataFrame(data), note)


# Claims ---------------------------------------------------------------------------------------------------------------


def judge(size: Size, results: Results) -> list[claims.Judged]:
    """The claims of the LinReBoot paper, against both kinds of baselines, and of its critics."""
    return [
        *(_judge_rival(size, results, label, "as the paper's scripts play it") for label in AS_PUBLISHED),
        *(_judge_rival(size, results, label, "a correct baseline") for label in CORRECT),
        _judge_figures(size, results),
        _judge_changing_contexts(size, results),
    ]


def _judge_rival(size: Size, results: Results, label: str, kind: str) -> claims.Judged:
    findings = []
    for name in PANELS:
        policies = panel_policies(name)
        found = regret_ratio(size, results, name, policies["LinReBoot"], policies[label])
        findings.append(claims.is_below(f"{name}: regret of LinReBoot over that of {label}", found, 1.0))
    return claims.judged(
        "LinReBoot paper, §5", f"LinReBoot beats {label}.",
        f"Ratio of mean final regret to that of {label}, {kind}, below 1 in all nine panels.", claims.all_of(findings),
    )  # fmt: skip


def _judge_figures(size: Size, results: Results) -> claims.Judged:
    findings = [
        claims.holds_if(
            abs(row.distance) <= WITHIN, str(row), f"{row}.", numbers=(row.mean, row.standard_error, row.distance)
        )
        for row in required(size, results)
    ]
    return claims.judged(
        "LinReBoot paper, tuning files", "Four final regrets of LinReBoot.",
        f"Ours and the published one at most {WITHIN:g} standard errors apart.", claims.all_of(findings),
    )  # fmt: skip


def _judge_changing_contexts(size: Size, results: Results) -> claims.Judged:
    findings = [
        claims.is_above(
            f"{name}: regret of AdaptiveLinReBoot over the oracle’s",
            regret_ratio(size, results, name, ADAPTIVE, ORACLE), 2.5,
        )
        for name in CHANGING
    ]  # fmt: skip
    return claims.judged(
        "Wan et al. 2023, A.4", "Residual bootstrap exploration does not extend to changing contexts.",
        "Regret of AdaptiveLinReBoot more than 2.5 times that of LinThompson with the true noise sd, in the six panels "
        "where features change in every round.", claims.all_of(findings),
    )  # fmt: skip
