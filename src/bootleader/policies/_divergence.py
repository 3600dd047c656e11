"""Kullback-Leibler divergences of one-parameter families, and the upper confidence bounds made of them."""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.elementary import exp, log
from bootleader._core.validation import one_of
from bootleader.policies.base import Knowledge

BERNOULLI, GAUSSIAN, EXPONENTIAL, POISSON = 0.0, 1.0, 2.0, 3.0
FAMILIES: Final = {"bernoulli": BERNOULLI, "gaussian": GAUSSIAN, "exponential": EXPONENTIAL, "poisson": POISSON}
RANGES: Final = {"bernoulli": (0.0, 1.0), "gaussian": (-math.inf, math.inf), "exponential": (0.0, math.inf)}
STEPS: Final = 60  # at most, of the search for a bound; five are usual
PRECISE: Final = 1e-13  # relative change at which the search ends
NEAR_ONE: Final = 1.0 - 2.0**-53


def family_number(family: Any) -> float:
    """A family as a law's parameter, or raise."""
    return FAMILIES[one_of("family", family, tuple(FAMILIES))]


def reward_range(family: str) -> tuple[float, float]:
    """The rewards that a family has."""
    return RANGES.get(family, (0.0, math.inf))


def must_know(family: str) -> tuple[Knowledge, ...]:
    """What a user has to know to use a policy of a family.

    The Bernoulli divergence is valid for all rewards in [0, 1], and the Gaussian one for all with lighter tails.
    """
    known = {"bernoulli": Knowledge.RANGE, "gaussian": Knowledge.SD}
    return (known.get(family, Knowledge.FAMILY),)


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


def _entropy_term(p: Any, q: Any) -> Any:
    """P log(p / q), continued to p = 0."""
    if p <= 0.0:
        return 0.0
    return p * log(p / q) if q > 0.0 else math.inf


def upper_bound(family: Any, sd: Any, mean: Any, level: Any) -> Any:
    """The largest q whose divergence from ``mean`` is at most ``level``.

    The divergence is convex in q and has the derivative (q - mean) / variance(q), so Newton's steps from above the
    bound come down to it.
    """
    if level <= 0.0:
        return mean
    if family == GAUSSIAN:
        return mean + sd * math.sqrt(2.0 * level)
    if family == BERNOULLI:
        if mean >= 1.0:
            return 1.0
        q = min(mean + math.sqrt(0.5 * level), NEAR_ONE)
        if divergence(family, sd, mean, q) <= level:
            return q
    elif mean <= 0.0:
        return level if family == POISSON else 0.0
    elif family == EXPONENTIAL:
        q = mean * exp(level + 1.0)
    else:
        q = mean + level + math.sqrt(2.0 * mean * level) + level
    for _ in range(STEPS):
        if family == BERNOULLI:
            variance = q * (1.0 - q)
        elif family == EXPONENTIAL:
            variance = q * q
        else:
            variance = q
        step = (divergence(family, sd, mean, q) - level) * variance / (q - mean)
        q = max(q - step, mean)
        if step <= PRECISE * abs(q) or q <= mean:
            break
    return q
