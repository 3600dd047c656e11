"""Thompson sampling for rewards in [0, 1], with Beta posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.rng import uniform
from bootleader._core.rules import ChoiceRule
from bootleader._core.sampling import standard_beta
from bootleader._core.validation import positive
from bootleader.policies.base import Knowledge, Policy


def successes(arms: int, rounds: int) -> int:
    """The memory: one number of successes for each arm."""
    return arms


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest of the arms' draws from Beta(a + successes, b + failures)."""
    chosen, largest = 0, -1.0
    for k in range(shared.arms):
        drawn = standard_beta(params[0] + memory[k], params[1] + arms.count[k] - memory[k], stream)
        if drawn > largest:
            chosen, largest = k, drawn
    return chosen


def learn(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """A reward between 0 and 1 counts as a success with that probability."""
    if reward >= 1.0 or (reward > 0.0 and uniform(stream) < reward):
        memory[arm] += 1.0


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
        return ChoiceRule(choose, learn, successes, (float(self.a), float(self.b)), initial_pulls=0)
