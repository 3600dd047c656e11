"""AffineBandit pays the other bandit's rewards in another unit."""

import numpy as np
import pytest

from bootleader import (
    AffineBandit,
    BernoulliBandit,
    BetaBandit,
    EmpiricalBandit,
    ExponentialBandit,
    GammaBandit,
    GaussianBandit,
    LogisticBandit,
    LogNormalBandit,
    MixtureBandit,
    ParetoBandit,
    PoissonBandit,
    RevenueBandit,
    StudentTBandit,
    Uniform,
    simulate,
)
from tests.helpers import Recorder

BANDITS = [
    GaussianBandit(Uniform(0, 1, arms=3), sd=(1.0, 2.0, 3.0)),
    ExponentialBandit((6.0, 7.0), shift=5),
    LogisticBandit((0.0, 1.0)),
    StudentTBandit((0.0, 1.0), df=3),
    BernoulliBandit((0.3, 0.6)),
    RevenueBandit((0.5, 1.5), conversion=0.5),
    EmpiricalBandit([[1.0, 2.0], [0.0, 5.0, 7.0]]),
    PoissonBandit((2.0, 30.0)),
    GammaBandit((2.0, 3.0), shape=2.0),
    BetaBandit((0.2, 0.3), concentration=5.0),
    ParetoBandit((2.0, 3.0), alpha=3.0),
    LogNormalBandit((2.0, 3.0)),
    MixtureBandit([(0.5, PoissonBandit((2.0, 30.0))), (0.5, EmpiricalBandit([[1.0, 2.0], [5.0]]))]),
]


def rewards_of(bandit):
    Recorder.clear()
    simulate(Recorder(), bandit, rounds=40, runs=2, seed=3)
    return np.concatenate([rewards for run in Recorder.runs for rewards in run.values()])


@pytest.mark.parametrize("bandit", BANDITS, ids=lambda bandit: type(bandit).__name__)
def test_rewards_means_and_sds_are_those_of_the_bandit_in_another_unit(bandit):
    other = AffineBandit(bandit, scale=1_000.0, shift=-1e6)
    assert rewards_of(other) == pytest.approx(1_000.0 * rewards_of(bandit) - 1e6, rel=1e-12)
    runs = np.arange(5, dtype=np.uint64)
    plain, changed = bandit.parameters_of(9, runs), other.parameters_of(9, runs)
    assert changed.mean == pytest.approx(1_000.0 * plain.mean - 1e6)
    assert changed.sd == pytest.approx(1_000.0 * plain.sd)


def test_changes_of_unit_add_up():
    once = AffineBandit(GaussianBandit((1.0, 0.0)), 6.0, 5.0)
    twice = AffineBandit(AffineBandit(GaussianBandit((1.0, 0.0)), 2.0, 1.0), 3.0, 2.0)
    assert rewards_of(twice) == pytest.approx(rewards_of(once))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((GaussianBandit((1.0, 0.0)), 0.0), ValueError, "scale must be"),
        ((GaussianBandit((1.0, 0.0)), -1.0), ValueError, "scale must be"),
        ((GaussianBandit((1.0, 0.0)), 1.0, float("nan")), ValueError, "shift must be"),
        (([1.0, 0.0], 1.0), TypeError, "bandit must be"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        AffineBandit(*arguments)
