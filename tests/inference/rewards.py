# ruff: noqa: NPY002, SIM109  (numba compiles the legacy generators only)
"""Rewards of known means for the measurements of this folder, drawn with NumPy's generators: compiled."""

from __future__ import annotations

import math

import numpy as np

from bootleader._core.disk_cache import kernel

GAUSS, EXPONENTIAL, BERNOULLI, REVENUE, STUDENT_T, JACKPOT, PARETO, LOGNORMAL, POISSON, NEGATIVE, CAPPED, BETA = range(
    12
)
TWO_POINT, LATTICE_JACKPOT, CONTAMINATED, WEIBULL, GAMMA, GROWING, BURSTS, COST, VARIED_JACKPOT = range(12, 21)


@kernel
def draw(family, first, second, third, before=0.0):
    """A reward of an arm that has had ``before`` rewards."""
    if family == GAUSS:
        return np.random.normal(first, second)
    if family == EXPONENTIAL:
        return first + second * np.random.exponential(1.0)
    if family == BERNOULLI:
        return 1.0 if np.random.random() < first else 0.0
    if family == REVENUE or family == CAPPED or family == COST:
        if np.random.random() >= third:
            return 0.0
        amount = math.exp(np.random.normal(first, second))
        if family == COST:
            return -amount
        return min(amount, 50.0) if family == CAPPED else amount
    if family == STUDENT_T:
        return first + second * np.random.standard_t(third)
    if family == JACKPOT:
        return np.random.normal(first, 1.0) + (second if np.random.random() < third else 0.0)
    if family == VARIED_JACKPOT:
        return np.random.normal(first, 1.0) + (np.random.exponential(second) if np.random.random() < third else 0.0)
    if family == PARETO:
        return first + second * np.random.pareto(third)
    if family == LOGNORMAL:
        return math.exp(np.random.normal(first, second))
    if family == POISSON:
        return float(np.random.poisson(first))
    if family == NEGATIVE:
        return first - second * np.random.exponential(1.0)
    if family == BETA:
        return np.random.beta(second, third)
    if family == TWO_POINT:
        return second if np.random.random() < third else first
    if family == LATTICE_JACKPOT:
        return first + (1.0 if np.random.random() < 0.5 else -1.0) + (second if np.random.random() < third else 0.0)
    if family == CONTAMINATED:
        return first + np.random.normal(0.0, second if np.random.random() < third else 1.0)
    if family == WEIBULL:
        return first + second * np.random.weibull(third)
    if family == GAMMA:
        return first + np.random.gamma(third, second)
    if family == GROWING:
        return np.random.normal(first, 1.0 + second * before / third)
    return np.random.normal(first, second if (before // third) % 2 == 1 else 1.0)
