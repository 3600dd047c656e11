"""Distribution functions F and ratios f / F of normal and Student variables, many rows at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader.agent._elementary_arrays import arctan_up_to_one, exp, log1p
from bootleader.agent._win_probability_normal import ROOT_2_OVER_PI, ROOT_HALF
from bootleader.agent._win_probability_student import SMALLEST, student_peak

Floats = npt.NDArray[np.float64]
FAndRatio = tuple[Floats, Floats]

NEARLY_NORMAL_FROM: Final = 20.0  # degrees of freedom from which on a series about the normal is exact
ROOT_2_PI: Final = math.sqrt(2.0 * math.pi)
# Of e^u sqrt(u / (e^u - 1)) = exp(3u/4 - u^2/48 + u^4/5760 - ...).
SERIES: Final = (
    1.0, 0.75, 0.2604166666666667, 0.0546875, 0.00771484375, 0.0008056640625, 7.451778997189154e-05,
    6.842234778025794e-06, 4.3647840119753774e-07, 8.388801857277199e-10,
)  # fmt: skip
SMALLEST_TERM: Final = 1e-17  # of a sum that is at most 1


class Kind(IntEnum):
    """How the functions of a variable are computed. Rows are sorted by it."""

    NORMAL = 0
    NEARLY_NORMAL = 1
    EVEN = 2
    ODD = 3
    FRACTIONAL = 4


def kind_of(n: float) -> Kind:
    """The kind of a variable with so many degrees of freedom."""
    if n == math.inf:
        return Kind.NORMAL
    if n >= NEARLY_NORMAL_FROM:
        return Kind.NEARLY_NORMAL
    if n != int(n):
        return Kind.FRACTIONAL
    return Kind.ODD if n % 2.0 else Kind.EVEN


def distributions(z: Floats, df: Sequence[float], kinds: Sequence[Kind]) -> FAndRatio:
    """F and f / F, row by row; the rows are sorted by their kinds."""
    functions = [_FUNCTIONS[kind] for kind in kinds]
    if functions[0] is functions[-1]:
        return functions[0](z, df)
    below, ratio = np.empty_like(z), np.empty_like(z)
    starts = [row for row, function in enumerate(functions) if row == 0 or function is not functions[row - 1]]
    for first, last in zip(starts, [*starts[1:], len(kinds)], strict=True):
        below[first:last], ratio[first:last] = functions[first](z[first:last], df[first:last])
    return below, ratio


def _ratio(below: Floats, density: Floats) -> Floats:
    """The ratio f / F, where F is changed to be above 0."""
    np.maximum(below, SMALLEST, out=below)
    density /= below
    return density


def _normals(z: Floats, df: Sequence[float]) -> FAndRatio:
    """The ratio is accurate also where F and f are too small for a float."""
    from scipy.special import erfcx, ndtr

    ratio = erfcx(z * -ROOT_HALF)
    np.divide(ROOT_2_OVER_PI, ratio, out=ratio)
    return ndtr(z), ratio


def _near_normals(z: Floats, df: Sequence[float]) -> FAndRatio:
    """Students of n >= 20 degrees of freedom.

    With u = log(1 + z^2 / n) and y = sqrt((n + 1) u) the density is proportional to exp(-y^2 / 2), and dz / dy to
    b(u) = e^u sqrt(u / (e^u - 1)), a power series in u = y^2 / (n + 1). Its integral is that of a normal less its
    density times y Q(y^2), where Q is a polynomial.
    """
    from scipy.special import ndtr

    n, series = np.array(df)[:, None], [_series(one) for one in df]
    square = log1p(z * z / n)
    square *= n + 1.0
    density: Floats = exp(-0.5 * square)
    density *= 1.0 / ROOT_2_PI
    y = np.copysign(np.sqrt(square), z)
    coefficients = np.array([one.q for one in series]).T[:, :, None]
    last = max([one.needed for one in series]) - 1
    q: Any = coefficients[last]
    for place in range(last - 1, -1, -1):
        q = q * square
        q += coefficients[place]
    below: Floats = ndtr(y)
    below -= q * (y * density)
    density *= np.array([[one.peak] for one in series])
    return below, _ratio(below, density)


class _Series(NamedTuple):
    """The coefficients of Q, how many are needed, and the density's peak in that of a normal."""

    q: tuple[float, ...]
    needed: int
    peak: float


@lru_cache(maxsize=4096)  # not more: with a half-life nearly every state has another n
def _series(n: float) -> _Series:
    power, odd_factorials = 1.0, [1.0]  # 1, 1, 1 * 3, 1 * 3 * 5, ...: the even moments of a normal variable
    terms = []
    for i, coefficient in enumerate(SERIES):
        terms.append(power * coefficient * odd_factorials[i])
        odd_factorials.append(odd_factorials[i] * (2 * i + 1))
        power /= n + 1.0
    total = math.fsum(terms)
    q = tuple(math.fsum(terms[j:]) / total / odd_factorials[j] for j in range(1, len(SERIES)))
    # y^(2j - 1) times a normal density is largest at y^2 = 2j - 1.
    largest = [((2 * j - 1) / math.e) ** (j - 0.5) / ROOT_2_PI for j in range(1, len(SERIES))]
    needed = sum(one * size > SMALLEST_TERM for one, size in zip(q, largest, strict=True))
    return _Series(q, max(1, needed), math.sqrt((n + 1.0) / n) * terms[0] / total)


def _whole_students(z: Floats, df: Sequence[float]) -> FAndRatio:
    """Students of few whole degrees of freedom, even ones before odd ones.

    With the angle whose tangent is z / sqrt(n), F is a polynomial in its sine and cosine, and for odd n the angle
    itself: F = 1/2 + sine sum_i c_i cosine^2i for even n and F = 1/2 + angle / pi + sine cosine sum_i c_i cosine^2i
    for odd n. The density is proportional to cosine^(n + 1).
    """
    forms, n, whole = _closed_forms(), np.array(df)[:, None], np.array(df, np.intp)
    first_odd = len(df) - int(sum([one % 2.0 for one in df]))
    cosine = z * z
    cosine += n
    np.sqrt(cosine, out=cosine)
    np.divide(1.0, cosine, out=cosine)
    sine = z * cosine
    cosine *= np.sqrt(n)
    square = cosine * cosine
    most = max(int(one) // 2 for one in df)
    below: Any = forms.terms[max(0, most - 1), whole, None]
    for place in range(most - 2, -1, -1):
        below = below * square
        below += forms.terms[place, whole, None]
    below = below * sine
    if first_odd < len(df):
        odd_cosine, odd = cosine[first_odd:], below[first_odd:]
        odd *= odd_cosine
        half_angle = arctan_up_to_one(sine[first_odd:] / (1.0 + odd_cosine))
        half_angle *= 2.0 / math.pi
        odd += half_angle
    below += 0.5
    # The power n + 1 is a product of cosine, cosine^2, cosine^4, ...: it has the first of them if n is even.
    density = cosine
    density[first_odd:] = 1.0
    density *= forms.peak[whole, None]
    for bit in range(1, int(max(df) + 1.0).bit_length()):
        np.multiply(density, square, out=density, where=(((whole + 1) >> bit) & 1 == 1)[:, None])
        square *= square
    return below, _ratio(below, density)


class _ClosedForms(NamedTuple):
    """For n from 1 to 19: the coefficients c_i, a row for each i, and the peak of the density."""

    terms: Floats
    peak: Floats


@cache
def _closed_forms() -> _ClosedForms:
    size = int(NEARLY_NORMAL_FROM)
    terms, peak = np.zeros((size // 2, size)), np.zeros(size)
    for n in range(1, size):
        odd = n % 2
        peak[n] = student_peak(float(n))
        terms[0, n] = (1.0 / math.pi if n > 1 else 0.0) if odd else 0.5
        for i in range(1, (n - odd) // 2):
            terms[i, n] = terms[i - 1, n] * (2 * i - 1 + odd) / (2 * i + odd)
    return _ClosedForms(terms, peak)


def _fractional_students(z: Floats, df: Sequence[float]) -> FAndRatio:
    """Students whose degrees of freedom are no whole numbers, such as those of rewards that faded."""
    from scipy.special import stdtr

    n = np.array(df)[:, None]
    below: Floats = stdtr(n, z)
    density: Floats = exp((-0.5 * n - 0.5) * log1p(z * z / n))
    density *= np.array([[student_peak(one)] for one in df])
    return below, _ratio(below, density)


_FUNCTIONS: Final[dict[Kind, Callable[[Floats, Sequence[float]], FAndRatio]]] = {
    Kind.NORMAL: _normals,
    Kind.NEARLY_NORMAL: _near_normals,
    Kind.EVEN: _whole_students,
    Kind.ODD: _whole_students,
    Kind.FRACTIONAL: _fractional_students,
}
