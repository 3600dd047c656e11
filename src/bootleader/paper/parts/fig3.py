"""Figure 3: three reward shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bootleader.bandits import Bandit
from bootleader.paper import _claims as claims
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._paper_settings import SHAPES, curve, curves_frame, how_many, with_stretches
from bootleader.paper._regret_growth import Interval, growth_of, ratio
from bootleader.paper._report_part import Drawing, Outcome, Part, Size
from bootleader.paper._styles import GIRO, ORACLE_TS, PHE_2_1, REBOOT, STYLES, TS, label
from bootleader.policies import Policy, ReBoot

AIDS = (0.5, 1.0, 1.5, 2.0)
POLICIES: tuple[Policy, ...] = (*(ReBoot(sigma_a=aid) for aid in AIDS), TS, GIRO, PHE_2_1)
WHERE = "§4.2, fig. 3"
LARGE, FAR, NEAR, SLIGHTLY = 1.5, 2.0, 1.1, 1.25


def cells(size: Size) -> list[Cell]:
    """Seven policies on three shapes, at three horizons; and the Thompson sampling that knows the sd."""
    shown = [size.cell(policy, bandit) for bandit in SHAPES.values() for policy in POLICIES]
    return with_stretches(shown) + [size.cell(ORACLE_TS, bandit) for bandit in SHAPES.values()]


def analyse(size: Size, results: Results) -> Outcome:
    """Regret curves, and what the paper says of them."""
    from bootleader.plots import regret_panels

    panels = {
        f"{shape.capitalize()} rewards": {label(p): curve(results, size.cell(p, bandit)) for p in POLICIES}
        for shape, bandit in SHAPES.items()
    }
    caption = (
        f"Mean regret over {how_many(size)}, 10 arms with means U(5, 7); sd 1 for Gaussian and logistic rewards, the "
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
        *(row for shape, bandit in SHAPES.items() for row in judge_shape(size, results, shape, bandit)),
        *(judge_aid(size, results, shape) for shape in ("Gaussian", "exponential")),
        judge_logistic(size, results),
    ]


def judge_shape(size: Size, results: Results, shape: str, bandit: Bandit) -> list[claims.Judged]:
    """What section 4.2 says of each policy on one shape."""
    cell = {label(p): size.cell(p, bandit) for p in (*POLICIES, ORACLE_TS)}
    reboot, giro, phe, ts = (label(p) for p in (REBOOT, GIRO, PHE_2_1, TS))

    def growth(name: str) -> Any:
        return growth_of(results, cell[name])

    def over(a: str, b: str) -> Any:
        return ratio(results.final(cell[a]), results.final(cell[b]))

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
            f"Mean regret above {FAR:g} times that of TS with a flat prior that is told each arm’s sd.",
            _with_growth(claims.is_above(f"{ts} / flat TS", over(ts, label(ORACLE_TS)), FAR), ts, growth(ts)),
        ),
    ]  # fmt: skip


def _with_growth(finding: claims.Finding, name: str, growth: Any) -> claims.Finding:
    return replace(finding, measured=f"{finding.measured}; {name} growth exponent {growth}")


def _by_aid(size: Size, results: Results, shape: str) -> dict[float, Any]:
    return {aid: results.final(size.cell(ReBoot(sigma_a=aid), SHAPES[shape])) for aid in AIDS}


def _listing(finals: dict[float, Any]) -> str:
    return "mean regret at σ_a = " + ", ".join(f"{aid:g}: {sample.mean():,.0f}" for aid, sample in finals.items())


def judge_aid(size: Size, results: Results, shape: str) -> claims.Judged:
    """Sigma_a = 1.5 beside the best of those shown."""
    finals = _by_aid(size, results, shape)
    best = min(finals, key=lambda aid: finals[aid].mean())
    relative = ratio(finals[1.5], finals[best])
    finding = claims.is_below(f"R(1.5) / R({best:g})", relative, NEAR)
    figures = f"{finding.measured}; σ_a = {best:g} is the best of these; {_listing(finals)}"
    return claims.judged(
        f"{WHERE} ({shape})", f"σ_a = 1.5 is a near-optimal choice for {shape} rewards.",
        f"Mean regret at σ_a = 1.5 over the least of σ_a = 0.5, 1, 1.5 and 2, below {NEAR:g}.",
        claims.otherwise(replace(finding, measured=figures), _better_aid(finals, best, relative)),
    )  # fmt: skip


def _better_aid(finals: dict[float, Any], best: float, relative: Interval) -> str:
    """What a claim that 1.5 is near the best leaves out, where another is best."""
    least, ours = finals[best].mean(), finals[1.5].mean()
    undecided = "" if relative.low >= NEAR else f"; whether that is more than {NEAR:g} times is undecided"
    return (
        f"Of the σ_a shown {best:g} has the least regret, {least:,.0f}; 1.5 has {ours:,.0f}, {relative} times as "
        f"much{undecided}."
    )


def judge_logistic(size: Size, results: Results) -> claims.Judged:
    """Sigma_a = 1 beside 1.5 on logistic rewards."""
    finals = _by_aid(size, results, "logistic")
    relative = ratio(finals[1.5], finals[1.0])
    finding = claims.all_of([
        claims.is_above("better: R(1.5) / R(1)", relative, 1.0),
        claims.is_below("only slightly: R(1.5) / R(1)", relative, SLIGHTLY),
    ])  # fmt: skip
    return claims.judged(
        f"{WHERE} (logistic)", "σ_a = 1 is slightly better than 1.5 for logistic rewards.",
        f"Mean regret at σ_a = 1.5 over that at 1: above 1 (better) and below {SLIGHTLY:g} (slightly).",
        claims.otherwise(replace(finding, measured=f"{finding.measured}; {_listing(finals)}"), _how_much(relative)),
    )  # fmt: skip


def _how_much(relative: Interval) -> str:
    """How much better 1 is than 1.5, where that is not slightly."""
    if relative.low >= SLIGHTLY:
        words = "σ_a = 1 is better by more than a little"
    elif relative.high <= 1.0:
        words = "σ_a = 1 is no better than 1.5"
    else:
        words = f"Whether σ_a = 1 is better, and by less than a factor {SLIGHTLY:g}, is undecided"
    return f"{words}: 1.5 has {relative} times its regret."


PART = Part("fig3", "Figure 3. Three reward shapes", cells, analyse)
