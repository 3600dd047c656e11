"""WR-SDA: duels of the leader's rewards, drawn without replacement, with the other arms' means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies._duels import LEFT, add_winner, block_sum, new_leader, next_winner, queue_size
from bootleader.policies._hypergeometric import Subsample, hypergeometric, is_above
from bootleader.policies._subsamples import Rewards, sum_or_side
from bootleader.policies.base import Policy

LOW, HIGH, AT_LOW, AT_HIGH = 0, 1, 2, 3  # an arm's places: its smallest and largest reward, and how often each came
PLACES: Final = 4
# Places of the copy: the arm's number + 1, the value that is not copied, how many rewards have been seen and copied,
# and the rewards.
OWNER, LEFT_OUT, SEEN, COPIED, REWARDS = 0, 1, 2, 3, 4
NO: Final = -1.0  # instead of a number of rewards


def memory_size(arms: int, rounds: int) -> int:
    """The queue of a round of duels, the arms' extreme rewards, log factorials, and a copy of the leader's rewards."""
    return int(table_at(arms)) + 2 * (REWARDS + rounds)


def table_at(arms: Any) -> Any:
    """Where the log factorials begin."""
    return queue_size(arms, 0) + PLACES * arms


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Count the arm's smallest and largest rewards."""
    at = queue_size(shared.arms, 0) + PLACES * arm
    if arms.count[arm] == 1.0:
        memory[at + LOW], memory[at + HIGH] = reward, reward
    if reward <= memory[at + LOW]:
        memory[at + AT_LOW] = memory[at + AT_LOW] + 1.0 if reward == memory[at + LOW] else 1.0
        memory[at + LOW] = reward
    if reward >= memory[at + HIGH]:
        memory[at + AT_HIGH] = memory[at + AT_HIGH] + 1.0 if reward == memory[at + HIGH] else 1.0
        memory[at + HIGH] = reward


def number_at(arms: Any, memory: Any, k: Any, low: Any, high: Any) -> Any:
    """How many rewards of arm k are ``high``, if all others are ``low``, which is smaller; else :data:`NO`."""
    at, count = queue_size(len(arms.count), 0) + PLACES * k, arms.count[k]
    if memory[at + LOW] == memory[at + HIGH]:
        ones = count if memory[at + LOW] == high else 0.0
        return ones if memory[at + LOW] == high or memory[at + LOW] == low else NO
    is_same = memory[at + LOW] == low and memory[at + HIGH] == high
    return memory[at + AT_HIGH] if is_same and memory[at + AT_LOW] + memory[at + AT_HIGH] == count else NO


def copied_rewards(arms: Any, memory: Any, k: Any, left_out: Any) -> Any:
    """Where the rewards of arm k that are not ``left_out`` are copied, in any order; those that are new are added."""
    table = table_at(len(arms.count))
    copy = table + (len(memory) - table) // 2
    if memory[copy + OWNER] != k + 1.0 or memory[copy + LEFT_OUT] != left_out:
        memory[copy + OWNER], memory[copy + LEFT_OUT] = k + 1.0, left_out
        memory[copy + SEEN], memory[copy + COPIED] = 0.0, 0.0
    n, end = int(arms.count[k]), copy + REWARDS + int(memory[copy + COPIED])
    for j in range(int(memory[copy + SEEN]), n):
        reward = arms.rewards[arms.start[k] + j]
        if reward != left_out:
            memory[end] = reward
            end += 1
    memory[copy + SEEN], memory[copy + COPIED] = float(n), float(end - copy - REWARDS)
    return copy + REWARDS


def most_common(arms: Any, memory: Any, k: Any) -> Any:
    """The smallest reward of arm k, if more than half are equal to it; else infinity."""
    at = queue_size(len(arms.count), 0) + PLACES * k
    return memory[at + LOW] if 2.0 * memory[at + AT_LOW] > arms.count[k] else math.inf


def rewards_of(arms: Any, memory: Any, k: Any, left_out: Any) -> Any:
    """The rewards of arm k without those that are ``left_out``, its smallest, unless that is infinite."""
    at = queue_size(len(arms.count), 0) + PLACES * k
    first, n, mean, rss = copied_rewards(arms, memory, k, left_out), arms.count[k], arms.mean[k], arms.rss[k]
    if left_out < math.inf:
        same, gap = memory[at + AT_LOW], mean - left_out
        n -= same
        step = gap * same / n if n > 0.0 else 0.0
        mean, rss = mean + step, max(rss - same * gap * gap - n * step * step, 0.0)
    return Rewards(first, int(n), mean, rss, memory[at + LOW], memory[at + HIGH])


def subsample_sum(rewards: Any, size: Any, wanted: Any, total: Any, memory: Any, stream: Any) -> Any:
    """Sum of ``size`` of the rewards, drawn without replacement; or their total less the rest, if those are fewer.

    Or +-inf, when rejection already decides on which side of ``wanted`` it is.
    """
    if 2 * size <= rewards.n:
        return sum_or_side(wanted, size, rewards, memory, stream)
    return total - sum_or_side(total - wanted, rewards.n - size, rewards, memory, stream)


class LeadersRewards(NamedTuple):
    """What all duels of a round have in common: the leader's number of rewards, their sum, and what is drawn from."""

    n: Any
    total: Any  # without those that are left out
    left_out: Any  # the value of rewards that are not drawn one by one, because most are equal; or infinity
    rewards: Any  # the others


def leaders_rewards(arms: Any, memory: Any, leader: Any) -> Any:
    """What is drawn from in duels with the leader."""
    n, left_out = int(arms.count[leader]), most_common(arms, memory, leader)
    rewards, total = rewards_of(arms, memory, leader, left_out), block_sum(arms, leader, 0, n)
    if left_out < math.inf:
        total -= (n - rewards.n) * left_out
    return LeadersRewards(n, total, left_out, rewards)


def wins(arms: Any, memory: Any, leaders: Any, k: Any, stream: Any) -> Any:
    """Whether arm k wins its duel by a subsample that is drawn; a tie is decided by a fair coin.

    Rewards that are equal, if they are most, are not drawn one by one: their number is hypergeometric.
    """
    size = int(arms.count[k])
    own, drawn, others = block_sum(arms, k, 0, size), size, 0.0
    if leaders.left_out < math.inf:
        subsample = Subsample(size, leaders.rewards.n, leaders.n)
        drawn = hypergeometric(subsample, memory, table_at(len(arms.count)), stream)
        others = (size - drawn) * leaders.left_out
    other = others + subsample_sum(leaders.rewards, drawn, own - others, leaders.total, memory, stream)
    return own > other or (own == other and below(stream, 2) == 0)


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The next arm of the round of duels; a new round when there is none left."""
    if memory[LEFT] == 0.0:
        leader = new_leader(arms, memory, stream)
        at = queue_size(shared.arms, 0) + PLACES * leader
        low, high = memory[at + LOW], memory[at + HIGH]
        at_high = number_at(arms, memory, leader, low, high) if low < high else NO
        leaders = leaders_rewards(arms, memory, leader)
        for k in range(shared.arms):
            ones = number_at(arms, memory, k, low, high) if at_high != NO else NO
            if k == leader:
                won = False
            elif ones == NO:
                won = wins(arms, memory, leaders, k, stream)
            else:
                subsample = Subsample(int(arms.count[k]), int(at_high), int(arms.count[leader]))
                won = is_above(int(ones), subsample, memory, table_at(shared.arms), stream)
            if won:
                add_winner(memory, k)
    return next_winner(memory, stream)


@dataclass(frozen=True, repr=False)
class WRSDA(Policy):
    """Subsampling duels without replacement.

    As :class:`RBSDA`, but an arm with s pulls duels with the mean of s of the leader's n rewards, drawn without
    replacement. A duel draws at most min(s, n - s) rewards, and fewer where exact rejection decides before. That is
    O(log t) once one arm leads by far, but while arms are close it grows. Where most rewards are equal, such as those
    without a sale, only the others are drawn. Where the rewards of both have the same two values, such as clicks,
    nothing is drawn: the number of larger ones is hypergeometric, and one uniform number is compared with the
    probability that the arm wins.

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
        return ChoiceRule(choose, learn, memory_size, history=True)
