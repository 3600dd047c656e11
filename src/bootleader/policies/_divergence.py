"""Kullback-Leibler divergences of one-parameter families, and the upper confidence bounds made of them.

References
----------
.. [1] R. M. Corless, G. H. Gonnet, D. E. G. Hare, D. J. Jeffrey, D. E. Knuth (1996). On the Lambert W function.
   Advances in Computational Mathematics 5.
"""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.elementary import exp, log
from bootleader._core.validation import one_of

BERNOULLI, GAUSSIAN, EXPONENTIAL, POISSON = 0.0, 1.0, 2.0, 3.0
FAMILIES: Final = {"bernoulli": BERNOULLI, "gaussian": GAUSSIAN, "exponential": EXPONENTIAL, "poisson": POISSON}
STEPS: Final = 60  # at most, of the search for a bound; five are usual
PRECISE: Final = 1e-13  # relative change at which the search ends
CLOSE: Final = 1e-7  # relative change after which the next one would be below that: errors are squared
# Of -W(-exp(-1 - u^2 / 2)) with W Lambert's function, from the highest power of u down.
EXPANSION: Final = (1 / 204120, 139 / 5443200, 1 / 17010, -1 / 4320, -1 / 270, -1 / 36, 1 / 3, -1.0, 1.0)
SMALLEST: Final = 2.0**-1000  # stands for a mean of 0
NEAR_ONE: Final = 1.0 - 2.0**-53


def family_number(family: Any) -> float:
    """A family as a law's parameter, or raise."""
    return FAMILIES[one_of("family", family, tuple(FAMILIES))]


def divergence(family: Any, sd: Any, p: Any, q: Any) -> Any:
    """The divergence from mean p to mean q; ``sd`` is the Gaussian family's."""
    if family == BERNOULLI:
        return _entropy_term(p, q) + _entropy_term(1.0 - p, 1.0 - q)
    if family == GAUSSIAN:
        return (p - q) * (p - q) / (2.0 * sd * sd)
    if p == q:
        return 0.0
    if family == EXPONENTIAL:
        return p / q - 1.0 - log(p / q) if p > 0.0 else math.inf
    return q - p + _entropy_term(p, q)


def coordinate(family: Any, q: Any) -> Any:
    """The function of q in which the divergence from any p to q is convex: 1 / q for exponential rewards, else q."""
    return 1.0 / q if family == EXPONENTIAL and q > 0.0 else q


def slope(family: Any, sd: Any, p: Any, q: Any) -> Any:
    """Derivative of the divergence from p to q by :func:`coordinate`; infinite where q is at the end of the range."""
    if family == GAUSSIAN:
        return (q - p) / (sd * sd)
    if q <= 0.0 or (family == BERNOULLI and q >= 1.0):
        return math.inf
    if family == BERNOULLI:
        return (q - p) / (q * (1.0 - q))
    return p - q if family == EXPONENTIAL else 1.0 - p / q


def _entropy_term(p: Any, q: Any) -> Any:
    """P log(p / q), continued to p = 0."""
    if p <= 0.0:
        return 0.0
    return p * log(p / q) if q > 0.0 else math.inf


def upper_bound(family: Any, sd: Any, mean: Any, level: Any) -> Any:
    """The largest q whose divergence from ``mean`` is at most ``level``."""
    if level <= 0.0:
        return mean
    if family == GAUSSIAN:
        return mean + sd * math.sqrt(2.0 * level)
    if family == BERNOULLI:
        return bernoulli_bound(mean, level)
    if mean <= 0.0:
        return level if family == POISSON else 0.0
    return mean / exponential_ratio(level) if family == EXPONENTIAL else poisson_bound(mean, level)


def exponential_ratio(level: Any) -> Any:
    """The y = mean / q below 1 with y - 1 - log y = level.

    It is a value of Lambert's function [1]_: the expansion for small levels, then Newton's steps.
    """
    u = math.sqrt(2.0 * level)
    y = exp(-1.0 - level) if u > 1.5 else 0.0
    if u <= 1.5:
        for coefficient in EXPANSION:
            y = y * u + coefficient
        if u < 0.04:  # what the expansion leaves out is below rounding
            return min(y, NEAR_ONE)
    for _ in range(STEPS):
        step = (y - 1.0 - log(y) - level) * y / (1.0 - y)
        y = min(y + step, NEAR_ONE)
        if abs(step) <= CLOSE * y * (1.0 - y):
            break
    return y


def poisson_bound(mean: Any, level: Any) -> Any:
    """The q above the mean with q - mean + mean log(mean / q) = level: convex, so Newton's steps come down to it."""
    q = mean + 2.0 * level + math.sqrt(2.0 * mean * level)
    for _ in range(STEPS):
        step = (q - mean + mean * log(mean / q) - level) * q / (q - mean)
        q = max(q - step, mean)
        if step <= PRECISE * q or q <= mean:
            break
    return q


def bernoulli_bound(mean: Any, level: Any) -> Any:
    """The bound of the Bernoulli family by one or two of Halley's steps, with a relative error below 1e-9.

    The start is the root of the divergence's expansion to fourth order or, where the level is high, of its lower bound
    mean log(mean) + (1 - mean) log((1 - mean) / (1 - q)).
    """
    if level <= 0.0:
        return mean
    if mean >= 1.0:
        return 1.0
    p = max(mean, SMALLEST)
    rest = 1.0 - p
    variance = p * rest
    spread = math.sqrt(2.0 * variance * level)
    if level > 0.4 or spread > 0.8 * rest:
        most = min(1.0 - rest * exp((p * log(p) - level) / rest), NEAR_ONE)
        return _halley_step(p, rest, level, _halley_step(p, rest, level, most, most), most)
    most = min(p + math.sqrt(0.5 * level), NEAR_ONE)  # Pinsker's inequality
    ratio = level / variance
    q = p + spread * (1.0 + ratio * (1.0 - 13.0 * variance) / 18.0) + (2.0 / 3.0) * level * (rest - p)
    if ratio > 1.0 and (q > most or q < p + 0.5 * spread):
        q = most
    q = _halley_step(p, rest, level, q, most)
    return q if ratio < 0.2 else _halley_step(p, rest, level, q, most)


def _halley_step(p: Any, rest: Any, level: Any, q: Any, most: Any) -> Any:
    """One step towards the q at which the Bernoulli divergence from p = 1 - rest is the level."""
    off, variance = q - p, q * (1.0 - q)
    if off <= 0.0:
        return q
    newton = (p * log(p / q) + rest * log(rest / (1.0 - q)) - level) * variance / off
    step = newton / max(1.0 - 0.5 * newton * (off * off + p * rest) / (variance * off), 0.5)
    return max(min(q - step, most), p)
