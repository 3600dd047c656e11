"""IMED: the arm with the smallest evidence against being the best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from bootleader._core.elementary import log
from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies._divergence import divergence, family_number
from bootleader.policies._family_policy import FamilyPolicy


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The smallest s d(Ybar, max Ybar) + log s, ties broken at random."""
    largest = arms.mean[0]
    for k in range(1, shared.arms):
        largest = max(largest, arms.mean[k])
    chosen, smallest, ties = 0, math.inf, 0
    for k in range(shared.arms):
        s = arms.count[k]
        index = s * divergence(params[0], params[1], arms.mean[k], largest) + log(s)
        if index < smallest:
            chosen, smallest, ties = k, index, 1
        elif index == smallest:
            ties += 1
            if below(stream, ties) == 0:
                chosen = k
    return chosen


@dataclass(frozen=True, repr=False)
class IMED(FamilyPolicy):
    r"""Play the arm with the smallest index of minimum empirical divergence.

    .. math:: s\, d(\bar Y, \max_j \bar Y_j) + \log s

    with d the Kullback-Leibler divergence of the reward family.

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
    >>> IMED("gaussian", sd=2.0)
    IMED(family='gaussian', sd=2.0)
    """

    reference: ClassVar[str] = "Honda, Takemura (2015). Non-asymptotic analysis of IMED. JMLR 16."

    @property
    def rule(self) -> ChoiceRule:
        return ChoiceRule(choose, params=(family_number(self.family), float(self.sd)))
