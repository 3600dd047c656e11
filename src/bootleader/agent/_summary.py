"""The agent in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bootleader._core.validation import counted
from bootleader.agent._learner import ArmState, Learner
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS: Final = 10  # arms that a repr shows


def standard_error(arm: ArmState) -> float:
    """Of the mean; NaN before the second reward."""
    return math.sqrt(arm.rss / (arm.count - 1.0) / arm.count) if arm.count > 1.0 else math.nan


def summary_table(
    learner: Learner, names: Sequence[str], chances: Mapping[str, float] | None, maximize: bool
) -> pd.DataFrame:
    """A row for each arm."""
    import pandas as pd

    arms = [learner.state_now(slot) for slot in range(len(names))]
    total = max(1, sum(arm.rewards for arm in arms))
    sign = 1.0 if maximize else -1.0
    return pd.DataFrame(
        {
            "pulls": [arm.rewards for arm in arms],
            "weight": [arm.count for arm in arms],
            "mean": [sign * arm.mean if arm.count > 0.0 else math.nan for arm in arms],
            "standard_error": [standard_error(arm) for arm in arms],
            "probability": [chances[name] if chances is not None else 0.0 for name in names],
            "share": [arm.rewards / total for arm in arms],
            "open": [arm.in_flight for arm in arms],
            "active": [arm.active for arm in arms],
        },
        index=pd.Index(names, name="arm"),
    )


def described(policy: Policy, learner: Learner, names: Sequence[str], waiting: int, maximize: bool) -> str:
    """The agent on a few lines, the most played arms first."""
    rewards = sum(arm.rewards for arm in learner.arms)
    sizes = (counted(len(names), "arm"), counted(rewards, "reward"), counted(waiting, "open decision"))
    head = f"Agent({policy!r}, {', '.join(sizes)})"
    ranked = sorted(range(len(names)), key=lambda slot: -learner.arms[slot].rewards)
    width = max((len(names[slot]) for slot in ranked[:MOST_ROWS]), default=0)
    lines = [f"  {names[slot]:<{width}}  {_words(learner.state_now(slot), maximize)}" for slot in ranked[:MOST_ROWS]]
    if len(ranked) > MOST_ROWS:
        lines.append(f"  and {len(ranked) - MOST_ROWS} more")
    return "\n".join([head, *lines])


def _words(arm: ArmState, maximize: bool) -> str:
    text = counted(arm.rewards, "pull")
    if arm.count > 0.0:
        text += f", mean {arm.mean if maximize else -arm.mean:.6g}"
    if arm.count > 1.0:
        text += f" +- {standard_error(arm):.2g}"
    return text if arm.active else text + ", paused"
