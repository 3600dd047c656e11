"""Figure 3: three reward shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bootleader.bandits import Bandit
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import Interval, ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._growth_exponent import all_growth_cells, growth_of
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG3_BANDITS
from bootleader.paper._paper_policies import GIRO, ORACLE_TS, PHE_2_1, REBOOT, TS, label
from bootleader.paper._regret_curves import curves_frame, regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size
from bootleader.policies import Policy, ReBoot

SIGMA_AS = (0.5, 1.0, 1.5, 2.0)
POLICIES: tuple[Policy, ...] = (*(ReBoot(sigma_a=sigma_a) for sigma_a in SIGMA_AS), TS, GIRO, PHE_2_1)
WHERE = "§4.2, fig. 3"
LARGE, FAR, NEAR, SLIGHTLY = 1.5, 2.0, 1.1, 1.25  # ratios of mean regrets that the words of the paper stand for


def cells(size: Size) -> list[Cell]:
    """Seven policies on three shapes, at three horizons; and Thompson sampling with the true sd."""
    shown = [size.cell(policy, bandit) for bandit in FIG3_BANDITS.values() for policy in POLICIES]
    return all_growth_cells(shown) + [size.cell(ORACLE_TS, bandit) for bandit in FIG3_BANDITS.values()]


def analyse(size: Size, results: Results) -> Outcome:
    """Regret curves and the claims about them."""
    from bootleader.plots import regret_panels

    panels = {
        f"{shape.capitalize()} rewards": {label(p): regret_curve(results, size.cell(p, bandit)) for p in POLICIES}
        for shape, bandit in FIG3_BANDITS.items()
    }
    caption = (
        f"Mean regret over {size.in_words()}, 10 arms with means U(5, 7); sd 1 for Gaussian and logistic rewards, the "
        "mean less 5 for exponential ones; the number after ReBoot is σ_a. Bars and bands are one standard error."
    )
    return Outcome(
        drawings=[Drawing("fig3", regret_panels(panels, STYLES, log=True, note=size.remark(), height=4.6), caption)],
        numbers={"fig3": curves_frame(panels, "round")},
        claims=judge(size, results),
    )


def judge(size: Size, results: Results) -> list[claims.Judged]:
    """The claims of section 4.2."""
    return [
        *(row for shape, bandit in FIG3_BANDITS.items() for row in judge_shape(size, results, shape, bandit)),
        *(judge_sigma_a(size, results, shape) for shape in ("Gaussian", "exponential")),
        judge_logistic(size, results),
    ]


def judge_shape(size: Size, results: Results, shape: str, bandit: Bandit) -> list[claims.Judged]:
    """The claims about each policy on one shape of rewards."""
    cell = {label(p): size.cell(p, bandit) for p in (*POLICIES, ORACLE_TS)}
    reboot, giro, phe, ts = (label(p) for p in (REBOOT, GIRO, PHE_2_1, TS))

    def growth(name: str) -> Any:
        return growth_of(results, cell[name])

    def over(a: str, b: str) -> Any:
        return ratio(results.final_regret(cell[a]), results.final_regret(cell[b]))

    small = [claims.is_below(f"{reboot} / {other}", over(reboot, other), 1.0) for other in (ts, giro, phe)]
    where = f"{WHERE} ({shape})"
    return [
        claims.judged(
            where, f"ReBoot 1.5 has sublinear and small regret on {shape} rewards.",
            "Growth exponent; and mean regret below that of TS, Giro and PHE (ratio below 1, same runs).",
            claims.all_of([claims.is_sublinear(reboot, growth(reboot)), *small]),
        ),
        claims.judged(
            where, f"PHE has linear regret on {shape} rewards.",
            "Growth exponent of mean regret.", claims.is_linear(phe, growth(phe)),
        ),
        claims.judged(
            where, f"Giro has sublinear but large regret on {shape} rewards.",
            f"Growth exponent; and mean regret above {LARGE:g} times ReBoot 1.5’s.",
            claims.all_of([
                claims.is_sublinear(giro, growth(giro)),
                claims.is_above(f"{giro} / {reboot}", over(giro, reboot), LARGE),
            ]),
        ),
        claims.judged(
            where, f"TS with an N(0,1) prior is far from its best on {shape} rewards.",
            f"Mean regret above {FAR:g} times that of TS with a flat prior and each arm’s true sd.",
            _with_growth(claims.is_above(f"{ts} / flat TS", over(ts, label(ORACLE_TS)), FAR), ts, growth(ts)),
        ),
    ]  # fmt: skip


def _with_growth(finding: claims.Finding, name: str, growth: Any) -> claims.Finding:
    return replace(finding, measured=f"{finding.measured}; {name} growth exponent {growth}")


def _by_sigma_a(size: Size, results: Results, shape: str) -> dict[float, Any]:
    return {
        sigma_a: results.final_regret(size.cell(ReBoot(sigma_a=sigma_a), FIG3_BANDITS[shape])) for sigma_a in SIGMA_AS
    }


def _listing(finals: dict[float, Any]) -> str:
    return "mean regret at σ_a = " + ", ".join(
        f"{sigma_a:g}: {sample.mean():,.0f}" for sigma_a, sample in finals.items()
    )


def judge_sigma_a(size: Size, results: Results, shape: str) -> claims.Judged:
    """Sigma_a = 1.5 beside the best of those shown."""
    finals = _by_sigma_a(size, results, shape)
    best = min(finals, key=lambda sigma_a: finals[sigma_a].mean())
    relative = ratio(finals[1.5], finals[best])
    finding = claims.is_below(f"R(1.5) / R({best:g})", relative, NEAR, _better_sigma_a(finals, best, relative))
    figures = f"{finding.measured}; σ_a = {best:g} is the best of these; {_listing(finals)}"
    return claims.judged(
        f"{WHERE} ({shape})", f"σ_a = 1.5 is a near-optimal choice for {shape} rewards.",
        f"Mean regret at σ_a = 1.5 over the least of σ_a = 0.5, 1, 1.5 and 2, below {NEAR:g}.",
        replace(finding, measured=figures),
    )  # fmt: skip


def _better_sigma_a(finals: dict[float, Any], best: float, relative: Interval) -> str:
    """The regret at the best of the values shown beside that at 1.5."""
    least, ours = finals[best].mean(), finals[1.5].mean()
    undecided = "" if relative.low >= NEAR else f"; whether that is more than {NEAR:g} times is undecided"
    return (
        f"Of the σ_a shown {best:g} has the least regret, {least:,.0f}; 1.5 has {ours:,.0f}, {relative} times as "
        f"much{undecided}."
    )


def judge_logistic(size: Size, results: Results) -> claims.Judged:
    """Sigma_a = 1 beside 1.5 on logistic rewards."""
    finals = _by_sigma_a(size, results, "logistic")
    relative = ratio(finals[1.5], finals[1.0])
    finding = claims.all_of([
        claims.is_above("better: R(1.5) / R(1)", relative, 1.0),
        claims.is_below("only slightly: R(1.5) / R(1)", relative, SLIGHTLY),
    ])  # fmt: skip
    return claims.judged(
        f"{WHERE} (logistic)", "σ_a = 1 is slightly better than 1.5 for logistic rewards.",
        f"Mean regret at σ_a = 1.5 over that at 1: above 1 (better) and below {SLIGHTLY:g} (slightly).",
        claims.explained(
            replace(finding, measured=f"{finding.measured}; {_listing(finals)}"), _how_much_better(relative)
        ),
    )  # fmt: skip


def _how_much_better(relative: Interval) -> str:
    """How much better 1 is than 1.5, if it is not slightly better."""
    if not relative.is_computed:
        comparison = "The ratio of the two cannot be computed"
    elif relative.low >= SLIGHTLY:
        comparison = "σ_a = 1 is better by more than a little"
    elif relative.high <= 1.0:
        comparison = "σ_a = 1 is no better than 1.5"
    else:
        comparison = f"Whether σ_a = 1 is better, and by less than a factor {SLIGHTLY:g}, is undecided"
    return f"{comparison}: 1.5 has {relative} times its regret."


PART = Part("fig3", "Figure 3. Three reward shapes", cells, analyse)
