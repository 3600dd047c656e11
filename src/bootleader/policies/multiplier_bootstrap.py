"""Multiplier bootstrap exploration: weighted means with random weights, and pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import positive, real, whole
from bootleader.policies._keyed_normals import keyed_normal, seed_at
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

MOST_REPLICATES: Final = 100_000
SEED, REPLICATES = 0, 1  # an arm's places in the memory; then, for each replicate,
TOP, BOTTOM, COUNT, MEAN, RSS = 0, 1, 2, 3, 4  # both sums, and the moments of the rewards that are in them
PLACES: Final = 5


def add_new_rewards(params: Any, arms: Any, memory: Any, k: Any, at: Any, normals: Any) -> None:
    """Add the rewards that are new to a replicate of arm k, and their pseudo rewards, to both of its sums.

    The sums of the weighted terms are jointly normal, so two standard normal variables are enough for any number of
    rewards: one for the sum of the weights, and one for what is left of the other sum.
    """
    lam, sd, count, before = params[0], params[1], arms.count[k], memory[at + COUNT]
    new, step = count - before, arms.mean[k] - memory[at + MEAN]
    ratio, scale = before / new, 1.0 / (1.0 + 2.0 * lam * lam)
    mean = arms.mean[k] + ratio * step
    rss = max(arms.rss[k] - memory[at + RSS] - step * step * ratio * count, 0.0) if new > 1.0 else 0.0
    noise = sd * math.sqrt(new * (1.0 + 2.0 * lam * lam)) * normals[0]
    rest = rss + new * lam * lam * (mean * mean + (1.0 - mean) * (1.0 - mean) + lam * lam) * scale
    memory[at + TOP] += new * (mean + lam) + (mean + lam * lam) * scale * noise + sd * math.sqrt(rest) * normals[1]
    memory[at + BOTTOM] += new * (1.0 + 2.0 * lam) + noise
    memory[at + COUNT], memory[at + MEAN], memory[at + RSS] = count, arms.mean[k], arms.rss[k]


def weighted_mean(params: Any, arms: Any, memory: Any, k: Any, replicate: Any, stream: Any) -> Any:
    """The ratio of the two sums of arm k in a replicate, with all rewards until now."""
    replicates, count = int(params[2]), arms.count[k]
    first = k * (REPLICATES + PLACES * replicates)
    at = first + REPLICATES + PLACES * replicate
    if memory[at + COUNT] < count:
        seed, place = memory[first + SEED], 2.0 * (count * replicates + replicate)
        normals = keyed_normal(seed, place, stream), keyed_normal(seed, place + 1.0, stream)
        add_new_rewards(params, arms, memory, k, at, normals)
    return memory[at + TOP] / memory[at + BOTTOM]


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest ratio of the two sums in one replicate, drawn at random."""
    replicate = int(below(stream, int(params[2])))
    chosen, largest, ties = 0, -math.inf, 0
    for k in range(shared.arms):
        index = weighted_mean(params, arms, memory, k, replicate, stream)
        if index > largest:
            chosen, largest, ties = k, index, 1
        elif index == largest:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Nothing but the arm's seed: a replicate draws the weights of the rewards when it is asked."""
    seed_at(memory, arm * (REPLICATES + PLACES * int(params[2])) + SEED, stream)


@dataclass(frozen=True, repr=False)
class MultiplierBootstrap(Policy):
    r"""Play the largest weighted mean of rewards and pseudo rewards, the weights being random.

    .. math:: \frac{\sum_i w_i Y_i + \lambda w_i' \cdot 1 + \lambda w_i'' \cdot 0}
                   {\sum_i w_i + \lambda w_i' + \lambda w_i''}, \qquad w \sim N(1, sd^2)

    This is the practical form: both sums are kept in ``replicates`` copies, each with weights of its own, and every
    round plays by one copy at random. Made for rewards in [0, 1].

    A copy draws its weights when it is asked: what both sums get from the rewards since it was last asked is jointly
    normal, with a mean and a covariance that follow from the number, the mean and the squares of these rewards. The
    sums have the same law as if every reward had its own weights, and a round takes O(arms) instead of O(replicates).

    Parameters
    ----------
    lam : float
        Weight of the pseudo rewards 0 and 1 that come with every reward.
    sd_weights : float
        Standard deviation of the weights.
    replicates : int
        Number of copies.

    Raises
    ------
    ValueError
        If ``lam`` is negative, ``sd_weights`` not above 0, or ``replicates`` not a whole number from 1 to 100,000.

    Examples
    --------
    >>> MultiplierBootstrap(replicates=100)
    MultiplierBootstrap(replicates=100)
    """

    lam: float = 0.5
    sd_weights: float = 0.5
    replicates: int = 50
    reference: ClassVar[str] = "Wan, Wei, Kveton, Song (2023). Multiplier bootstrap-based exploration. ICML."

    def __post_init__(self) -> None:
        real("lam", self.lam, "a number of at least 0", low=0.0, open_low=False)
        positive("sd_weights", self.sd_weights)
        whole("replicates", self.replicates, 1, MOST_REPLICATES, f"from 1 to {MOST_REPLICATES:,}")

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> ChoiceRule:
        params = (float(self.lam), float(self.sd_weights), float(self.replicates))
        return ChoiceRule(choose, learn, MemorySize(per_arm=REPLICATES + PLACES * int(self.replicates)), params)
