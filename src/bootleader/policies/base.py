"""What a policy is: immutable parameters, and a rule that says how an arm's index is drawn.

A policy holds no state and draws no numbers. It hands out a *rule*, which is data over scalar functions, and the
oracle loop, the compiled kernels and the online agent all play that same rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, ClassVar, Final, Self

Law = Callable[..., tuple[float, float, float]]
Resample = Callable[..., float]

MOST_PSEUDO_REWARDS: Final = 1e6  # for each reward: with them, the longest history is counted exactly by a float


class Noise(IntEnum):
    """What multiplies an index law's scale. The law's third number, ``shape``, says which member of the family."""

    NONE = 0  # index = location
    NORMAL = 1  # standard normal
    STUDENT = 2  # Student with ``shape`` degrees of freedom; infinite: standard normal
    FAIR_COINS = 3  # number of heads in ``shape`` tosses
    OPTIMISM = 4  # sqrt(2 log t), the same for every arm, t the pulls so far


# Number of arms from which the leader is found without drawing every index (:mod:`bootleader._core.leader_tree`), where the
# noise allows it: about where both ways cost the same (`python -m benchmarks many_arms`). Student variables are dear,
# but old arms no longer need them, so it depends on the rounds too: at 192 arms drawing all takes 2.3 times as long in
# the first 1,000 rounds and 0.9 times in 20,000. Constants, so that no result depends on the machine, and the same for
# the simulator and the agent, so that they agree.
CROSSOVER = {Noise.NONE: 512, Noise.NORMAL: 512, Noise.STUDENT: 192}


@dataclass(frozen=True)
class IndexRule:
    """Index = location + scale * noise, the three a function of an arm's (count, mean, RSS).

    ``law(theta, noise_sd, count, mean, rss, pooled_variance) -> (location, scale, shape)`` is the whole policy.
    """

    law: Law
    noise: Noise
    theta: tuple[float, ...] = (0.0,)
    opening: int = 1  # every arm is pulled this often before indices count
    pooled: bool = False  # whether the law reads the pooled variance
    epsilon: float = 0.0  # chance of a uniformly random arm instead

    def is_crowded(self, arms: int) -> bool:
        """Whether so many arms have their leader found without drawing every index."""
        return self.noise in CROSSOVER and arms >= CROSSOVER[self.noise]


@dataclass(frozen=True)
class HistoryRule:
    """Index = a resampled mean of the arm's whole history.

    ``resample(theta, history, start, count, anchor, drift, rss, lowest, highest, best, is_last, state, i, gamma)``
    returns the index; ``history[start:start + count]`` holds the rewards less the ``anchor``: their mean is ``drift``,
    their residual sum of squares ``rss``, the smallest ``lowest``, the largest ``highest``. An index that cannot lead
    because it is below the ``best`` so far need not be worked out, -inf will do; nor one that leads, if it
    ``is_last``: inf.
    """

    resample: Resample
    theta: tuple[float, ...]
    opening: int = 1


Rule = IndexRule | HistoryRule

UNKNOWN_SD = 1.0  # what a law that does not read the noise sd is given for it


@dataclass(frozen=True)
class Policy:
    """Base of every policy: immutable parameters and a rule.

    A policy prints as it is written. Subclasses are frozen dataclasses that define :attr:`rule`.

    Attributes
    ----------
    reference : str
        The publication that defines the policy.

    Examples
    --------
    >>> from bootleader import UCB1
    >>> policy = UCB1(sd=2.0)
    >>> isinstance(policy, Policy), policy.name, policy.parameters
    (True, 'UCB1(sd=2.0)', {'sd': 2.0})
    """

    reference: ClassVar[str] = ""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember which parameters were written, for ``repr`` to show those."""
        policy = super().__new__(cls)
        written = {field.name for field in fields(cls)[: len(args)]} | set(kwargs)
        object.__setattr__(policy, "_written", written)
        return policy

    @property
    def name(self) -> str:
        """The policy as it is written, which is its label in tables and plots."""
        return repr(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def rule(self) -> Rule:
        """The rule by which an arm's index is drawn."""
        raise TypeError(f"{type(self).__name__} defines no rule")

    def known_sd(self, arms: int, true_sd: Any) -> Any:
        """Return the standard deviation of the rewards' noise that the policy assumes.

        Parameters
        ----------
        arms : int
            Number of arms.
        true_sd : array or None
            The true standard deviations (arm x run), which only a simulation knows.

        Returns
        -------
        float or array
            One number for all arms, or an array that broadcasts to arm x run.
        """
        return UNKNOWN_SD

    def __repr__(self) -> str:
        written: set[str] = self.__dict__.get("_written", set())
        shown = (f"{name}={_source(value)}" for name, value in self.parameters.items() if name in written)
        return f"{type(self).__name__}({', '.join(shown)})"


def _source(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value  # a NumPy number prints as a number
    return "float('inf')" if plain == math.inf else repr(plain)
