"""Bad arguments of simulate raise an error that names the value, before any work starts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl
from tests.helpers import NoWork, assert_rejected

NAN = math.nan
TWO_ARMS = bl.GaussianBandit([1.0, 0.0])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rounds": 1}, ("at least the number of arms, 2", "got 1")),
        ({"rounds": 0}, ("rounds must be a whole number from 1 to 2**62", "0")),
        ({"rounds": 10**400}, ("rounds must be a whole number from 1 to 2**62",)),
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
        ({"bandit": bl.GaussianBandit}, ("bandit must be an object, such as GaussianBandit(...)",)),
        ({"checkpoints": "linear"}, ('a number, a list of rounds, or "log"', "'linear'")),
        ({"policies": []}, ("at least one policy",)),
        ({"policies": {}}, ("at least one policy",)),
        ({"policies": "ReBoot"}, ("a policy must be one of the library's", "start(arms, rng)")),
        ({"policies": None}, ("a policy must be one of the library's", "None")),
        ({"policies": [bl.Giro(), 3]}, ("a policy must be one of the library's", "3")),
        ({"policies": [bl.Giro(), bl.Giro()]}, ("names must differ", "'Giro()'", "dict")),
        ({"policies": bl.ThompsonSampling(noise_sd=[1, 2, 3])}, ("one number per arm", "2 arms", "3 numbers")),
    ],
)  # fmt: skip
def test_bad_arguments_are_rejected_before_any_work(given, words):
    call = {"policies": bl.ReBoot(1.0), "bandit": TWO_ARMS, "rounds": 10, "runs": 2, "executor": NoWork()} | given
    policies, bandit = call.pop("policies"), call.pop("bandit")
    assert_rejected(lambda: bl.simulate(policies, bandit, **call), *words)


def test_the_executor_of_these_tests_fails_when_work_starts():
    with pytest.raises(AssertionError, match="work was started"):
        bl.simulate(bl.ReBoot(1.0), TWO_ARMS, rounds=10, runs=2, executor=NoWork())


def test_an_object_that_is_not_an_executor():
    assert_rejected(
        lambda: bl.simulate(bl.ReBoot(1.0), TWO_ARMS, rounds=10, runs=2, executor=3), "executor must be", "3"
    )


@pytest.mark.parametrize("arm", [-1, 2, 0.5, None, "0", NAN])
def test_a_user_policy_that_pulls_something_else_than_an_arm(arm):
    class Wrong:
        def start(self, arms, rng):
            pass

        def pull(self):
            return arm

        def update(self, arm, reward):
            pass

    assert_rejected(lambda: bl.simulate(Wrong(), TWO_ARMS, rounds=10, runs=2), "an arm from 0 to 1", repr(arm))


def test_limits_are_accepted():
    sim = bl.simulate(bl.ReBoot(1.0), TWO_ARMS, rounds=2, runs=1, seed=np.int64(2**62), checkpoints=1)
    assert sim.final_regret.shape == (1, 1)


def test_the_largest_numbers_do_not_overflow():
    sim = bl.simulate(bl.ReBoot(1e120), bl.GaussianBandit([1e120, -1e120], sd=1e120), rounds=50, runs=8)
    assert np.isfinite(sim.mean_regret).all()
    assert np.isfinite(sim.final_regret).all()
