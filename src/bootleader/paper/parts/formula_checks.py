"""The paper's formulas, checked by arithmetic and plain sampling, without the simulator."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from bootleader import theory
from bootleader._core.moments import welford
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import Interval
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._report_part import Outcome, Part, Size, Table
from bootleader.paper.parts import appendix_lemmas

RATIO = 1.5
PULLS, DRAWS = 10, 200_000
AGREEMENT = 4.0  # standard errors within which a Monte Carlo moment agrees with a formula
RATIOS = (1.5, 1.51, 1.6, 1.7, 2.0, 3.0, 5.0)
OFFSETS = (0.0, 1e4, 1e6, 1e8)


def cells(size: Size) -> list[Cell]:
    """None: this part simulates nothing."""
    return []


def analyse(size: Size, results: Results) -> Outcome:
    """Every analytical statement that can be computed."""
    rng = np.random.default_rng(size.seed)  # later rows have generators of their own, so that these numbers stay
    history = rng.normal(size=PULLS)
    return Outcome(
        tables=[_table()],
        claims=[
            judge_vanilla(history, np.random.default_rng([size.seed, 2])),
            judge_variance(history, rng),
            judge_efficient_variance(history, rng),
            judge_update(rng),
            judge_fading(),
            judge_good_event(),
            *judge_constants(),
            judge_recommended(),
            judge_appendix(),
            *appendix_lemmas.judge(np.random.default_rng([size.seed, 1])),
        ],
    )


def _table() -> Table:
    """The constants of the theorem over a range of ratios."""
    import pandas as pd

    rows = []
    for ratio in RATIOS:
        beyond = ratio > theory.SMALLEST_RATIO
        proved = theory.appendix_constants(ratio) if beyond else (math.inf, math.inf)
        rows.append(
            {"sigma_a": ratio, "c1": theory.c1(ratio), "c2": float(theory.c2(ratio)), "c1_of_proof": proved[0],
             "c2_of_proof": proved[1], "m_of_r": theory.underestimation(ratio) if beyond else math.inf,
             "prss_share_at_10": prss_share(10, ratio), "prss_share_at_10000": prss_share(10_000, ratio)}
        )  # fmt: skip
    data = pd.DataFrame(rows)
    headings = (
        "σ_a", "C1", "C2", "C1 of the proof", "C2 of the proof", "M(r)",
        "PRSS’ share, s = 10", "PRSS’ share, s = 10,000",
    )  # fmt: skip
    shown = data.apply(lambda column: column.map(lambda value: f"{value:,.2f}"))
    shown.columns = pd.Index(headings)
    note = (
        "Not a table of the paper, which gives the formulas. Unit noise, so that σ_a is the ratio r; the share is that "
        "of PRSS in the expected variance of the index. The theorem asks for more than 1.5; C2 and M are infinite "
        "at 1.5."
    )
    return Table("formulas", "The theorem’s constants, and the share of PRSS in the exploration", shown, data, note)


def weights(family: str, shape: tuple[int, int], rng: np.random.Generator) -> Any:
    """Bootstrap weights straight from their definition."""
    if family == "gaussian":
        return rng.normal(size=shape)
    if family == "rademacher":
        return rng.choice([-1.0, 1.0], size=shape)
    root = math.sqrt(5.0)
    chance = (root + 1.0) / (2.0 * root)
    return np.where(rng.random(shape) < chance, -(root - 1.0) / 2.0, (root + 1.0) / 2.0)


def index_draws(family: str, history: Any, sigma_a: float, rng: np.random.Generator) -> Any:
    """Indices drawn as algorithm 1 writes them: residuals, two pseudo residuals, weights, average."""
    aid = math.sqrt(len(history) + 2.0) * sigma_a
    residuals = np.concatenate([history - history.mean(), [aid, -aid]])
    return history.mean() + (weights(family, (DRAWS, len(residuals)), rng) * residuals).mean(axis=1)


def variance_ratio(draws: Any, formula: float) -> Interval:
    """Monte Carlo variance over that of a formula, with four standard errors on either side."""
    centred = (draws - draws.mean()) ** 2
    value, error = centred.mean() / formula, centred.std() / math.sqrt(len(draws)) / formula
    return Interval(float(value), float(value - AGREEMENT * error), float(value + AGREEMENT * error))


def contains_one(name: str, ratio: Interval) -> claims.Finding:
    """Whether a formula agrees with the draws."""
    return claims.holds_if(
        ratio.low <= 1.0 <= ratio.high,
        f"{name}: {ratio}",
        f"{name}: the variance drawn is {ratio} times the formula’s.",
        numbers=[ratio.low, ratio.high],
    )


def vanilla_draws(family: str, history: Any, rng: np.random.Generator) -> Any:
    """Averages perturbed as section 2.1 writes them: residuals, weights, average."""
    residuals = history - history.mean()
    return history.mean() + (weights(family, (DRAWS, len(history)), rng) * residuals).mean(axis=1)


def has_moments(name: str, draws: Any, mean: float, variance: float) -> claims.Finding:
    """Whether draws have the mean and the variance that a formula gives them."""
    ratio = variance_ratio(draws, variance)
    off = float((draws.mean() - mean) / (draws.std() / math.sqrt(len(draws))))
    return claims.holds_if(
        abs(off) <= AGREEMENT and ratio.low <= 1.0 <= ratio.high,
        f"{name}: variance {ratio}, mean off by {off:.1f} standard errors",
        f"{name}: the variance drawn is {ratio} times the formula’s, and the mean {off:.1f} standard errors off.",
        numbers=[off, ratio.low, ratio.high],
    )


def judge_vanilla(history: Any, rng: np.random.Generator) -> claims.Judged:
    """Mean Ybar and variance RSS / s^2, for every family of weights."""
    s = len(history)
    return claims.judged(
        "§2.1, eq. 3", "Given the rewards the vanilla residual bootstrap’s average has mean Ȳ and variance RSS/s².",
        f"Mean and variance of {DRAWS:,} averages drawn as section 2.1 says (s = {s}): the mean within {AGREEMENT:g} "
        f"standard errors of Ȳ, the variance over the formula 1 within {AGREEMENT:g} standard errors.",
        claims.all_of(
            has_moments(family, vanilla_draws(family, history, rng), float(history.mean()), _rss(history) / s**2)
            for family in ("gaussian", "rademacher", "mammen")
        ),
    )  # fmt: skip


def _rss(history: Any) -> float:
    return float(((history - history.mean()) ** 2).sum())


def index_variance(history: Any) -> float:
    """(RSS + PRSS) / (s+2)^2."""
    s = len(history)
    return (_rss(history) + 2.0 * (s + 2.0) * RATIO**2) / (s + 2.0) ** 2


def judge_variance(history: Any, rng: np.random.Generator) -> claims.Judged:
    """(RSS + PRSS) / (s+2)^2, for every family of weights."""
    s, formula = len(history), index_variance(history)
    return claims.judged(
        "§2.3, conditional variance",
        "Given the history the index has variance (RSS + PRSS)/(s+2)², PRSS = 2(s+2)σ_a².",
        f"Variance of {DRAWS:,} indices drawn as algorithm 1 says (s = {s}) over the formula, 1 within {AGREEMENT:g} "
        "standard errors.",
        claims.all_of(
            contains_one(family, variance_ratio(index_draws(family, history, RATIO, rng), formula))
            for family in ("gaussian", "rademacher", "mammen")
        ),
    )  # fmt: skip


def judge_efficient_variance(history: Any, rng: np.random.Generator) -> claims.Judged:
    """RSS / s^2, which is the vanilla bootstrap's."""
    s = len(history)
    draws = index_draws("gaussian", history, RATIO, rng)
    found, with_prss = (variance_ratio(draws, formula) for formula in (_rss(history) / s**2, index_variance(history)))
    correct = "; it is (RSS + PRSS)/(s+2)²" if with_prss.low <= 1.0 <= with_prss.high else ""
    return claims.judged(
        "§2.5", "With Gaussian weights ReBoot’s index is N(Ȳ, RSS/s²).",
        f"Variance of {DRAWS:,} indices drawn as algorithm 1 says (s = {s}) over RSS/s², 1 within "
        f"{AGREEMENT:g} standard errors. (RSS/s² is the vanilla bootstrap’s.)",
        claims.explained(
            contains_one("drawn / stated", found),
            f"The index has {found.value:.2g} times the variance that section 2.5 states at s = {s}, r = {RATIO:g}"
            f"{correct}.",
        ),
    )  # fmt: skip


def rss_errors(rng: np.random.Generator, offset: float, pulls: int = 1_000) -> tuple[float, float]:
    """(paper's S - s Ybar^2, Welford's update) over the exact RSS, the paper's by its own recursions."""
    rewards = [float(y) for y in offset + rng.normal(size=pulls)]
    exact = [Fraction(y) for y in rewards]
    centre = sum(exact) / pulls
    rss = float(sum((y - centre) ** 2 for y in exact))
    average, squares, moments = 0.0, 0.0, (0.0, 0.0, 0.0, 0.0)
    for s, y in enumerate(rewards, start=1):
        average = ((s - 1) * average + y) / s
        squares += y * y
        moments = welford(*moments, y)
    return (squares - pulls * average**2) / rss, moments[3] / rss


def judge_update(rng: np.random.Generator) -> claims.Judged:
    """Cancellation in the efficient update."""
    found = {offset: rss_errors(rng, offset) for offset in OFFSETS}
    safe = all(abs(paper - 1.0) < 0.01 for paper, _ in found.values())
    listing = ", ".join(f"offset {offset:g}: {paper:.4g}" for offset, (paper, _) in found.items())
    worst = max(abs(ours - 1.0) for _, ours in found.values())
    return claims.judged(
        "§2.5", "The update RSS = S − sȲ² is a safe way to keep the residual sum of squares.",
        "Its RSS over the exact one (rational arithmetic) for 1,000 rewards N(offset, 1), within 1 % of 1 at every "
        "offset.",
        claims.holds_if(
            safe, f"stated / exact at {listing}; Welford’s update is off by {worst:.1g} at most", _cancelled(found),
            numbers=[paper for paper, _ in found.values()],
        ),
    )  # fmt: skip


def _cancelled(found: dict[float, tuple[float, float]]) -> str:
    offset = max(found, key=lambda offset: abs(found[offset][0] - 1.0))
    paper, ours = found[offset]
    sign = ", which no sum of squares can be" if paper < 0.0 else ""
    return (
        f"At an offset of {offset:,.0f} the update gives {paper:.3g} times the RSS{sign}; Welford’s is off by "
        f"{abs(ours - 1.0):.1g} of it there."
    )


def prss_share(s: float, ratio: float = RATIO) -> float:
    """Share of PRSS in the expected variance of the index after s pulls."""
    aid = 2.0 * (s + 2.0) * ratio**2
    return aid / (aid + s - 1.0)


def judge_fading() -> claims.Judged:
    """PRSS and RSS both grow in proportion to s."""
    shares = {s: prss_share(s) for s in (1, 10, 100, 10_000, 1_000_000)}
    s = 1_000_000
    inflation = (s - 1.0 + 2.0 * (s + 2.0) * RATIO**2) / (s + 2.0) ** 2 * s
    return claims.judged(
        "§2.4", "PRSS plays a major role while s is small and gradually loses its importance.",
        "Share of PRSS in the expected index variance at r = 1.5; it must fall below one half as s grows.",
        claims.holds_if(
            shares[s] < 0.5,
            "share at s = " + ", ".join(f"{k:,}: {share:.1%}" for k, share in shares.items())
            + f"; the index keeps {inflation:.2f} times the variance of the sample mean as s grows",
            f"After {s:,} pulls PRSS is still {shares[s]:.0%} of the index’s variance, which is {inflation:.2f} times "
            "that of the sample mean.",
            numbers=shares.values(),
        ),
    )  # fmt: skip


def judge_good_event() -> claims.Judged:
    """P(RSS <= PRSS) for Gaussian rewards."""
    from scipy.stats import chi2

    pulls = np.arange(2, 10_001)
    chance: Any = chi2.cdf(2.0 * (pulls + 2.0) * RATIO**2, pulls - 1)
    least = int(np.argmin(chance))
    return claims.judged(
        "§2.4, good event", "RSS ≤ PRSS with high probability, for any number of pulls.",
        "Exact probability for Gaussian rewards, r = 1.5, s = 2 to 10,000, at least 0.99.",
        claims.holds_if(
            bool(chance.min() >= 0.99), f"least: 1 − {1.0 - chance[least]:.2g}, at s = {pulls[least]}",
            f"At s = {pulls[least]} the probability is {chance[least]:.3f}.", numbers=chance,
        ),
    )  # fmt: skip


def judge_constants() -> list[claims.Judged]:
    """Minimisers and monotonicity of C1 and C2."""
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(theory.c2, bounds=(1.501, 5.0), method="bounded", options={"xatol": 1e-9})
    beyond: Any = np.linspace(1.7, 5.0, 331)
    # No point is 1/sqrt 2, where C1 is infinite.
    wide: Any = np.linspace(0.5, 5.0, 452)
    right = wide[wide > math.sqrt(0.5)]
    c1_right = claims.is_decreasing("C1", right, theory.c1(right))
    c1_wide = claims.is_decreasing("C1", wide, theory.c1(wide))
    return [
        claims.judged(
            "§3.2; corollary 1", "σ_a = 1.7 optimises the theorem’s constant C2.",
            "Numerical minimiser of C2, 1.7 when rounded as the paper does.",
            claims.holds_if(
                round(float(best.x), 1) == 1.7,
                f"minimum {best.fun:,.2f} at σ_a = {best.x:.4f}; C2(1.7) = {theory.c2(1.7):,.2f}",
                f"C2 is least at σ_a = {best.x:.4f}, where it is {best.fun:,.2f}; at 1.7 it is {theory.c2(1.7):,.2f}.",
                numbers=[best.x, best.fun],
            ),
        ),
        claims.judged(
            "§3.2", "C2 is decreasing in σ_a for σ_a > 1.7.",
            "C2 on a grid from 1.7 to 5, falling at every step (does not hold if it rises on most of them).",
            claims.is_decreasing("C2", beyond, theory.c2(beyond)),
        ),
        claims.judged(
            "§3.2", "C1 is decreasing in σ_a for σ_a > 0.5.",
            "C1 on a grid from 0.5 to 5, falling at every step (it has a pole at 1/√2 and is negative below).",
            claims.explained(
                replace(c1_wide, measured=f"{c1_wide.measured}. From 1/√2 on: {c1_right.measured}"),
                _pole(wide, c1_wide, c1_right),
            ),
        ),
    ]  # fmt: skip


def _pole(at: Any, everywhere: claims.Finding, right: claims.Finding) -> str:
    """Where C1 jumps up, and whether it falls to the right of its pole."""
    values: Any = theory.c1(at)
    steps = np.diff(values)
    jump = int(np.argmax(steps))
    if not (values[jump] < 0.0 < values[jump + 1] and right.verdict is claims.Verdict.HOLDS):
        return everywhere.instead
    return (
        f"C1 is negative at σ_a = {at[jump]:.3f}, {values[jump]:,.4g}, and jumps to {values[jump + 1]:,.4g} at "
        f"{at[jump + 1]:.3f}; from 1/√2 = {math.sqrt(0.5):.3f} on it falls at every step."
    )


def judge_recommended() -> claims.Judged:
    """The recommended ratio is the theorem's excluded end."""
    at = float(theory.c2(RATIO))
    return claims.judged(
        "§2.4, practical choice", "The recommended ratio r = 1.5 is supported by the regret theorem.",
        "C2 at σ_a = 1.5 (sd 1), finite.",
        claims.holds_if(
            math.isfinite(at), f"C2(1.5) = {at}; C2(1.51) = {theory.c2(1.51):,.0f}",
            f"The theorem excludes r = 1.5: C2 is not finite there ({at}), so the bound says nothing.", numbers=[at],
        ),
    )  # fmt: skip


def judge_appendix() -> claims.Judged:
    """The theorem's constants beside those at the end of the appendix."""
    stated = (theory.c1(1.7), float(theory.c2(1.7)))
    proved = theory.appendix_constants(1.7)
    agree = [math.isclose(a, b, rel_tol=1e-3) for a, b in zip(stated, proved, strict=True)]
    return claims.judged(
        "§3.1 and appendix A", "The theorem’s constants are those that its proof arrives at.",
        "C1 and C2 at σ_a = 1.7 as the theorem prints them and as 8 + 16M(r) gives them, equal to 0.1 %.",
        claims.all_of(
            claims.holds_if(
                same, f"{name}: theorem {a:,.4g}, appendix {b:,.4g}",
                f"The proof ends with {name} = {b:,.4g} at σ_a = 1.7, {b / a:.3g} times the {a:,.4g} that the theorem "
                "prints.", numbers=[a, b],
            )
            for name, same, a, b in zip(("C1", "C2"), agree, stated, proved, strict=True)
        ),
    )  # fmt: skip


PART = Part("formulas", "The formulas", cells, analyse)
