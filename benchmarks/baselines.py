"""Baselines: what users would otherwise write. Each is an efficient version of its kind."""

from __future__ import annotations

import math
import random
from typing import Any

import numba
import numpy as np


@numba.njit(parallel=True)
def numba_reboot(means, rounds, sigma_a):  # type: ignore[no-untyped-def]
    """A parallel numba loop with ``np.random.standard_normal``: one run for each row of ``means``."""
    runs, arms = means.shape
    regret = np.zeros(runs)
    for run in numba.prange(runs):
        count, mean, rss = np.zeros(arms), np.zeros(arms), np.zeros(arms)
        best_mean = means[run].max()
        for _ in range(rounds):
            best, arm = -np.inf, 0
            for k in range(arms):
                if count[k] == 0.0:
                    index = np.inf
                else:
                    scale = math.sqrt(rss[k] + 2.0 * (count[k] + 2.0) * sigma_a * sigma_a) / (count[k] + 2.0)
                    index = mean[k] + scale * np.random.standard_normal()
                if index > best:
                    best, arm = index, k
            reward = means[run, arm] + np.random.standard_normal()
            count[arm] += 1.0
            delta = reward - mean[arm]
            mean[arm] += delta / count[arm]
            rss[arm] += delta * (reward - mean[arm])
            regret[run] += best_mean - means[run, arm]
    return regret


def numpy_reboot(means: Any, rounds: int, sigma_a: float, rng: np.random.Generator) -> Any:
    """NumPy vectorised over runs."""
    runs, arms = means.shape
    rows = np.arange(runs)
    count, mean, rss = np.zeros((runs, arms)), np.zeros((runs, arms)), np.zeros((runs, arms))
    scale = np.full((runs, arms), np.inf)
    gaps = means.max(axis=1)[:, None] - means
    regret = np.zeros(runs)
    for played in range(rounds):
        if played < arms:
            arm = np.full(runs, played)
        else:
            arm = np.argmax(mean + scale * rng.standard_normal((runs, arms)), axis=1)
        reward = means[rows, arm] + rng.standard_normal(runs)
        n = count[rows, arm] + 1.0
        delta = reward - mean[rows, arm]
        mean[rows, arm] += delta / n
        squares = rss[rows, arm] + delta * (reward - mean[rows, arm])
        count[rows, arm], rss[rows, arm] = n, squares
        scale[rows, arm] = np.sqrt(squares + 2.0 * (n + 2.0) * sigma_a**2) / (n + 2.0)
        regret += gaps[rows, arm]
    return regret


def python_reboot(means: list[float], rounds: int, sigma_a: float) -> float:
    """A Python loop over rounds and lists, as other bandit libraries run."""
    arms = len(means)
    count, mean, rss = [0] * arms, [0.0] * arms, [0.0] * arms
    scale = [0.0] * arms
    best_mean, regret = max(means), 0.0
    gauss = random.gauss
    for played in range(rounds):
        if played < arms:
            arm = played
        else:
            indices = [m + s * gauss(0.0, 1.0) for m, s in zip(mean, scale, strict=True)]
            arm = indices.index(max(indices))
        reward = means[arm] + gauss(0.0, 1.0)
        count[arm] += 1
        delta = reward - mean[arm]
        mean[arm] += delta / count[arm]
        rss[arm] += delta * (reward - mean[arm])
        s = count[arm]
        scale[arm] = math.sqrt(rss[arm] + 2 * (s + 2) * sigma_a**2) / (s + 2)
        regret += best_mean - means[arm]
    return regret


@numba.njit(cache=True)
def _next(state):  # type: ignore[no-untyped-def]
    """xorshift64*: faster than numba's own generator, so that the direct loops are not slowed by it."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@numba.njit(cache=True)
def direct_giro(means, rounds, a):  # type: ignore[no-untyped-def]
    """Giro by resampling all n draws of the padded history, one array for each arm."""
    arms = means.shape[0]
    history = np.zeros((arms, (1 + 2 * a) * rounds))
    size = np.zeros(arms, np.int64)
    state = np.array([88172645463325252], np.uint64)
    regret = 0.0
    for played in range(rounds):
        best, arm = -np.inf, 0
        for k in range(arms):
            n = np.uint64(size[k])
            index = np.inf
            if n > 0:
                total = 0.0
                for _ in range(size[k]):
                    total += history[k, ((_next(state) >> np.uint64(32)) * n) >> np.uint64(32)]
                index = total / size[k]
            if index > best:
                best, arm = index, k
        n = size[arm]
        history[arm, n] = means[arm] + np.random.standard_normal()
        history[arm, n + 1 + a : n + 1 + 2 * a] = 1.0
        size[arm] += 1 + 2 * a
        regret += means.max() - means[arm]
    return regret


@numba.njit(cache=True)
def direct_two_points(means, rounds, sigma_a, low, high, chance):  # type: ignore[no-untyped-def]
    """ReBoot whose weights are ``high`` with the given chance and ``low`` otherwise, one random number a weight."""
    arms = means.shape[0]
    threshold = np.uint64(chance * 2.0**64)
    history = np.zeros((arms, rounds))
    size, mean = np.zeros(arms, np.int64), np.zeros(arms)
    state = np.array([88172645463325252], np.uint64)
    regret = 0.0
    for played in range(rounds):
        best, arm = -np.inf, 0
        for k in range(arms):
            s = size[k]
            index = np.inf
            if s > 0:
                total = 0.0
                for i in range(s):
                    weight = high if _next(state) < threshold else low
                    total += weight * (history[k, i] - mean[k])
                for sign in (1.0, -1.0):
                    weight = high if _next(state) < threshold else low
                    total += weight * sign * math.sqrt(s + 2.0) * sigma_a
                index = mean[k] + total / (s + 2.0)
            if index > best:
                best, arm = index, k
        reward = means[arm] + np.random.standard_normal()
        history[arm, size[arm]] = reward
        size[arm] += 1
        mean[arm] += (reward - mean[arm]) / size[arm]
        regret += means.max() - means[arm]
    return regret
