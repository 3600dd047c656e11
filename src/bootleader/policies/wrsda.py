"""WR-SDA: duels of the leader's rewards, drawn without replacement, with the other arms' means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies._duels import LEFT, add_winner, block_sum, new_leader, next_winner, queue_size
from bootleader.policies.base import Policy


def queue_and_order(arms: int, rounds: int) -> int:
    """The memory: the queue of a round of duels, and an order of the leader's rewards."""
    return queue_size(arms, rounds) + rounds


def subsample_sum(arms: Any, memory: Any, order: Any, k: Any, size: Any, stream: Any) -> Any:
    """Sum of ``size`` of the rewards of arm k, drawn without replacement: the beginning of a random permutation.

    ``memory[order + j]`` is the distance of the j-th reward from its place. The permutation is never put back in order:
    any order of the first n rewards is as good as another, and the leader's number of rewards never falls.
    """
    n = int(arms.count[k])
    draws = min(size, n - size)
    total = 0.0
    for j in range(draws):
        i = j + int(below(stream, n - j))
        taken = int(memory[order + i]) + i
        memory[order + i] = memory[order + j] + j - i
        memory[order + j] = taken - j
        total += arms.rewards[arms.start[k] + taken]
    return total if draws == size else block_sum(arms, k, 0, n) - total


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The next arm of the round of duels; a new round when there is none left."""
    if memory[LEFT] == 0.0:
        leader = new_leader(arms, memory, stream)
        order = queue_size(shared.arms, 0)
        for k in range(shared.arms):
            if k != leader:
                size = int(arms.count[k])
                own, other = block_sum(arms, k, 0, size), subsample_sum(arms, memory, order, leader, size, stream)
                if own > other or (own == other and below(stream, 2) == 0):
                    add_winner(memory, k)
    return next_winner(memory, stream)


@dataclass(frozen=True, repr=False)
class WRSDA(Policy):
    """Subsampling duels without replacement.

    As :class:`RBSDA`, but an arm with s pulls duels with the mean of s of the leader's n rewards, drawn without
    replacement. A duel draws min(s, n - s) rewards. That is O(log t) once
    one arm leads by far, but while arms are close it grows: a round of ten arms took 4.2 times as long at 20,000 rounds
    as at 2,500.

    Ties are broken by a fair coin, as in the program behind the paper's figures for Bernoulli arms.

    Raises
    ------
    TypeError
        If a parameter is given: it has none.

    Examples
    --------
    >>> WRSDA()
    WRSDA()
    """

    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Baudry, Kaufmann, Maillard (2020). Sub-sampling for efficient exploration. NeurIPS."

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, memory=queue_and_order, history=True)
