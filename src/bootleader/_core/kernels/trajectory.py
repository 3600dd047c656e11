"""What is recorded of a run at its checkpoints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.numba_bridge import inner


class Trajectory(NamedTuple):
    """Recorded quantities (checkpoint x run)."""

    regret: Any  # sum of the gaps of the pulled arms
    reward: Any  # sum of the rewards
    best_pulls: Any  # pulls of the best arm
    simple_regret: Any  # gap of the recommended arm: the one with the largest sample mean, the first of several
    recommended: Any


def new_trajectory(checkpoints: int, runs: int) -> Trajectory:
    """A trajectory to be filled in."""
    shape = (checkpoints, runs)
    return Trajectory(
        regret=np.zeros(shape),
        reward=np.zeros(shape),
        best_pulls=np.zeros(shape),
        simple_regret=np.zeros(shape),
        recommended=np.zeros(shape, np.int64),
    )


@inner
def record_run(trajectory, mark, run, regret, gap, count, anchor, drift):
    """Record one run; ``gap``, ``count``, ``anchor`` and ``drift`` are of its arms."""
    reward, best_pulls, recommended, largest = 0.0, 0.0, 0, -np.inf
    for k in range(gap.shape[0]):
        if count[k] > 0.0:
            mean = anchor[k] + drift[k]
            reward += count[k] * mean
            best_pulls += count[k] if gap[k] == 0.0 else 0.0
            if mean > largest:
                recommended, largest = k, mean
    trajectory.regret[mark, run] = regret
    trajectory.reward[mark, run] = reward
    trajectory.best_pulls[mark, run] = best_pulls
    trajectory.simple_regret[mark, run] = gap[recommended]
    trajectory.recommended[mark, run] = recommended
