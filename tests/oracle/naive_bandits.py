"""A slow, obvious twin of every bandit: it draws with NumPy's generator, and imports nothing of the library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

Rng = np.random.Generator
Pay = Callable[[], float]
DrawArms = Callable[[Rng], tuple[list[float], list[Pay]]]
"""Draws a run's arms: their means, and for each a function that draws one reward."""


def _arms(means: Callable[[Rng], Sequence[float]], pays: Callable[[int, float, Rng], Pay]) -> DrawArms:
    def draw(rng: Rng) -> tuple[list[float], list[Pay]]:
        drawn = [float(mean) for mean in means(rng)]
        return drawn, [pays(k, mean, rng) for k, mean in enumerate(drawn)]

    return draw


def fixed(*means: float) -> Callable[[Rng], Sequence[float]]:
    return lambda rng: means


def uniform_means(low: float, high: float, arms: int) -> Callable[[Rng], Sequence[float]]:
    return lambda rng: [rng.uniform(low, high) for _ in range(arms)]


def gaussian(means: Callable[[Rng], Sequence[float]], sd: float | Sequence[float] = 1.0) -> DrawArms:
    def pays(k: int, mean: float, rng: Rng) -> Pay:
        own = sd if isinstance(sd, float) else sd[k]
        return lambda: rng.normal(mean, own)

    return _arms(means, pays)


def gaussian_log_uniform(means: Callable[[Rng], Sequence[float]], low: float, high: float) -> DrawArms:
    def pays(k: int, mean: float, rng: Rng) -> Pay:
        own = math.exp(rng.uniform(math.log(low), math.log(high)))
        return lambda: rng.normal(mean, own)

    return _arms(means, pays)


def exponential(means: Callable[[Rng], Sequence[float]], shift: float) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: shift + rng.exponential(mean - shift))


def logistic(means: Callable[[Rng], Sequence[float]], sd: float) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: rng.logistic(mean, sd * math.sqrt(3) / math.pi))


def student_t(means: Callable[[Rng], Sequence[float]], df: float, sd: float) -> DrawArms:
    true_sd = math.sqrt(df / (df - 2))
    return _arms(means, lambda k, mean, rng: lambda: mean + sd * rng.standard_t(df) / true_sd)


def bernoulli(means: Callable[[Rng], Sequence[float]]) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: float(rng.random() < mean))


def revenue(means: Callable[[Rng], Sequence[float]], conversion: float, sigma: float) -> DrawArms:
    def pays(k: int, mean: float, rng: Rng) -> Pay:
        amount = mean / conversion / math.exp(sigma**2 / 2)
        return lambda: amount * rng.lognormal(0.0, sigma) if rng.random() < conversion else 0.0

    return _arms(means, pays)


def normal_means(mean: float, sd: float, arms: int) -> Callable[[Rng], Sequence[float]]:
    return lambda rng: [rng.normal(mean, sd) for _ in range(arms)]


def beta_means(a: float, b: float, arms: int) -> Callable[[Rng], Sequence[float]]:
    return lambda rng: [rng.beta(a, b) for _ in range(arms)]


def poisson(means: Callable[[Rng], Sequence[float]]) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: float(rng.poisson(mean)))


def gamma(means: Callable[[Rng], Sequence[float]], shape: float) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: rng.gamma(shape, mean / shape))


def beta(means: Callable[[Rng], Sequence[float]], concentration: float) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: rng.beta(concentration * mean, concentration * (1 - mean)))


def pareto(means: Callable[[Rng], Sequence[float]], alpha: float) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: mean * (alpha - 1) / alpha * (1.0 + rng.pareto(alpha)))


def lognormal(means: Callable[[Rng], Sequence[float]], sigma: float) -> DrawArms:
    return _arms(means, lambda k, mean, rng: lambda: rng.lognormal(math.log(mean) - sigma**2 / 2, sigma))


def affine(draw_arms: DrawArms, scale: float, shift: float) -> DrawArms:
    def draw(rng: Rng) -> tuple[list[float], list[Pay]]:
        means, pays = draw_arms(rng)
        return [scale * mean + shift for mean in means], [lambda pay=pay: scale * pay() + shift for pay in pays]

    return draw


def mixture(*components: tuple[float, DrawArms]) -> DrawArms:
    def draw(rng: Rng) -> tuple[list[float], list[Pay]]:
        weights = [weight for weight, _ in components]
        drawn = [draw_arms(rng) for _, draw_arms in components]
        means = [float(mean) for mean in np.average([m for m, _ in drawn], axis=0, weights=weights)]

        def pays(k: int) -> Pay:
            return lambda: drawn[rng.choice(len(weights), p=weights)][1][k]()

        return means, [pays(k) for k in range(len(means))]

    return draw


def empirical(samples: Sequence[Sequence[float]]) -> DrawArms:
    means = [float(np.mean(sample)) for sample in samples]
    return _arms(fixed(*means), lambda k, mean, rng: lambda: float(rng.choice(samples[k])))
