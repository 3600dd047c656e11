"""Bayes-UCB: the bounds of its indices are bounds, and exclude no arm that leads."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.rng import Stream
from bootleader._core.rules import SharedStatistics
from bootleader.policies import bayes_ucb

FAMILIES = ["bernoulli", "gaussian", "exponential", "poisson"]


def drawn_rewards(family, rng, size):
    mean = float(np.exp(rng.uniform(-6.0, 0.0)))
    return {
        "bernoulli": lambda: rng.random(size) < mean,
        "gaussian": lambda: rng.normal(mean, 0.5, size),
        "exponential": lambda: rng.exponential(mean, size),
        "poisson": lambda: rng.poisson(mean, size),
    }[family]().astype(float)


def one_arm(rewards):
    return type("View", (), {"count": np.array([float(len(rewards))]), "mean": np.array([rewards.mean()])})


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", range(60))
def test_an_index_is_between_its_bounds(family, case):
    """After 0 to 99 further rewards and up to twice as many rounds; the upper bound is close before that."""
    rng = np.random.default_rng(case)
    params, memory = bl.BayesUCB(family, sd=0.5).rule.params, np.zeros(bayes_ucb.PLACES)
    size = int(np.exp(rng.uniform(0.0, 9.0)))
    t = max(bayes_ucb.OPTIMISM_GROWS_FROM, 1.0 + size * float(np.exp(rng.uniform(0.0, 5.0))))
    rewards = drawn_rewards(family, rng, size + 99)
    if family == "bernoulli" and case % 3 == 0:
        rewards = rng.beta(0.5, 2.0, size + 99)  # rewards in [0, 1] will do
    before = one_arm(rewards[:size])
    assert bayes_ucb.upper_bound(params, before, memory, 0, math.log(t)) == math.inf
    index = bayes_ucb.index_now(params, before, memory, 0, math.log(t))
    assert bayes_ucb.upper_bound(params, before, memory, 0, math.log(t)) == pytest.approx(index, rel=1e-8)
    known = memory.copy()
    for later in (t, t + 1.0, 1.01 * t, 2.0 * t):
        now = bayes_ucb.index_now(params, before, memory, 0, math.log(later))
        assert now <= bayes_ucb.upper_bound(params, before, known, 0, math.log(later))
        for further in (1, 2, 10, 99):
            after = one_arm(rewards[: size + further])
            shared = SharedStatistics(0.0, later - 1.0, 1, math.inf)
            now = bayes_ucb.index_now(params, after, memory, 0, math.log(later))
            assert bayes_ucb.lower_bound(params, after, known, shared) <= now


@pytest.mark.parametrize("family", FAMILIES)
def test_the_choice_is_an_arm_with_the_largest_quantile(family, monkeypatch):
    """The bounds exclude no arm that has it, and most arms that do not: 1,000 rounds."""
    rule, rng = bl.BayesUCB(family, sd=0.5).rule, np.random.default_rng(4)
    draw = {
        "bernoulli": lambda k: float(rng.random() < (0.5, 0.6, 0.02)[k]), "poisson": lambda k: float(rng.poisson(k)),
        "gaussian": lambda k: rng.normal(0.1 * k, 0.5), "exponential": lambda k: rng.exponential(1.0 + 0.1 * k),
    }[family]  # fmt: skip
    computed = 0
    exact = bayes_ucb.quantile

    def counted(*arguments):
        nonlocal computed
        computed += 1
        return exact(*arguments)

    monkeypatch.setattr(bayes_ucb, "quantile", counted)
    rewards = [[draw(k)] for k in range(3)]
    memory, stream = np.zeros(rule.memory(3, 0)), Stream([1], 0, 0x9E3779B97F4A7C15)
    for t in range(3, 1_000):
        count, mean = np.array([float(len(y)) for y in rewards]), np.array([float(np.mean(y)) for y in rewards])
        arms = type("View", (), {"count": count, "mean": mean})
        chosen = rule.choose(rule.params, arms, memory, SharedStatistics(0.0, t, 3, math.inf), stream)
        indices = [exact(rule.params, s, y, bayes_ucb.log(t + 1.0))[0] for s, y in zip(count, mean, strict=True)]
        assert indices[chosen] == max(indices)
        rewards[chosen].append(draw(chosen))
    assert 100 < computed < 1_300
