"""The agent in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bootleader._core.printable_text import printable
from bootleader._core.validation import counted
from bootleader.agent._arm_state import ArmState
from bootleader.agent._learner import Learner
from bootleader.agent._verdict_moments import summary_intervals
from bootleader.agent.traffic import Traffic
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS: Final = 10  # arms that a repr shows


def summary_table(
    learner: Learner, names: Sequence[str], chances: Sequence[float] | None, maximize: bool, fades: bool
) -> pd.DataFrame:
    """A row for each arm."""
    import pandas as pd

    arms = [learner.state_now(slot) for slot in range(len(names))]
    total = max(1, sum(arm.rewards for arm in arms))
    sign = 1.0 if maximize else -1.0
    low, high = summary_intervals(learner, arms, maximize, fades)
    return pd.DataFrame(
        {
            "pulls": [arm.rewards for arm in arms],
            "weight": [arm.count for arm in arms],
            "mean": [sign * arm.mean if arm.count > 0.0 else math.nan for arm in arms],
            "standard_error": [arm.standard_error for arm in arms],
            "low": low,
            "high": high,
            "probability": list(chances) if chances is not None else [0.0] * len(names),
            "share": [arm.rewards / total for arm in arms],
            "open": [arm.in_flight for arm in arms],
            "active": [arm.active for arm in arms],
        },
        index=pd.Index(names, name="arm"),
    )


def with_holdout(table: pd.DataFrame, traffic: Traffic | None, sides: Sequence[ArmState]) -> pd.DataFrame:
    """The same table with the holdout's rewards beside the control arm; nothing is added where there is no holdout."""
    if traffic is None or not sides:
        return table
    inside, is_control = sides[1], table.index == traffic.control
    mean = inside.mean if inside.count > 0.0 else math.nan
    return table.assign(
        holdout_pulls=[inside.rewards if control else 0 for control in is_control],
        holdout_mean=[mean if control else math.nan for control in is_control],
        holdout_standard_error=[inside.standard_error if control else math.nan for control in is_control],
    )


def described(policy: Policy, learner: Learner, names: Sequence[str], waiting: int, maximize: bool) -> str:
    """The agent on a few lines, the most played arms first."""
    rewards = sum(arm.rewards for arm in learner.arms)
    sizes = (counted(len(names), "arm"), counted(rewards, "reward"), counted(waiting, "open decision"))
    head = f"Agent({policy!r}, {', '.join(sizes)})"
    ranked = sorted(range(len(names)), key=lambda slot: -learner.arms[slot].rewards)
    labels = [printable(names[slot]) for slot in ranked[:MOST_ROWS]]
    width = max(map(len, labels), default=0)
    rows = zip(labels, ranked, strict=False)
    lines = [f"  {label:<{width}}  {_words(learner.state_now(slot), maximize)}" for label, slot in rows]
    if len(ranked) > MOST_ROWS:
        lines.append(f"  and {len(ranked) - MOST_ROWS} more")
    return "\n".join([head, *lines])


def _words(arm: ArmState, maximize: bool) -> str:
    text = counted(arm.rewards, "pull")
    if arm.count > 0.0:
        text += f", mean {arm.mean if maximize else -arm.mean:.6g}"
    if arm.count > 1.0:
        text += f" +- {arm.standard_error:.2g}"
    return text if arm.active else text + ", paused"
