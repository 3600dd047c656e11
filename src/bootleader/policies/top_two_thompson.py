"""Top-two Thompson sampling: pulls that tell the best arm from its closest rival."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rng import uniform
from bootleader._core.rules import ChoiceRule
from bootleader._core.sampling import standard_normal
from bootleader._core.tail_sampling import noise_above
from bootleader._core.validation import positive, real
from bootleader.policies._memory_size import MemorySize
from bootleader.policies._probability_choice import drawn
from bootleader.policies.base import Knowledge, Policy


def leading_draw(arms: Any, sd: Any, memory: Any, stream: Any) -> Any:
    """Draw every arm's mean from N(Ybar, sd^2 / s) into the memory; the arm with the largest."""
    chosen, largest = 0, -math.inf
    for k in range(len(arms.count)):
        memory[k] = arms.mean[k] + sd / math.sqrt(arms.count[k]) * standard_normal(stream)
        if memory[k] > largest:
            chosen, largest = k, memory[k]
    return chosen


def distance(arms: Any, leader: Any, k: Any) -> Any:
    """(mean of the leader - mean of arm k) / standard deviation of their difference, for noise of sd 1."""
    return (arms.mean[leader] - arms.mean[k]) / math.sqrt(1.0 / arms.count[leader] + 1.0 / arms.count[k])


def challenger(arms: Any, sd: Any, memory: Any, leader: Any, stream: Any) -> Any:
    """The best arm of a draw in which it is not the leader.

    Draws until the leader is not the best would hardly end once the leader is nearly certain. Here an arm j that beats
    the leader is drawn first, with a probability proportional to that of beating it, then both means given that j
    is ahead, then the rest. Draws in which c arms are ahead of the leader can come about in c ways, so one is kept with
    probability 1 / c. That leaves exactly the law of the draws in which some arm is ahead.
    """
    count, total, nearest = len(arms.count), 0.0, -1
    for k in range(count):
        memory[count + k] = 0.0
        if k != leader:
            z = distance(arms, leader, k) / sd
            memory[count + k] = 0.5 * math.erfc(z * math.sqrt(0.5))
            total += memory[count + k]
            if nearest < 0 or z < distance(arms, leader, nearest) / sd:
                nearest = k
    if total == 0.0:  # all of these probabilities are below the smallest float
        return nearest
    while True:
        j = drawn(memory, count, 1, count, total, stream)
        own, other = sd * sd / arms.count[leader], sd * sd / arms.count[j]
        spread = math.sqrt(own + other)
        noise = noise_above(distance(arms, leader, j) / sd, math.inf, stream)  # that of the difference
        best = arms.mean[leader] - own / spread * noise + math.sqrt(own * other) / spread * standard_normal(stream)
        chosen, largest = j, best + (arms.mean[j] - arms.mean[leader]) + spread * noise
        ahead = 1
        for k in range(count):
            if k != leader and k != j:
                mean = arms.mean[k] + sd / math.sqrt(arms.count[k]) * standard_normal(stream)
                if mean > best:
                    ahead += 1
                if mean > largest:
                    chosen, largest = k, mean
        if ahead == 1 or uniform(stream) * ahead < 1.0:
            return chosen


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The best arm of a draw; or, with probability 1 - beta, that of another one in which it is not the same."""
    leader = leading_draw(arms, params[1], memory, stream)
    if shared.arms == 1 or uniform(stream) < params[0]:
        return leader
    return challenger(arms, params[1], memory, leader, stream)


@dataclass(frozen=True, repr=False)
class TopTwoThompson(Policy):
    r"""Top-two Thompson sampling, to find the best arm.

    Sample each arm's mean from its posterior, :math:`N(\bar Y, sd^2/s)` (flat prior, Gaussian noise of known sd). With
    probability beta pull the arm with the largest; otherwise sample until another arm has the largest, and pull that
    one. The arm to recommend is the one with the largest mean. Regret is not what it is made for.

    Parameters
    ----------
    beta : float
        Share of pulls of the leading arm, above 0 and at most 1.
    noise_sd : float
        Standard deviation of the rewards.

    Raises
    ------
    ValueError
        If ``beta`` is not above 0 and at most 1, or ``noise_sd`` is not above 0.

    Examples
    --------
    >>> TopTwoThompson(noise_sd=2.0)
    TopTwoThompson(noise_sd=2.0)
    """

    beta: float = 0.5
    noise_sd: float = 1.0
    reference: ClassVar[str] = (
        "Russo (2020). Simple Bayesian algorithms for best-arm identification. Operations Research 68(6)."
    )

    def __post_init__(self) -> None:
        real("beta", self.beta, "a number above 0, at most 1", low=0.0, high=1.0)
        positive("noise_sd", self.noise_sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,)

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, memory=MemorySize(per_arm=2), params=(float(self.beta), float(self.noise_sd)))
