"""Thompson sampling for rewards in [0, 1], with Beta posteriors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import log
from bootleader._core.rng import uniform
from bootleader._core.rules import ChoiceRule
from bootleader._core.sampling import standard_beta, standard_normal
from bootleader._core.validation import positive
from bootleader.policies.base import Knowledge, Policy

NUMBERS: Final = 4  # of an arm in the memory: a + successes, b + failures, and what ``scale_of`` has for each


def posteriors(arms: int, rounds: int) -> int:
    """The memory: the posterior of each arm."""
    return NUMBERS * arms


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest of the arms' draws from Beta(a + successes, b + failures); they are compared by their odds."""
    chosen, best_x, best_y = 0, -1.0, 1.0
    for k in range(shared.arms):
        at = NUMBERS * k
        if arms.count[k] == 0.0:
            memory[at], memory[at + 1] = params[0], params[1]
            memory[at + 2], memory[at + 3] = scale_of(params[0]), scale_of(params[1])
        if memory[at] >= 1.0 and memory[at + 1] >= 1.0:
            x, y = gamma_pair(memory[at], memory[at + 1], memory[at + 2], memory[at + 3], stream)
        else:
            x = standard_beta(memory[at], memory[at + 1], stream)
            y = 1.0 - x
        if x * best_y > best_x * y:
            chosen, best_x, best_y = k, x, y
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """A reward between 0 and 1 counts as a success with that probability."""
    if memory[NUMBERS * arm] == 0.0:  # an agent may learn a reward before it is asked
        memory[NUMBERS * arm], memory[NUMBERS * arm + 1] = params[0], params[1]
        memory[NUMBERS * arm + 2], memory[NUMBERS * arm + 3] = scale_of(params[0]), scale_of(params[1])
    success = reward >= 1.0 or (reward > 0.0 and uniform(stream) < reward)
    at = NUMBERS * arm + (0 if success else 1)
    memory[at] += 1.0
    memory[at + 2] = scale_of(memory[at])


def scale_of(shape: Any) -> Any:
    """The scale of a gamma candidate. It is kept: it changes for one arm in a round, and all arms read it."""
    return 1.0 / math.sqrt(9.0 * shape - 3.0) if shape >= 1.0 else 0.0


def gamma_pair(a: Any, b: Any, scale_a: Any, scale_b: Any, stream: Any) -> tuple[Any, Any]:
    """Gamma(a, 1) and Gamma(b, 1) for shapes of at least 1, whose ratio has the law of the odds of Beta(a, b).

    The method of :func:`bootleader._core.sampling.standard_gamma` with one acceptance test for both candidates, by the
    product of their probabilities: three words instead of four, and a pair is nearly always accepted.
    """
    d, e = a - 1.0 / 3.0, b - 1.0 / 3.0
    while True:
        x, y, u = standard_normal(stream), standard_normal(stream), uniform(stream)
        root, other = 1.0 + scale_a * x, 1.0 + scale_b * y
        v, w = root * root * root, other * other * other
        xx, yy = x * x, y * y
        if root >= 0.5 and other >= 0.5 and u * (d * e) > 0.0157 * (xx * xx * e + yy * yy * d):
            return d * v, e * w
        if root > 0.0 and other > 0.0:
            log_chance = 0.5 * (xx + yy) + d * (1.0 - v + log(v)) + e * (1.0 - w + log(w))
            if log(1.0 - u) < log_chance:
                return d * v, e * w


@dataclass(frozen=True, repr=False)
class BetaThompson(Policy):
    """Sample each arm's mean from its Beta posterior and play the largest.

    A reward between 0 and 1 counts as a success with that probability, as a failure otherwise.

    Parameters
    ----------
    a : float
        Prior successes, above 0.
    b : float
        Prior failures, above 0.

    Raises
    ------
    ValueError
        If a parameter is not above 0.

    Examples
    --------
    >>> BetaThompson()
    BetaThompson()
    """

    a: float = 1.0
    b: float = 1.0
    reference: ClassVar[str] = "Agrawal, Goyal (2012). Analysis of Thompson sampling. COLT."

    def __post_init__(self) -> None:
        positive("a", self.a)
        positive("b", self.b)

    @property
    def reward_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.RANGE,)

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, learn, posteriors, (float(self.a), float(self.b)), initial_pulls=0)
