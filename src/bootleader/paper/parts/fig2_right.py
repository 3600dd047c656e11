"""Figure 2, right: noisier rewards, under both readings of the paper's N(mu, sigma)."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import takewhile

import numpy as np

from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import bootstrap, quotient, ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG2_SDS, fig2_right_bandit
from bootleader.paper._paper_policies import GIRO, PHE_2_1, label
from bootleader.paper._regret_curves import curves_frame, final_regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size
from bootleader.policies import Policy, ReBoot

SIGMA_A_PER_SD = 1.5
# The least possible regret grows with sd^2, for any policy.
LAI_ROBBINS_EXPONENT = {"sd": 2.0, "variance": 1.0}
CEILING_SHARE = 0.1  # regret is at most T times the gap; beyond this share of it that limit alone slows the growth
GAP = 1.0
MUCH_MORE = 2.0
READINGS = {"sd": lambda value: float(value), "variance": lambda value: math.sqrt(value)}
NAMES = ("ReBoot", label(GIRO), label(PHE_2_1))


def _cell(size: Size, name: str, sd: float) -> Cell:
    policies: dict[str, Policy] = {
        "ReBoot": ReBoot(sigma_a=SIGMA_A_PER_SD * sd),
        label(GIRO): GIRO,
        label(PHE_2_1): PHE_2_1,
    }
    return size.cell(policies[name], fig2_right_bandit(sd))


def _sweep(size: Size, reading: str, name: str) -> dict[float, Cell]:
    """Cells by the swept value. Giro is slow: the second reading has it only where the sd is a whole number."""
    sds = {float(value): READINGS[reading](value) for value in FIG2_SDS}
    return {
        value: _cell(size, name, sd)
        for value, sd in sds.items()
        if reading == "sd" or name != label(GIRO) or sd == round(sd)
    }


def cells(size: Size) -> list[Cell]:
    """Three policies at every sd, and at every variance."""
    return [cell for reading in READINGS for name in NAMES for cell in _sweep(size, reading, name).values()]


def analyse(size: Size, results: Results) -> Outcome:
    """Final regret against the noise."""
    from bootleader.plots import sweep

    panels = {
        f"2 Gaussian arms, means (1, 0), {reading} = 1…20": {
            name: final_regret_curve(results, _sweep(size, reading, name)) for name in NAMES
        }
        for reading in READINGS
    }
    figure = sweep(panels, STYLES, ["standard deviation", "variance"], size.remark())
    last = {
        name: results[_cell(size, name, math.sqrt(FIG2_SDS[-1]))].mean_regret[0, -1]
        for name in NAMES
        if name != label(GIRO)
    }
    caption = (
        f"Mean final regret over {size.in_words()}, ReBoot with σ_a = 1.5 sd; bars are one standard error. The paper "
        "writes N(μ, σ) with σ = 1…20 and calls it variance: left, σ read as the standard deviation; right, the "
        "other reading, variance = 1…20 (Giro where the sd is a whole number), where at variance 20 ReBoot has "
        f"{last['ReBoot']:,.0f} and PHE {last[label(PHE_2_1)]:,.0f}."
    )
    return Outcome(
        drawings=[Drawing("fig2-right", figure, caption)],
        numbers={"fig2-right": curves_frame(panels, "value")},
        claims=judge(size, results),
    )


def judge(size: Size, results: Results) -> list[claims.Judged]:
    """The claims of section 4.1 about the right panel."""
    return [
        judge_slow_growth(size, results, "sd", "§4.1, fig. 2 right"),
        judge_slow_growth(size, results, "variance", "§4.1, fig. 2 right, other reading"),
        judge_phe(size, results),
    ]


def judge_slow_growth(size: Size, results: Results, reading: str, where: str) -> claims.Judged:
    """Slow growth of ReBoot's and Giro's regret: slower than the least possible regret, and slower than PHE's."""
    return claims.judged(
        where, f"Regret of ReBoot and Giro grows slowly with the {reading}.",
        f"Exponent of regret in the {reading}, from 1 to the last {reading} at which regret is at most "
        f"{CEILING_SHARE:.0%} of T times the gap (nearer to that ceiling any growth is slow): below "
        f"{LAI_ROBBINS_EXPONENT[reading]:g}, the exponent of the least possible regret (Lai–Robbins), and below PHE’s "
        "between the same two (difference below 0, same runs).",
        claims.all_of(finding for name in NAMES[:2] for finding in _slow_growth(size, results, reading, name)),
    )  # fmt: skip


def _slow_growth(size: Size, results: Results, reading: str, name: str) -> list[claims.Finding]:
    finals = {value: results.final_regret(cell) for value, cell in _sweep(size, reading, name).items()}
    first, end = min(finals), max(finals)
    ceiling = size.rounds_of() * GAP
    over_all = (
        f"{name}: regret ×{quotient(finals[end].mean(), finals[first].mean()):.3g} from {reading} {first:g} to "
        f"{end:g}, where it is {finals[end].mean() / ceiling:.0%} of T times the gap"
    )
    last = max(takewhile(lambda value: finals[value].mean() <= CEILING_SHARE * ceiling, sorted(finals)), default=first)
    if last == first:
        instead = (
            f"Regret of {name} exceeds {CEILING_SHARE:.0%} of T times the gap from the start: there is no exponent."
        )
        return [claims.Finding(claims.Verdict.UNDECIDED, f"{over_all}; too near to it for an exponent", instead)]
    phe = _sweep(size, reading, label(PHE_2_1))
    ends = [finals[last], finals[first], *(results.final_regret(phe[value]) for value in (last, first))]
    log_span = math.log(last / first)
    exponent = bootstrap(lambda top, bottom: np.log(top / bottom) / log_span, *ends[:2])
    difference = bootstrap(lambda a, b, c, d: (np.log(a / b) - np.log(c / d)) / log_span, *ends)
    line = LAI_ROBBINS_EXPONENT[reading]
    span = f"exponent in the {reading} from {first:g} to {last:g}"
    return [
        claims.is_below(
            f"{over_all}; {span} (slow: below {line:g})", exponent, line,
            f"{name}’s {span} is {exponent}, {'not' if exponent.low >= line else 'not surely'} below {line:g}.",
        ),
        claims.is_below(
            "less PHE’s (slow: below 0)", difference, 0.0,
            f"{name}’s {span} less PHE’s is {difference}, {'not' if difference.low >= 0.0 else 'not surely'} below 0.",
        ),
    ]  # fmt: skip


def judge_phe(size: Size, results: Results) -> claims.Judged:
    """PHE's growth beside ReBoot's and Giro's."""
    ends = {
        name: [results.final_regret(_cell(size, name, float(sd))) for sd in (FIG2_SDS[-1], FIG2_SDS[0])]
        for name in NAMES
    }

    def against(name: str) -> claims.Finding:
        relative = bootstrap(lambda a, b, c, d: (a / b) / (c / d), *ends[label(PHE_2_1)], *ends[name])
        phe, other = (quotient(ends[n][0].mean(), ends[n][1].mean()) for n in (label(PHE_2_1), name))
        surely = "not more" if relative.high <= MUCH_MORE else "not surely more"
        return claims.is_above(
            f"PHE’s growth R(20)/R(1) over {name}’s", relative, MUCH_MORE,
            f"From sd 1 to 20 PHE’s regret grows {phe:,.3g} times and {name}’s {other:,.3g} times: {relative} times "
            f"as much, {surely} than {MUCH_MORE:g}.",
        )  # fmt: skip

    level = ratio(ends[label(PHE_2_1)][1], ends["ReBoot"][1])
    finding = claims.all_of([against("ReBoot"), against(label(GIRO))])
    return claims.judged(
        "§4.1, fig. 2 right", "PHE is much more sensitive to the noise than ReBoot and Giro.",
        f"PHE’s factor of growth from sd 1 to 20 over that of the other, above {MUCH_MORE:g}, for both.",
        replace(finding, measured=f"{finding.measured}. At sd 1 PHE’s regret is {level} times ReBoot’s"),
    )  # fmt: skip


PART = Part("fig2-right", "Figure 2, right. Noisier rewards", cells, analyse)
