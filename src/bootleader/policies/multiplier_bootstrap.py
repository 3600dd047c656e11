"""Multiplier bootstrap exploration: weighted means with random weights, and pseudo rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader._core.sampling import standard_normal
from bootleader._core.validation import positive, real, whole
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.base import Knowledge, Policy

MOST_REPLICATES: Final = 100_000


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest ratio of the two sums in one replicate, drawn at random."""
    replicates = int(params[2])
    replicate = int(below(stream, replicates))
    chosen, largest, ties = 0, -math.inf, 0
    for k in range(shared.arms):
        at = 2 * (k * replicates + replicate)
        index = memory[at] / memory[at + 1]
        if index > largest:
            chosen, largest, ties = k, index, 1
        elif index == largest:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Add a reward, a one and a zero to both sums of every replicate, each with a weight N(1, sd^2)."""
    lam, sd, replicates = params[0], params[1], int(params[2])
    for replicate in range(replicates):
        at = 2 * (arm * replicates + replicate)
        own, one, zero = standard_normal(stream), standard_normal(stream), standard_normal(stream)
        memory[at] += (1.0 + sd * own) * reward + lam * (1.0 + sd * one)
        memory[at + 1] += (1.0 + sd * own) + lam * (2.0 + sd * (one + zero))


@dataclass(frozen=True, repr=False)
class MultiplierBootstrap(Policy):
    r"""Play the largest weighted mean of rewards and pseudo rewards, the weights being random.

    .. math:: \frac{\sum_i w_i Y_i + \lambda w_i' \cdot 1 + \lambda w_i'' \cdot 0}
                   {\sum_i w_i + \lambda w_i' + \lambda w_i''}, \qquad w \sim N(1, sd^2)

    This is the practical form: both sums are kept in ``replicates`` copies, each with weights of its own, and every
    round plays by one copy at random. Made for rewards in [0, 1].

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
        return ChoiceRule(choose, learn, MemorySize(per_arm=2 * int(self.replicates)), params)
