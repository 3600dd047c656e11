"""Maillard sampling: the bounds of its weights are bounds, and tell the arm that the weights tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.rules import SharedStatistics
from bootleader.policies import maillard_sampling as maillard
from bootleader.policies._divergence import coordinate
from bootleader.policies._probability_choice import arm_at

FAMILIES = ["bernoulli", "gaussian", "exponential", "poisson"]


def two_arms(count, mean, largest):
    return type("View", (), {"count": np.array([count, 1e6]), "mean": np.array([mean, largest])})


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", range(100))
def test_a_weight_is_between_its_bounds(family, case):
    rng = np.random.default_rng(case)
    params = bl.KLMaillardSampling(family, sd=0.7).rule.params
    count, mean = float(np.exp(rng.uniform(0.0, 9.0)) // 1.0), float(rng.uniform(0.0 if case % 4 else -0.01, 1.0))
    mean = max(mean, 0.0)
    evidence = float(np.exp(rng.uniform(-4.0, 4.0)))
    gap = math.sqrt(2.0 * evidence / count) * (mean if family == "exponential" else 0.3)
    largest = min(mean + gap, 1.0) if family == "bernoulli" else mean + gap
    memory, x = np.zeros(2 * maillard.PLACES), coordinate(params[0], largest)
    maillard.renew_bounds(params, two_arms(count, mean, largest), memory, 0, largest, x)
    low, high, radius = memory[maillard.LOW], memory[maillard.HIGH], memory[maillard.RADIUS]
    for part in (-1.0, -0.5, -0.01, 0.0, 0.01, 0.5, 1.0):
        near = coordinate(params[0], x + part * radius) if radius > 0.0 else largest
        if near >= mean and (family != "bernoulli" or near <= 1.0):
            weight = math.exp(-maillard.evidence_against(params, two_arms(count, mean, near), 0, near))
            assert low <= weight <= high
    assert high <= max(1.06 * math.exp(-maillard.evidence_against(params, two_arms(count, mean, x), 0, largest)), 0.002)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_bounds_tell_the_arm_that_the_weights_tell(family):
    """Where they tell one, which is mostly; ties of means included. 3,000 rounds."""
    rule, rng = bl.KLMaillardSampling(family, sd=0.5).rule, np.random.default_rng(4)
    draw = {
        "bernoulli": lambda k: float(rng.random() < (0.5, 0.6, 0.02)[k]), "poisson": lambda k: float(rng.poisson(k)),
        "gaussian": lambda k: rng.normal(0.1 * k, 0.5), "exponential": lambda k: rng.exponential(1.0 + 0.1 * k),
    }[family]  # fmt: skip
    shared = SharedStatistics(0.0, 0, 3, math.inf)
    count, total = np.ones(3), np.array([draw(k) for k in range(3)])
    memory, exact, told = np.zeros(rule.memory(3, 0)), np.zeros(rule.memory(3, 0)), 0
    for _ in range(3_000):
        arms = type("View", (), {"count": count, "mean": total / count})
        leader, u = int(np.argmax(arms.mean)), rng.random()
        sum_of_weights = maillard.weigh(rule.params, arms, exact, shared, arms.mean[leader])
        expected = arm_at(u * sum_of_weights, exact, maillard.WEIGHT, maillard.PLACES, 3)
        chosen = maillard.bounded_choice(rule.params, arms, memory, shared, leader, u)
        assert chosen in (expected, -1)
        told += chosen >= 0
        count[expected] += 1.0
        total[expected] += draw(expected)
    assert told > 2_500
