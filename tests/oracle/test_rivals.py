"""The policies that ReBoot is compared with: comparisons that their twins alone do not make."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader._core.rng import Stream
from bootleader._core.rules import ArmHistory, Contest, SharedStatistics, history_of
from bootleader.policies import _posterior_quantiles as quantiles
from bootleader.policies import exp3, giro, npts, tsallis_inf
from bootleader.simulation._block_runs import Block
from bootleader.simulation._simulate import checkpoint_rounds
from tests.oracle.naive import ByIndex, NaiveBetaThompson, NaiveDiscountedUCB, NaiveIMED, kl_ucb
from tests.oracle.test_oracle_exact import assert_same_bits
from tests.oracle.test_oracle_statistical import regret_p_value
from tests.oracle.twins.adversarial import NaiveExp3, NaiveTsallisINF
from tests.oracle.twins.bayes_ucb import bayes_ucb
from tests.oracle.twins.best_arm import NaiveSuccessiveRejects, NaiveTopTwoThompson
from tests.oracle.twins.confidence_bounds import moss, ucb_v
from tests.oracle.twins.duels import NaiveDuels
from tests.oracle.twins.maillard_sampling import NaiveMaillard
from tests.oracle.twins.npts import npts as twin_npts
from tests.oracle.twins.replicates import NaiveEnsembleSampling, NaiveMultiplierBootstrap, bootstrapped_ucb
from tests.oracle.twins.sliding_window_ucb import NaiveSlidingWindowUCB

LEVEL = 1e-3


@dataclass
class LossesFromZero(NaiveTsallisINF):
    """Rewards taken for losses."""

    def update(self, reward: float) -> None:
        super().update(1 - reward)


@dataclass
class RateNotDivided(NaiveExp3):
    """The exponent without 1 / K."""

    def update(self, reward: float) -> None:
        for _ in self.weights:
            super().update(reward)


@dataclass
class WholeHistory(NaiveDuels):
    """Duels with the leader's mean."""

    def drawn(self, history, lead, k, rng):
        return [sum(history[lead]) / len(history[lead])] * len(history[k])


@dataclass
class AllRounds(NaiveDiscountedUCB):
    """Counts fade, and the number of rounds does not."""

    def rounds_of(self, pulls):
        return pulls


def chk_without_two(y, rng, arm, t):
    return float(y.mean() + y.std() * math.sqrt(t ** (2 / len(y)) - 1))


@dataclass
class FailuresForSuccesses(NaiveBetaThompson):
    """The two parameters of the posterior exchanged."""

    def choose(self, history, rng):
        return super().choose([[1 - reward for reward in rewards] for rewards in history], rng)


# A twin with a mistake: the comparison of regrets must reject it.
MISTAKES = {
    "KL-UCB: Gaussian": (bl.KLUCB(), ByIndex(kl_ucb("gaussian", 1.0)), "bernoulli"),
    "Bayes-UCB: Gaussian": (bl.BayesUCB(), ByIndex(bayes_ucb("gaussian", 1.0)), "bernoulli"),
    "IMED: another sd": (bl.IMED("gaussian", sd=2.0), NaiveIMED("gaussian", 0.2), "gaussian"),
    "Beta Thompson: failures": (bl.BetaThompson(), FailuresForSuccesses(), "bernoulli"),
    "UCB-Tuned: no minimum": (bl.UCBTuned(), ByIndex(ucb_v(0.5, 0.3, 1.0)), "bernoulli"),
    "UCB-V: no last term": (bl.UCBV(), ByIndex(ucb_v(c=0.0)), "bernoulli"),
    "MOSS: horizon for t": (bl.MOSS(sd=0.5), ByIndex(moss(0.5, arms=3, horizon=10_000)), "gaussian"),
    "CHK: s for s - 2": (bl.CHK(), ByIndex(chk_without_two, 3), "gaussian"),
    "Maillard: sd for variance": (bl.MaillardSampling(sd=0.3), NaiveMaillard("gaussian", 0.3**0.5), "gaussian"),
    "KL-Maillard: Gaussian": (bl.KLMaillardSampling(), NaiveMaillard("gaussian", 2.0), "bernoulli"),
    "WR-SDA: whole history": (bl.WRSDA(), WholeHistory(""), "gaussian"),
    "LB-SDA: whole history": (bl.LBSDA(), WholeHistory(""), "gaussian"),
    "RB-SDA: whole history": (bl.RBSDA(), WholeHistory(""), "gaussian"),
    "NPTS: another bound": (bl.NPTS(upper=3.0), ByIndex(twin_npts(1.0)), "bernoulli"),
    "multiplier: no pseudo rewards": (bl.MultiplierBootstrap(2.0), NaiveMultiplierBootstrap(0.0, 0.5, 50), "bernoulli"),
    "ensemble: no noise": (bl.EnsembleSampling(models=9), NaiveEnsembleSampling(9, 0.0, 1.0, 1e-9), "gaussian"),
    "bootstrapped UCB: no correction": (bl.BootstrappedUCB(), ByIndex(bootstrapped_ucb(0.1, 1e-9, 200)), "gaussian"),
    "Exp3: rate not divided by K": (bl.Exp3(rate=0.2), RateNotDivided(0.2), "bernoulli"),
    "Tsallis-INF: rewards as losses": (bl.TsallisINF(), LossesFromZero(), "bernoulli"),
    "SW-UCB: no window": (bl.SlidingWindowUCB(window=10), NaiveSlidingWindowUCB(10_000), "gaussian"),
    "top two: leader alone": (bl.TopTwoThompson(), NaiveTopTwoThompson(1.0, 1.0), "gaussian"),
    "discounted: all rounds": (bl.Discounted(bl.KLUCB("gaussian"), half_life=5), AllRounds(1.0, 5.0), "gaussian"),
    "successive rejects: half the rounds": (bl.SuccessiveRejects(horizon=80), NaiveSuccessiveRejects(40), "gaussian"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_rejected(name):
    policy, wrong, bandit = MISTAKES[name]
    assert regret_p_value(policy, wrong, bandit, rounds=80) < LEVEL


def stream_from(state: int) -> Stream:
    return Stream([state], 0, 0x9E3779B97F4A7C15)


@pytest.mark.parametrize(("quantile", "is_last"), [(0.98, False), (0.02, True)])
def test_rejection_decides_as_often_as_an_index_of_npts_is_beyond(quantile, is_last, monkeypatch):
    """Binomial and Kolmogorov-Smirnov tests against direct draws, at a joint level of 1e-3."""
    monkeypatch.setattr(npts, "UNLIKELY", 2.0)  # a bound of e^-1 decides: more draws reach the tilted law
    rewards = np.random.default_rng(1).beta(2, 3, 80)
    anchor = float(rewards[0])
    values = list(rewards - anchor)
    history = ArmHistory(
        values, 0, 80, anchor, float(np.mean(values)), float(80 * np.var(values)), min(values), max(values)
    )
    weights = np.random.default_rng(2).exponential(size=(100_000, 81))
    direct = weights @ np.append(rewards, 1.0) / weights.sum(axis=1)
    best = float(np.quantile(direct, quantile))
    stream, draws = stream_from(5), 8_000
    index = np.array([npts.npts_index((1.0,), history, Contest(best, is_last), stream) for _ in range(draws)])
    assert np.isinf(index).mean() > 0.9
    beyond = index[index < best] if is_last else index[index > best]
    share = float(np.mean(direct < best if is_last else direct > best))
    assert stats.binomtest(len(beyond), draws, share).pvalue > LEVEL / 4
    assert stats.ks_2samp(beyond, direct[direct < best] if is_last else direct[direct > best]).pvalue > LEVEL / 4


@pytest.mark.parametrize("high", [0, 3, 40])
@pytest.mark.parametrize(("index", "params"), [(npts.npts_index, (6.0,)), (giro.giro_index, (0.5,))])
def test_draws_from_zeros_and_ones_have_the_law_of_the_general_ones(index, params, high):
    """NPTS and Giro have a closed form for them: Kolmogorov-Smirnov tests at a joint level of 1e-3."""
    rewards = np.array([1.0] * high + [0.0] * (40 - high))
    values = list(rewards - rewards[0])
    fast = history_of(values, 40, float(rewards[0]), float(np.mean(values)), float(40 * np.var(values)))
    slow = fast._replace(lowest=fast.lowest - 1.0, at_lowest=0, at_highest=0)  # more than two values, it seems
    stream = stream_from(9)
    found = [[index(params, arm, Contest(-math.inf, False), stream) for _ in range(4_000)] for arm in (fast, slow)]
    assert stats.ks_2samp(*np.round(found, 9)).pvalue > LEVEL / 6


def test_indices_that_are_bounded_lead_as_often_as_if_all_were_computed():
    """Long runs, so that bounds hold for many rounds, with ties: bit for bit."""
    for policy, bandit in (
        (bl.KLUCB(), bl.BernoulliBandit([0.5, 0.5, 0.4, 0.0])),
        (bl.KLUCB("exponential"), bl.ExponentialBandit([1.0, 0.9])),
        (bl.CHK(), bl.GaussianBandit([1e6 + 0.1, 1e6, 1e6])),
        (bl.MOSS(), bl.GaussianBandit([0.1, 0.1, 0.0])),
        (bl.MOSS(horizon=900), bl.BernoulliBandit([0.5, 0.4, 0.3])),
    ):
        assert_same_bits(Block(policy, bandit, 3, 0, 3, 1_500, checkpoint_rounds(1_500, 30)))


@pytest.mark.parametrize("family", ["bernoulli", "gaussian", "exponential", "poisson"])
def test_imed_chooses_an_arm_with_the_smallest_index(family):
    """The tangents exclude no arm that has it; 1,500 rounds, with arms that start at an end of the range."""
    rule, rng = bl.IMED(family, sd=0.5).rule, np.random.default_rng(4)
    draw = {
        "bernoulli": lambda k: float(rng.random() < (0.5, 0.6, 0.02)[k]), "poisson": lambda k: float(rng.poisson(k)),
        "gaussian": lambda k: rng.normal(0.1 * k, 0.5), "exponential": lambda k: rng.exponential(1.0 + 0.1 * k),
    }[family]  # fmt: skip
    rewards = [[draw(k)] for k in range(3)]
    memory, stream = np.zeros(rule.memory(3, 0)), stream_from(1)
    for t in range(3, 1_500):
        count, mean = np.array([float(len(y)) for y in rewards]), np.array([float(np.mean(y)) for y in rewards])
        arms = type("View", (), {"count": count, "mean": mean})
        chosen = rule.choose(rule.params, arms, memory, SharedStatistics(0.0, t, 3, math.inf), stream)
        twin = NaiveIMED(family, 0.5)
        cost = [s * twin.evidence(m, max(mean)) + math.log(s) for s, m in zip(count, mean, strict=True)]
        assert cost[chosen] == pytest.approx(min(cost), rel=1e-9, abs=1e-9)
        rewards[chosen].append(draw(chosen))


@pytest.mark.parametrize("losses", [[0.0, 0.0, 0.0], [0.0, 5.0, 1e6], [3.0, 3.0 + 1e-12, 40.0], [0.0] + [1e9] * 30])
@pytest.mark.parametrize("t", [1, 50, 1e6])
@pytest.mark.parametrize("start", [0.0, -1.0, -1e3, -1e9])
def test_probabilities_of_tsallis_inf_sum_to_one(losses, t, start):
    """From wherever the search starts."""
    memory = np.append(np.repeat(losses, 2), [0.0, start])
    assert tsallis_inf.weigh((0.0,), memory, len(losses), t) == pytest.approx(1.0, abs=1e-12)
    assert (memory[1:-2:2] > 0.0).all()


def test_the_rate_of_exp3_by_default():
    shared = SharedStatistics(0.0, 0, 10, 10_000)
    expected = math.sqrt(10 * math.log(10) / ((math.e - 1) * 10_000))
    assert exp3.rate_of(bl.Exp3().rule.params, shared) == pytest.approx(expected, rel=1e-12)
    assert exp3.rate_of(bl.Exp3(rate=0.3).rule.params, shared) == 0.3


def test_successive_rejects_recommends_the_arm_that_is_left():
    """It keeps to its schedule, and recommends no rejected arm, whatever its mean."""
    sim = bl.simulate(bl.SuccessiveRejects(), bl.GaussianBandit([0.5, 0.4, 0.0, 0.2]), rounds=200, runs=300, seed=1)
    log_bar = 0.5 + 1 / 2 + 1 / 3 + 1 / 4
    pulls = [math.ceil(196 / (log_bar * (5 - phase))) for phase in (1, 2, 3)]
    assert sorted(sim.pulls[0])[0] >= pulls[0]
    assert sim.pulls[0].sum() == pytest.approx(200)
    memory, counts = np.array([5.0, -1.0, 4.0, 0.0]), np.array([5.0, 5.0, 4.0, 0.0])
    view = type("View", (), {"mean": np.array([0.1, 0.9, 0.3, 0.0]), "count": counts})
    rule = bl.SuccessiveRejects().rule
    assert rule.recommend(rule.params, view, memory, SharedStatistics(0.0, 14, 4, 200)) == 2


def test_the_challenger_of_a_leader_that_is_nearly_certain():
    """Draws until another arm is the best would not end: 60 standard deviations lie between the arms."""
    sim = bl.simulate(bl.TopTwoThompson(), bl.GaussianBandit([60.0, 0.0, 30.0]), rounds=60, runs=4, seed=3)
    assert sim.pulls[0, 0] == pytest.approx(30, abs=15)
    assert sim.pulls[0, 2] > 10.0 > sim.pulls[0, 1]


def test_quantiles_are_those_of_scipy():
    for t in (2, 3, 10, 1e3, 1e9):
        for a, b in itertools.product((1, 1.5, 10, 300, 2e4), (1, 1.3, 7, 3e4)):
            expected = stats.beta.isf(1 / t, a, b)
            found, hazard = quantiles.beta_quantile(a, b, -math.log(t))
            assert found == pytest.approx(expected, abs=1e-9 * min(expected, 1 - expected) + 1e-15)
            assert hazard == pytest.approx(t * stats.beta.pdf(found, a, b), rel=5e-3)
        for shape, upper in itertools.product((0.5, 1, 3, 40, 1e5), (True, False)):
            expected = stats.gamma.isf(1 / t, shape) if upper else stats.gamma.ppf(1 / t, shape)
            found, hazard = quantiles.gamma_quantile(shape, upper, -math.log(t))
            assert found == pytest.approx(expected)
            assert hazard == pytest.approx(t * stats.gamma.pdf(found, shape), rel=5e-3)
        z = quantiles.normal_quantile(-math.log(t))
        assert z == pytest.approx(stats.norm.isf(1 / t), abs=1e-10)
        assert 0.9 < quantiles.normal_hazard(z) / (t * stats.norm.pdf(z)) < 1.0 + 1e-9
