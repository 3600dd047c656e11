"""Rounds of duels between the leader's subsamples and the other arms' means; the SDA family has them in common.

Means are computed from sums on both sides of a comparison: rewards that are whole numbers tie exactly.
"""

from __future__ import annotations

from typing import Any, Final

from bootleader._core.rng import below

LEFT, LEADER, QUEUE = 0, 1, 2  # places in the memory: arms still to be pulled, last leader + 1, those arms
FIXED_PLACES: Final = 2


def queue_size(arms: int, rounds: int) -> int:
    """The memory: the arms that won a duel and are still to be pulled."""
    return FIXED_PLACES + arms


def block_sum(arms: Any, k: Any, first: Any, size: Any) -> Any:
    """Sum of ``size`` consecutive rewards of arm k, from the first one on."""
    at = arms.start[k] + first
    before = arms.sums[at - 1] if first > 0 else 0.0
    return arms.sums[at + size - 1] - before


def leading_arm(arms: Any, previous: Any, stream: Any) -> Any:
    """The arm with most pulls; of several the largest mean; of several the previous leader, or one at random."""
    chosen, ties = 0, 1
    for k in range(1, len(arms.count)):
        if arms.count[k] > arms.count[chosen]:
            chosen, ties = k, 1
        elif arms.count[k] == arms.count[chosen]:
            size = int(arms.count[k])
            own, other = block_sum(arms, k, 0, size), block_sum(arms, chosen, 0, size)
            if own > other:
                chosen, ties = k, 1
            elif own == other:
                ties += 1
                if k == previous or (chosen != previous and below(stream, ties) == 0):
                    chosen = k
    return chosen


def new_leader(arms: Any, memory: Any, stream: Any) -> Any:
    """The leader of a new round of duels."""
    leader = leading_arm(arms, int(memory[LEADER]) - 1, stream)
    memory[LEADER] = leader + 1.0
    return leader


def duel(arms: Any, memory: Any, k: Any, subsample_sum: Any) -> None:
    """Let arm k be pulled if its mean is at least that of the leader's subsample of the same size.

    The paper prints "larger", its authors' program has "at least", and its figures for Bernoulli arms are those of the
    program. With "larger" an arm whose first reward is 0 never wins a duel against rewards of 0 and 1.
    """
    size = int(arms.count[k])
    if block_sum(arms, k, 0, size) / size >= subsample_sum / size:
        add_winner(memory, k)


def add_winner(memory: Any, k: Any) -> None:
    """Let arm k be pulled in this round."""
    memory[QUEUE + int(memory[LEFT])] = k
    memory[LEFT] += 1.0


def next_winner(memory: Any, stream: Any) -> Any:
    """One of the arms that are still to be pulled, at random; the leader, if it has won all duels."""
    if memory[LEFT] == 0.0:
        memory[QUEUE] = memory[LEADER] - 1.0
        memory[LEFT] = 1.0
    left = int(memory[LEFT])
    place = QUEUE + int(below(stream, left))
    arm = int(memory[place])
    memory[place] = memory[QUEUE + left - 1]
    memory[LEFT] = left - 1.0
    return arm
