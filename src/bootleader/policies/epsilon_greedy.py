"""Epsilon-greedy: follow the leader, now and then a random arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bootleader._core.rules import IndexRule, Noise
from bootleader._core.validation import real
from bootleader.policies import follow_the_leader
from bootleader.policies.base import Policy


@dataclass(frozen=True, repr=False)
class EpsilonGreedy(Policy):
    """Play the largest mean, but with probability ``epsilon`` an arm drawn uniformly from all.

    Parameters
    ----------
    epsilon : float
        Share of random rounds, from 0 to 1.

    Raises
    ------
    ValueError
        If ``epsilon`` is not a number from 0 to 1.

    Examples
    --------
    >>> EpsilonGreedy(0.05)
    EpsilonGreedy(epsilon=0.05)
    """

    epsilon: float = 0.1
    reference: ClassVar[str] = "Sutton, Barto (2018). Reinforcement Learning, section 2.2."

    def __post_init__(self) -> None:
        real("epsilon", self.epsilon, "a number from 0 to 1", low=0.0, open_low=False, high=1.0)

    @property
    def rule(self) -> IndexRule:
        return IndexRule(follow_the_leader.law, Noise.NONE, epsilon=float(self.epsilon))
