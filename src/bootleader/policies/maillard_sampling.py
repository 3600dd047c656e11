"""Maillard sampling: probabilities in closed form, from the evidence against each arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.elementary import exp
from bootleader._core.rules import ChoiceRule
from bootleader._core.validation import positive
from bootleader.policies._divergence import GAUSSIAN, divergence
from bootleader.policies._probability_choice import drawn, one_weight_each
from bootleader.policies.base import Knowledge, Policy


def weigh(params: Any, arms: Any, memory: Any, shared: Any) -> Any:
    """Write exp(-s d(Ybar, max Ybar)) of every arm into the memory; return their sum."""
    largest = arms.mean[0]
    for k in range(1, shared.arms):
        largest = max(largest, arms.mean[k])
    total = 0.0
    for k in range(shared.arms):
        evidence = arms.count[k] * divergence(params[0], params[1], arms.mean[k], largest)
        memory[k] = exp(-evidence) if arms.mean[k] < largest else 1.0
        total += memory[k]
    return total


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """An arm with probability proportional to its weight."""
    total = weigh(params, arms, memory, shared)
    return drawn(memory, 0, 1, shared.arms, total, stream)


@dataclass(frozen=True, repr=False)
class MaillardSampling(Policy):
    r"""Play an arm with a probability in closed form, from the evidence against it.

    The probability of arm k is proportional to

    .. math:: \exp\bigl(-s (\bar Y_k - \max_j \bar Y_j)^2 / (2\, sd^2)\bigr)

    so that logged choices come with their exact probability. Every arm is pulled once first.

    Parameters
    ----------
    sd : float
        Sub-Gaussian standard deviation of the rewards.

    Raises
    ------
    ValueError
        If ``sd`` is not a finite number above 0.

    Examples
    --------
    >>> MaillardSampling(sd=2.0)
    MaillardSampling(sd=2.0)
    """

    sd: float = 1.0
    reference: ClassVar[str] = "Bian, Jun (2022). Maillard sampling: Boltzmann exploration done optimally. AISTATS."

    def __post_init__(self) -> None:
        positive("sd", self.sd)

    @property
    def must_know(self) -> tuple[Knowledge, ...]:
        return (Knowledge.SD,)

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, memory=one_weight_each, params=(GAUSSIAN, float(self.sd)))
