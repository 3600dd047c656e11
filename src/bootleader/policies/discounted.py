"""Any index policy with a memory that fades, for rewards that drift."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bootleader._core.rules import IndexRule
from bootleader._core.validation import real
from bootleader.policies.base import Knowledge, Policy


@dataclass(frozen=True, repr=False)
class Discounted(Policy):
    r"""Play a policy on rewards that count less the older they are.

    A reward counts half as much when ``half_life`` rewards, of any arm, have come after it. This is what
    ``Agent(policy, half_life=...)`` does.

    A policy that reads the number of rounds so far reads the remembered number, the sum of what all rewards count:
    :math:`n_t(\gamma)` of the paper with :math:`\gamma = 2^{-1/h}`, at most about h / log 2. So
    ``Discounted(UCB1(sd=...), half_life=h)`` is the paper's D-UCB, with one difference: an arm's count never fades
    below the number of its initial pulls. In the paper it fades to 0, and an arm that is not pulled is pulled again.

    Parameters
    ----------
    policy : Policy
        An index policy: one that keeps moments, not every reward.
    half_life : float
        Half-life in rounds, at least 1.

    Raises
    ------
    TypeError
        If ``policy`` is not an index policy.
    ValueError
        If ``half_life`` is below 1, or the policy is already discounted.

    Examples
    --------
    >>> from bootleader import ReBoot
    >>> Discounted(ReBoot(sigma_a=1.5), half_life=500)
    Discounted(policy=ReBoot(sigma_a=1.5), half_life=500)
    """

    policy: Policy
    half_life: float
    reference: ClassVar[str] = "Garivier, Moulines (2011). On upper-confidence bounds for switching bandits. ALT."

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Policy) or not isinstance(self.policy.rule, IndexRule):
            raise TypeError(f"Discounted needs an index policy, such as ReBoot(sigma_a=1.5), got {self.policy!r}")
        if self.policy.rule.half_life != math.inf:
            raise ValueError(f"{self.policy!r} is already discounted")
        real("half_life", self.half_life, "a number of rounds of at least 1", low=1.0, open_low=False)

    @property
    def reward_range(self) -> tuple[float, float]:
        return self.policy.reward_range

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (*self.policy.must_know, Knowledge.CHANGE)

    @property
    def rule(self) -> IndexRule:
        rule = self.policy.rule
        assert isinstance(rule, IndexRule)
        return replace(rule, half_life=float(self.half_life))

    def known_sd(self, arms: int, true_sd: Any) -> Any:
        return self.policy.known_sd(arms, true_sd)
