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
from bootleader.policies._posterior_quantiles import beta_quantile, gamma_quantile, normal_hazard, normal_quantile

# Round from which an arm's optimism does not fall with its rewards. For Gaussian rewards that is a fact; for the others
# it was found by comparing quantiles (tests/policies/test_bayes_ucb.py). Before round 10 it fails for Bernoulli ones.
OPTIMISM_GROWS_FROM: Final = 20.0
STEEPER: Final = 1.01  # factor of a slope, which makes up for its error
MARGIN: Final = 1e-9  # relative difference of indices that is larger than their errors
# An arm's places in the memory: rewards + 1 at which its optimism was computed; the optimism, its slope by log t, and
# log t then; in this round a bound of the index, then the index, or -inf where bounds exclude it.
KNOWN_AT, OPTIMISM, SLOPE, TOUCHES, INDEX, PLACES = 0, 1, 2, 3, 4, 5


def quantile(params: Any, s: Any, mean: Any, log_t: Any) -> tuple[Any, Any]:
    """The posterior quantile at 1 - 1/t of an arm with s rewards, and the slope of its optimism by log t."""
    family = params[0]
    if family == GAUSSIAN:
        z, sd = normal_quantile(-log_t), params[1] / math.sqrt(s)
        return mean + sd * z, s * sd / normal_hazard(z)
    if family == BERNOULLI:
        x, hazard = beta_quantile(1.0 + s * mean, 1.0 + s * (1.0 - mean), -log_t)
        return x, (s + 2.0) / hazard
    if family == EXPONENTIAL:
        x, hazard = gamma_quantile(s, False, -log_t)
        return s * mean / x, 1.0 / hazard
    x, hazard = gamma_quantile(s * mean + 0.5, True, -log_t)
    return x / s, max(1.0 / hazard, 1.0)


def optimism_of(params: Any, s: Any, mean: Any, index: Any) -> Any:
    """The sum of further rewards, or for exponential ones the number of missing rewards, that makes the index the mean.

    It is a concave function of log t and grows with it, because the posterior's tail is log-concave. From some round on
    it does not fall with further rewards.
    """
    if params[0] == EXPONENTIAL:
        return s - s * mean / index if index > 0.0 else 0.0
    return (s + 2.0 if params[0] == BERNOULLI else s) * index - s * mean


def optimistic_mean(params: Any, s: Any, mean: Any, optimism: Any) -> Any:
    """The index with this optimism."""
    if params[0] == EXPONENTIAL:
        return s * mean / (s - optimism) if optimism < s else math.inf
    return (s * mean + optimism) / (s + 2.0 if params[0] == BERNOULLI else s)


def index_now(params: Any, arms: Any, memory: Any, k: Any, log_t: Any) -> Any:
    """The index of arm k. Its optimism is remembered."""
    at, s, mean = PLACES * k, arms.count[k], arms.mean[k]
    index, slope = quantile(params, s, mean, log_t)
    memory[at + KNOWN_AT], memory[at + OPTIMISM] = s + 1.0, optimism_of(params, s, mean, index)
    memory[at + SLOPE], memory[at + TOUCHES] = STEEPER * slope, log_t
    return index


def has_new_rewards(arms: Any, memory: Any, k: Any) -> Any:
    """Whether the optimism that is remembered of arm k is not that of its present rewards."""
    return memory[PLACES * k + KNOWN_AT] != arms.count[k] + 1.0


def upper_bound(params: Any, arms: Any, memory: Any, k: Any, log_t: Any) -> Any:
    """A bound of arm k's index: by the tangent of its optimism."""
    if has_new_rewards(arms, memory, k):
        return math.inf
    at = PLACES * k
    optimism = memory[at + OPTIMISM] + memory[at + SLOPE] * (log_t - memory[at + TOUCHES])
    bound = optimistic_mean(params, arms.count[k], arms.mean[k], optimism)
    return bound + MARGIN * abs(bound)


def lower_bound(params: Any, arms: Any, memory: Any, shared: Any) -> Any:
    """A bound of the largest index: by the earlier optimism of arms that have new rewards since."""
    bound = -math.inf
    if shared.pulls + 1.0 >= OPTIMISM_GROWS_FROM:
        for k in range(shared.arms):
            if has_new_rewards(arms, memory, k):
                earlier = memory[PLACES * k + OPTIMISM]
                bound = max(bound, optimistic_mean(params, arms.count[k], arms.mean[k], earlier))
    return bound - MARGIN * abs(bound)


def choose(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    """The largest quantile. Most are excluded by bounds; where one arm is left, no quantile is computed."""
    log_t = log(shared.pulls + 1.0)
    largest = lower_bound(params, arms, memory, shared)
    chosen, left = 0, 0
    for k in range(shared.arms):
        memory[PLACES * k + INDEX] = upper_bound(params, arms, memory, k, log_t)
        if memory[PLACES * k + INDEX] >= largest:
            chosen = k
            left += 1
    if left == 1:
        return chosen
    for k in range(shared.arms):
        at = PLACES * k
        memory[at + INDEX] = index_now(params, arms, memory, k, log_t) if memory[at + INDEX] >= largest else -math.inf
        largest = max(largest, memory[at + INDEX])
    ties = 0
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
