"""Indices of a contextual bandit's kernel: from a law for each arm, or from one draw of the coefficients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bootleader._core.elementary import log
from bootleader._core.linear_model import effective_count
from bootleader._core.linear_rules import LinearArm
from bootleader._core.rng import below, next_word
from bootleader._core.rules import Noise, SharedStatistics
from bootleader._core.sampling import accepted_normal, fair_binomial, finish_normal, rejected, studentise

NONE, NORMAL, STUDENT, FAIR_COINS, OPTIMISM = (int(noise) for noise in Noise)

# Filled in by `kernel_for` and `plain_parts_for` of :mod:`.linear`.
law_of: Any = None


def draw_coefficients(models, scratch, noise_sd, noise, spare):
    """Coefficients drawn from N(coefficients, noise_sd^2 V^-1)."""
    root, drawn, normals = models.root[0], scratch.coefficients, scratch.normals
    d = drawn.shape[0]
    for j in range(d):
        normals[j] = finish_normal(next_word(noise), spare)
        drawn[j] = 0.0
    for j in range(d):
        for i in range(j + 1):
            drawn[i] += root[j, i] * normals[j]
    for j in range(d):
        drawn[j] = models.coefficients[0, j] + noise_sd * drawn[j]


def joint_indices(features, run, noise, spare):
    """Every arm's index from one draw of the coefficients that they share."""
    draw_coefficients(run.models, run.scratch, run.arms.noise_sd[0], noise, spare)
    d, count = features.shape
    drawn, index = run.scratch.coefficients, run.arms.indices
    for k in range(count):
        index[k] = 0.0
    for j in range(d):
        coefficient = drawn[j]
        for k in range(count):
            index[k] += coefficient * features[j, k]


def law_at(plan, run, k, pulls):
    """Location, scale and shape of one arm's index."""
    models, arms = run.models, run.arms
    m = k if plan.disjoint else 0
    squares = models.squares[m] * models.squares[m]
    return law_of(
        plan.law,
        plan.params,
        LinearArm(
            arms.location[k],
            effective_count(models.count[m], arms.slopes[k], models.centred[m] != 0.0),
            models.count[m],
            models.freedom[m],
            models.rss[m],
            models.fourth[m] / squares if squares > 0.0 else np.inf,
            arms.noise_sd[k],
            arms.count[k],
            arms.anchor[k] + arms.drift[k],
            arms.rss[k],
        ),
        SharedStatistics(run.pooled[0], pulls, arms.mean.shape[0], plan.horizon, run.pooled[1]),
    )


def correlated_noise(plan, run, features, noise, spare):
    """Standard normals, one for each arm, correlated like the predictions of the model that the arms share."""
    models, arms, normals, direction = run.models, run.arms, run.scratch.normals, run.scratch.coefficients
    root, drawn = models.root[0], run.scratch.noise
    d, count = features.shape
    intercept = models.centred[0] != 0.0
    common = finish_normal(next_word(noise), spare) / math.sqrt(models.count[0]) if intercept else 0.0
    for j in range(d):
        normals[j] = finish_normal(next_word(noise), spare)
        direction[j] = 0.0
    for j in range(d):
        for i in range(j + 1):
            direction[i] += root[j, i] * normals[j]
    for j in range(d):
        common -= (models.anchor[0, j] + models.mean[0, j]) * direction[j]
    for k in range(count):
        drawn[k] = common
    for j in range(d):
        step = direction[j]
        for k in range(count):
            drawn[k] += step * features[j, k]
    for k in range(count):
        drawn[k] *= math.sqrt(effective_count(models.count[0], arms.slopes[k], intercept))


def independent_indices(plan, run, features, pulls, noise, spare):
    """Every arm's index with noise of its own; the stream ``noise`` gives one word an arm."""
    common = 1.0
    arms, words, drawn = run.arms, run.scratch.words, run.scratch.noise
    count = arms.mean.shape[0]
    undecided = 0
    if plan.correlated:
        correlated_noise(plan, run, features, noise, spare)
    elif plan.noise == NORMAL or plan.noise == STUDENT:
        for k in range(count):
            words[k] = next_word(noise)
        for k in range(count):
            undecided += 1 if rejected(words[k]) else 0
            drawn[k] = accepted_normal(words[k])
    optimism = math.sqrt(2.0 * log(float(max(pulls, 1)))) if plan.noise == OPTIMISM else 0.0
    for k in range(count):
        location, scale, shape = law_at(plan, run, k, pulls)
        value = drawn[k]
        if undecided > 0 and rejected(words[k]):
            value = finish_normal(words[k], spare)
        if plan.noise == STUDENT and shape != np.inf:
            if not plan.correlated:
                value = studentise(value, shape, spare)
            elif k == 0:
                common = studentise(1.0, shape, spare)
                value *= common
            else:
                value *= common
        elif plan.noise == FAIR_COINS:
            value = fair_binomial(shape, spare)
        elif plan.noise == OPTIMISM:
            value = optimism
        elif plan.noise == NONE:
            value = 0.0
        arms.indices[k] = location + scale * value


def leading_arm(index, spare):
    """The arm with the largest index, ties broken uniformly at random."""
    best, ties, first = -np.inf, 0, 0
    for k in range(index.shape[0]):
        if ties == 0 or index[k] > best:
            best, ties, first = index[k], 1, k
        elif index[k] == best:
            ties += 1
    if ties > 1:
        left = below(spare, ties)
        for k in range(index.shape[0]):
            if index[k] == best:
                if left == 0:
                    return k
                left -= 1
    return first
