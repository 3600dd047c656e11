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


BAD_PARAMETERS = {
    "MOSS horizon": (lambda: bl.MOSS(horizon=0.5), "horizon must be a number of at least 1", "0.5"),
    "MOSS None": (lambda: bl.MOSS(horizon=None), "'anytime' or 'simulation'", "None"),
    "MOSS infinity": (lambda: bl.MOSS(horizon=float("inf")), "'anytime' or 'simulation'", "inf"),
    "MOSS word": (lambda: bl.MOSS(horizon="soon"), "'anytime' or 'simulation'", "'soon'"),
    "UCBV c": (lambda: bl.UCBV(c=-1.0), "c must be a number of at least 0", "-1.0"),
    "UCBV b": (lambda: bl.UCBV(b=0), "b must be a finite number above 0", "0"),
    "MaillardSampling": (lambda: bl.MaillardSampling(sd=NAN), "sd must be a finite number above 0", "nan"),
    "KLMaillardSampling": (lambda: bl.KLMaillardSampling("cauchy"), "'bernoulli'", "'cauchy'"),
    "BayesUCB": (lambda: bl.BayesUCB("cauchy"), "'bernoulli'", "'cauchy'"),
    "NPTS": (lambda: bl.NPTS(upper=INF), "upper must be a finite number", "inf"),
    "MultiplierBootstrap": (lambda: bl.MultiplierBootstrap(replicates=0), "replicates must be a whole number", "0"),
    "EnsembleSampling": (lambda: bl.EnsembleSampling(models=1.5), "models must be a whole number", "1.5"),
    "BootstrappedUCB": (lambda: bl.BootstrappedUCB(delta=1.0), "delta must be a number above 0 and below 1", "1.0"),
    "correction": (lambda: bl.BootstrappedUCB(correction="none"), "'practical', 'theorem'", "'none'"),
    "Exp3": (lambda: bl.Exp3(rate=0.0), "rate must be a number above 0, at most 1", "0.0"),
    "TsallisINF": (lambda: bl.TsallisINF(1), "reduced_variance must be True or False", "1"),
    "SlidingWindowUCB": (lambda: bl.SlidingWindowUCB(window=0), "window must be a whole number from 1", "0"),
    "TopTwoThompson": (lambda: bl.TopTwoThompson(beta=1.1), "beta must be a number above 0, at most 1", "1.1"),
    "SuccessiveRejects": (lambda: bl.SuccessiveRejects(horizon=0), "horizon must be a number of at least 1", "0"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_parameters_of_the_rivals(name):
    build, *words = BAD_PARAMETERS[name]
    assert_rejected(build, *words)
