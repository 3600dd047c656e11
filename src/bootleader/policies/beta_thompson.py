"""Thompson sampling for rewards in [0, 1], with Beta posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.rng import uniform
from bootleader._core.rules import ChoiceRule
from bootleader._core.sampling import standard_beta
from bootleader._core.validation import positive
from bootleader.policies._gamma_pairs import gamma_pair, scale_of
from bootleader.policies.base import Knowledge, Policy

# Of an arm in the memory: a + successes, b + failures, and what ``scale_of`` has for each. That is kept, because it
# changes for one arm in a round, and all arms read it.
NUMBERS: Final = 4


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
