"""Bayes-UCB: optimism by a quantile of the posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from bootleader._core.elementary import log
from bootleader._core.rng import below
from bootleader._core.rules import ChoiceRule
from bootleader.policies._divergence import BERNOULLI, EXPONENTIAL, GAUSSIAN, family_number
from bootleader.policies._family_policy import FamilyPolicy
from bootleader.policies._memory_size import MemorySize
from bootleader.policies._posterior_quantiles import beta_quantile, gamma_quantile, log_beta, normal_quantile

AHEAD: Final = 1.05  # bounds of indices are computed for a round that is later by this factor
# An arm's places in the memory: rewards + 1 at which the rest was computed; a bound of the index, which holds until a
# round; log B(a, b); the index of this round, or -inf where the bound excludes it.
KNOWN_AT, BOUND, UNTIL, LOG_NORM, INDEX, PLACES = 0, 1, 2, 3, 4, 5


def quantile(params: Any, arms: Any, memory: Any, k: Any, t: Any, z: Any) -> Any:
    """The posterior quantile of arm k at 1 - 1/t; ``z`` is that of the standard normal law at the present round."""
    family, s, mean = params[0], arms.count[k], arms.mean[k]
    if family == GAUSSIAN:
        return mean + params[1] / math.sqrt(s) * z
    if family == BERNOULLI:
        a, b, at = 1.0 + s * mean, 1.0 + s * (1.0 - mean), PLACES * k
        return beta_quantile(a, b, memory[at + LOG_NORM], -log(float(t)))
    if family == EXPONENTIAL:
        return s * mean / gamma_quantile(s, False, -log(float(t)))
    return gamma_quantile(s * mean + 0.5, True, -log(float(t))) / s


def renew_bound(params: Any, arms: Any, memory: Any, k: Any, t: Any, z: Any) -> None:
    """A bound of arm k's index: exact if it has a new reward, else for rounds to come."""
    at = PLACES * k
    if memory[at + KNOWN_AT] != arms.count[k] + 1.0:
        memory[at + KNOWN_AT], memory[at + UNTIL] = arms.count[k] + 1.0, t
        if params[0] == BERNOULLI:
            s, mean = arms.count[k], arms.mean[k]
            memory[at + LOG_NORM] = log_beta(1.0 + s * mean, 1.0 + s * (1.0 - mean))
        memory[at + BOUND] = quantile(params, arms, memory, k, t, z)
    elif memory[at + UNTIL] < t:
        memory[at + UNTIL] = t if params[0] == GAUSSIAN else t * AHEAD
        memory[at + BOUND] = quantile(params, arms, memory, k, memory[at + UNTIL], z)


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest quantile. Quantiles grow with t, so bounds from later rounds exclude most arms."""
    t = shared.pulls + 1.0
    z = normal_quantile(-log(t)) if params[0] == GAUSSIAN else 0.0
    largest = -math.inf
    for k in range(shared.arms):
        renew_bound(params, arms, memory, k, t, z)
        if memory[PLACES * k + UNTIL] == t:
            largest = max(largest, memory[PLACES * k + BOUND])
    for k in range(shared.arms):
        index = memory[PLACES * k + BOUND]
        if memory[PLACES * k + UNTIL] > t:
            index = quantile(params, arms, memory, k, t, z) if index >= largest else -math.inf
        memory[PLACES * k + INDEX] = index
        largest = max(largest, index)
    chosen, ties = 0, 0
    for k in range(shared.arms):
        if memory[PLACES * k + INDEX] == largest:
            ties += 1
            if ties == 1 or below(stream, ties) == 0:
                chosen = k
    return chosen


@dataclass(frozen=True, repr=False)
class BayesUCB(FamilyPolicy):
    r"""Play the largest posterior quantile at 1 - 1/t, with t the number of the present round.

    - "bernoulli": Beta(1 + sum Y, 1 + s - sum Y), from a uniform prior;
    - "gaussian": N(Ybar, sd^2 / s), from a flat prior, after one pull each;
    - "exponential": 1 / Gamma(s, rate sum Y), from Jeffreys' prior, after one pull each;
    - "poisson": Gamma(sum Y + 1/2, rate s), from Jeffreys' prior, after one pull each.

    The paper's level is :math:`1 - 1/(t (\log T)^c)`; this is c = 0, which it advises in practice, so no horizon is
    needed.

    Parameters
    ----------
    family : {"bernoulli", "gaussian", "exponential", "poisson"}
        The reward family. "bernoulli" takes all rewards in [0, 1].
    sd : float
        Standard deviation of the rewards, for "gaussian".

    Raises
    ------
    ValueError
        If the family is unknown, or ``sd`` is not above 0.

    Examples
    --------
    >>> BayesUCB("gaussian", sd=2.0)
    BayesUCB(family='gaussian', sd=2.0)
    """

    reference: ClassVar[str] = (
        "Kaufmann, Cappé, Garivier (2012). On Bayesian upper confidence bounds for bandit problems. AISTATS."
    )

    @property
    def rule(self) -> ChoiceRule:
        params = (family_number(self.family), float(self.sd))
        initial_pulls = 0 if self.family == "bernoulli" else 1
        return ChoiceRule(choose, memory=MemorySize(per_arm=PLACES), params=params, initial_pulls=initial_pulls)
