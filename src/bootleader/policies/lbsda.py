"""LB-SDA: duels of the leader's last rewards with the other arms' means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

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
                duel(arms, memory, k, block_sum(arms, leader, int(arms.count[leader]) - size, size))
    return next_winner(memory, stream)


@dataclass(frozen=True, repr=False)
class LBSDA(Policy):
    """Last-block subsampling duels.

    As :class:`RBSDA`, but an arm with s pulls duels with the mean of the leader's last s rewards, so nothing but the
    ties and the order of the pulls is random. The forced exploration of the later paper (Baudry, Russac, Cappé 2021)
    is not part of it.

    Raises
    ------
    TypeError
        If a parameter is given: it has none.

    Examples
    --------
    >>> LBSDA()
    LBSDA()
    """

    equivariant: ClassVar[bool] = True
    reference: ClassVar[str] = "Baudry, Kaufmann, Maillard (2020). Sub-sampling for efficient exploration. NeurIPS."

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, memory=queue_size, history=True)
