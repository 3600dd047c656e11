"""KL-Maillard sampling: Maillard sampling with the divergence of the reward family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bootleader._core.rules import ChoiceRule
from bootleader.policies._divergence import family_number
from bootleader.policies._family_policy import FamilyPolicy
from bootleader.policies._memory_size import MemorySize
from bootleader.policies.maillard_sampling import PLACES, choose


@dataclass(frozen=True, repr=False)
class KLMaillardSampling(FamilyPolicy):
    r"""Play an arm with a probability in closed form, from the evidence against it.

    The probability of arm k is proportional to

    .. math:: \exp\bigl(-s\, d(\bar Y_k, \max_j \bar Y_j)\bigr)

    with d the Kullback-Leibler divergence of the reward family. Every arm is pulled once first. The paper treats
    rewards in [0, 1], which is the family "bernoulli"; the others are the same rule with their own divergence.

    Parameters
    ----------
    family : {"bernoulli", "gaussian", "exponential", "poisson"}
        The reward family. "bernoulli" is valid for all rewards in [0, 1].
    sd : float
        Standard deviation of the rewards, for "gaussian".

    Raises
    ------
    ValueError
        If the family is unknown, or ``sd`` is not above 0.

    Examples
    --------
    >>> KLMaillardSampling("poisson")
    KLMaillardSampling(family='poisson')
    """

    reference: ClassVar[str] = "Qin, Jun, Zhang (2023). Kullback-Leibler Maillard sampling. NeurIPS."

    @property
    def rule(self) -> ChoiceRule:
        params = (family_number(self.family), float(self.sd))
        return ChoiceRule(choose, memory=MemorySize(per_arm=PLACES), params=params)
