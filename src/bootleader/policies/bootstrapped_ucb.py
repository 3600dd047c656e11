"""Bootstrapped UCB: a confidence bound by the multiplier bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.bootstrap_sums import COINS, add_signed
from bootleader._core.elementary import log
from bootleader._core.rng import below, next_word
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import one_of, positive, real, whole
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

MOST_REPLICATES: Final = 100_000
# An arm's places in the memory: its first reward, a quantile, when it was computed, and the replicate that had it; then
# the replicates' sums of weighted rewards, then their sums of weights. Both have room for a multiple of 64 numbers, and
# begin at a multiple of 8, so that vectors of them lie in one line of the cache.
ANCHOR, QUANTILE, AT_COUNT, AT_RANK, REPLICATE, SUMS = 0, 1, 2, 3, 4, 8


def room_for(replicates: Any) -> Any:
    """Numbers in the memory for one of each replicate."""
    return (replicates + COINS - 1) // COINS * COINS


def places_of(replicates: Any) -> Any:
    """Numbers of an arm in the memory."""
    return SUMS + 2 * room_for(replicates)


def largest_sum(memory: Any, first: Any, replicates: Any, shift: Any) -> Any:
    """The largest of the replicates' sums of weighted residuals; four at a time, which do not wait for each other."""
    a, b, c, d = -math.inf, -math.inf, -math.inf, -math.inf
    at, weights = first, first + room_for(replicates)
    for _ in range(replicates // 4):
        a = max(a, memory[at] - shift * memory[weights])
        b = max(b, memory[at + 1] - shift * memory[weights + 1])
        c = max(c, memory[at + 2] - shift * memory[weights + 2])
        d = max(d, memory[at + 3] - shift * memory[weights + 3])
        at += 4
        weights += 4
    for _ in range(replicates % 4):
        a = max(a, memory[at] - shift * memory[weights])
        at += 1
        weights += 1
    return max(max(a, b), max(c, d))


def ranked_sum(memory: Any, first: Any, replicates: Any, shift: Any, rank: Any) -> Any:
    """The largest but ``rank`` of the replicates' sums of weighted residuals."""
    limit, left, largest = math.inf, rank + 1, 0.0
    while left > 0:
        largest, ties = -math.inf, 0
        for at in range(first, first + replicates):
            value = memory[at] - shift * memory[at + room_for(replicates)]
            if value < limit and value >= largest:
                ties = ties + 1 if value == largest else 1
                largest = value
        limit = largest
        left -= ties
    return largest


def is_known(arms: Any, memory: Any, k: Any, replicates: Any, rank: Any) -> Any:
    """Whether the quantile of arm k has not changed since it was computed."""
    first = k * places_of(replicates)
    return memory[first + AT_COUNT] == arms.count[k] and memory[first + AT_RANK] == rank


def bootstrap_quantile(arms: Any, memory: Any, k: Any, replicates: Any, rank: Any) -> Any:
    """The largest but ``rank`` of the replicates' means of weighted residuals of arm k; computed when it changes."""
    first = k * places_of(replicates)
    if is_known(arms, memory, k, replicates, rank):
        return memory[first + QUANTILE]
    shift, at, room = arms.mean[k] - memory[first + ANCHOR], first + SUMS, room_for(replicates)
    ranked = ranked_sum(memory, at, replicates, shift, rank) if rank > 0 else largest_sum(memory, at, replicates, shift)
    replicate = 0
    while replicate < replicates - 1 and memory[at + replicate] - shift * memory[at + replicate + room] != ranked:
        replicate += 1
    memory[first + AT_COUNT], memory[first + AT_RANK], memory[first + REPLICATE] = arms.count[k], rank, replicate
    memory[first + QUANTILE] = ranked / arms.count[k]
    return memory[first + QUANTILE]


def least_quantile(arms: Any, memory: Any, k: Any, replicates: Any, rank: Any) -> Any:
    """A bound below the quantile of arm k: what the replicate has now that was the largest when it was computed."""
    first = k * places_of(replicates)
    if rank > 0 or memory[first + AT_RANK] > 0.0 or memory[first + AT_COUNT] == 0.0:
        return -math.inf
    at = first + SUMS + int(memory[first + REPLICATE])
    return (memory[at] - (arms.mean[k] - memory[first + ANCHOR]) * memory[at + room_for(replicates)]) / arms.count[k]


def level_and_rank(params: Any, shared: Any) -> Any:
    """The correction of an arm with one reward, and the quantile's rank: the same for all arms."""
    delta, sd, replicates = params[0], params[1], int(params[2])
    alpha = 1.0 / (shared.pulls + 2.0)
    level = sd * math.sqrt(-2.0 * log(alpha))
    if params[3] == 1.0:
        level *= math.sqrt(log(2.0 / (alpha * delta)))
    return level, int(alpha * (1.0 - delta) * replicates)


def index_of(params: Any, arms: Any, memory: Any, k: Any, level: Any, rank: Any) -> Any:
    """Mean + quantile + correction of arm k."""
    return arms.mean[k] + bootstrap_quantile(arms, memory, k, int(params[2]), rank) + level / arms.count[k]


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest mean + quantile + correction.

    Mostly one arm has a new reward, the leader. If already a bound below its index is above all others, it leads.
    """
    level, rank = level_and_rank(params, shared)
    replicates = int(params[2])
    new, others = -1, -math.inf
    for k in range(shared.arms):
        if new < 0 and not is_known(arms, memory, k, replicates, rank):
            new = k
        else:
            others = max(others, index_of(params, arms, memory, k, level, rank))
    if new >= 0:
        least = least_quantile(arms, memory, new, replicates, rank)
        if arms.mean[new] + least + level / arms.count[new] > others:
            return new
    chosen, best, ties = 0, -math.inf, 0
    for k in range(shared.arms):
        index = index_of(params, arms, memory, k, level, rank)
        if index > best:
            chosen, best, ties = k, index, 1
        elif index == best:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Add the reward to every replicate with a weight of 1 or -1; rewards are measured from the arm's first one."""
    replicates = int(params[2])
    first = arm * places_of(replicates)
    if arms.count[arm] == 1.0:
        memory[first + ANCHOR] = reward
    for begin in range(0, replicates, COINS):
        at, value = first + SUMS + begin, reward - memory[first + ANCHOR]
        add_signed(memory, at, at + room_for(replicates), next_word(stream), value)


@dataclass(frozen=True, repr=False)
class BootstrappedUCB(Policy):
    r"""Play the largest upper confidence bound that the multiplier bootstrap gives.

    .. math:: \bar Y + q_{\alpha(1-\delta)} + \frac{\varphi}{\sqrt s}, \qquad
              \varphi = sd \sqrt{2 \log(1/\alpha) / s}, \quad \alpha = \frac1{t+1}

    with q the quantile, over the replicates, of :math:`\frac1s \sum_i w_i (Y_i - \bar Y)` with weights of 1 or -1, and
    t the number of the present round. The last term is the second-order correction as the paper's experiments have
    it; that of its theorem has a further factor :math:`\sqrt{\log(2/(\alpha\delta))}`.

    The paper draws all weights anew in every round, which takes time and memory that grow with the rounds. Here a
    reward keeps its weights, so that a round takes O(replicates), and no history is kept. Given the rewards the
    quantile has the same law; only the same draws are used in several rounds.

    Parameters
    ----------
    delta : float
        Share of the error that is left for the correction, above 0 and below 1.
    sd : float
        Sub-Gaussian standard deviation of the rewards, for the correction.
    replicates : int
        Number of replicates.
    correction : {"practical", "theorem"}
        The second-order correction.

    Raises
    ------
    ValueError
        If ``delta`` is not between 0 and 1, ``sd`` not above 0, ``replicates`` not a whole number from 1 to 100,000, or
        ``correction`` not one of the two.

    Examples
    --------
    >>> BootstrappedUCB(delta=0.1)
    BootstrappedUCB(delta=0.1)
    """

    delta: float = 0.1
    sd: float = 1.0
    replicates: int = 200
    correction: str = "practical"
    reference: ClassVar[str] = "Hao, Abbasi-Yadkori, Wen, Cheng (2019). Bootstrapping upper confidence bound. NeurIPS."

    def __post_init__(self) -> None:
        real("delta", self.delta, "a number above 0 and below 1", low=0.0, high=1.0 - 1e-12)
        positive("sd", self.sd)
        whole("replicates", self.replicates, 1, MOST_REPLICATES, f"from 1 to {MOST_REPLICATES:,}")
        one_of("correction", self.correction, ("practical", "theorem"))

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,)

    @property
    def rule(self) -> ChoiceRule:
        theorem = 1.0 if self.correction == "theorem" else 0.0
        params = (float(self.delta), float(self.sd), float(self.replicates), theorem)
        return ChoiceRule(choose, learn, MemorySize(per_arm=places_of(int(self.replicates))), params)
