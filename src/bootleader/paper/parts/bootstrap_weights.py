"""The three families of bootstrap weights (section 2.3)."""

from __future__ import annotations

from dataclasses import replace

from bootleader.bandits import GaussianBandit
from bootleader.paper import _claims as claims
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._growth_exponent import all_growth_cells, growth_cells, growth_of
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG1_BANDIT
from bootleader.paper._paper_policies import REBOOT, label
from bootleader.paper._regret_curves import curves_frame, regret_curve
from bootleader.paper._report_part import PAPER_ROUNDS, PAPER_RUNS, Drawing, Outcome, Part, Size
from bootleader.policies import Policy, ReBoot

POLICIES: tuple[Policy, ...] = (
    REBOOT,
    ReBoot(sigma_a=1.5, weights="rademacher"),
    ReBoot(sigma_a=1.5, weights="mammen"),
)
ROUNDS_DIVISOR = 4  # two-point weights cost T^2: a quarter of the horizon is a sixteenth of the time
# A lock-out needs arms that lie close together, and is rare: more runs, and shorter ones.
GAP = 0.2
CLOSE_ARMS, CLOSE_RUNS, CLOSE_ROUNDS_DIVISOR = GaussianBandit((GAP, 0.0)), 4 * PAPER_RUNS, 10


def _rounds(size: Size) -> int:
    return size.rounds_of() // ROUNDS_DIVISOR


def _close_rounds(size: Size) -> int:
    return size.rounds_of() // CLOSE_ROUNDS_DIVISOR


def _cell(size: Size, policy: Policy) -> Cell:
    return replace(size.cell(policy, FIG1_BANDIT), rounds=_rounds(size))


def _close_cell(size: Size, policy: Policy) -> Cell:
    return replace(size.cell(policy, CLOSE_ARMS), rounds=_close_rounds(size), runs=size.runs_of(CLOSE_RUNS))


def cells(size: Size) -> list[Cell]:
    """Three families of weights on figure 1's bandit and on two close arms, at three horizons."""
    return all_growth_cells([cell(size, policy) for cell in (_cell, _close_cell) for policy in POLICIES])


def analyse(size: Size, results: Results) -> Outcome:
    """Regret curves of the three families."""
    from bootleader.plots import regret_panels

    panels = {
        "10 Gaussian arms, means U(−1, 1)": {label(p): regret_curve(results, _cell(size, p)) for p in POLICIES},
        "2 Gaussian arms, means (0.2, 0)": {label(p): regret_curve(results, _close_cell(size, p)) for p in POLICIES},
    }
    caption = (
        f"ReBoot 1.5 with Gaussian, Rademacher and skew-correcting (Mammen) weights, {size.runs_of():,} runs of "
        f"{_rounds(size):,} rounds, and {size.runs_of(CLOSE_RUNS):,} of {_close_rounds(size):,}; "
        "not a figure of the paper, which only names the families."
    )
    full_size = f"full size: {PAPER_ROUNDS // ROUNDS_DIVISOR:,} rounds, {CLOSE_RUNS:,} runs"
    note = f"Not full size ({full_size})" if size.remark() else ""
    return Outcome(
        drawings=[Drawing("weights", regret_panels(panels, STYLES, note=note, height=3.8, sharey=False), caption)],
        numbers={"weights": curves_frame(panels, "round")},
        claims=[judge(size, results), judge_lock_out(size, results)],
    )


def judge(size: Size, results: Results) -> claims.Judged:
    """Each family is sublinear."""
    return claims.judged(
        "§2.3, step 3", "Gaussian, Rademacher and skew-correcting weights are all valid choices: each works.",
        f"Growth exponent of ReBoot 1.5 with each on figure 1’s bandit, {_rounds(size):,} rounds.",
        claims.all_of(claims.is_sublinear(label(p), growth_of(results, _cell(size, p))) for p in POLICIES),
    )  # fmt: skip


def judge_lock_out(size: Size, results: Results) -> claims.Judged:
    """No run in which the better of two arms is never played again."""

    def never_locked_out(policy: Policy) -> claims.Finding:
        full, half, _ = growth_cells(_close_cell(size, policy))
        late_regret = results.final_regret(full) - results.final_regret(half)
        locked = int((late_regret > GAP * (full.rounds - half.rounds - 0.5)).sum())
        share = _share(locked, full.runs)
        return claims.holds_if(
            locked == 0,
            f"{label(policy)}: {locked} of {full.runs:,} runs, {share}",
            f"{label(policy)} does not play the better arm once in the last half of {locked} of {full.runs:,} runs "
            f"({share}).",
            numbers=late_regret,
        )

    return claims.judged(
        "§2.4, remark", "Nothing but mean 0 and variance 1 is asked of the weights.",
        f"Two arms (0.2, 0), {_close_rounds(size):,} rounds: runs in which the better arm is not played once "
        "in the last half; there may be none. (A two-point weight leaves the index bounded, so a best arm with a bad "
        "start can be locked out.)",
        claims.all_of(never_locked_out(policy) for policy in POLICIES),
    )  # fmt: skip


def _share(count: int, runs: int) -> str:
    """A share of runs with its exact (Clopper-Pearson) interval, in per cent."""
    from scipy.stats import binomtest

    interval = binomtest(count, runs).proportion_ci()
    return f"{100 * count / runs:.2f} % [{100 * interval.low:.2f}, {100 * interval.high:.2f}]"


PART = Part("weights", "The three families of weights", cells, analyse)
