"""WR-SDA: duels of the leader's rewards, drawn without replacement, with the other arms' means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import below, next_word
from bootleader._core.rules import ChoiceRule
from bootleader.policies._duels import LEFT, add_winner, block_sum, new_leader, next_winner, queue_size
from bootleader.policies._hypergeometric import Subsample, is_above
from bootleader.policies.base import Policy

LOW, HIGH, AT_LOW, AT_HIGH = 0, 1, 2, 3  # an arm's places: its smallest and largest reward, and how often each came
PLACES: Final = 4
OWNER, COPIED, REWARDS = 0, 1, 2  # places of the copy: the arm's number + 1, how many rewards there are, the rewards
NO: Final = -1.0  # instead of a number of rewards
HALF: Final = 0x100000000  # number of values of half of a word


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


def copied_rewards(arms: Any, memory: Any, k: Any) -> Any:
    """Where all rewards of arm k are in the copy, in any order; those that are missing are added."""
    table = table_at(len(arms.count))
    copy = table + (len(memory) - table) // 2
    if memory[copy + OWNER] != k + 1.0:
        memory[copy + OWNER], memory[copy + COPIED] = k + 1.0, 0.0
    n = int(arms.count[k])
    for j in range(int(memory[copy + COPIED]), n):
        memory[copy + REWARDS + j] = arms.rewards[arms.start[k] + j]
    memory[copy + COPIED] = float(n)
    return copy + REWARDS


def sum_of_draws(memory: Any, first: Any, n: Any, draws: Any, stream: Any) -> Any:
    """Sum of ``draws`` of the n rewards in ``memory[first:first + n]``, drawn without replacement.

    They are the beginning of a random permutation, which is never put back: any order is as good as another. Each half
    of a word makes a draw by Lemire's method.
    """
    total, word = 0.0, next_word(stream)
    for j in range(draws):
        left = n - j
        product = int(word & 0xFFFFFFFF) * left
        i = first + j + (product >> 32)
        if product & 0xFFFFFFFF < left and product & 0xFFFFFFFF < HALF % left:
            i = first + j + int(below(stream, left))
        value = memory[i]
        memory[i] = memory[first + j]
        memory[first + j] = value
        total += value
        word = word >> 32 if j & 1 == 0 else next_word(stream)
    return total


def subsample_sum(arms: Any, memory: Any, k: Any, size: Any, stream: Any) -> Any:
    """Sum of ``size`` of the rewards of arm k, drawn without replacement; or all less the rest, if those are fewer."""
    n, first = int(arms.count[k]), copied_rewards(arms, memory, k)
    if 2 * size <= n:
        return sum_of_draws(memory, first, n, size, stream)
    return block_sum(arms, k, 0, n) - sum_of_draws(memory, first, n, n - size, stream)


def wins(arms: Any, memory: Any, leader: Any, k: Any, stream: Any) -> Any:
    """Whether arm k wins its duel; a tie is decided by a fair coin."""
    at = queue_size(len(arms.count), 0) + PLACES * leader
    low, high = memory[at + LOW], memory[at + HIGH]
    at_high = number_at(arms, memory, leader, low, high) if low < high else NO
    ones = number_at(arms, memory, k, low, high) if at_high != NO else NO
    size = int(arms.count[k])
    if ones != NO:
        subsample = Subsample(size, int(at_high), int(arms.count[leader]))
        return is_above(int(ones), subsample, memory, table_at(len(arms.count)), stream)
    own, other = block_sum(arms, k, 0, size), subsample_sum(arms, memory, leader, size, stream)
    return own > other or (own == other and below(stream, 2) == 0)


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The next arm of the round of duels; a new round when there is none left."""
    if memory[LEFT] == 0.0:
        leader = new_leader(arms, memory, stream)
        for k in range(shared.arms):
            if k != leader and wins(arms, memory, leader, k, stream):
                add_winner(memory, k)
    return next_winner(memory, stream)


@dataclass(frozen=True, repr=False)
class WRSDA(Policy):
    """Subsampling duels without replacement.

    As :class:`RBSDA`, but an arm with s pulls duels with the mean of s of the leader's n rewards, drawn without
    replacement. A duel draws min(s, n - s) rewards. That is O(log t) once
    one arm leads by far, but while arms are close it grows. Where the rewards of both have the same two values, such as
    clicks, nothing is drawn: the number of larger ones is hypergeometric, and one uniform number is compared with the
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
