"""The policies and bandits that tests run over, each beside its naive twin.

A new policy or bandit needs a row, here or in a file of ``twins``; a contract test fails if the row is missing.
"""

from __future__ import annotations

from typing import Any

import bootleader as bl
from tests.oracle import naive
from tests.oracle import naive_bandits as twins
from tests.oracle.case_types import BanditCase, PolicyCase
from tests.oracle.twins import discovered

INF = float("inf")
ONE_SD_EACH = (0.5, 1.0, 2.0)
SAMPLES = ([0.3, 1.1, 0.2, 2.5], [0.0, 0.0, 0.9], [1.4, 0.1])


def _by_index(policy: Any, index: naive.Index, initial_pulls: int = 1, epsilon: float = 0.0) -> PolicyCase:
    return PolicyCase(policy, naive.ByIndex(index, initial_pulls, epsilon))


POLICY_CASES = [
    _by_index(bl.FollowTheLeader(), naive.follow_the_leader()),
    _by_index(bl.ResidualBootstrap(), naive.residual_bootstrap()),
    _by_index(bl.ResidualBootstrap(weights="rademacher"), naive.residual_bootstrap("rademacher")),
    _by_index(bl.ResidualBootstrap(weights="mammen"), naive.residual_bootstrap("mammen")),
    _by_index(bl.ReBoot(sigma_a=1.5), naive.reboot(1.5)),
    _by_index(bl.ReBoot(sigma_a=0.5), naive.reboot(0.5)),
    _by_index(bl.ReBoot(sigma_a=0.7, weights="rademacher"), naive.reboot(0.7, "rademacher")),
    _by_index(bl.ReBoot(sigma_a=0.7, weights="mammen"), naive.reboot(0.7, "mammen")),
    _by_index(bl.ThompsonSampling(), naive.thompson(), initial_pulls=0),
    _by_index(bl.ThompsonSampling(2.0, 3.0, 0.5), naive.thompson(2.0, 3.0, 0.5), initial_pulls=0),
    _by_index(bl.ThompsonSampling(prior_sd=INF, noise_sd=ONE_SD_EACH), naive.thompson(0.0, INF, ONE_SD_EACH)),
    _by_index(bl.StudentThompson(), naive.student_thompson(), initial_pulls=2),
    PolicyCase(bl.AdaptiveReBoot(), naive.NaiveAdaptiveReBoot()),
    PolicyCase(bl.AdaptiveReBoot(ratio=0.5), naive.NaiveAdaptiveReBoot(0.5)),
    _by_index(bl.Giro(), naive.giro()),
    _by_index(bl.Giro(a=0.3), naive.giro(0.3)),
    _by_index(bl.Giro(a=0), naive.giro(0.0)),
    _by_index(bl.PHE(), naive.phe()),
    _by_index(bl.PHE(a=0.7), naive.phe(0.7)),
    _by_index(bl.UCB1(), naive.ucb1()),
    _by_index(bl.UCB1(sd=0.3), naive.ucb1(0.3)),
    _by_index(bl.EpsilonGreedy(), naive.follow_the_leader(), epsilon=0.1),
    _by_index(bl.EpsilonGreedy(epsilon=0.6), naive.follow_the_leader(), epsilon=0.6),
]

# Policies that do not draw an index from a law of their own, or take the rewards of some bandits only.
OTHER_POLICY_CASES = [
    _by_index(bl.KLUCB(), naive.kl_ucb("bernoulli")),
    _by_index(bl.KLUCB("gaussian", sd=0.8), naive.kl_ucb("gaussian", 0.8)),
    PolicyCase(bl.KLUCB("exponential", c=3.0), naive.ByIndex(naive.kl_ucb("exponential", c=3.0)), bandit="exponential"),
    _by_index(bl.KLUCB("poisson"), naive.kl_ucb("poisson")),
    PolicyCase(bl.IMED(), naive.NaiveIMED("bernoulli")),
    PolicyCase(bl.IMED("gaussian", sd=0.5), naive.NaiveIMED("gaussian", 0.5)),
    PolicyCase(bl.IMED("exponential"), naive.NaiveIMED("exponential"), bandit="exponential"),
    PolicyCase(bl.BetaThompson(), naive.NaiveBetaThompson()),
    PolicyCase(bl.BetaThompson(a=0.5, b=2.0), naive.NaiveBetaThompson(0.5, 2.0)),
    PolicyCase(bl.Discounted(bl.ReBoot(sigma_a=0.7), half_life=20), naive.NaiveDiscountedReBoot(0.7, 20.0)),
    PolicyCase(bl.Discounted(bl.UCB1(), half_life=5), naive.NaiveDiscountedUCB(1.0, 5.0), "gaussian"),
    PolicyCase(bl.Discounted(bl.KLUCB("gaussian"), half_life=5), naive.NaiveDiscountedUCB(1.0, 5.0), "gaussian"),
    *(case for case in discovered() if isinstance(case, PolicyCase)),
]

_MEANS = bl.Uniform(0, 1, arms=3)
_TWIN_MEANS = twins.uniform_means(0, 1, 3)
_ABOVE_HALF = bl.Uniform(0.5, 1.5, arms=3)
_TWIN_ABOVE_HALF = twins.uniform_means(0.5, 1.5, 3)
_TWIN_NORMAL = twins.normal_means(0.5, 0.4, 3)
_TWIN_BETA = twins.beta_means(2, 3.5, 3)

BANDIT_CASES = [
    BanditCase("gaussian", bl.GaussianBandit([1, 0.2, 0], sd=0.5), twins.gaussian(twins.fixed(1, 0.2, 0), 0.5)),
    BanditCase("gaussian-drawn", bl.GaussianBandit(_MEANS, sd=0.8), twins.gaussian(_TWIN_MEANS, 0.8)),
    BanditCase(
        "gaussian-sd-per-arm",
        bl.GaussianBandit([0.6, 0.4, 0.0], sd=[2.0, 0.1, 1.0]),
        twins.gaussian(twins.fixed(0.6, 0.4, 0.0), (2.0, 0.1, 1.0)),
    ),
    BanditCase(
        "gaussian-log-uniform",
        bl.GaussianBandit(_MEANS, sd=bl.LogUniform(0.1, 3.0)),
        twins.gaussian_log_uniform(_TWIN_MEANS, 0.1, 3.0),
    ),
    BanditCase("exponential", bl.ExponentialBandit(_ABOVE_HALF, shift=0.5), twins.exponential(_TWIN_ABOVE_HALF, 0.5)),
    BanditCase("logistic", bl.LogisticBandit(_MEANS, sd=0.8), twins.logistic(_TWIN_MEANS, 0.8)),
    BanditCase("student-t", bl.StudentTBandit(_MEANS, df=3.0, sd=0.8), twins.student_t(_TWIN_MEANS, 3.0, 0.8)),
    BanditCase("bernoulli", bl.BernoulliBandit([0.3, 0.6, 0.5]), twins.bernoulli(twins.fixed(0.3, 0.6, 0.5))),
    BanditCase(
        "revenue",
        bl.RevenueBandit(_ABOVE_HALF, conversion=0.3, sigma=0.5),
        twins.revenue(_TWIN_ABOVE_HALF, 0.3, 0.5),
    ),
    BanditCase("empirical", bl.EmpiricalBandit(SAMPLES), twins.empirical(SAMPLES)),
    BanditCase("gaussian-normal", bl.GaussianBandit(bl.Normal(0.5, 0.4, arms=3)), twins.gaussian(_TWIN_NORMAL)),
    BanditCase("bernoulli-beta", bl.BernoulliBandit(bl.Beta(2, 3.5, arms=3)), twins.bernoulli(_TWIN_BETA)),
    BanditCase("poisson", bl.PoissonBandit([0.8, 2.5, 12.0]), twins.poisson(twins.fixed(0.8, 2.5, 12.0))),
    BanditCase("gamma", bl.GammaBandit(_ABOVE_HALF, shape=0.8), twins.gamma(_TWIN_ABOVE_HALF, 0.8)),
    BanditCase("beta", bl.BetaBandit([0.2, 0.5, 0.6], 2.5), twins.beta(twins.fixed(0.2, 0.5, 0.6), 2.5)),
    BanditCase("pareto", bl.ParetoBandit(_ABOVE_HALF, alpha=5.0), twins.pareto(_TWIN_ABOVE_HALF, 5.0)),
    BanditCase("lognormal", bl.LogNormalBandit(_ABOVE_HALF, sigma=0.6), twins.lognormal(_TWIN_ABOVE_HALF, 0.6)),
    BanditCase(
        "mixture",
        bl.MixtureBandit(
            [
                (0.5, bl.GaussianBandit(_MEANS, sd=0.3)),
                (0.3, bl.AffineBandit(bl.BetaBandit([0.2, 0.7, 0.5], 3.0), scale=2.0, shift=-1.0)),
                (0.2, bl.PoissonBandit([1.0, 1.5, 2.0])),
            ]
        ),
        twins.mixture(
            (0.5, twins.gaussian(_TWIN_MEANS, 0.3)),
            (0.3, twins.affine(twins.beta(twins.fixed(0.2, 0.7, 0.5), 3.0), 2.0, -1.0)),
            (0.2, twins.poisson(twins.fixed(1.0, 1.5, 2.0))),
        ),
    ),
    *(case for case in discovered() if isinstance(case, BanditCase)),
]

BANDITS_BY_ID = {case.id: case for case in BANDIT_CASES}
POLICIES_BY_ID = {case.id: case for case in POLICY_CASES}
