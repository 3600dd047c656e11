"""Numbers as unevaluated sums of two floats, about 32 decimal digits: sums and products that lose nothing visible.

Scalar functions in plain arithmetic, shared by Python and compiled code. A number is a pair (high, low) with
``high = fl(high + low)``. Products split their factors, so no fused multiply-add is needed; factors are below 1e300.

References
----------
T. J. Dekker (1971). A floating-point technique for extending the available precision. Numer. Math. 18.
Y. Hida, X. S. Li, D. H. Bailey (2001). Algorithms for quad-double precision floating point arithmetic. ARITH-15.
"""

from __future__ import annotations

import math
from typing import Any, Final

SPLITTER: Final = 134217729.0  # 2^27 + 1


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The sum and its rounding error.

    Examples
    --------
    >>> two_sum(1.0, 2.0**-60)
    (1.0, 8.673617379884035e-19)
    """
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


def fast_two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The sum and its rounding error, for ``|a| >= |b|``."""
    total = a + b
    return total, b - (total - a)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The product and its rounding error.

    Examples
    --------
    >>> two_product(1.0 + 2.0**-30, 1.0 - 2.0**-30)
    (1.0, -8.673617379884035e-19)
    """
    product = a * b
    c = SPLITTER * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = SPLITTER * b
    b_high = c - (c - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def add(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> tuple[Any, Any]:
    """The sum of two pairs."""
    high, low = two_sum(a_high, b_high)
    rest, error = two_sum(a_low, b_low)
    high, low = fast_two_sum(high, low + rest)
    return fast_two_sum(high, low + error)


def multiply(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> tuple[Any, Any]:
    """The product of two pairs."""
    high, low = two_product(a_high, b_high)
    return fast_two_sum(high, low + (a_high * b_low + a_low * b_high))


def divide(a_high: Any, a_low: Any, b_high: Any, b_low: Any) -> tuple[Any, Any]:
    """The quotient of two pairs, by long division in three steps."""
    first = a_high / b_high
    high, low = multiply(b_high, b_low, first, 0.0)
    high, low = add(a_high, a_low, -high, -low)
    second = high / b_high
    x, y = multiply(b_high, b_low, second, 0.0)
    high, low = add(high, low, -x, -y)
    third = high / b_high
    high, low = fast_two_sum(first, second)
    return add(high, low, third, 0.0)


def square_root(high: Any, low: Any) -> tuple[Any, Any]:
    """The square root of a pair above 0: Newton's step from the root of its high part."""
    root = math.sqrt(high)
    square, error = two_product(root, root)
    rest, _ = add(high, low, -square, -error)
    return fast_two_sum(root, rest / (2.0 * root))
