"""RB-SDA: duels of the leader's random blocks of rewards with the other arms' means. No parameter, no range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies.base import Policy

LEFT, LEADER, QUEUE = 0, 1, 2  # places in the memory: arms still to be pulled, last leader + 1, those arms
FIXED_PLACES: Final = 2


def queue_size(arms: int, rounds: int) -> int:
    """The memory: the arms that won a duel and are still to be pulled."""
    return FIXED_PLACES + arms


def leading_arm(arms: Any, previous: Any, stream: Any) -> Any:
    """The arm with most pulls; of several the largest mean; of several the previous leader, or one at random."""
    chosen, ties = 0, 1
    for k in range(1, len(arms.count)):
        more = arms.count[k] > arms.count[chosen]
        same = arms.count[k] == arms.count[chosen]
        if more or (same and arms.mean[k] > arms.mean[chosen]):
            chosen, ties = k, 1
        elif same and arms.mean[k] == arms.mean[chosen]:
            ties += 1
            if k == previous or (chosen != previous and below(stream, ties) == 0):
                chosen = k
    return chosen


def block_mean(arms: Any, k: Any, first: Any, size: Any) -> Any:
    """Mean of ``size`` consecutive rewards of arm k, from the first one on."""
    at = arms.start[k] + first
    before = arms.sums[at - 1] if first > 0 else 0.0
    return (arms.sums[at + size - 1] - before) / size


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The next arm of the round of duels; a new round when there is none left."""
    if memory[LEFT] == 0.0:
        leader = leading_arm(arms, int(memory[LEADER]) - 1, stream)
        memory[LEADER] = leader + 1.0
        winners = 0
        for k in range(shared.arms):
            if k != leader:
                size = int(arms.count[k])
                first = int(below(stream, int(arms.count[leader]) - size + 1))
                if arms.mean[k] > block_mean(arms, leader, first, size):
                    memory[QUEUE + winners] = k
                    winners += 1
        if winners == 0:
            memory[QUEUE] = leader
            winners = 1
        memory[LEFT] = winners
    left = int(memory[LEFT])
    place = QUEUE + int(below(stream, left))
    arm = int(memory[place])
    memory[place] = memory[QUEUE + left - 1]
    memory[LEFT] = left - 1.0
    return arm


@dataclass(frozen=True, repr=False)
class RBSDA(Policy):
    """Random-block subsampling duels.

    The leader is the arm with most pulls. Every other arm, with s pulls, duels with the mean of s consecutive rewards
    of the leader, a block drawn at random. All arms with a strictly larger mean are pulled, in random order; if there
    is none, the leader is.

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
