"""Figure 1: no exploration, the vanilla residual bootstrap, and ReBoot."""

from __future__ import annotations

from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import ratio
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._growth_exponent import all_growth_cells, growth_of
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG1_BANDIT
from bootleader.paper._paper_policies import FOLLOW_THE_LEADER, REBOOT, VANILLA_BOOTSTRAP, label
from bootleader.paper._regret_curves import curves_frame, regret_curve
from bootleader.paper._report_part import Drawing, Outcome, Part, Size

POLICIES = (FOLLOW_THE_LEADER, VANILLA_BOOTSTRAP, REBOOT)


def cells(size: Size) -> list[Cell]:
    """Three policies, at three horizons for the growth exponents."""
    return all_growth_cells([size.cell(policy, FIG1_BANDIT) for policy in POLICIES])


def analyse(size: Size, results: Results) -> Outcome:
    """Regret curves and the claims about them."""
    from bootleader.plots import regret_panels

    by_policy = {label(policy): size.cell(policy, FIG1_BANDIT) for policy in POLICIES}
    panels = {
        "10 Gaussian arms, means U(−1, 1), sd 1": {
            name: regret_curve(results, cell) for name, cell in by_policy.items()
        }
    }
    figure = regret_panels(panels, STYLES, note=size.remark())
    caption = (
        f"Mean regret over {size.in_words()}; bars and bands are one standard error of the mean. The paper states "
        f"neither σ_a nor the horizon of this figure: 1.5 and {size.rounds_of():,} here."
    )
    return Outcome(
        drawings=[Drawing("fig1", figure, caption)],
        numbers={"fig1": curves_frame(panels, "round")},
        claims=judge(size, results),
    )


def judge(size: Size, results: Results) -> list[claims.Judged]:
    """The claims of section 2.1."""
    leader, vanilla, reboot = (size.cell(policy, FIG1_BANDIT) for policy in POLICIES)
    where = "§2.1, fig. 1"
    improves = ratio(results.final_regret(vanilla), results.final_regret(leader))
    return [
        claims.judged(
            where, "Reward averages without exploration (follow the leader) have linear regret.",
            "Growth exponent of mean regret.", claims.is_linear("FollowTheLeader", growth_of(results, leader)),
        ),
        claims.judged(
            where, "The vanilla residual bootstrap improves on reward averages.",
            "Ratio of mean final regrets over the same runs, below 1.",
            claims.is_below("vanilla / FollowTheLeader", improves, 1.0),
        ),
        claims.judged(
            where, "The vanilla residual bootstrap still has linear regret.",
            "Growth exponent of mean regret.", claims.is_linear("vanilla bootstrap", growth_of(results, vanilla)),
        ),
        claims.judged(
            where, "ReBoot has sublinear regret.",
            "Growth exponent of mean regret.", claims.is_sublinear("ReBoot 1.5", growth_of(results, reboot)),
        ),
    ]  # fmt: skip


PART = Part("fig1", "Figure 1. Why pseudo residuals are needed", cells, analyse)
