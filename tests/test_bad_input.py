"""Bad input is refused before any work starts, by an error that names the value and says what is accepted."""

from __future__ import annotations

import math
from concurrent.futures import Executor

import numpy as np
import pytest

import bootleader as bl

NAN, INF = math.nan, math.inf
TWO_ARMS = bl.GaussianBandit([1.0, 0.0])


class NoWork(Executor):
    """Fails the test if anything is submitted."""

    def submit(self, *args, **kwargs):
        raise AssertionError("work was started on bad input")


def refused(build, *wanted: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        build()
    for words in wanted:
        assert words in str(caught.value)


@pytest.mark.parametrize("value", [0, -1.0, NAN, INF, -INF, "1", None, True, [1.0]])
@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda x: bl.ReBoot(sigma_a=x), "sigma_a"),
        (lambda x: bl.AdaptiveReBoot(ratio=x), "ratio"),
        (lambda x: bl.UCB1(sd=x), "sd"),
    ],
    ids=["ReBoot", "AdaptiveReBoot", "UCB1"],
)
def test_what_must_be_above_zero(build, name, value):
    refused(lambda: build(value), f"{name} must be a finite number above 0", repr(value))


@pytest.mark.parametrize("a", [-0.1, NAN, INF, "1", None, 1.1e6])
def test_pseudo_rewards(a):
    """So many of them that a whole number does not hold the count would never come to an end."""
    refused(lambda: bl.Giro(a=a), "a must be a number from 0 to 1e+06", repr(a))
    refused(lambda: bl.PHE(a=a), "a must be a number above 0, at most 1e+06", repr(a))


def test_phe_needs_pseudo_rewards():
    refused(lambda: bl.PHE(a=0.0), "a must be a number above 0, at most 1e+06", "0.0")


@pytest.mark.parametrize(
    "build",
    [
        lambda x: bl.ReBoot(x), lambda x: bl.GaussianBandit([x, 0.0]), lambda x: bl.GaussianBandit([1, 0], sd=x),
        lambda x: bl.Uniform(0, x, arms=2), lambda x: bl.EmpiricalBandit([[1.0], [2.0, x]]),
    ],
)  # fmt: skip
def test_numbers_whose_squares_would_overflow(build):
    refused(lambda: build(1e121), "at most 1e+120 in size", "1e+121")
    build(1e120)


def test_the_largest_numbers_do_not_overflow():
    sim = bl.simulate(bl.ReBoot(1e120), bl.GaussianBandit([1e120, -1e120], sd=1e120), rounds=50, runs=8)
    assert np.isfinite(sim.mean_regret).all()
    assert np.isfinite(sim.sem).all()


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, NAN, INF, "x"])
def test_epsilon(epsilon):
    refused(lambda: bl.EpsilonGreedy(epsilon), "epsilon must be a number from 0 to 1", repr(epsilon))


@pytest.mark.parametrize("make", [lambda w: bl.ReBoot(1.0, weights=w), lambda w: bl.ResidualBootstrap(weights=w)])
@pytest.mark.parametrize("weights", ["normal", "Gaussian", None, 3])
def test_unknown_weights(make, weights):
    refused(lambda: make(weights), "'gaussian'", "'rademacher'", "'mammen'", repr(weights))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prior_mean": NAN}, "prior_mean must be a finite number"),
        ({"prior_mean": INF}, "prior_mean must be a finite number"),
        ({"prior_sd": 0.0}, "prior_sd must be a number above 0, or infinity"),
        ({"prior_sd": -INF}, "prior_sd must be a number above 0, or infinity"),
        ({"prior_sd": NAN}, "prior_sd must be a number above 0, or infinity"),
        ({"noise_sd": 0.0}, "noise_sd must be a finite number above 0"),
        ({"noise_sd": NAN}, "noise_sd must be a finite number above 0"),
        ({"noise_sd": [1.0, -2.0]}, "noise_sd must be a finite number above 0"),
        ({"noise_sd": "true"}, "'oracle'"),
    ],
)
def test_thompson_sampling(given, words):
    refused(lambda: bl.ThompsonSampling(**given), words)


FAMILIES = {
    "gaussian": bl.GaussianBandit,
    "logistic": bl.LogisticBandit,
    "student": lambda means: bl.StudentTBandit(means, df=3.0),
    "exponential": bl.ExponentialBandit,
    "bernoulli": bl.BernoulliBandit,
    "revenue": bl.RevenueBandit,
}


@pytest.mark.parametrize("family", FAMILIES)
class TestMeans:
    def test_no_arm(self, family):
        refused(lambda: FAMILIES[family]([]), "at least 2 arms", "[]")

    def test_a_single_arm(self, family):
        refused(lambda: FAMILIES[family]([0.5]), "at least 2 arms", "[0.5]")

    @pytest.mark.parametrize("bad", [NAN, INF, -INF])
    def test_not_finite(self, family, bad):
        refused(lambda: FAMILIES[family]([0.5, bad]), "means must be", repr(bad))

    @pytest.mark.parametrize("means", ["0.1", 3, None, {0.1, 0.2}])
    def test_not_a_sequence(self, family, means):
        refused(lambda: FAMILIES[family](means), "a sequence of numbers or Uniform", repr(means))

    def test_not_a_number(self, family):
        refused(lambda: FAMILIES[family]([0.5, "a"]), "means must be", "'a'")


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
    refused(build, *words)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rounds": 1}, ("at least the number of arms, 2", "got 1")),
        ({"rounds": 0}, ("rounds must be a whole number of at least 1", "0")),
        ({"rounds": 10.0}, ("rounds must be a whole number", "10.0")),
        ({"rounds": True}, ("rounds must be a whole number", "True")),
        ({"runs": 0}, ("runs must be a whole number of at least 1", "0")),
        ({"runs": -3}, ("runs must be a whole number of at least 1", "-3")),
        ({"runs": "many"}, ("runs must be a whole number of at least 1", "'many'")),
        ({"seed": -1}, ("seed must be a whole number", "-1")),
        ({"seed": 2**64}, ("seed must be a whole number from 0 to 2**64 - 1", str(2**64))),
        ({"seed": None}, ("seed must be a whole number", "None")),
        ({"checkpoints": 0}, ("checkpoints must be a whole number of at least 1", "0")),
        ({"bandit": [1.0, 0.0]}, ("bandit must be one of the library's", "[1.0, 0.0]")),
        ({"bandit": bl.GaussianBandit}, ("bandit must be one of the library's",)),
        ({"policies": []}, ("at least one policy",)),
        ({"policies": {}}, ("at least one policy",)),
        ({"policies": "ReBoot"}, ("a policy must be one of the library's", "start(arms, rng)")),
        ({"policies": None}, ("a policy must be one of the library's", "None")),
        ({"policies": [bl.Giro(), 3]}, ("a policy must be one of the library's", "3")),
        ({"policies": [bl.Giro(), bl.Giro()]}, ("names must differ", "'Giro()'", "dict")),
        ({"policies": bl.ThompsonSampling(noise_sd=[1, 2, 3])}, ("one number per arm", "2 arms", "3 numbers")),
    ],
)  # fmt: skip
def test_simulate_refuses_before_any_work(given, words):
    call = {"policies": bl.ReBoot(1.0), "bandit": TWO_ARMS, "rounds": 10, "runs": 2, "executor": NoWork()} | given
    policies, bandit = call.pop("policies"), call.pop("bandit")
    refused(lambda: bl.simulate(policies, bandit, **call), *words)


def test_the_guard_of_these_tests_is_awake():
    with pytest.raises(AssertionError, match="work was started"):
        bl.simulate(bl.ReBoot(1.0), TWO_ARMS, rounds=10, runs=2, executor=NoWork())


def test_an_executor_that_is_none():
    refused(lambda: bl.simulate(bl.ReBoot(1.0), TWO_ARMS, rounds=10, runs=2, executor=3), "executor must be", "3")


@pytest.mark.parametrize("arm", [-1, 2, 0.5, None, "0", NAN])
def test_a_users_policy_that_pulls_no_arm(arm):
    class Astray:
        def start(self, arms, rng):
            pass

        def pull(self):
            return arm

        def update(self, arm, reward):
            pass

    refused(lambda: bl.simulate(Astray(), TWO_ARMS, rounds=10, runs=2), "an arm from 0 to 1", repr(arm))


def test_values_that_are_accepted_at_the_edge():
    bl.Giro(a=0)
    bl.EpsilonGreedy(0)
    bl.EpsilonGreedy(1)
    bl.BernoulliBandit([0, 1])
    bl.ThompsonSampling(prior_sd=INF)
    bl.ExponentialBandit(bl.Uniform(5, 7, arms=2), shift=5)
    bl.GaussianBandit(np.array([1, 0]), sd=np.float32(0.5))
    sim = bl.simulate(bl.ReBoot(1.0), TWO_ARMS, rounds=2, runs=1, seed=np.int64(2**62), checkpoints=1)
    assert sim.final_regret.shape == (1, 1)
