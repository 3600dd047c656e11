"""Slow and obvious: the probability that each variable is the largest, in many digits and on a very fine grid."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from scipy.special import stdtr

INF = float("inf")


def digits_cdf(z: Any, df: float) -> Any:
    if df == INF:
        return mpmath.ncdf(z)
    if df == 1:
        return mpmath.atan2(1, -z) / mpmath.pi
    z = mpmath.mpf(z)
    tail = mpmath.betainc(df / 2, 0.5, 0, df / (df + z * z), regularized=True) / 2
    return 1 - tail if z > 0 else tail


def digits_pdf(z: Any, df: float) -> Any:
    if df == INF:
        return mpmath.npdf(z)
    peak = mpmath.gamma((df + 1) / 2) / mpmath.gamma(df / 2) / mpmath.sqrt(df * mpmath.pi)
    return peak * (1 + z * z / mpmath.mpf(df)) ** (-(df + 1) / 2)


def digits_winning(k: int, location: Any, scale: Any, df: Any) -> float:
    """P(variable k is the largest), integrated between every multiple of every scale around every location."""
    normal, student = (0.0, 1, 2, 3.5, 6, 14), [0.5 * 3.0**i for i in range(36)]
    with mpmath.workdps(25):
        places = {-mpmath.inf, mpmath.inf}
        for m, s, n in zip(location, scale, df, strict=True):
            for step in normal if n == INF else (0.0, *student):
                places |= {mpmath.mpf(m) + mpmath.mpf(step) * s, mpmath.mpf(m) - mpmath.mpf(step) * s}

        def density(x: Any) -> Any:
            value = digits_pdf((x - location[k]) / mpmath.mpf(scale[k]), df[k]) / scale[k]
            if value < mpmath.mpf(10) ** -40:
                return value * 0
            for j, (m, s, n) in enumerate(zip(location, scale, df, strict=True)):
                if j != k:
                    value *= digits_cdf((x - m) / mpmath.mpf(s), n)
            return value

        return float(mpmath.quad(density, sorted(places), maxdegree=5))


CASES = {
    "two normals": ([0.0, 1.0], [1.0, 2.0], [INF, INF]),
    "scales a million million apart": ([0.0, 0.1, -0.2], [1.0, 1e-12, 1e-6], [INF] * 3),
    "one much wider": ([5.0, 0.0, 4.999999], [1e-7, 1e5, 2e-6], [INF] * 3),
    "far from zero": ([1e9, 1e9 + 1e-3, 1e9 - 2e-3], [1e-3, 2e-3, 5e-3], [INF] * 3),
    "hopeless arm": ([0.0, 30.0], [1.0, 3.0], [INF, INF]),
    "Cauchy beside normal": ([0.0, 0.5], [1.0, 0.2], [1.0, INF]),
    "Cauchy a million times narrower": ([0.0, 0.5], [1.0, 1e-6], [1.0, 1.0]),
    "Students": ([0.0, 0.3, 0.1], [1.0, 0.5, 3.0], [2.0, 5.0, 11.0]),
    "fractional degrees": ([0.0, 0.3], [1.0, 0.5], [1.5, 7.3]),
}


def random_laws(arms: int, seed: int, orders: float, student: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-orders, 0.0, arms)
    df = rng.choice([1.0, 2.0, 3.0, 5.0, 11.0, INF], arms) if student else np.full(arms, INF)
    return rng.normal(size=arms) * 0.3, scale, df


def on_a_fine_grid(location: Any, scale: Any, df: Any, finest: int) -> Any:
    """The same integral by another route: a grid far finer than is needed, outwards from every location."""
    from numpy.polynomial.legendre import leggauss

    steps = np.concatenate([[0.0], np.geomspace(1e-2, 1e16, finest)])
    edges = np.unique([m + sign * s * steps for m, s in zip(location, scale, strict=True) for sign in (-1, 1)])
    nodes, weights = leggauss(8)
    wins = np.zeros(len(location))
    for part in np.array_split(np.arange(len(edges) - 1), 1 + len(edges) // 2000):
        width = (edges[part + 1] - edges[part])[:, None]
        x = (edges[part][:, None] + width * 0.5 * (nodes + 1)).ravel()
        z = (x[None] - location[:, None]) / scale[:, None]
        n = np.where(np.isinf(df), 1e300, df)[:, None]
        from scipy.special import gammaln, ndtr

        cdf = np.where(np.isinf(df)[:, None], ndtr(z), stdtr(np.minimum(n, 1e10), z))
        peak = np.exp(gammaln(0.5 * (np.minimum(n, 1e10) + 1)) - gammaln(0.5 * np.minimum(n, 1e10)))
        student = peak / np.sqrt(np.minimum(n, 1e10) * np.pi) * (1 + z * z / n) ** (-0.5 * (np.minimum(n, 1e10) + 1))
        pdf = np.where(np.isinf(df)[:, None], np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi), student) / scale[:, None]
        log_cdf = np.log(np.maximum(cdf, 1e-300))
        others = np.exp(log_cdf.sum(axis=0) - log_cdf)
        wins += (pdf * others * (width * 0.5 * weights).ravel()).sum(axis=1)
    return wins
