"""Bad parameters of a policy raise an error that names the value and says what is accepted."""

from __future__ import annotations

import math

import pytest

import bootleader as bl
from tests.helpers import assert_rejected

NAN, INF = math.nan, math.inf


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
def test_numbers_that_must_be_above_zero(build, name, value):
    assert_rejected(lambda: build(value), f"{name} must be a finite number above 0", repr(value))


@pytest.mark.parametrize("a", [-0.1, NAN, INF, "1", None, 1.1e6])
def test_pseudo_rewards(a):
    """With more, the resampled history would be too long to count exactly."""
    assert_rejected(lambda: bl.Giro(a=a), "a must be a number from 0 to 1e+06", repr(a))
    assert_rejected(lambda: bl.PHE(a=a), "a must be a number above 0, at most 1e+06", repr(a))


def test_phe_needs_pseudo_rewards():
    assert_rejected(lambda: bl.PHE(a=0.0), "a must be a number above 0, at most 1e+06", "0.0")


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, NAN, INF, "x"])
def test_epsilon(epsilon):
    assert_rejected(lambda: bl.EpsilonGreedy(epsilon), "epsilon must be a number from 0 to 1", repr(epsilon))


@pytest.mark.parametrize("make", [lambda w: bl.ReBoot(1.0, weights=w), lambda w: bl.ResidualBootstrap(weights=w)])
@pytest.mark.parametrize("weights", ["normal", "Gaussian", None, 3])
def test_unknown_weights(make, weights):
    assert_rejected(lambda: make(weights), "'gaussian'", "'rademacher'", "'mammen'", repr(weights))


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
    assert_rejected(lambda: bl.ThompsonSampling(**given), words)


def test_numbers_whose_squares_would_overflow():
    assert_rejected(lambda: bl.ReBoot(1e121), "at most 1e+120 in size", "1e+121")
    bl.ReBoot(1e120)


def test_limits_are_accepted():
    bl.Giro(a=0)
    bl.EpsilonGreedy(0)
    bl.EpsilonGreedy(1)
    bl.ThompsonSampling(prior_sd=INF)
