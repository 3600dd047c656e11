"""Noise that is drawn when it is first needed: ensemble sampling and the multiplier bootstrap.

The sums of many draws have the law that they have if every reward has a draw of its own.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader._core.rng import Stream
from bootleader.policies import ensemble_sampling, multiplier_bootstrap
from bootleader.policies._keyed_normals import keyed_normal, seed_at

LEVEL = 1e-3
REWARDS = [0.0, 1.0, 1.0, 0.3, 0.9, 0.0, 0.2]
USED_AT = (2, 3, 7)  # numbers of rewards at which a copy is asked


def view(rewards: list[float]) -> SimpleNamespace:
    count, mean = float(len(rewards)), float(np.mean(rewards))
    return SimpleNamespace(count=[count], mean=[mean], rss=[count * float(np.var(rewards))])


def assert_independent_normals(normals: np.ndarray, tests: int = 1) -> None:
    """Tests of the law and of the variance of the columns, and of sums and differences of two; jointly at 1e-3."""
    columns = list(normals.T)
    pairs = [(a, b) for i, a in enumerate(columns) for b in columns[:i]]
    columns += [(a + sign * b) / math.sqrt(2.0) for a, b in pairs for sign in (1.0, -1.0)]
    level = LEVEL / (3 * len(columns) * tests)
    for column in columns:
        assert stats.kstest(column, "norm").pvalue > level
        assert level < stats.chi2.cdf(column @ column, len(column)) < 1.0 - level


def test_normals_of_different_places_and_seeds_are_independent() -> None:
    stream = Stream([17], 0, 3)
    seeds = [seed_at([0.0], 0, stream) for _ in range(3_000)]
    assert all(seed >= 1.0 and seed.is_integer() for seed in seeds)
    before = stream.states.copy()
    assert_independent_normals(np.array([[keyed_normal(seed, place, stream) for place in range(3)] for seed in seeds]))
    assert_independent_normals(np.array([[keyed_normal(5.0, place, stream)] for place in range(3_000)]))
    assert stream.states == before
    assert keyed_normal(5.0, 7.0, stream) == keyed_normal(5.0, 7.0, Stream([1], 0, 1))


def test_a_seed_is_drawn_once() -> None:
    memory, stream = [0.0, 0.0], Stream([17], 0, 3)
    seed = seed_at(memory, 1, stream)
    assert memory == [0.0, seed]
    assert seed_at(memory, 1, stream) == seed


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_sums_of_the_multiplier_bootstrap_have_the_law_of_weights_for_every_reward(lam: float) -> None:
    """Whitened by the covariance of the sums, which is that of their coefficients of the weights."""
    sd, copies = 0.4, 3_000
    params = bl.MultiplierBootstrap(lam, sd, copies).rule.params
    memory = [0.0] * bl.MultiplierBootstrap(lam, sd, copies).rule.memory(1, 0)
    stream = Stream([23], 0, 3)
    multiplier_bootstrap.learn(params, None, memory, None, 0, 0.0, stream)
    sums, begin = np.zeros((copies, 2)), 0
    for used in USED_AT:
        for copy in range(copies):
            multiplier_bootstrap.weighted_mean(params, view(REWARDS[:used]), memory, 0, copy, stream)
        after = np.reshape(memory[1:], (copies, 5))[:, :2]
        coefficients = np.array([[[y, lam, 0.0], [1.0, lam, lam]] for y in REWARDS[begin:used]])  # of three weights
        flat = np.concatenate(list(coefficients), axis=1)
        noise = after - sums - flat.sum(axis=1)
        if lam == 0.0 and used - begin == 1:  # one weight: the sums are proportional
            np.testing.assert_allclose(noise[:, 0], REWARDS[begin] * noise[:, 1], rtol=1e-9)
            assert_independent_normals(noise[:, 1:] / sd, len(USED_AT))
        else:
            white = np.linalg.solve(np.linalg.cholesky(flat @ flat.T) * sd, noise.T).T
            assert_independent_normals(white, len(USED_AT))
        sums, begin = after, used


def test_means_of_the_models_have_the_law_of_noise_for_every_reward() -> None:
    """The first mean and its later changes, standardised, are independent normals."""
    policy = bl.EnsembleSampling(3_000, prior_mean=0.3, prior_sd=0.8, noise_sd=0.6)
    params, memory, stream = policy.rule.params, [0.0] * policy.rule.memory(1, 0), Stream([29], 0, 3)
    ensemble_sampling.learn(params, None, memory, SimpleNamespace(arms=1), 0, 0.0, stream)
    perturbed, precision, columns = np.full(policy.models, 0.0), 0.0, []
    for used in (0, *USED_AT):
        seen = view(REWARDS[:used]) if used else SimpleNamespace(count=[0.0], mean=[0.0])
        means = [
            ensemble_sampling.posterior_mean(params, seen, memory, 0, model, stream) for model in range(policy.models)
        ]
        now = 1.0 / policy.prior_sd**2 + used / policy.noise_sd**2
        expected = policy.prior_mean / policy.prior_sd**2 + sum(REWARDS[:used]) / policy.noise_sd**2
        noise = np.array(means) * now - expected
        columns.append((noise - perturbed) / math.sqrt(now - precision))
        perturbed, precision = noise, now
    assert_independent_normals(np.array(columns).T)
