"""Every policy of the library, given what it must know about the rewards of a bandit, if it applies there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from bootleader.bandits import Bandit, BernoulliBandit, ExponentialBandit, PoissonBandit
from bootleader.paper.parts.robustness import RUNS, SIGMA_A_PER_SD, root_mean_square_sd
from bootleader.policies import POLICIES, ChoiceRule, HistoryRule, IndexRule, Knowledge, Policy, ThompsonSampling

UNIT_INTERVAL: Final = (0.0, 1.0)
NUMBER: Final = 8  # bytes
FOR_BEST_ARM: Final = ("TopTwoThompson", "SuccessiveRejects")  # they do not try to have little regret


@dataclass(frozen=True)
class Facts:
    """What can be known about the rewards of a bandit.

    Attributes
    ----------
    sd : float
        Root mean square of the arms' standard deviations.
    family : str
        The one-parameter family of the rewards; "gaussian" where they have none.
    reward_range : (float, float)
        The smallest and the largest reward.
    rounds : int
        The horizon.
    mean, spread : float
        Mean and standard deviation of the arms' means, for policies that need a prior.
    """

    sd: float
    family: str
    reward_range: tuple[float, float]
    rounds: int
    mean: float = 0.0
    spread: float = 1.0


def family_of(bandit: Bandit) -> str:
    """The one-parameter family of a bandit's rewards, or "gaussian".

    Examples
    --------
    >>> family_of(BernoulliBandit([0.2, 0.8])), family_of(ExponentialBandit([6.0, 7.0], shift=5.0))
    ('bernoulli', 'gaussian')
    """
    if isinstance(bandit, BernoulliBandit):
        return "bernoulli"
    if isinstance(bandit, PoissonBandit):
        return "poisson"
    if isinstance(bandit, ExponentialBandit) and bandit.shift == 0.0:
        return "exponential"
    return "gaussian"


def facts_of(bandit: Bandit, rounds: int) -> Facts:
    """What can be known about the rewards of a bandit."""
    mean, spread = _means(bandit)
    return Facts(root_mean_square_sd(bandit), family_of(bandit), bandit.reward_range, rounds, mean, spread)


@cache
def _means(bandit: Bandit) -> tuple[float, float]:
    """Mean and standard deviation of the arms' means, over the arms and 2,000 runs of seed 0."""
    means = bandit.parameters_of(0, np.arange(RUNS, dtype=np.uint64)).mean
    return float(f"{means.mean():.6g}"), float(f"{means.std():.6g}")


def informed(policy: Policy, facts: Facts) -> Policy | None:
    """The policy with its parameters set to what is known; None if it is made for other rewards.

    Parameters are recognised by their names: ``sd``, ``noise_sd``, ``sigma_a``, ``family``, ``horizon``, ``upper``,
    ``prior_mean`` and ``prior_sd``. Thompson sampling has the flat prior; others that need one have mean and standard
    deviation of the arms' means.

    Examples
    --------
    >>> from bootleader import KLUCB, PHE, ReBoot
    >>> facts = Facts(sd=2.0, family="gaussian", reward_range=(-math.inf, math.inf), rounds=100)
    >>> informed(ReBoot(sigma_a=1.5), facts), informed(KLUCB(), facts), informed(PHE(), facts)
    (ReBoot(sigma_a=3.0), KLUCB(family='gaussian', sd=2.0), None)
    """
    known: dict[str, Any] = {
        "sd": facts.sd, "noise_sd": facts.sd, "sigma_a": SIGMA_A_PER_SD * facts.sd, "family": facts.family,
        "horizon": facts.rounds, "upper": facts.reward_range[1], "prior_mean": facts.mean, "prior_sd": facts.spread,
    }  # fmt: skip
    if isinstance(policy, ThompsonSampling):
        known["prior_sd"] = math.inf
        del known["prior_mean"]
    given = {name: known[name] for name in policy.parameters if name in known}
    if Knowledge.RANGE in policy.must_know and "family" not in given and facts.reward_range != UNIT_INTERVAL:
        return None
    if given.get("family") not in (None, "gaussian"):
        given.pop("sd", None)  # the family's variance is a function of its mean
    try:
        return _with(policy, given)
    except ValueError:  # a family that this policy does not have
        return _with(policy, {**given, "family": "gaussian", "sd": facts.sd}) if "family" in given else None


def _with(policy: Policy, given: dict[str, Any]) -> Policy:
    shown = set(vars(policy).get("_written", ()))
    values = {name: value for name, value in policy.parameters.items() if name in shown} | given
    return type(policy)(**values)


def plays(policy: Policy, bandit: Bandit) -> bool:
    """Whether all rewards of a bandit are in the policy's range."""
    (low, high), (lowest, highest) = policy.reward_range, bandit.reward_range
    return low <= lowest and highest <= high


@cache
def contenders() -> dict[str, Policy]:
    """One policy of each type that is made to have little regret on rewards that do not change, by name."""
    found: dict[str, Policy] = {}
    for policy in POLICIES:
        name = type(policy).__name__
        if name not in FOR_BEST_ARM and Knowledge.CHANGE not in policy.must_know:
            found.setdefault(name, policy)
    return found


def contender_for(policy: Policy, bandit: Bandit, rounds: int) -> Policy | None:
    """The policy as it plays on a bandit, or None if it does not apply."""
    found = informed(policy, facts_of(bandit, rounds))
    return found if found is not None and plays(found, bandit) else None


def bytes_kept(policy: Policy, arms: int, rounds: int) -> int:
    """Bytes that one run must keep between two rounds, by the definition of the rule.

    Examples
    --------
    >>> from bootleader import Giro, ReBoot
    >>> bytes_kept(ReBoot(sigma_a=1.5), 10, 1_000), bytes_kept(Giro(), 10, 1_000)
    (240, 8240)
    """
    rule = policy.rule
    moments = 3 + (isinstance(rule, IndexRule) and rule.fourth_moment)
    numbers = moments * arms
    if isinstance(rule, HistoryRule):
        numbers += rounds
    elif isinstance(rule, ChoiceRule):
        numbers += rule.memory(arms, rounds) + 2 * rounds * rule.history  # rewards and their running sums
    return NUMBER * numbers
