"""Theorem 1: the bound, its constants, the measured regret, and the least regret possible."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader import theory
from bootleader.bandits import GaussianBandit
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import mean, quotient
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._growth_exponent import all_growth_cells, growth_of
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_policies import label
from bootleader.paper._regret_curves import curves_frame, regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size, Table
from bootleader.policies import ReBoot

if TYPE_CHECKING:
    from bootleader.plots import Curve

POLICY = ReBoot(sigma_a=1.7)
INSTANCES: dict[str, tuple[float, ...]] = {
    "means (1, 0)": (1.0, 0.0),
    "means (1, 0.5, 0)": (1.0, 0.5, 0.0),
    "10 arms, means 1, 0.9, … 0.1": tuple(round(1.0 - 0.1 * k, 1) for k in range(10)),
}
# Arms so far apart that the bound is below the regret of always playing the worst arm; regret does not grow.
FAR_APART: dict[str, tuple[float, ...]] = {"means (10, 0)": (10.0, 0.0)}
UPPER, LOWER = "theorem 1's bound", "Lai–Robbins"
LOGARITHMIC_BELOW = 0.5
NORMAL_95 = 1.96


def cells(size: Size) -> list[Cell]:
    """ReBoot on each instance, at three horizons where its growth is judged."""
    far = [size.cell(POLICY, GaussianBandit(means)) for means in FAR_APART.values()]
    return all_growth_cells([size.cell(POLICY, GaussianBandit(means)) for means in INSTANCES.values()]) + far


@cache
def upper_curve(means: tuple[float, ...], rounds: tuple[int, ...]) -> Any:
    """The bound at these rounds."""
    return np.array([theory.bound(means, POLICY.sigma_a, t).upper for t in rounds])


def first_useful(means: tuple[float, ...], sigma_a: float) -> float:
    """Horizon from which the bound is below the regret of always playing the worst arm.

    Examples
    --------
    >>> 27_850 < first_useful((1.0, 0.0), 1.7) < 27_851
    True
    """
    from scipy.optimize import brentq

    def excess(log_rounds: float) -> float:
        answer = theory.bound(means, sigma_a, round(math.exp(log_rounds)))
        return math.log(answer.upper) - math.log(answer.worst)

    return float(math.exp(brentq(excess, math.log(100.0), math.log(1e12))))


def analyse(size: Size, results: Results) -> Outcome:
    """Curves, a table and the claims about the theorem."""
    from bootleader.plots import Curve, log_log

    panels: dict[str, Any] = {}
    for title, means in INSTANCES.items():
        measured = regret_curve(results, size.cell(POLICY, GaussianBandit(means)))
        no_error = np.zeros(len(measured.x))
        upper = upper_curve(means, tuple(measured.x.tolist()))
        lower = np.asarray(theory.lai_robbins(means, measured.x))
        panels[title] = {
            UPPER: Curve(measured.x, upper, no_error),
            label(POLICY): measured,
            LOWER: Curve(measured.x, lower, no_error),
        }
    caption = (
        f"Measured regret of ReBoot with σ_a = 1.7 ({size.in_words()}) between the theorem’s bound and the asymptotic "
        "lower bound Σ 2 log T / Δ, which holds as T grows and may be crossed early on."
    )
    return Outcome(
        drawings=[Drawing("theorem1", log_log(panels, STYLES, size.remark()), caption)],
        tables=[_table(size, results)],
        numbers={"theorem1-curves": curves_frame(panels, "round")},
        claims=[judge_bound(size, results), judge_logarithm(size, results)],
    )


def _table(size: Size, results: Results) -> Table:
    import pandas as pd

    rows, numbers = [], []
    for title, means in (INSTANCES | FAR_APART).items():
        regret = mean(results.final_regret(size.cell(POLICY, GaussianBandit(means))))
        answer = theory.bound(means, POLICY.sigma_a, size.rounds_of())
        useful = first_useful(means, POLICY.sigma_a)
        rows.append(
            {
                "instance": title,
                "C1": f"{answer.c1:.3f}",
                "C2": f"{answer.c2:,.1f}",
                "Lai–Robbins": f"{answer.lower:,.1f}",
                "measured": str(regret),
                "bound": f"{answer.upper:,.0f}",
                "bound / measured": f"{quotient(answer.upper, regret.value):,.0f}",
                "always the worst arm": f"{answer.worst:,.0f}",
                "bound is useful from T =": f"{useful:,.0f}",
            }
        )
        numbers.append(
            {"instance": title, "c1": answer.c1, "c2": answer.c2, "lower": answer.lower, "regret": regret.value,
             "low": regret.low, "high": regret.high, "upper": answer.upper, "worst": answer.worst,
             "useful_from": useful}
        )  # fmt: skip
    note = (
        f"T = {size.rounds_of():,}, σ_a = 1.7, sd 1. Below the T of the last column the bound exceeds the regret of "
        "playing the worst arm in every round: it holds there, but says nothing."
    )
    return Table("theorem1", "The bound beside measured regret", pd.DataFrame(rows), pd.DataFrame(numbers), note)


def under_bound(title: str, measured: Curve, upper: Any, worst: float) -> claims.Finding:
    """Whether a regret curve, with its 95 % interval, stays below the bound at every checkpoint.

    ``worst`` is the regret of always playing the worst arm, the most that any policy can have.
    """
    half_width = NORMAL_95 * measured.standard_error
    share = (
        f"{title}: at most {((measured.mean + half_width) / upper).max():.2g} of the bound, {upper[-1]:,.0f} at the end"
    )
    if upper[-1] >= worst:
        share += f" (which says nothing there: no policy can have more than {worst:,.0f})"
    if np.isnan(measured.mean + half_width).any() or np.isnan(upper).any():
        return claims.Finding(claims.Verdict.UNDECIDED, share, f"{title}: regret or the bound cannot be computed.")
    if (measured.mean + half_width < upper).all():
        return claims.Finding(claims.Verdict.HOLDS, share)
    exceeds = bool((measured.mean - half_width >= upper).any())
    at = int(((measured.mean + (-half_width if exceeds else half_width)) / upper).argmax())
    instead = (
        f"{title}: at round {measured.x[at]:,} regret is {measured.mean[at]:,.4g} ± {half_width[at]:.2g} and the bound "
        f"{upper[at]:,.4g}{'' if exceeds else '; which is larger is undecided'}."
    )
    return claims.Finding(claims.Verdict.FAILS if exceeds else claims.Verdict.UNDECIDED, share, instead)


def judge_bound(size: Size, results: Results) -> claims.Judged:
    """Measured regret below the bound in every round that is kept, on every instance."""

    def below(title: str, means: tuple[float, ...]) -> claims.Finding:
        measured = regret_curve(results, size.cell(POLICY, GaussianBandit(means)))
        upper = upper_curve(means, tuple(measured.x.tolist()))
        return under_bound(title, measured, upper, theory.bound(means, POLICY.sigma_a, size.rounds_of()).worst)

    return claims.judged(
        "§3.1, theorem 1", "Regret of ReBoot is at most Σ Δ [6 + (C1 + C2/Δ²) log T] for σ_a > 1.5.",
        f"Mean regret with σ_a = 1.7 on {len(INSTANCES | FAR_APART)} Gaussian instances, with its 95 % interval below "
        "the bound at every checkpoint.",
        claims.all_of(below(title, means) for title, means in (INSTANCES | FAR_APART).items()),
    )  # fmt: skip


def judge_logarithm(size: Size, results: Results) -> claims.Judged:
    """The order of regret."""

    def logarithmic(title: str, means: tuple[float, ...]) -> claims.Finding:
        cell = size.cell(POLICY, GaussianBandit(means))
        found = growth_of(results, cell)
        finding = claims.is_below(f"{title}: growth exponent", found, LOGARITHMIC_BELOW)
        slope = mean((results.final_regret(cell) - results.final_regret(all_growth_cells([cell])[1])) / math.log(2.0))
        least = theory.lai_robbins(means, math.e)
        return replace(finding, measured=f"{finding.measured}, slope in log T {slope.value / least:.1f} × Lai–Robbins")

    return claims.judged(
        "§3.1, corollary 1", "With σ_a = 1.7 ReBoot has instance-dependent logarithmic regret.",
        f"Growth exponent (0 for a logarithm) below {LOGARITHMIC_BELOW:g} on each instance; beside it the slope over "
        "the last doubling of T in units of the least possible.",
        claims.all_of(logarithmic(title, means) for title, means in INSTANCES.items()),
    )  # fmt: skip


PART = Part("theorem1", "Theorem 1. The regret bound", cells, analyse)
