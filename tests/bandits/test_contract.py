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
from bootleader._core.parameters import RewardParameters
from bootleader._core.rng import Stream, run_stride, stream_state
from bootleader.bandits import DRAWS, Bandit, families
from tests.oracle.cases import BANDIT_CASES

NAMESPACE = {name: getattr(bl, name) for name in bl.__all__}
BANDIT_CLASSES = [
    cls
    for name in package.__all__
    if inspect.isclass(cls := getattr(package, name)) and issubclass(cls, Bandit) and cls is not Bandit
]
ALL_BANDITS = {case.id: case.bandit for case in BANDIT_CASES} | {
    f"affine {case.id}": bl.AffineBandit(case.bandit, scale=20.0, shift=-3.0) for case in BANDIT_CASES
}
LEVEL = 1e-3  # over all reward families together; fixed seeds


@pytest.fixture(params=ALL_BANDITS)
def bandit(request):
    return ALL_BANDITS[request.param]


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


def test_rewards_have_the_stated_mean_and_sd(bandit):
    """Each mean and sd by a z-test; the sd of Student rewards with 3 degrees of freedom, which has none, to 25 %."""
    level = LEVEL / (2 * bandit.arms * len(ALL_BANDITS))
    for arm in range(bandit.arms):
        rewards, mean, sd = rewards_of(bandit, arm, 15_000)
        assert 2 * stats.norm.sf(abs(rewards.mean() - mean) / (sd / math.sqrt(len(rewards)))) > level
        if bandit.draw is bl.StudentTBandit([0, 1], df=3.0).draw:
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
    """The largest uniform is 1 - 2**-53, whose odds must not be a division by zero."""
    arm, stream = RewardParameters(0.0, 1.0, 0.0, None, 0), Stream([0], 0, 1)
    for u in (0.0, 1.0 - 2.0**-53):
        with mock.patch.object(families, "uniform", lambda stream, u=u: u):
            assert abs(families.logistic_draw(arm, stream)) == pytest.approx(54 * math.log(2), rel=0.02)
