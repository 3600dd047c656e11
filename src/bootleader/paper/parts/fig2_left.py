"""Figure 2, left: rewards shifted by c."""

from __future__ import annotations

import math

from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG2_SHIFTS, fig2_left_bandit
from bootleader.paper._paper_policies import GIRO, PHE_2_1, REBOOT, label
from bootleader.paper._regret_curves import curves_frame, final_regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size
from bootleader.policies import Policy

POLICIES = (REBOOT, GIRO, PHE_2_1)
FLAT = 1.25  # a ratio within this factor of 1 counts as flat


def cells(size: Size) -> list[Cell]:
    """Three policies at every shift."""
    return [size.cell(policy, fig2_left_bandit(c)) for c in FIG2_SHIFTS for policy in POLICIES]


def analyse(size: Size, results: Results) -> Outcome:
    """Final regret against the shift."""
    from bootleader.plots import sweep

    curves = {
        label(policy): final_regret_curve(results, {c: size.cell(policy, fig2_left_bandit(c)) for c in FIG2_SHIFTS})
        for policy in POLICIES
    }
    panels = {"2 Gaussian arms, means (c + 1, c), sd 1": curves}
    caption = (
        f"Mean final regret over {size.in_words()} against the shift c; bars are one standard error. ReBoot’s choices "
        "do not depend on c at all: with keyed random streams its points are equal."
    )
    return Outcome(
        drawings=[Drawing("fig2-left", sweep(panels, STYLES, ["shift c of both means"], size.remark()), caption)],
        numbers={"fig2-left": curves_frame(panels, "c")},
        claims=judge(size, results),
    )


def judge(size: Size, results: Results) -> list[claims.Judged]:
    """The claims of section 4.1 about the left panel."""
    where = "§4.1, fig. 2 left"

    def change(policy: Policy) -> claims.Finding:
        first, last = (
            results.final_regret(size.cell(policy, fig2_left_bandit(c))) for c in (FIG2_SHIFTS[0], FIG2_SHIFTS[-1])
        )
        return claims.is_not_flat(f"{label(policy)}: R(c=20)/R(c=0)", ratio(last, first), FLAT)

    reboot = [size.cell(REBOOT, fig2_left_bandit(c)) for c in FIG2_SHIFTS]
    furthest = max(
        (ratio(results.final_regret(cell), results.final_regret(reboot[0])) for cell in reboot),
        key=lambda r: abs(r.value - 1.0) if r.is_computed else math.inf,
    )
    return [
        claims.judged(
            where, "ReBoot’s regret does not depend on the shift c of the rewards.",
            f"Ratio of mean regret at the c where it differs most to that at c = 0, within a factor {FLAT:g} of 1.",
            claims.is_flat("ReBoot 1.5: R(c)/R(0)", furthest, FLAT),
        ),
        claims.judged(
            where, "Giro and PHE are sensitive to the shift c.",
            f"Ratio of mean regret at c = 20 to that at c = 0, beyond a factor {FLAT:g} of 1, for both.",
            claims.all_of([change(GIRO), change(PHE_2_1)]),
        ),
        claims.judged(
            "abstract; §4.1",
            "ReBoot is the more robust, and it performs better than Giro and PHE on unbounded rewards.",
            "Mean regret of ReBoot 1.5 over that of Giro and of PHE, below 1, at c = 0, 10 and 20.",
            claims.all_of(_better(size, results, c, policy) for c in (0, 10, 20) for policy in (GIRO, PHE_2_1)),
        ),
    ]  # fmt: skip


def _better(size: Size, results: Results, c: int, policy: Policy) -> claims.Finding:
    reboot, other = (results.final_regret(size.cell(p, fig2_left_bandit(c))) for p in (REBOOT, policy))
    relative = ratio(reboot, other)
    undecided = "" if relative.low >= 1.0 else ": which is better there is undecided"
    instead = f"At c = {c} ReBoot has {relative} times the regret of {label(policy)}{undecided}."
    return claims.is_below(f"c = {c}: ReBoot / {label(policy)}", relative, 1.0, instead)


PART = Part("fig2-left", "Figure 2, left. Rewards shifted by c", cells, analyse)
