"""What an agent knows of its arms, as the moments that intervals and verdicts are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bootleader._core.rules import HistoryRule, IndexRule
from bootleader.agent._arm_state import ArmState
from bootleader.agent._learner import Learner
from bootleader.inference._intervals import arm_intervals
from bootleader.inference._moments import Moments
from bootleader.inference._verdict import verdict_of_moments
from bootleader.inference._verdict_types import Verdict

ALPHA = 0.05  # of the intervals in a summary, over all arms together


def keeps_fourth_moments(learner: Learner) -> bool:
    """Whether an interval without bounds can be given: its guard needs the fourth moment."""
    rule = learner.rule
    return isinstance(rule, HistoryRule) or (isinstance(rule, IndexRule) and rule.fourth_moment)


def moments_of(arms: Sequence[ArmState], maximize: bool) -> Moments:
    """The arms' moments, in the rewards' own sign."""
    sign = 1.0 if maximize else -1.0
    means = [sign * arm.mean for arm in arms]
    return Moments.of([arm.count for arm in arms], means, [arm.rss for arm in arms], [_fourth(arm) for arm in arms])


def _fourth(arm: ArmState) -> float:
    """Sum of the deviations' fourth powers, from the history where there is one."""
    if arm.history:
        return math.fsum((value - arm.drift) ** 4 for value in arm.history)
    return arm.fourth


def summary_intervals(learner: Learner, arms: Sequence[ArmState], maximize: bool, fades: bool) -> tuple[Any, Any]:
    """The ends of the arms' intervals; NaN where there is no answer."""
    if fades or not arms or not keeps_fourth_moments(learner):
        nothing = [math.nan] * len(arms)
        return nothing, nothing
    found = arm_intervals(moments_of(arms, maximize), ALPHA / len(arms), None)
    ends = ([end if ready else math.nan for end, ready in zip(ends, found.is_ready, strict=True)] for ends in found[:2])
    low, high = ends
    return low, high


def agent_holdout_verdict(sides: Sequence[ArmState], maximize: bool, options: dict[str, Any]) -> Verdict:
    """The verdict on the rewards outside the holdout and inside it."""
    names = ["the bandit", "the control (holdout)"]
    return verdict_of_moments(names, moments_of(sides, maximize=True), maximize=maximize, **options)


def agent_verdict(
    learner: Learner, names: Sequence[str], maximize: bool, half_life: float | None, options: dict[str, Any]
) -> Verdict:
    """The verdict on the arms of an agent."""
    if half_life is not None:
        raise ValueError(
            "an agent with a half-life forgets, so there is no fixed mean to give a verdict on; log the decisions and "
            "ask bootleader.verdict(log, drift=True, floor=...)"
        )
    if options["low"] is None and options["high"] is None and not keeps_fourth_moments(learner):
        raise ValueError(
            "this policy keeps no fourth moments, which an answer without bounds needs: give low and high if rewards "
            "have bounds, or log the rewards and ask bootleader.verdict(log)"
        )
    arms = [learner.state_now(slot) for slot in range(len(names))]
    return verdict_of_moments(names, moments_of(arms, maximize), maximize=maximize, **options)
