"""The LinReBoot paper's baselines as its scripts play them, and the figures that its files hold.

The baselines are not sound, and each says why: they are here to be compared with, not to be used. The scripts and the
result files, whose last lines are the figures (100 runs each), are those of
https://github.com/ShuangWu22/LinReBoot_Experiments (first commit).
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar, Final, NamedTuple

from bootleader._core.rng import below
from bootleader._core.sampling import fair_binomial, standard_gamma, standard_normal
from bootleader.policies import CoefficientRule, ContextualPolicy, LinearRule, Noise
from bootleader.policies.lin_giro import sample_rows, solve_weighted

FILE: Final = "published_linear.csv"
LAM: Final = 0.1
SCRIPTS: Final = "Wu, Wang, Li, Cheng (2022), LinReBoot_Experiments."


class Figure(NamedTuple):
    """A final regret of the paper's files."""

    panel: str
    file: str  # "tuning" or "comparison"
    policy: str
    sd_weights: float  # of LinReBoot; NaN for baselines
    regret: float
    standard_error: float


@cache
def published_figures() -> tuple[Figure, ...]:
    """Every final regret of the paper's result files."""
    text = (files("bootleader.paper") / FILE).read_text(encoding="utf-8")
    return tuple(
        Figure(
            f"{row['features']}, d = {row['dimension']}", row["file"], row["policy"],
            float(row["sd_weights"] or math.nan), float(row["regret"]), float(row["standard_error"]),
        )
        for row in csv.DictReader(io.StringIO(text))
    )  # fmt: skip


def lin_ts_law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """The posterior of known noise, with the sd of the raw rewards for that of the noise."""
    variance = shared.variance
    if params[0] == 0.0:  # every arm's own rewards; 1 before the first
        variance = arm.own_rss / arm.own_count if arm.own_count > 0.0 else 1.0
    return arm.location, math.sqrt(variance / arm.count), math.inf


@dataclass(frozen=True, repr=False)
class PublishedLinTS(ContextualPolicy):
    """LinTS-G: the sd of the raw rewards is taken for that of the noise, so that signal counts as noise."""

    shared: bool = True
    reference: ClassVar[str] = SCRIPTS

    @property
    def rule(self) -> LinearRule:
        params, initial = (float(self.shared),), int(self.shared)
        return LinearRule(lin_ts_law, Noise.NORMAL, params, ridge=LAM, initial_pulls=initial, correlated=self.shared)


def inverse_gamma_draw(params: Any, evidence: Any, m: Any, pulls: Any, drawn: Any, stream: Any) -> Any:
    """Coefficients + scale V^-1/2 normals, with the scale of an inverse gamma variable of the explained squares."""
    models, d = evidence.models, drawn.shape[0]
    explained = 0.0
    for j in range(d):
        explained += models.gram_high[m, j, d] * models.coefficients[m, j]
        drawn[j] = models.coefficients[m, j]
    shape = params[0] + 0.5 * models.count[m]
    variance = (params[0] + 0.5 * explained) / standard_gamma(shape, stream)
    scale = variance if params[1] > 0.0 else math.sqrt(variance)
    for j in range(d):
        normal = scale * standard_normal(stream)
        for i in range(j + 1):
            drawn[i] += models.root[m, j, i] * normal
    return 0.0


@dataclass(frozen=True, repr=False)
class PublishedLinTSIG(ContextualPolicy):
    """LinTS-IG: the scale has the explained sum of squares where the residual one belongs.

    With shared coefficients the drawn variance is also taken for a standard deviation.
    """

    shared: bool = True
    alpha: float = 2.0
    reference: ClassVar[str] = SCRIPTS

    @property
    def rule(self) -> CoefficientRule:
        params = (float(self.alpha), float(self.shared))
        ridge = 2.0 * LAM if self.shared else LAM  # prior variances 5 and 10
        return CoefficientRule(inverse_gamma_draw, params, ridge=ridge, initial_pulls=int(self.shared))


def giro_draw(params: Any, evidence: Any, m: Any, pulls: Any, drawn: Any, stream: Any) -> Any:
    """LinGiro's draw, but that the first rows have no pseudo rewards."""
    sample_rows(params, evidence, m, int(params[3]), stream)
    solve_weighted(evidence, m, drawn)
    return 0.0


@dataclass(frozen=True, repr=False)
class PublishedLinGiro(ContextualPolicy):
    """LinGIRO: pseudo rewards three standard deviations beyond the range of the means, so it explores far too much.

    With shared coefficients the first pull of each arm has no pseudo rewards; otherwise no arm is pulled first.
    """

    high: float
    bare: int = 0
    reference: ClassVar[str] = SCRIPTS

    @property
    def rule(self) -> CoefficientRule:
        params = (1.0, -float(self.high), float(self.high), float(self.bare))
        return CoefficientRule(giro_draw, params, ridge=LAM, initial_pulls=int(self.bare > 0), history=True)


def phe_draw(params: Any, evidence: Any, m: Any, pulls: Any, drawn: Any, stream: Any) -> Any:
    """Coefficients of rewards + low + (high - low) U: U fair coins, one for every other reward, fall on any reward."""
    models, times, target, d = evidence.models, evidence.times, evidence.target, drawn.shape[0]
    if m == 0:  # for all models at once
        for i in range(pulls):
            times[i] = 0.0
        for _ in range(int(fair_binomial(float(math.ceil(params[0] * pulls)), stream))):
            times[int(below(stream, pulls))] += 1.0
    for j in range(d):
        target[j] = params[1] * models.sum_high[m, j]
        drawn[j] = models.coefficients[m, j]
    for i in range(int(models.count[m])):
        row = evidence.places[m, i]
        if times[row] > 0.0:
            weight = (params[2] - params[1]) * times[row]
            for j in range(d):
                target[j] += weight * evidence.rows[row, j]
    for j in range(d):
        rotated = 0.0
        for i in range(j + 1):
            rotated += models.root[m, j, i] * target[i]
        for i in range(j + 1):
            drawn[i] += models.root[m, j, i] * rotated
    return 0.0


@dataclass(frozen=True, repr=False)
class PublishedLinPHE(ContextualPolicy):
    """LinPHE: every reward is shifted by ``low``, and pseudo rewards are far beyond the range of the means.

    Coins are shared out among all rewards, of any arm, instead of ``a`` for each.
    """

    high: float
    a: float = 0.5
    reference: ClassVar[str] = SCRIPTS

    @property
    def rule(self) -> CoefficientRule:
        params = (float(self.a), -float(self.high), float(self.high))
        return CoefficientRule(phe_draw, params, ridge=LAM, initial_pulls=1, history=True)


def ucb_draw(params: Any, evidence: Any, m: Any, pulls: Any, drawn: Any, stream: Any) -> Any:
    """The estimated coefficients, and the radius of their confidence ellipsoid for noise of sd 1."""
    models = evidence.models
    volume = 0.0  # log det V - log det(lam I)
    for j in range(drawn.shape[0]):
        drawn[j] = models.coefficients[m, j]
        volume -= 2.0 * math.log(models.root[m, j, j]) + math.log(params[0])
    return math.sqrt(params[0]) * evidence.memory[m, 0] + math.sqrt(2.0 * math.log(1.0 / params[1]) + volume)


def learn_length(params: Any, evidence: Any, m: Any, features: Any, reward: Any, stream: Any) -> None:
    """Remember the largest length that the estimated coefficients have had."""
    square = 0.0
    for j in range(features.shape[0]):
        square += evidence.models.coefficients[m, j] * evidence.models.coefficients[m, j]
    evidence.memory[m, 0] = max(evidence.memory[m, 0], math.sqrt(square))


def one_number(dimension: int) -> int:
    """The size of a memory of one number."""
    return 1


@dataclass(frozen=True, repr=False)
class PublishedLinUCB(ContextualPolicy):
    """LinUCB: the ellipsoid is that of noise with sd 1, which the noise of no panel has."""

    delta: float = 0.05
    reference: ClassVar[str] = SCRIPTS

    @property
    def rule(self) -> CoefficientRule:
        params = (LAM, float(self.delta))
        return CoefficientRule(ucb_draw, params, learn_length, one_number, ridge=LAM, initial_pulls=1)


def published_baselines(noise_sd: float, arms: int, shared: bool) -> dict[str, ContextualPolicy]:
    """The paper's baselines in a panel, by the names of its files."""
    high = 1.0 + 3.0 * noise_sd
    return {
        "LinTS-G": PublishedLinTS(shared=shared),
        "LinTS-IG": PublishedLinTSIG(shared=shared),
        "LinGIRO": PublishedLinGiro(high=high, bare=arms if shared else 0),
        "LinPHE": PublishedLinPHE(high=high),
        "LinUCB": PublishedLinUCB(),
    }
