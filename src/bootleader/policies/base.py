"""What a policy is: immutable parameters, and a rule that says how an arm's index is drawn.

A policy holds no state and draws no numbers. Its *rule* is data over scalar functions (:mod:`bootleader._core.rules`),
played by the reference player, the compiled kernels and the agent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar, Final, Self

from bootleader._core.rules import UNKNOWN_SD, Rule

MOST_PSEUDO_REWARDS: Final = 1e6  # for each reward: with them, the longest history is counted exactly by a float


class Knowledge(StrEnum):
    """What a user has to know about the rewards before the first round.

    Attributes
    ----------
    RANGE
        The smallest and the largest reward.
    SD
        The standard deviation of the rewards' noise, or a bound of it.
    FAMILY
        The family of the rewards' distribution.
    PRIOR
        A prior distribution of the means.
    HORIZON
        The number of rounds.
    CHANGE
        How fast the rewards change.

    Examples
    --------
    >>> from bootleader import PHE
    >>> PHE().must_know == (Knowledge.RANGE,)
    True
    """

    RANGE = "range"
    SD = "sd"
    FAMILY = "family"
    PRIOR = "prior"
    HORIZON = "horizon"
    CHANGE = "change"


# Knowledge in words, in the order in which policies are listed.
IN_WORDS: Final = {
    Knowledge.RANGE: "the range of the rewards",
    Knowledge.SD: "the standard deviation of the rewards",
    Knowledge.FAMILY: "the family of the rewards",
    Knowledge.PRIOR: "a prior of the means",
    Knowledge.HORIZON: "the number of rounds",
    Knowledge.CHANGE: "how fast the rewards change",
}


def in_words(knowledge: tuple[Knowledge, ...]) -> str:
    """What a policy must know, in words.

    Examples
    --------
    >>> in_words((Knowledge.SD, Knowledge.HORIZON)), in_words(())
    ('the standard deviation of the rewards and the number of rounds', 'nothing')
    """
    return " and ".join(words for known, words in IN_WORDS.items() if known in knowledge) or "nothing"


class Written:
    """A frozen dataclass that prints as it was written: with the parameters that were given."""

    reference: ClassVar[str] = ""
    equivariant: ClassVar[bool] = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember which parameters were written, for ``repr`` to show those."""
        policy = super().__new__(cls)
        written = {field.name for field in fields(cls)[: len(args)]} | set(kwargs)  # type: ignore[arg-type]
        object.__setattr__(policy, "_written", written)
        return policy

    @property
    def name(self) -> str:
        """The policy as it is written, which is its label in tables and plots."""
        return repr(self)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        written: set[str] = self.__dict__.get("_written", set())
        shown = (f"{name}={_source(value)}" for name, value in self.parameters.items() if name in written)
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, repr=False)
class Policy(Written):
    """Base of every policy: immutable parameters and a rule.

    A policy prints as it is written. Subclasses are frozen dataclasses that define :attr:`rule`.

    Attributes
    ----------
    reference : str
        The publication that defines the policy.
    equivariant : bool
        Whether rewards Y and aY + b, a > 0, give the same choices.
    instead_of_horizon : str
        The parameter to give where :attr:`reads_horizon` and there is no simulation to read it from.

    Examples
    --------
    >>> from bootleader import UCB1
    >>> policy = UCB1(sd=2.0)
    >>> isinstance(policy, Policy), policy.name, policy.parameters
    (True, 'UCB1(sd=2.0)', {'sd': 2.0})
    """

    instead_of_horizon: ClassVar[str] = "horizon"

    @property
    def rule(self) -> Rule:
        """The rule by which an arm's index is drawn."""
        raise TypeError(f"{type(self).__name__} defines no rule")

    @property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that the policy can take."""
        return -math.inf, math.inf

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        """What a user has to know about the rewards to use the policy with these parameters; nothing by default."""
        return ()

    @property
    def reads_horizon(self) -> bool:
        """Whether the policy reads the number of rounds from the simulation, which an agent does not have."""
        return False

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


def _source(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value  # a NumPy number prints as a number
    return "float('inf')" if plain == math.inf else repr(plain)
