"""Logarithm, exponential and power that give the same bits everywhere.

The functions of ``math`` come from the system's library, and a GPU has its own: they differ in the last bit once in
thousands of calls. These are made of additions, multiplications, divisions and bit operations alone, which IEEE 754
defines exactly, so Python, compiled code and a GPU agree in every bit. The algorithms are those of FreeBSD's msun
library [1]_, with errors below one unit in the last place.

Where ``math`` raises an error they return the limit (infinity or zero) or NaN, as compiled code does.

References
----------
.. [1] FreeBSD msun, ``e_log.c``, ``e_exp.c``, ``s_log1p.c``: Copyright (C) 1993, 2004 by Sun Microsystems, Inc. All
   rights reserved. Developed at SunSoft, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and
   distribute this software is freely granted, provided that this notice is preserved.
"""

from __future__ import annotations

import math
from typing import Any, Final

ROOT_HALF: Final = 0.7071067811865476
LN2_HIGH: Final = 6.93147180369123816490e-01  # 21 trailing zero bits: its products with exponents are exact
LN2_LOW: Final = 1.90821492927058770002e-10
INVERSE_LN2: Final = 1.44269504088896338700
OVERFLOW: Final = 709.782712893384  # above it the exponential is infinite
UNDERFLOW: Final = -745.1332191019412  # below it the exponential is zero


def split(x: Any) -> Any:
    """Mantissa from sqrt(1/2) to sqrt(2) and exponent of a finite x > 0, both as floats."""
    mantissa, exponent = math.frexp(x)
    if mantissa < ROOT_HALF:
        return 2.0 * mantissa, exponent - 1.0
    return mantissa, float(exponent)


def power_of_two(exponent: Any) -> Any:
    """Two to the power of a whole number from -1022 to 1023."""
    return math.ldexp(1.0, int(exponent))


def _log_of_parts(f: Any, exponent: Any, correction: Any) -> Any:
    """Log of (1 + f) 2^exponent, plus a small correction, for 1 + f from sqrt(1/2) to sqrt(2)."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    even = z * (
        6.666666666666735130e-01
        + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    )
    half_square = 0.5 * f * f
    rest = s * (half_square + (even + odd)) + (exponent * LN2_LOW + correction)
    return exponent * LN2_HIGH - ((half_square - rest) - f)


def log(x: Any) -> Any:
    """Natural logarithm; -inf at 0 and NaN below.

    Examples
    --------
    >>> log(1.0), log(0.0), abs(log(10.0) - math.log(10.0)) < 1e-15
    (0.0, -inf, True)
    """
    if not 0.0 < x < math.inf:
        if x == 0.0:
            return -math.inf
        return x if x > 0.0 else math.nan
    mantissa, exponent = split(x)
    return _log_of_parts(mantissa - 1.0, exponent, 0.0)


def log1p(x: Any) -> Any:
    """Log of 1 + x, accurate also for small x; -inf at -1 and NaN below.

    Examples
    --------
    >>> log1p(1e-20), log1p(-1.0)
    (1e-20, -inf)
    """
    if not -1.0 < x < math.inf:
        if x == -1.0:
            return -math.inf
        return x if x > 0.0 else math.nan
    if -0.2928 < x < 0.4142:
        return _log_of_parts(x, 0.0, 0.0) if x != 0.0 else x
    u = 1.0 + x
    mantissa, exponent = split(u)
    lost = 1.0 - (u - x) if u >= 2.0 else x - (u - 1.0)  # what the rounding of 1 + x left out
    return _log_of_parts(mantissa - 1.0, exponent, lost / u)


def exp(x: Any) -> Any:
    """Exponential; infinite and zero where the value is beyond the floats.

    Examples
    --------
    >>> exp(0.0), exp(1000.0), exp(-1000.0), abs(exp(1.0) - math.e) < 1e-15
    (1.0, inf, 0.0, True)
    """
    if not UNDERFLOW <= x <= OVERFLOW:
        if x > OVERFLOW:
            return math.inf
        return 0.0 if x < UNDERFLOW else math.nan
    k = float(math.floor(INVERSE_LN2 * x + 0.5))
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    z = r * r
    c = r - z * (
        1.66666666666666019037e-01
        + z
        * (
            -2.77777777770155933842e-03
            + z * (6.61375632143793436117e-05 + z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))
        )
    )
    y = 1.0 + (r * c / (2.0 - c) - low + high)
    half = float(math.floor(0.5 * k))  # in two steps: 2^1024 is no float, and 2^-1074 has no full mantissa
    return y * power_of_two(half) * power_of_two(k - half)


def power(x: Any, exponent: Any) -> Any:
    """X to a power, for x >= 0: the relative error is about that of the logarithm, multiplied by the result's own.

    Examples
    --------
    >>> abs(power(2.0, 0.5) - 2.0**0.5) < 1e-15, power(0.0, 3.0)
    (True, 0.0)
    """
    return exp(exponent * log(x))
