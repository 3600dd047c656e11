"""Bad parameters of a bandit raise an error that names the value and says what is accepted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl
from tests.helpers import assert_rejected

NAN, INF = math.nan, math.inf
NORMAL = bl.Normal(0, 1, arms=3)
GAUSSIAN = bl.GaussianBandit([0, 1])

FAMILIES = {
    "gaussian": bl.GaussianBandit,
    "logistic": bl.LogisticBandit,
    "student": lambda means: bl.StudentTBandit(means, df=3.0),
    "exponential": bl.ExponentialBandit,
    "bernoulli": bl.BernoulliBandit,
    "revenue": bl.RevenueBandit,
    "poisson": bl.PoissonBandit,
    "gamma": lambda means: bl.GammaBandit(means, shape=2.0),
    "beta": lambda means: bl.BetaBandit(means, concentration=2.0),
    "pareto": lambda means: bl.ParetoBandit(means, alpha=3.0),
    "lognormal": bl.LogNormalBandit,
}


@pytest.mark.parametrize("family", FAMILIES)
class TestMeans:
    def test_no_arm(self, family):
        assert_rejected(lambda: FAMILIES[family]([]), "at least 2 arms", "[]")

    def test_a_single_arm(self, family):
        assert_rejected(lambda: FAMILIES[family]([0.5]), "at least 2 arms", "[0.5]")

    @pytest.mark.parametrize("bad", [NAN, INF, -INF])
    def test_not_finite(self, family, bad):
        assert_rejected(lambda: FAMILIES[family]([0.5, bad]), "means must be", repr(bad))

    @pytest.mark.parametrize("means", ["0.1", 3, None, {0.1, 0.2}])
    def test_not_a_sequence(self, family, means):
        assert_rejected(lambda: FAMILIES[family](means), "a sequence of numbers or Uniform", repr(means))

    def test_not_a_number(self, family):
        assert_rejected(lambda: FAMILIES[family]([0.5, "a"]), "means must be", "'a'")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: bl.BernoulliBandit([0.5, 1.1]), ("probabilities, from 0 to 1", "1.1")),
        (lambda: bl.BernoulliBandit([-0.1, 0.5]), ("probabilities, from 0 to 1", "-0.1")),
        (lambda: bl.BernoulliBandit(bl.Uniform(0, 2, arms=3)), ("probabilities, from 0 to 1", "2")),
        (lambda: bl.ExponentialBandit([5.0, 6.0], shift=5.0), ("above the shift, 5.0", "got 5.0")),
        (lambda: bl.ExponentialBandit(bl.Uniform(4, 6, arms=2), shift=5), ("the shift, 5", "got 4")),
        (lambda: bl.ExponentialBandit([1, 2], shift=NAN), ("shift must be a finite number", "nan")),
        (lambda: bl.RevenueBandit([0.0, 1.0]), ("above 0", "got 0.0")),
        (lambda: bl.RevenueBandit([1.0, 2.0], conversion=0.0), ("conversion", "above 0, at most 1", "0.0")),
        (lambda: bl.RevenueBandit([1.0, 2.0], conversion=1.5), ("conversion", "above 0, at most 1", "1.5")),
        (lambda: bl.RevenueBandit([1.0, 2.0], sigma=0), ("sigma must be a finite number above 0", "0")),
        (lambda: bl.StudentTBandit([1, 0], df=2), ("df must be a finite number above 2", "2")),
        (lambda: bl.StudentTBandit([1, 0], df=NAN), ("df must be a finite number above 2", "nan")),
        (lambda: bl.GaussianBandit([1, 0], sd=0), ("sd must be a finite number above 0", "0")),
        (lambda: bl.GaussianBandit([1, 0], sd=[1.0, NAN]), ("sd must be a finite number above 0", "nan")),
        (lambda: bl.GaussianBandit([1, 0], sd=[1.0]), ("one number or one per arm", "2 arms", "1 numbers")),
        (lambda: bl.Uniform(7, 5, arms=3), ("low < high", "7", "5")),
        (lambda: bl.Uniform(5, 5, arms=3), ("low < high", "5")),
        (lambda: bl.Uniform(NAN, 5, arms=3), ("low must be a finite number", "nan")),
        (lambda: bl.Uniform(0, 1, arms=1), ("arms must be a whole number of at least 2", "1")),
        (lambda: bl.Uniform(0, 1, arms=2.5), ("arms must be a whole number of at least 2", "2.5")),
        (lambda: bl.LogUniform(0, 1), ("low must be a finite number above 0", "0")),
        (lambda: bl.LogUniform(2, 1), ("low < high", "2", "1")),
        (lambda: bl.Normal(0, 0, arms=3), ("sd must be a finite number above 0", "0")),
        (lambda: bl.Normal(NAN, 1, arms=3), ("mean must be a finite number", "nan")),
        (lambda: bl.Normal(0, 1, arms=1), ("arms must be a whole number of at least 2", "1")),
        (lambda: bl.Beta(0, 1, arms=3), ("a must be a number from 0.001 to 1e+09", "0")),
        (lambda: bl.Beta(1, INF, arms=3), ("b must be a number from 0.001 to 1e+09", "inf")),
        (lambda: bl.BernoulliBandit(NORMAL), ("probabilities, from 0 to 1", "Normal(", "use Beta(", "or Uniform(")),
        (lambda: bl.PoissonBandit(NORMAL), ("numbers from 0 to 2**53", "Normal(", "use Beta(")),
        (lambda: bl.ExponentialBandit(bl.Beta(1, 1, arms=3), shift=1), ("the shift, 1", "Beta(", "use Uniform(")),
        (lambda: bl.PoissonBandit([-1, 2]), ("numbers from 0 to 2**53", "-1")),
        (lambda: bl.PoissonBandit([1, 1e16]), ("numbers from 0 to 2**53", "1e+16")),
        (lambda: bl.GammaBandit([1, 0], shape=1), ("finite numbers above 0", "0")),
        (lambda: bl.GammaBandit([1, 2], shape=0), ("shape must be a finite number above 0", "0")),
        (lambda: bl.BetaBandit([0.5, 1.5], 1), ("numbers from 0 to 1", "1.5")),
        (lambda: bl.BetaBandit([0.5, 0.6], -1), ("concentration must be a finite number above 0", "-1")),
        (lambda: bl.ParetoBandit([1, 2], alpha=2), ("alpha must be a finite number above 2", "2")),
        (lambda: bl.LogNormalBandit([1, 2], sigma=17), ("sigma must be a finite number above 0, at most 16", "17")),
        (lambda: bl.MixtureBandit([]), ("components must be pairs", "got none")),
        (lambda: bl.MixtureBandit(5), ("components must be pairs", "got 5")),
        (lambda: bl.MixtureBandit([GAUSSIAN]), ("components must be pairs", "GaussianBandit(")),
        (lambda: bl.MixtureBandit([(0.5, GAUSSIAN), (0.4, GAUSSIAN)]), ("weights must add up to 1", "0.5, 0.4", "0.9")),
        (lambda: bl.MixtureBandit([(0, GAUSSIAN), (1, GAUSSIAN)]), ("a weight must be above 0", "0")),
        (lambda: bl.MixtureBandit([(0.5, GAUSSIAN), (0.5, bl.BernoulliBandit([0, 0, 1]))]), ("equally many", "[2, 3]")),
        (lambda: bl.MixtureBandit([(1, bl.MixtureBandit([(1, GAUSSIAN)]))]), ("must not be a mixture",)),
        (lambda: bl.MixtureBandit([(1, bl.Drifting(GAUSSIAN, 1))]), ("does not change", "Drifting(")),
        (lambda: bl.Drifting(bl.PoissonBandit([1, 2]), 0.1), ("GaussianBandit", "PoissonBandit(", "Piecewise")),
        (lambda: bl.EmpiricalBandit([]), ("at least 2 arms", "0")),
        (lambda: bl.EmpiricalBandit([[1.0]]), ("at least 2 arms", "1")),
        (lambda: bl.EmpiricalBandit([[1.0], []]), ("at least one reward per arm", "arm 1")),
        (lambda: bl.EmpiricalBandit([[1.0], [NAN, 2.0]]), ("finite numbers", "nan", "arm 1")),
        (lambda: bl.EmpiricalBandit({"a": [1, 2], "b": [3]}), ("samples must be a list", "list(samples.values())")),
        (lambda: bl.EmpiricalBandit([["a"], [1]]), ("samples must be a list", "['a'] for the rewards of arm 0")),
        (lambda: bl.EmpiricalBandit([[1], [[1, 2], [3]]]), ("samples must be a list", "the rewards of arm 1")),
        (lambda: bl.EmpiricalBandit([1, 2, 3]), ("the rewards of each arm", "got 1 for the rewards of arm 0")),
        (lambda: bl.EmpiricalBandit(np.ones(3)), ("the rewards of each arm", "for the rewards of arm 0")),
        (lambda: bl.EmpiricalBandit("ab"), ("samples must be a list", "'a'")),
        (lambda: bl.EmpiricalBandit(5), ("samples must be a list", "got 5")),
    ],
)  # fmt: skip
def test_bandits(build, words):
    assert_rejected(build, *words)


@pytest.mark.parametrize(
    "build",
    [
        lambda x: bl.GaussianBandit([x, 0.0]), lambda x: bl.GaussianBandit([1, 0], sd=x),
        lambda x: bl.Uniform(0, x, arms=2), lambda x: bl.EmpiricalBandit([[1.0], [2.0, x]]),
    ],
)  # fmt: skip
def test_numbers_whose_squares_would_overflow(build):
    assert_rejected(lambda: build(1e121), "at most 1e+120 in size", "1e+121")
    build(1e120)


def test_limits_are_accepted():
    bl.BernoulliBandit([0, 1])
    bl.ExponentialBandit(bl.Uniform(5, 7, arms=2), shift=5)
    bl.GaussianBandit(np.array([1, 0]), sd=np.float32(0.5))
