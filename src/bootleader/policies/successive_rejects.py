"""Successive rejects: find the best arm in a fixed number of rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import real
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

SIMULATION = 0.0  # the horizon as a parameter of the rule, where it is that of the simulation


def pulls_by(params: Any, arms: Any, horizon: Any, phase: Any) -> Any:
    """Pulls of each arm that is left at the end of a phase: ceil((T - K) / (log_bar(K) (K + 1 - phase)))."""
    rounds = params[0] if params[0] != SIMULATION else float(horizon)
    log_bar = 0.5
    for k in range(2, arms + 1):
        log_bar += 1.0 / k
    return max(1.0, float(math.ceil((rounds - arms) / (log_bar * (arms + 1.0 - phase)))))


def reject(arms: Any, memory: Any, stream: Any) -> None:
    """Reject the arm with the smallest mean of those that are left, ties broken at random."""
    worst, smallest, ties = 0, math.inf, 0
    for k in range(len(arms.count)):
        if memory[k] >= 0.0:
            if arms.mean[k] < smallest:
                worst, smallest, ties = k, arms.mean[k], 1
            elif arms.mean[k] == smallest:
                ties += 1
                if below(stream, ties) == 0:
                    worst = k
    memory[worst] = -1.0


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The arm with the fewest pulls of those that are left; between two phases the worst of them is rejected.

    The memory holds the pulls of each arm, -1 for one that was rejected, and the number of rejected arms.
    """
    while True:
        chosen = -1
        for k in range(shared.arms):
            if memory[k] >= 0.0 and (chosen < 0 or memory[k] < memory[chosen]):
                chosen = k
        phase = memory[shared.arms] + 1.0
        if phase >= shared.arms or memory[chosen] < pulls_by(params, shared.arms, shared.horizon, phase):
            memory[chosen] += 1.0
            return chosen
        reject(arms, memory, stream)
        memory[shared.arms] += 1.0


def recommend(params: Any, arms: Any, memory: Any, shared: Any) -> Any:
    """The largest mean of the arms that are left."""
    recommended, largest = 0, -math.inf
    for k in range(shared.arms):
        if memory[k] >= 0.0 and arms.count[k] > 0.0 and arms.mean[k] > largest:
            recommended, largest = k, arms.mean[k]
    return recommended


@dataclass(frozen=True, repr=False)
class SuccessiveRejects(Policy):
    r"""Pull all arms equally often and reject the worst, phase by phase, until one is left.

    At the end of phase k each arm that is left has had

    .. math:: n_k = \Bigl\lceil \frac1{\overline{\log}(K)} \frac{T - K}{K + 1 - k} \Bigr\rceil, \qquad
              \overline{\log}(K) = \frac12 + \sum_{i=2}^K \frac1i

    pulls, and the one with the smallest mean is rejected. The last one is recommended, and pulled in the rounds that
    remain. Regret is not what it is made for.

    Parameters
    ----------
    horizon : float, optional
        Number T of rounds. By default that of the simulation, which an agent does not have.

    Raises
    ------
    ValueError
        If ``horizon`` is not a number of at least 1.

    Examples
    --------
    >>> SuccessiveRejects(horizon=1_000)
    SuccessiveRejects(horizon=1000)
    """

    horizon: float | None = None
    reference: ClassVar[str] = "Audibert, Bubeck, Munos (2010). Best arm identification in multi-armed bandits. COLT."
    equivariant: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.horizon is not None:
            real("horizon", self.horizon, "a number of at least 1", low=1.0, open_low=False)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.HORIZON,)

    @property
    def reads_horizon(self) -> bool:
        return self.horizon is None

    @property
    def rule(self) -> ChoiceRule:
        horizon = SIMULATION if self.horizon is None else float(self.horizon)
        memory = MemorySize(per_arm=1, fixed=1)
        return ChoiceRule(choose, memory=memory, params=(horizon,), initial_pulls=0, recommend=recommend)
