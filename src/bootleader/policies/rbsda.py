"""RB-SDA: duels of the leader's random blocks of rewards with the other arms' means. No parameter, no range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies._duels import LEFT, block_sum, duel, new_leader, next_winner, queue_size
from bootleader.policies.base import Policy


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The next arm of the round of duels; a new round when there is none left."""
    if memory[LEFT] == 0.0:
        leader = new_leader(arms, memory, stream)
        for k in range(shared.arms):
            if k != leader:
                size = int(arms.count[k])
                first = int(below(stream, int(arms.count[leader]) - size + 1))
                duel(arms, memory, k, block_sum(arms, leader, first, size))
    return next_winner(memory, stream)


@dataclass(frozen=True, repr=False)
class RBSDA(Policy):
    """Random-block subsampling duels.

    The leader is the arm with most pulls. Every other arm, with s pulls, duels with the mean of s consecutive rewards
    of the leader, a block drawn at random. All arms whose mean is at least as large are pulled, in random order; if
    there is none, the leader is. A duel costs the same however long the histories are: sums of blocks are differences
    of two prefix sums.

    The paper prints "larger"; its figures for Bernoulli arms, where ties are common, are those of a program that lets
    the challenger win ties, as here.

    Raises
    ------
    TypeError
        If a parameter is given: it has none.

    Examples
    --------
    >>> RBSDA()
    RBSDA()
    """

    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Baudry, Kaufmann, Maillard (2020). Sub-sampling for efficient exploration. NeurIPS."

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, memory=queue_size, history=True)
