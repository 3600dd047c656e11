"""Quantiles of normal, beta and gamma laws; the last two by Halley's method for the logarithm of a tail.

The incomplete beta and gamma functions are continued fractions and series [1]_.

References
----------
.. [1] W. H. Press, S. A. Teukolsky, W. T. Vetterling, B. P. Flannery (2007). Numerical Recipes, chapter 6.
.. [2] M. J. Wichura (1988). Algorithm AS 241: the percentage points of the normal distribution. Applied Statistics 37.
.. [3] M. Abramowitz, I. A. Stegun (1964). Handbook of Mathematical Functions, 7.1.13.
"""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.elementary import exp, log, log1p

TERMS: Final = 2_000  # at most, of a continued fraction or a series; tens are usual
PRECISE: Final = 1e-15  # relative size of a factor or a term at which they end
STEPS: Final = 60  # at most, of Halley's method; two or three are usual
CLOSE: Final = 1e-6  # relative size of a step after which the next one would be below rounding: errors are cubed
TINY: Final = 1e-300

LOG_HALF: Final = -0.6931471805599453
LOG_MIDDLE: Final = -2.590267165445825  # log of 0.075: the middle of the normal law
# Coefficients of algorithm AS 241: numerator and denominator in turn, from the highest power down.
MIDDLE: Final = (
    2.5090809287301226727e3, 5.2264952788528545610e3, 3.3430575583588128105e4, 2.8729085735721942674e4,
    6.7265770927008700853e4, 3.9307895800092710610e4, 4.5921953931549871457e4, 2.1213794301586595867e4,
    1.3731693765509461125e4, 5.3941960214247511077e3, 1.9715909503065514427e3, 6.8718700749205790830e2,
    1.3314166789178437745e2, 4.2313330701600911252e1, 3.3871328727963666080, 1.0,
)  # fmt: skip
TAIL: Final = (
    7.74545014278341407640e-4, 1.05075007164441684324e-9, 2.27238449892691845833e-2, 5.47593808499534494600e-4,
    2.41780725177450611770e-1, 1.51986665636164571966e-2, 1.27045825245236838258, 1.48103976427480074590e-1,
    3.64784832476320460504, 6.89767334985100004550e-1, 5.76949722146069140550, 1.67638483018380384940,
    4.63033784615654529590, 2.05319162663775882187, 1.42343711074968357734, 1.0,
)  # fmt: skip
FAR_TAIL: Final = (
    2.01033439929228813265e-7, 2.04426310338993978564e-15, 2.71155556874348757815e-5, 1.42151175831644588870e-7,
    1.24266094738807843860e-3, 1.84631831751005468180e-5, 2.65321895265761230930e-2, 7.86869131145613259100e-4,
    2.96560571828504891230e-1, 1.48753612908506148525e-2, 1.78482653991729133580, 1.36929880922735805310e-1,
    5.46378491116411436990, 5.99832206555887937690e-1, 6.65790464350110377720, 1.0,
)  # fmt: skip


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


def beta_quantile(a: Any, b: Any, log_tail: Any) -> tuple[Any, Any]:
    """The x with P(Beta(a, b) > x) = exp(log_tail), and about the hazard rate there."""
    if log_tail >= 0.0:
        return 0.0, TINY
    log_norm, hazard = log_beta(a, b), 0.0
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
        done = abs(new - x) <= CLOSE * min(x, 1.0 - x)
        x = new
        if done:
            break
    return x, hazard


def gamma_quantile(shape: Any, upper: Any, log_tail: Any) -> tuple[Any, Any]:
    """The x with P(Gamma(shape) > x), or P(Gamma(shape) < x) if not ``upper``, equal to exp(log_tail).

    With it comes about the hazard rate there: the density divided by that tail.
    """
    log_norm, hazard = math.lgamma(shape), 0.0
    side = 1.0 if upper else -1.0
    x = gamma_start(shape, side, log_tail)
    for _ in range(STEPS):
        front = exp(shape * log(x) - x - log_norm)
        tail = max(gamma_tail(shape, x, front, upper), TINY)
        hazard = max(front, TINY) / (tail * x)
        newton = side * (log(tail) - log_tail) / hazard
        curvature = (shape - 1.0) / x - 1.0 + side * hazard
        step = newton / max(1.0 + 0.5 * newton * curvature, 0.5)  # Halley's
        new = x + step if x + step > 0.0 else 0.5 * x
        done = abs(new - x) <= CLOSE * x
        x = new
        if done:
            break
    return x, hazard


def gamma_start(shape: Any, side: Any, log_tail: Any) -> Any:
    """About the quantile: the cube root is nearly normal; where it would be far off, by the logarithm of the tail."""
    root = 1.0 - 1.0 / (9.0 * shape)
    if log_tail <= LOG_HALF:
        root += side * normal_quantile(log_tail) / (3.0 * math.sqrt(shape))
    if root > 0.3:
        return shape * root * root * root
    spread = math.sqrt(-2.0 * log_tail * shape)
    return shape + spread - log_tail if side > 0.0 else shape * exp(-min(spread / shape, 700.0))


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
    """The z with P(N(0, 1) > z) = exp(log_tail), for tails of at most 1/2: Wichura's algorithm AS 241 [2]_."""
    if log_tail > LOG_MIDDLE:
        q = 0.5 - exp(log_tail)
        r = 0.180625 - q * q
        return q * ratio_of_polynomials(MIDDLE, r)
    r = math.sqrt(-log_tail)
    return ratio_of_polynomials(TAIL, r - 1.6) if r <= 5.0 else ratio_of_polynomials(FAR_TAIL, r - 5.0)


def normal_hazard(z: Any) -> Any:
    """A lower bound of the normal law's hazard rate at z >= 0, close to it [3]_."""
    return 0.5 * (z + math.sqrt(z * z + 2.5464790894703255))  # 8 / pi


def ratio_of_polynomials(coefficients: Any, r: Any) -> Any:
    """The quotient of two polynomials of degree seven; their coefficients from the highest power down, in turn."""
    above, below = 0.0, 0.0
    for k in range(8):
        above = above * r + coefficients[2 * k]
        below = below * r + coefficients[2 * k + 1]
    return above / below
