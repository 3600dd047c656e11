"""Quantiles of normal, beta and gamma laws, by Newton's or Halley's method for the logarithm of a tail.

Tails of log-concave laws are log-concave, so from the second step on Newton's steps come down to the quantile from one
side. The incomplete beta and gamma functions are continued fractions and series [1]_.

References
----------
.. [1] W. H. Press, S. A. Teukolsky, W. T. Vetterling, B. P. Flannery (2007). Numerical Recipes, chapter 6.
"""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.elementary import exp, log, log1p

TERMS: Final = 2_000  # at most, of a continued fraction or a series; tens are usual
PRECISE: Final = 1e-15  # relative size of a factor or a term at which they end
STEPS: Final = 60  # at most, of Newton's method; three are usual
CLOSE: Final = 1e-7  # relative size of a step after which the next one would be below rounding
CLOSE_BY_HALLEY: Final = 1e-6  # the same for Halley's method, whose errors are cubed
TINY: Final = 1e-300


def log_beta(a: Any, b: Any) -> Any:
    """Log of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def beta_fraction(a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function; converges fast for x < (a + 1) / (a + b + 2)."""
    # Numerators and denominators of the approximants by their recurrences, divided by the last denominator: two
    # divisions for two terms instead of six.
    above, below, value = 1.0, 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    below *= value
    above *= value
    for m in range(1, TERMS):
        n = a + 2.0 * m
        scale = x / ((n - 1.0) * n * (n + 1.0))
        even = m * (b - m) * (n + 1.0) * scale
        odd = -(a + m) * (a + b + m) * (n - 1.0) * scale
        even_above, even_below = value + even * above, 1.0 + even * below
        odd_above, odd_below = even_above + odd * value, even_below + odd
        inverse = 1.0 / odd_below
        above, below = even_above * inverse, even_below * inverse
        before, value = value, odd_above * inverse
        if abs(value - before) < PRECISE * abs(value):
            break
    return value


def beta_quantile(a: Any, b: Any, log_norm: Any, log_tail: Any) -> Any:
    """The x with P(Beta(a, b) > x) = exp(log_tail); ``log_norm`` is log B(a, b)."""
    if log_tail >= 0.0:
        return 0.0
    # The logit is nearly normal, with variance 1/a + 1/b; z is about the normal quantile.
    z = math.sqrt(max(-2.0 * log_tail - log(1.0 - 12.566370614359172 * log_tail), 0.0))
    x = 1.0 / (1.0 + b / a * exp(-min(z * math.sqrt(1.0 / a + 1.0 / b), 30.0)))
    x = min(x, 1.0 - 1e-15)
    for _ in range(STEPS):
        front = exp(a * log(x) + b * log1p(-x) - log_norm)
        if x > (a + 1.0) / (a + b + 2.0):
            tail = front * beta_fraction(b, a, 1.0 - x) / b
        else:
            tail = 1.0 - front * beta_fraction(a, b, x) / a
        hazard = max(front, TINY) / (max(tail, TINY) * x * (1.0 - x))
        newton = (log(max(tail, TINY)) - log_tail) / hazard
        curvature = (a - 1.0) / x - (b - 1.0) / (1.0 - x) + hazard
        new = x + newton / max(1.0 + 0.5 * newton * curvature, 0.5)  # Halley's step
        if new >= 1.0:
            new = 0.5 * (x + 1.0)
        elif new <= 0.0:
            new = 0.5 * x
        done = abs(new - x) <= CLOSE_BY_HALLEY * min(x, 1.0 - x)
        x = new
        if done:
            break
    return x


def gamma_quantile(shape: Any, upper: Any, log_tail: Any) -> Any:
    """The x with P(Gamma(shape) > x), or P(Gamma(shape) < x) if not ``upper``, equal to exp(log_tail)."""
    log_norm = math.lgamma(shape)
    spread = math.sqrt(-2.0 * log_tail * shape)
    x = shape + spread - log_tail if upper else shape * exp(-min(spread / shape, 700.0))
    side = 1.0 if upper else -1.0
    for _ in range(STEPS):
        front = exp(shape * log(x) - x - log_norm)
        tail = gamma_tail(shape, x, front, upper)
        step = side * (log(max(tail, TINY)) - log_tail) * max(tail, TINY) * x / max(front, TINY)
        new = x + step if x + step > 0.0 else 0.5 * x
        done = abs(new - x) <= CLOSE * x
        x = new
        if done:
            break
    return x


def gamma_tail(shape: Any, x: Any, front: Any, upper: Any) -> Any:
    """P(Gamma(shape) > x), or of the other side; ``front`` is x times the density at x."""
    if x < shape + 1.0:
        term, total, n = 1.0 / shape, 1.0 / shape, shape
        for _ in range(TERMS):
            n += 1.0
            term *= x / n
            total += term
            if term < PRECISE * total:
                break
        return 1.0 - front * total if upper else front * total
    b = x + 1.0 - shape
    c, d = 1.0 / TINY, 1.0 / b
    h = d
    for i in range(1, TERMS):
        a = -i * (i - shape)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        h *= d * c
        if abs(d * c - 1.0) < PRECISE:
            break
    return front * h if upper else 1.0 - front * h


def normal_quantile(log_tail: Any) -> Any:
    """The z with P(N(0, 1) > z) = exp(log_tail), for tails of at most 1/2."""
    z = math.sqrt(max(0.0, -2.0 * log_tail - 1.3862943611198906))
    for _ in range(STEPS):
        tail = 0.5 * math.erfc(z * math.sqrt(0.5))
        density = exp(-0.5 * z * z) * 0.3989422804014327
        step = (log(tail) - log_tail) * tail / density
        z = max(z + step, 0.0)
        if abs(step) <= CLOSE * (1.0 + z):
            break
    return z
