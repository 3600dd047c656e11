r"""Student and normal indices above a threshold: the probability, and draws from the truncated law.

A Student variable T with :math:`\nu` degrees of freedom has a transform that is nearly normal [1]_. With
:math:`u = \tfrac12 \log(1 + T^2/\nu)` and the sign of T, the density of :math:`R = \pm\sqrt{(2\nu - 1) u}` is

.. math:: C_\nu\,\varphi(r)\,\sqrt{u / \sinh u}, \qquad
          C_\nu = \frac{\Gamma(\frac{\nu+1}2)}{\Gamma(\frac\nu2) \sqrt{\nu/2 - 1/4}}.

The root is at most 1, so :math:`C_\nu \varphi` is an envelope for rejection sampling. An arm is *marked* with
probability :math:`C_\nu (1 - \Phi(r_\tau))`, a normal above :math:`r_\tau` is drawn [2]_, and it is kept with the
root's probability (*thinning*). An index above tau then has the Student's probability and conditional law, for more
than 1/2 degrees of freedom, in O(1). With one or two degrees the root would discard too much, and the tail is inverted
directly.

Scalar functions as in :mod:`bootleader._core.rng`; ``df`` is infinite for the normal. Every draw ends, whatever it is
given; it is NaN if an argument is, or if there are 1/2 degrees of freedom or fewer.

References
----------
.. [1] D. L. Wallace (1959). Bounds on normal approximations to Student's and the chi-square distributions. Ann. Math.
       Stat. 30(4).
.. [2] G. Marsaglia (1964). Generating a variable from the tail of the normal distribution. Technometrics 6(1).
"""

from __future__ import annotations

import math
from typing import Any, Final

from bootleader._core.rng import uniform
from bootleader._core.sampling import standard_normal, studentise

CERTAIN: Final = 45.0  # arms with this rate are always marked: e^-45 < 2^-64
ATTEMPTS: Final = 100  # draws that thinning may discard one after another before another sampler takes over
DISCARDED: Final = 700.0  # for a larger u the root is smaller than any uniform number, and sinh would overflow
ONLY_ITSELF: Final = 1e150  # a normal above this threshold is, as a float, the threshold
TAIL_FROM: Final = 0.5  # standard deviations beyond which a normal's tail is drawn by Marsaglia's method


def marking_rate(location: Any, scale: Any, df: Any, envelope: Any, tau: Any) -> Any:
    """-log of the probability that an arm is not marked."""
    if scale == 0.0:
        return 0.0
    z = (tau - location) / scale
    if df == math.inf:
        return _normal_rate(z)
    if df == 1.0 or df == 2.0:
        return _rate_of(_heavy_survival(z, df), _heavy_survival(-z, df))
    marked = envelope * _normal_survival(_in_normal_units(z, df))
    return _rate_of(marked, 1.0 - marked)


def true_rate(location: Any, scale: Any, df: Any, envelope: Any, tau: Any, rate: Any) -> Any:
    """-log of the probability that an arm's index is at most tau, approximately: enough to place tau."""
    if rate == 0.0 or df == math.inf or df == 1.0 or df == 2.0:
        return rate
    r = _in_normal_units((tau - location) / scale, df)
    if r < 0.0:
        return min(rate, _rate_of(1.0, envelope * _normal_survival(-r)))
    u = (r * r + 2.0) / (2.0 * df - 1.0)  # r*r + 2 is about the mean square of the normal beyond r
    return rate * math.sqrt(u / math.sinh(u))


def _normal_rate(z: Any) -> Any:
    return _rate_of(_normal_survival(z), _normal_survival(-z) if z <= 0.0 else 1.0)


def _normal_survival(z: Any) -> Any:
    return 0.5 * math.erfc(z * math.sqrt(0.5))


def _heavy_survival(z: Any, df: Any) -> Any:
    """P(T > z) with one or two degrees of freedom."""
    if df == 1.0:
        return math.atan2(1.0, z) / math.pi
    if z < 0.0:
        return 1.0 - _heavy_survival_of_two(-z)
    return _heavy_survival_of_two(z)


def _heavy_survival_of_two(z: Any) -> Any:
    root = math.sqrt(z * z + 2.0)
    return 1.0 / (root * (root + z))


def _heavy_above(z: Any, df: Any, stream: Any) -> Any:
    """A Student variable with one or two degrees of freedom, given that it exceeds z."""
    chance = _heavy_survival(z, df) * (1.0 - uniform(stream))
    if not chance > 0.0:
        return z
    if df == 1.0:
        return 1.0 / math.tan(math.pi * chance)
    return (1.0 - 2.0 * chance) / math.sqrt(2.0 * chance * (1.0 - chance))


def _rate_of(chance: Any, complement: Any) -> Any:
    """-log(1 - chance), computed from the smaller of ``chance`` and its complement."""
    if chance < 1e-5:
        return chance * (1.0 + chance * (0.5 + chance * (1.0 / 3.0)))
    if chance < 0.5:
        return -math.log1p(-chance)
    return min(CERTAIN, -math.log(complement)) if complement > 0.0 else CERTAIN


def _in_normal_units(z: Any, df: Any) -> Any:
    """The value of R that corresponds to the Student variable z."""
    r = math.sqrt((df - 0.5) * math.log1p(z * z / df))
    return r if z >= 0.0 else -r


def exponential(stream: Any) -> Any:
    """Exp(1). What is drawn here is drawn on CPUs alone, where the system's logarithm is the fastest."""
    return -math.log(1.0 - uniform(stream))


def envelope_constant(df: Any) -> Any:
    """The constant C of the module's docstring: C times the normal density covers the density of R."""
    if df == math.inf:
        return 1.0
    a = 0.5 * df
    if a < 32.0:
        return math.exp(math.lgamma(a + 0.5) - math.lgamma(a)) / math.sqrt(a - 0.25)
    x = 1.0 / a
    series = 5.0 / 1024.0 + x * (-21.0 / 32768.0 + x * (-399.0 / 262144.0 + x * (869.0 / 4194304.0)))
    return (1.0 + x * (-1.0 / 8.0 + x * (1.0 / 128.0 + x * series))) / math.sqrt(1.0 - 0.25 * x)


def noise_above(z: Any, df: Any, stream: Any) -> Any:
    """A Student variable, given that it exceeds z."""
    noise = attempt_above(z, df, stream)
    attempts = 1
    while noise == -math.inf:
        if attempts == ATTEMPTS:
            return _student_above(z, df, stream)
        noise = attempt_above(z, df, stream)
        attempts += 1
    return noise


def _student_above(z: Any, df: Any, stream: Any) -> Any:
    """A Student variable above z where thinning discards nearly everything: far out in a heavy tail, or df near 1/2.

    The density of log T is log-concave, so its tangent at log z is an envelope: z exp(E / slope), E exponential.
    """
    if not (z > 0.0 and z / math.sqrt(df) > 2.0):
        t = studentise(standard_normal(stream), df, stream)
        while t <= z:
            t = studentise(standard_normal(stream), df, stream)
        return t
    at_z = math.log1p(df / z / z)
    slope = (df + 1.0) / (1.0 + df / z / z) - 1.0
    while True:
        e = exponential(stream)
        t = z * math.exp(e / slope)
        log_ratio = e - df * e / slope - 0.5 * (df + 1.0) * (math.log1p(df / t / t) - at_z)
        if math.log(1.0 - uniform(stream)) <= log_ratio:
            return t


def attempt_above(z: Any, df: Any, stream: Any) -> Any:
    """A Student variable above z for an arm that was marked at its marking rate; -inf if thinning discards it."""
    if df == math.inf:
        return _normal_above(z, stream)
    if df == 1.0 or df == 2.0:
        return _heavy_above(z, df, stream)
    if not df > 0.5:
        return math.nan
    r = _normal_above(-math.inf if z == -math.inf else _in_normal_units(z, df), stream)
    u = r * r / (2.0 * df - 1.0)
    v = uniform(stream)
    if u > DISCARDED or v * v * math.sinh(u) > u:
        return -math.inf
    t = math.sqrt(df * math.expm1(2.0 * u))
    return t if r >= 0.0 else -t


def _normal_above(z: Any, stream: Any) -> Any:
    """A normal variable, given that it exceeds z: Marsaglia's method in the tail."""
    if z < TAIL_FROM:
        x = standard_normal(stream)
        while x <= z:
            x = standard_normal(stream)
        return x
    if not z < ONLY_ITSELF:
        return z
    while True:
        x = math.sqrt(z * z + 2.0 * exponential(stream))
        if uniform(stream) * x < z:
            return x
