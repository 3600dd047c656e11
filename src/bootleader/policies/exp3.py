"""Exp3: exponential weights for rewards that an adversary may choose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import exp, log
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import real
from bootleader.policies._memory_size import MemorySize
from bootleader.policies._probability_choice import drawn
from bootleader.policies.base import Knowledge, Policy

ROUNDING: Final = 1e-9  # of the sum of probabilities
FROM_HORIZON = 0.0  # the rate as a parameter of the rule, where it is computed from the number of rounds


def rate_of(params: Any, shared: Any) -> Any:
    """The rate: the one that is given, or min(1, sqrt(K log K / ((e - 1) T)))."""
    if params[0] != FROM_HORIZON:
        return params[0]
    return min(1.0, math.sqrt(shared.arms * log(float(shared.arms)) / ((math.e - 1.0) * shared.horizon)))


def weigh(params: Any, memory: Any, shared: Any) -> Any:
    """Write each arm's probability behind its log weight in the memory; return their sum, which is about 1."""
    arms, rate = shared.arms, rate_of(params, shared)
    largest = memory[0]
    for k in range(1, arms):
        largest = max(largest, memory[2 * k])
    total = 0.0
    for k in range(arms):
        memory[2 * k + 1] = exp(memory[2 * k] - largest)
        total += memory[2 * k + 1]
    for k in range(arms):
        memory[2 * k + 1] = (1.0 - rate) * memory[2 * k + 1] / total + rate / arms
    return 1.0


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """An arm with its probability."""
    total = weigh(params, memory, shared)
    return drawn(memory, 1, 2, shared.arms, total, stream)


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Add rate / K times the importance-weighted reward to the arm's log weight."""
    if memory[2 * arm + 1] == 0.0 or abs(sum_of_chances(memory, shared.arms) - 1.0) > ROUNDING:
        weigh(params, memory, shared)
    memory[2 * arm] += rate_of(params, shared) / shared.arms * reward / memory[2 * arm + 1]
    memory[2 * arm + 1] = 0.0


def sum_of_chances(memory: Any, arms: Any) -> Any:
    """The sum of the probabilities in the memory: 1 after a choice, until a reward or other arms make them old."""
    total = 0.0
    for k in range(arms):
        total += memory[2 * k + 1]
    return total


@dataclass(frozen=True, repr=False)
class Exp3(Policy):
    r"""Play an arm with a probability that grows exponentially with its estimated sum of rewards.

    .. math:: p_k = (1 - \gamma) \frac{w_k}{\sum_j w_j} + \frac\gamma K, \qquad
              w_k \leftarrow w_k \exp\Bigl(\frac{\gamma}{K} \frac{Y}{p_k}\Bigr) \text{ after a reward of arm } k

    for rewards in [0, 1]. A reward that comes late is weighted by the probability that the arm has when it arrives.

    Parameters
    ----------
    rate : float, optional
        The rate :math:`\gamma`, above 0 and at most 1. By default
        :math:`\min(1, \sqrt{K \log K / ((e - 1) T)})` with T the number of rounds of the simulation, as in the paper's
        corollary 3.2. An agent does not have that number, and needs a rate.

    Raises
    ------
    ValueError
        If ``rate`` is not a number above 0 and at most 1.

    Examples
    --------
    >>> Exp3(rate=0.05)
    Exp3(rate=0.05)
    """

    rate: float | None = None
    instead_of_horizon: ClassVar[str] = "rate"
    reference: ClassVar[str] = (
        "Auer, Cesa-Bianchi, Freund, Schapire (2002). The nonstochastic multiarmed bandit problem. SIAM J. Comput. 32."
    )

    def __post_init__(self) -> None:
        if self.rate is not None:
            real("rate", self.rate, "a number above 0, at most 1", low=0.0, high=1.0)

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE, Knowledge.HORIZON) if self.rate is None else (Knowledge.RANGE,)

    @property
    def reads_horizon(self) -> bool:
        return self.rate is None

    @property
    def rule(self) -> ChoiceRule:
        rate = FROM_HORIZON if self.rate is None else float(self.rate)
        return ChoiceRule(choose, learn, MemorySize(per_arm=2), (rate,), initial_pulls=0)
