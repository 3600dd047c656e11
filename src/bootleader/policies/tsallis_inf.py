"""Tsallis-INF: one policy for stochastic and for adversarial rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.printable_text import shown
from bootleader._core.rules import ChoiceRule
from bootleader.policies._memory_size import MemorySize
from bootleader.policies._probability_choice import drawn
from bootleader.policies.base import Knowledge, Policy

STEPS: Final = 50  # at most, of the search for the normalisation; two are usual
PRECISE: Final = 1e-13  # distance of the sum of probabilities from 1 at which the search ends
LAST_ROUND, LAST_X = 0, 1  # places in the memory, after those of the arms


def learning_rate(params: Any, t: Any) -> Any:
    """Learning rate of round t: 2 / sqrt(t), or 4 / sqrt(t) with reduced variance."""
    return (4.0 if params[0] == 1.0 else 2.0) / math.sqrt(float(t))


def weigh(params: Any, memory: Any, arms: Any, t: Any) -> Any:
    """Write each arm's probability 4 / (rate (L - x))^2 in round t behind its losses in the memory; return their sum.

    The sum f(x) is 1 at the x that is looked for, which changes little from round to round. f^(-1/2) is concave in x
    and nearly a line: a step of Newton's from anywhere leads to that x or above it, and the next ones down to it.
    """
    rate = learning_rate(params, t)
    smallest = memory[0]
    for k in range(1, arms):
        smallest = min(smallest, memory[2 * k])
    largest_x = smallest - 2.0 / rate  # there one weight alone is 1
    x = min(memory[2 * arms + LAST_X], largest_x)
    total = 0.0
    for _ in range(STEPS):
        total, cubes = 0.0, 0.0
        for k in range(arms):
            weight = 2.0 / (rate * (memory[2 * k] - x))
            memory[2 * k + 1] = weight * weight
            total += weight * weight
            cubes += weight * weight * weight
        if abs(total - 1.0) <= PRECISE:
            break
        x = min(x + 2.0 * total * (1.0 - math.sqrt(total)) / (rate * cubes), largest_x)
    memory[2 * arms + LAST_ROUND], memory[2 * arms + LAST_X] = t, x
    return total


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """An arm with its probability."""
    total = weigh(params, memory, shared.arms, shared.pulls + 1)
    return drawn(memory, 1, 2, shared.arms, total, stream)


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Add the importance-weighted loss to the arm's sum of losses."""
    t, places = shared.pulls, shared.arms
    # A late reward, one of an arm that was not chosen by this rule, or one of an arm that is new since the choice.
    if memory[2 * places + LAST_ROUND] != t or memory[2 * arm + 1] == 0.0:
        weigh(params, memory, places, t)
    loss = 1.0 - reward
    if params[0] == 0.0:
        memory[2 * arm] += loss / memory[2 * arm + 1]
        return
    rate = learning_rate(params, t)
    for k in range(places):
        chance = memory[2 * k + 1]
        baseline = 0.5 if chance >= rate * rate else 0.0
        if k == arm:
            memory[2 * k] += (loss - baseline) / chance
        memory[2 * k] += baseline


@dataclass(frozen=True, repr=False)
class TsallisINF(Policy):
    r"""Follow the regularised leader, with the Tsallis entropy of power 1/2.

    .. math:: p_k = \frac4{(\eta_t (\hat L_k - x))^2}, \qquad \eta_t = \frac2{\sqrt t},

    with :math:`\hat L` the importance-weighted sums of the losses 1 - Y, and x such that the probabilities sum to 1.
    For rewards in [0, 1]. A reward that comes late is weighted by the probability that the arm has when it arrives.

    Parameters
    ----------
    reduced_variance : bool
        Whether losses are measured from 1/2 where the probability is at least :math:`\eta_t^2`. The learning rate is
        then :math:`4/\sqrt t`.

    Raises
    ------
    TypeError
        If ``reduced_variance`` is not True or False.

    Examples
    --------
    >>> TsallisINF()
    TsallisINF()
    """

    reduced_variance: bool = False
    reference: ClassVar[str] = (
        "Zimmert, Seldin (2021). Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits. JMLR 22."
    )

    def __post_init__(self) -> None:
        if not isinstance(self.reduced_variance, bool):
            raise TypeError(f"reduced_variance must be True or False, got {shown(self.reduced_variance)}")

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> ChoiceRule:
        params = (1.0 if self.reduced_variance else 0.0,)
        return ChoiceRule(choose, learn, MemorySize(per_arm=2, fixed=2), params, initial_pulls=0)
