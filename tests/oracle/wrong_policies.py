"""Policies of :mod:`tests.oracle.naive` with a plausible mistake each, which the statistical tests must reject."""

from __future__ import annotations

import math

import numpy as np

from tests.oracle.naive import Index, draw_weights, mean, reboot
from tests.oracle.naive_bandits import Rng


def reboot_variance(sigma_a: float) -> Index:
    """The paper's efficient-implementation section: RSS/s^2, which is vanilla and has no exploration aid."""

    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        rss = np.sum((y - mean(y)) ** 2)
        return float(rng.normal(mean(y), math.sqrt(rss) / len(y)))

    return index


def reboot_divisor(sigma_a: float) -> Index:
    """Pseudo residuals added, but the mean taken over s instead of s + 2."""
    return lambda y, rng, arm, t: float(mean(y) + (reboot(sigma_a)(y, rng, arm, t) - mean(y)) * (len(y) + 2) / len(y))


def reboot_one_pseudo_residual(sigma_a: float) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s = len(y)
        residuals = np.append(y - mean(y), math.sqrt(s + 2) * sigma_a)
        return float(mean(y) + np.sum(rng.standard_normal(s + 1) * residuals) / (s + 2))

    return index


def thompson_scale() -> Index:
    """The posterior variance used as a standard deviation."""
    return lambda y, rng, arm, t: float(rng.normal(np.sum(y) / (len(y) + 1), 1 / (len(y) + 1)))


def giro_size(a: float = 1.0) -> Index:
    """A bootstrap sample of s draws instead of the padded history's own size."""

    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        each = round(a * len(y))
        padded = np.concatenate([y, np.zeros(each), np.ones(each)])
        return float(padded[rng.integers(len(padded), size=len(y))].mean())

    return index


def phe_floor(a: float = 2.1) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        coins = rng.integers(2, size=math.floor(a * len(y)))
        return float((np.sum(y) + np.sum(coins)) / (len(y) + len(coins)))

    return index


def student_freedom() -> Index:
    """A normal where a Student variable belongs."""

    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s = len(y)
        return float(rng.normal(mean(y), math.sqrt(np.sum((y - mean(y)) ** 2) / (s * (s - 1)))))

    return index


def mammen_swapped(sigma_a: float) -> Index:
    """Mammen's two values with their probabilities exchanged."""

    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s = len(y)
        pseudo = math.sqrt(s + 2) * sigma_a
        residuals = np.concatenate([y - mean(y), [pseudo, -pseudo]])
        weights = -draw_weights("mammen", s + 2, rng)
        return float(mean(y) + np.sum(weights * residuals) / (s + 2))

    return index


def ucb1_factor(sd: float = 1.0) -> Index:
    """The 2 forgotten under the root."""
    return lambda y, rng, arm, t: float(mean(y) + sd * math.sqrt(math.log(t) / len(y)))
