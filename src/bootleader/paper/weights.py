"""The three families of bootstrap weights (section 2.3)."""

from __future__ import annotations

from dataclasses import replace

from bootleader.paper import claims
from bootleader.paper.cells import Cell, Results
from bootleader.paper.common import FIG1_BANDIT, curve, curves_frame, shifted, with_stretches
from bootleader.paper.growth import growth_of, stretches
from bootleader.paper.looks import REBOOT, STYLES, label
from bootleader.paper.part import Drawing, Outcome, Part, Size
from bootleader.policies import Policy, ReBoot

POLICIES: tuple[Policy, ...] = (
    REBOOT,
    ReBoot(sigma_a=1.5, weights="rademacher"),
    ReBoot(sigma_a=1.5, weights="mammen"),
)
SHORTER = 4  # two-point weights cost T^2: a quarter of the horizon is a sixteenth of the time
PANELS = {"10 Gaussian arms, means U(−1, 1)": FIG1_BANDIT, "2 Gaussian arms, means (1, 0)": shifted(0)}


def _cell(size: Size, policy: Policy, title: str) -> Cell:
    return replace(size.cell(policy, PANELS[title]), rounds=size.rounds_of() // SHORTER)


def cells(size: Size) -> list[Cell]:
    """Three families on two bandits, at three horizons."""
    return with_stretches([_cell(size, policy, title) for title in PANELS for policy in POLICIES])


def analyse(size: Size, results: Results) -> Outcome:
    """Regret curves of the three families."""
    from bootleader.plots import regret_panels

    panels = {title: {label(p): curve(results, _cell(size, p, title)) for p in POLICIES} for title in PANELS}
    caption = (
        f"ReBoot 1.5 with Gaussian, Rademacher and skew-correcting (Mammen) weights, {size.runs_of():,} runs of "
        f"{size.rounds_of() // SHORTER:,} rounds; not a figure of the paper, which only names the families."
    )
    return Outcome(
        drawings=[
            Drawing("weights", regret_panels(panels, STYLES, note=size.remark(), height=3.8, sharey=False), caption)
        ],
        numbers={"weights": curves_frame(panels, "round")},
        claims=[judge(size, results), judge_lock_out(size, results)],
    )


def judge(size: Size, results: Results) -> claims.Judged:
    """Each family is sublinear."""
    title = next(iter(PANELS))
    return claims.judged(
        "§2.3, step 3", "Gaussian, Rademacher and skew-correcting weights are all valid choices: each works.",
        f"Growth exponent of ReBoot 1.5 with each on figure 1’s bandit, {size.rounds_of() // SHORTER:,} rounds.",
        claims.all_of(claims.is_sublinear(label(p), growth_of(results, _cell(size, p, title))) for p in POLICIES),
    )  # fmt: skip


def judge_lock_out(size: Size, results: Results) -> claims.Judged:
    """No run in which the better of two arms is never played again."""
    title = list(PANELS)[1]
    findings = []
    for policy in POLICIES:
        full, half, _ = stretches(_cell(size, policy, title))
        lost = results.final(full) - results.final(half)
        locked = int((lost >= full.rounds - half.rounds).sum())
        findings.append(
            claims.yes_or_no(
                locked == 0, f"{label(policy)}: {locked} of {full.runs} runs never play the better arm in the last half"
            )
        )
    return claims.judged(
        "§2.4, remark", "Nothing but mean 0 and variance 1 is asked of the weights.",
        "Two arms (1, 0): runs in which the better arm is not played once in the last half; none may be. (A two-point "
        "weight leaves the index bounded, so a badly started best arm can be locked out.)",
        claims.all_of(findings),
    )  # fmt: skip


PART = Part("weights", "The three families of weights", cells, analyse)
