"""The contract of a bandit. Bandits are discovered: a new one is tested without an edit here."""

from __future__ import annotations

import dataclasses
import inspect
import math
import pickle
from unittest import mock

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader import bandits as package
from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.rng import Stream, run_stride, stream_state
from bootleader.bandits import DRAWS, Bandit, mixture
from bootleader.bandits.base import FamilyBandit
from bootleader.bandits.families import logistic
from tests.helpers import classes_of
from tests.oracle.cases import BANDIT_CASES

NAMESPACE = {name: getattr(bl, name) for name in bl.__all__}
BANDIT_CLASSES = [
    cls
    for name in package.__all__
    if inspect.isclass(cls := getattr(package, name)) and issubclass(cls, Bandit) and cls is not Bandit
    if cls.changes is Bandit.changes  # those that change are compared with the loop in oracle/test_open_simulator.py
]
ALL_BANDITS = {case.id: case.bandit for case in BANDIT_CASES} | {
    f"affine {case.id}": bl.AffineBandit(case.bandit, scale=20.0, shift=-3.0) for case in BANDIT_CASES
}
LEVEL = 1e-3  # over all reward families together; fixed seeds


@pytest.fixture(params=ALL_BANDITS)
def bandit(request):
    return ALL_BANDITS[request.param]


def test_every_class_in_a_file_of_bandits_is_public():
    """One list, ``bandits.__all__``, makes a bandit public; no second one has to be kept."""
    assert classes_of(package, Bandit) - {Bandit, FamilyBandit} == set(BANDIT_CLASSES) | {
        bl.Piecewise,
        bl.Drifting,
        bl.Seasonal,
    }
    assert set(package.__all__) <= set(bl.__all__)


def test_every_bandit_is_public_and_tested():
    assert {type(bandit) for bandit in ALL_BANDITS.values()} == set(BANDIT_CLASSES)
    assert all(cls.__name__ in bl.__all__ for cls in BANDIT_CLASSES)
    assert {case.bandit.draw for case in BANDIT_CASES} == set(DRAWS)


def test_a_bandit_is_immutable_and_survives_pickle(bandit):
    for field in dataclasses.fields(bandit):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(bandit, field.name, 1.0)
    runs = np.arange(4, dtype=np.uint64)
    for ours, theirs in zip(
        bandit.parameters_of(1, runs), pickle.loads(pickle.dumps(bandit)).parameters_of(1, runs), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert isinstance(hash(bandit), int)


def test_a_bandit_prints_as_it_is_written(bandit):
    if "EmpiricalBandit" in repr(bandit):
        assert "3 arms, 2 to 4 rewards each" in repr(bandit)
    else:
        assert eval(repr(bandit), {**NAMESPACE}) == bandit


def test_arms_have_a_row_an_arm_and_a_column_a_run(bandit):
    arms = bandit.parameters_of(1, np.arange(5, dtype=np.uint64))
    for name in ("first", "second", "third", "mean", "sd"):
        column = getattr(arms, name)
        assert column.shape == (bandit.arms, 5)
        assert column.dtype == np.float64
        assert np.isfinite(column).all()


def rewards_of(bandit: Bandit, arm: int, draws: int) -> tuple[np.ndarray, float, float]:
    arms = bandit.parameters_of(3, np.array([8], np.uint64))
    stream = Stream([stream_state(3, 8, 2, arm)], 0, run_stride(3, 8))
    first, second, third = (float(column[arm, 0]) for column in arms[:3])
    parameters = [RewardParameters(first, second, third, arms.table, pulls) for pulls in range(draws)]
    rewards = np.array([bandit.draw(one, stream) for one in parameters])
    return rewards, float(arms.mean[arm, 0]), float(arms.sd[arm, 0])


def has_fourth_moment(bandit: Bandit) -> bool:
    return bandit.draw is not bl.StudentTBandit([0, 1], df=3.0).draw


@pytest.mark.parametrize("case", BANDIT_CASES, ids=lambda case: case.id)
def test_rewards_have_the_stated_mean_and_sd(case):
    """Each mean and sd by a z-test; the sd of Student rewards with 3 degrees of freedom, which has none, to 25 %.

    An AffineBandit pays these rewards in another unit: test_affine.py compares them reward by reward.
    """
    bandit = case.bandit
    level = LEVEL / (2 * bandit.arms * len(BANDIT_CASES))
    for arm in range(bandit.arms):
        rewards, mean, sd = rewards_of(bandit, arm, 15_000)
        assert 2 * stats.norm.sf(abs(rewards.mean() - mean) / (sd / math.sqrt(len(rewards)))) > level
        if not has_fourth_moment(bandit):
            assert rewards.std() == pytest.approx(sd, rel=0.25)
        else:
            error = math.sqrt((stats.kurtosis(rewards) + 2) / len(rewards))
            assert 2 * stats.norm.sf(abs(rewards.var() / sd**2 - 1) / error) > level


@pytest.mark.parametrize(("df", "sd"), [(2.1, 1.0), (3.0, 0.8), (8.0, 2.0)])
def test_student_rewards_have_the_right_law(df, sd):
    rewards, mean, _ = rewards_of(bl.StudentTBandit([1.0, 0.0], df=df, sd=sd), 0, 15_000)
    scale = sd * math.sqrt((df - 2) / df)
    assert stats.kstest(rewards, stats.t(df, mean, scale).cdf).pvalue > LEVEL


def test_drawn_arms_are_uniform_and_independent():
    bandit = bl.GaussianBandit(bl.Uniform(5, 7, arms=3), sd=bl.LogUniform(0.1, 10.0))
    arms = bandit.parameters_of(0, np.arange(20_000, dtype=np.uint64))
    rows = [*((arms.mean - 5) / 2), *(np.log(arms.sd / 0.1) / np.log(100))]
    for row in rows:
        assert stats.kstest(row, "uniform").pvalue > LEVEL / 6
    correlations = np.corrcoef(rows)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < stats.norm.isf(LEVEL / 30) / math.sqrt(20_000)


def test_logistic_reward_is_finite_at_both_ends_of_the_uniform():
    """The smallest uniform is 0, the largest 1 - 2**-52; the reward is that of the middle of their cells."""
    arm, stream = RewardParameters(0.0, 1.0, 0.0, None, 0), Stream([0], 0, 1)
    for u, sign in ((0.0, -1.0), (1.0 - 2.0**-52, 1.0)):
        with mock.patch.object(logistic, "uniform", lambda stream, u=u: u):
            assert logistic.logistic_draw(arm, stream) == pytest.approx(sign * 53 * math.log(2), rel=1e-15)


@pytest.mark.parametrize(
    ("bandit", "law"),
    [
        (bl.PoissonBandit([40.5, 0]), None),
        (bl.GammaBandit([3.0, 1], shape=0.4), stats.gamma(0.4, scale=7.5)),
        (bl.BetaBandit([0.3, 1], concentration=0.5), stats.beta(0.15, 0.35)),
        (bl.ParetoBandit([3.0, 1], alpha=3.0), stats.pareto(3.0, scale=2.0)),
        (bl.LogNormalBandit([3.0, 1], sigma=2.0), stats.lognorm(2.0, scale=3.0 * math.exp(-2.0))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rewards_have_the_right_law_mean_and_sd(bandit, law):
    rewards, mean, sd = rewards_of(bandit, 0, 15_000)
    if law is None:
        observed = np.bincount(rewards.astype(int), minlength=61)[21:61]
        expected = stats.poisson(mean).pmf(np.arange(21, 61)) * len(rewards)
        assert stats.chisquare(observed, expected, sum_check=False).pvalue > LEVEL
        law = stats.poisson(40.5)
    else:
        assert stats.kstest(rewards, law.cdf).pvalue > LEVEL
    assert (mean, sd) == (pytest.approx(law.mean(), rel=1e-12), pytest.approx(law.std(), rel=1e-12))


def test_the_ends_of_the_unit_interval_are_beta_rewards_without_noise():
    for concentration in (1e-3, 1.0, 1e6):
        bandit = bl.BetaBandit([0.0, 1.0], concentration)
        assert set(rewards_of(bandit, 0, 200)[0]) == {0.0}
        assert set(rewards_of(bandit, 1, 200)[0]) == {1.0}


@pytest.mark.parametrize(
    ("prior", "law"), [(bl.Normal(2, 3, arms=3), stats.norm(2, 3)), (bl.Beta(0.5, 2, arms=3), stats.beta(0.5, 2))]
)
def test_priors_have_their_law_and_are_finite_at_both_ends(prior, law):
    arms = bl.GaussianBandit(prior).parameters_of(0, np.arange(20_000, dtype=np.uint64))
    for row in arms.mean:
        assert stats.kstest(row, law.cdf).pvalue > LEVEL / 6
    assert np.abs(np.corrcoef(arms.mean)[np.triu_indices(3, 1)]).max() < stats.norm.isf(LEVEL / 12) / math.sqrt(20_000)
    ends = prior.quantiles(np.array([0.0, 1.0 - 2.0**-52]))
    assert np.isfinite(ends).all()
    np.testing.assert_allclose(ends, [law.ppf(2.0**-53), law.isf(2.0**-53)], rtol=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1e-3, 1e-3), (1e-3, 1e9), (1e9, 1e-3), (1e9, 1e9)])
def test_means_of_a_beta_prior_are_between_0_and_1(a, b):
    means = bl.Beta(a, b, arms=2).quantiles(np.array([0.0, 0.5, 1.0 - 2.0**-52]))
    assert np.all((means > 0.0) & (means < 1.0) & (np.diff(means, prepend=0.0) >= 0.0))


def test_component_draws_are_numbered_as_they_are_listed():
    assert set(mixture.COMPONENT_DRAWS) <= set(DRAWS) - {mixture.mixture_draw}
    arm, stream = RewardParameters(1.0, 2.0, 0.3, np.ones(9), 0), Stream([1], 0, 3)
    for which, draw in enumerate(mixture.COMPONENT_DRAWS):
        again = Stream([stream.states[0]], 0, 3)
        assert mixture.component_draw(which, arm, stream) == draw(arm, again)
        assert stream.states == again.states


def test_a_mixture_pays_its_components_in_the_given_proportion():
    parts = [(0.7, bl.EmpiricalBandit([[1.0], [2.0]])), (0.3, bl.EmpiricalBandit([[5.0], [7.0]]))]
    rewards, mean, sd = rewards_of(bl.MixtureBandit(parts), 1, 15_000)
    assert set(rewards) == {2.0, 7.0}
    assert stats.binomtest(int(np.sum(rewards == 7.0)), len(rewards), 0.3).pvalue > LEVEL
    assert (mean, sd) == (pytest.approx(3.5), pytest.approx(5.0 * math.sqrt(0.21)))
