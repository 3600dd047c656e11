"""Linear bandits: the LinReBoot paper's panels, figures and claims, and a robustness suite with contexts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bootleader.bandits import (
    ContextualBandit,
    FixedFeatures,
    GaussianContexts,
    LinearBandit,
    RandomFeatures,
    SegmentContexts,
    UniformCoefficients,
)
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import Interval, quotient, ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._report_part import QUICK_ROUNDS_DIVISOR, Drawing, Outcome, Part, Size, Table
from bootleader.policies import (
    AdaptiveLinReBoot,
    ContextualPolicy,
    LinearRule,
    LinReBoot,
    LinThompson,
    LinUCB,
    Noise,
)

RUNS, ROUNDS = 100, 10_000
SUITE_RUNS = 1_000
QUANTILE = 0.99
LAM = 0.1
WITHIN = 3.0  # standard errors between a published figure and ours

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


# The panels of the paper with the weight that we play: those of its tuning files where we know them.
PANELS: dict[str, tuple[LinearBandit, float]] = {
    "fixed, d = 5": (fixed(5), 0.3),
    "fixed, d = 10": (fixed(10), 0.3),
    "fixed, d = 20": (fixed(20), 0.5),
    "random, d = 5": (drawn(5), 0.05),
    "random, d = 10": (drawn(10), 0.05),
    "random, d = 20": (drawn(20), 0.05),
    "covariates, d = 5": (covariates(5), 1.0),
    "covariates, d = 10": (covariates(10), 1.0),
    "covariates, d = 20": (covariates(20), 1.0),
}
# Final regret and standard error of the paper's tuning files.
PUBLISHED: dict[str, tuple[LinReBoot, LinearBandit, float, float]] = {
    "fixed, d = 5, weights .3": (LinReBoot(sd_weights=0.3), fixed(5), 80.0, 3.3),
    "fixed, d = 20, weights .5": (LinReBoot(sd_weights=0.5), fixed(20), 147.9, 7.8),
    "random, d = 5, weights .05": (LinReBoot(sd_weights=0.05), drawn(5), 133.2, 6.4),
    "covariates, d = 10, weights 1": (LinReBoot(sd_weights=1.0), covariates(10), 57.1, 2.1),
}


def published_law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """The paper's LinTS-G: the posterior of known noise, with the sd of the raw rewards for that of the noise."""
    variance = shared.variance
    if params[0] == 0.0:  # every arm's own rewards; 1 before the first
        variance = arm.own_rss / arm.own_count if arm.own_count > 0.0 else 1.0
    return arm.location, math.sqrt(variance / arm.count), math.inf


@dataclass(frozen=True, repr=False)
class PublishedLinTS(ContextualPolicy):
    """LinTS-G as the paper's scripts play it, with prior sd sqrt(10); not sound: signal counts as noise."""

    shared: bool = True
    reference: ClassVar[str] = "Wu, Wang, Li, Cheng (2022), LinReBoot_Experiments."

    @property
    def rule(self) -> LinearRule:
        params, initial = (float(self.shared),), int(self.shared)
        return LinearRule(published_law, Noise.NORMAL, params, ridge=LAM, initial_pulls=initial, correlated=self.shared)


RIVALS = ("LinThompson, true sd", "LinUCB, 2 sd", "LinTS-G as published")
COLOURS = {"LinReBoot": "#0072B2", "AdaptiveLinReBoot": "#000000", RIVALS[1]: "#009E73", RIVALS[2]: "#D55E00"}


def rivals(bandit: LinearBandit) -> dict[str, ContextualPolicy]:
    """Two baselines that are correct (the posterior has the true noise sd), and one as the paper's scripts have it."""
    sd = math.sqrt(float(np.mean(np.square(np.array(bandit.sd, float)))))
    published = PublishedLinTS(shared=not bandit.disjoint)
    return {RIVALS[0]: ORACLE, RIVALS[1]: LinUCB(alpha=2.0 * sd, lam=LAM), RIVALS[2]: published}


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


def _panel_cell(size: Size, policy: ContextualPolicy, bandit: LinearBandit) -> Cell:
    return Cell(policy, bandit, size.rounds_of(ROUNDS), size.runs_of(RUNS), size.seed)


def _suite_cell(size: Size, policy: ContextualPolicy, case: Case) -> Cell:
    rounds = case.rounds
    if size.rounds is not None:
        rounds = min(rounds, size.rounds)
    elif size.quick:
        rounds //= QUICK_ROUNDS_DIVISOR
    return Cell(policy, case.bandit, rounds, size.runs_of(SUITE_RUNS), size.seed)


def panel_policies(name: str) -> dict[str, ContextualPolicy]:
    """What is played in a panel, by name."""
    bandit, weight = PANELS[name]
    return {"LinReBoot": LinReBoot(sd_weights=weight), "AdaptiveLinReBoot": ADAPTIVE, **rivals(bandit)}


def cells(size: Size) -> list[Cell]:
    """Every policy in every panel, and two on every case of the suite."""
    panels = [_panel_cell(size, policy, PANELS[name][0]) for name in PANELS for policy in panel_policies(name).values()]
    return panels + [_suite_cell(size, policy, case) for case in SUITE.values() for policy in (ADAPTIVE, ORACLE)]


def analyse(size: Size, results: Results) -> Outcome:
    """Tables of the panels, the published figures and the suite, and the claims."""
    from bootleader.plots import dot_rows

    found: dict[str, dict[str, float]] = {label: {} for label in COLOURS}
    for name, (bandit, _) in PANELS.items():
        regret = {
            label: results.final_regret(_panel_cell(size, policy, bandit)).mean()
            for label, policy in panel_policies(name).items()
        }
        for label in COLOURS:
            found[label][name] = quotient(regret[label], regret[RIVALS[0]])
    title = "The nine panels of the LinReBoot paper"
    axis = "mean regret ÷ LinThompson’s (log scale)"
    figure = dot_rows({title: found}, COLOURS, axis, size.remark(RUNS, ROUNDS))
    caption = (
        f"One dot a panel: mean final regret over that of LinThompson with the true noise sd, {size.runs_of(RUNS):,} "
        f"runs of {size.rounds_of(ROUNDS):,} rounds; the bar is the geometric mean, the worst panel is named. The "
        "weights of LinReBoot are those of its tuning files where we know them (d = 5 and 20 fixed, 5 random, 10 with "
        "covariates), and those of the nearest such panel elsewhere."
    )
    return Outcome(
        drawings=[Drawing("linear", figure, caption)],
        numbers={"linear": _ratios_frame(found)},
        tables=[_panels_table(size, results), _published_table(size, results), _suite_table(size, results)],
        claims=judge(size, results),
    )


def _ratios_frame(found: dict[str, dict[str, float]]) -> Any:
    import pandas as pd

    return pd.DataFrame(
        [
            {"policy": label, "panel": name, "ratio": value}
            for label, row in found.items()
            for name, value in row.items()
        ]
    )


def _panels_table(size: Size, results: Results) -> Table:
    import pandas as pd

    shown, data = [], []
    for name in PANELS:
        row: dict[str, Any] = {"panel": name, "weight": f"{PANELS[name][1]:g}"}
        for label, policy in panel_policies(name).items():
            regret = results.final_regret(_panel_cell(size, policy, PANELS[name][0]))
            error = regret.std(ddof=1) / math.sqrt(len(regret))
            row[label] = f"{regret.mean():.1f} ± {error:.1f}"
            data.append({"panel": name, "policy": label, "mean_regret": regret.mean(), "standard_error": error})
        shown.append(row)
    note = f"Mean final regret ± standard error, {size.runs_of(RUNS):,} runs of {size.rounds_of(ROUNDS):,} rounds."
    return Table("linear-panels", "The panels of the LinReBoot paper", pd.DataFrame(shown), pd.DataFrame(data), note)


def _published(size: Size, results: Results) -> dict[str, tuple[float, float, float, float, float]]:
    """Ours, its standard error, published, its standard error, distance in standard errors."""
    found = {}
    for name, (policy, bandit, value, error) in PUBLISHED.items():
        regret = results.final_regret(_panel_cell(size, policy, bandit))
        ours = float(regret.std(ddof=1) / math.sqrt(len(regret)))
        distance = abs(float(regret.mean()) - value) / math.hypot(ours, error)
        found[name] = (float(regret.mean()), ours, value, error, distance)
    return found


def _published_table(size: Size, results: Results) -> Table:
    import pandas as pd

    found = _published(size, results)
    columns = ["mean_regret", "standard_error", "published", "published_standard_error", "distance"]
    data = pd.DataFrame([{"setting": name, **dict(zip(columns, row, strict=True))} for name, row in found.items()])
    shown = pd.DataFrame(
        [
            {
                "setting": name,
                "here": f"{a:.1f} ± {b:.1f}",
                "published": f"{c} ± {d}",
                "standard errors apart": f"{e:.1f}",
            }
            for name, (a, b, c, d, e) in found.items()
        ]
    )
    return Table("linear-published", "Published figures of LinReBoot", shown, data)


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


def judge(size: Size, results: Results) -> list[claims.Judged]:
    """The claims of the LinReBoot paper and of its critics."""
    return [
        *(_judge_rival(size, results, label) for label in RIVALS),
        _judge_figures(size, results),
        _judge_changing_contexts(size, results),
    ]


def _judge_rival(size: Size, results: Results, label: str) -> claims.Judged:
    findings = []
    for name, (bandit, _) in PANELS.items():
        policies = panel_policies(name)
        ours, theirs = (results.final_regret(_panel_cell(size, policies[key], bandit)) for key in ("LinReBoot", label))
        findings.append(claims.is_below(f"{name}: regret of LinReBoot over that of {label}", ratio(ours, theirs), 1.0))
    return claims.judged(
        "LinReBoot paper, §5", f"LinReBoot beats {label}.",
        f"Ratio of mean final regret to that of {label}{'' if label == RIVALS[2] else ', a correct baseline'}, below 1 "
        "in all nine panels.",
        claims.all_of(findings),
    )  # fmt: skip


def _judge_figures(size: Size, results: Results) -> claims.Judged:
    findings = [
        claims.holds_if(
            distance <= WITHIN, f"{name}: {a:.1f} ± {b:.1f} here, {c} ± {d} published, {distance:.1f} standard errors",
            f"Regret at {name} is {a:.1f} ± {b:.1f}, not {c} ± {d}.", numbers=(a, b),
        )
        for name, (a, b, c, d, distance) in _published(size, results).items()
    ]  # fmt: skip
    return claims.judged(
        "LinReBoot paper, tuning files", "Four final regrets of LinReBoot.",
        f"Ours and the published one at most {WITHIN:g} standard errors apart.", claims.all_of(findings),
    )  # fmt: skip


def _judge_changing_contexts(size: Size, results: Results) -> claims.Judged:
    findings = []
    for name in ("random 5", "covariates 5", "covariates 20"):
        mean, _ = _suite_ratio(size, results, SUITE[name])
        findings.append(claims.is_above(f"{name}: regret of AdaptiveLinReBoot over the oracle’s", mean, 2.5))
    return claims.judged(
        "Wan et al. 2023, A.4", "Residual bootstrap exploration does not extend to changing contexts.",
        "Regret of AdaptiveLinReBoot more than 2.5 times that of LinThompson with the true noise sd, where features "
        "change in every round.", claims.all_of(findings),
    )  # fmt: skip


PART = Part("linear", "Linear bandits", cells, analyse, beyond_the_paper=True, by_default=False)
