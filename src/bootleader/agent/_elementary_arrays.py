"""Elementary functions of arrays, sums and Gauss-Legendre nodes with the same bits on nearly all processors.

A decision can be computed again from the log of a store, on another machine too. NumPy's exponential, logarithm and
trigonometric functions have a version of their own for processors with AVX-512, and its matrix products, and the nodes
of ``leggauss``, come from a BLAS that has one for every kind of processor. They differ in the last bit. Here SciPy's
special functions and Python's ``math`` are used instead. Both call the C library, whose functions have one version for
x86-64 processors with FMA, which all have had since 2013 or so, and another for those without. Sums, products and
square roots of NumPy have the same bits everywhere. For single numbers :mod:`bootleader._core.elementary` has
functions with the same bits everywhere; for arrays such functions would take several times as long.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LOG2_E: Final = math.log2(math.e)
LARGEST_SQUARED: Final = 1e150  # its square is a float
# Of arctan(x) / x in x^2, where arctan(x) is at most pi / 16: by Chebyshev's nodes, to 2e-16. Highest power first.
ARCTAN_COEFFICIENTS: Final = (
    0.06833725318667881, -0.09045313828795125, 0.11109895251229585, -0.142856975555742, 0.1999999989007505,
    -0.33333333333062, 0.9999999999999989,
)  # fmt: skip


def exp(x: Any) -> Any:
    """Exponential; its relative error grows with x, to 1e-13 where the value is no float any more.

    Examples
    --------
    >>> exp(np.array([0.0, -1.0, -2000.0])).round(12).tolist()
    [1.0, 0.367879441171, 0.0]
    """
    from scipy.special import exp2

    return exp2(x * LOG2_E)


def log(x: Any) -> Any:
    """Natural logarithm; -inf at 0.

    Examples
    --------
    >>> log(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    from scipy.special import xlogy

    return xlogy(1.0, x)


def log1p(x: Any) -> Any:
    """Log of 1 + x, accurate also for small x.

    Examples
    --------
    >>> log1p(np.array([0.0, 1e-20])).tolist()
    [0.0, 1e-20]
    """
    from scipy.special import log1p as log_of_one_plus

    return log_of_one_plus(x)


def arctan(x: Floats) -> Floats:
    """Inverse tangent.

    Examples
    --------
    >>> arctan(np.array([0.0, 1.0, -math.inf])).round(12).tolist()
    [0.0, 0.785398163397, -1.570796326795]
    """
    size = np.minimum(np.abs(x), LARGEST_SQUARED)
    return np.copysign(2.0 * arctan_up_to_one(_half_tangent(size)), x)


def _half_tangent(tangent: Floats) -> Floats:
    """The tangent of half the angle."""
    root = tangent * tangent
    root += 1.0
    np.sqrt(root, out=root)
    root += 1.0
    half: Floats = np.divide(tangent, root, out=root)
    return half


def arctan_up_to_one(x: Floats) -> Floats:
    """Inverse tangent of numbers from -1 to 1: of a quarter of the angle it is a short polynomial.

    Examples
    --------
    >>> arctan_up_to_one(np.array([-1.0, 0.5])).round(12).tolist()
    [-0.785398163397, 0.463647609001]
    """
    quarter = _half_tangent(_half_tangent(x))
    square = quarter * quarter
    angle = square * ARCTAN_COEFFICIENTS[0]
    for coefficient in ARCTAN_COEFFICIENTS[1:-1]:
        angle += coefficient
        angle *= square
    angle += ARCTAN_COEFFICIENTS[-1]
    angle *= quarter
    angle *= 4.0
    return angle


def weighted_sums(values: Floats, weights: Floats) -> Floats:
    """The sums over the last axis of values times weights: what ``values @ weights`` is, in an order that is fixed.

    Examples
    --------
    >>> weighted_sums(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0])).tolist()
    [12.0, 34.0]
    """
    sums: Floats = np.add.reduce(values * weights, axis=-1)
    return sums


@cache
def gauss_legendre(number: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1].

    Examples
    --------
    >>> nodes, weights = gauss_legendre(3)
    >>> nodes.round(6).tolist(), weights.round(6).tolist()
    ([-0.774597, 0.0, 0.774597], [0.555556, 0.888889, 0.555556])
    """
    upper = [_node_and_weight(number, k) for k in range(number // 2)]
    middle = [(0.0, _node_and_weight(number, number // 2)[1])] if number % 2 else []
    lower = [(-node, weight) for node, weight in upper]
    nodes, weights = np.array([*lower, *middle, *reversed(upper)]).T.copy()
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def _node_and_weight(number: int, k: int) -> tuple[float, float]:
    """The zero of the Legendre polynomial that is the k-th largest, by Newton's method, and its weight."""
    x = math.cos(math.pi * (k + 0.75) / (number + 0.5))
    slope = 0.0
    for _ in range(8):  # it converges quadratically from an error of 1e-3 or so
        before, value = 1.0, x
        for degree in range(2, number + 1):
            before, value = value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
        slope = number * (x * value - before) / (x * x - 1.0)
        x -= value / slope
    return x, 2.0 / ((1.0 - x * x) * slope * slope)
