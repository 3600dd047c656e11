"""Ratios f / F and distribution functions F of normal and Student variables, many rows at once."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from bootleader.agent._elementary_arrays import arctan, exp, log, log1p
from bootleader.agent._win_probability_student import student_peak, whole_power

Floats = npt.NDArray[np.float64]

ROOT_2_PI: Final = math.sqrt(2.0 * math.pi)
ROOT_HALF, ROOT_2_OVER_PI = math.sqrt(0.5), math.sqrt(2.0 / math.pi)
SMALLEST: Final = 1e-300
SMALLEST_TERM: Final = 1e-17
# Of e^u sqrt(u / (e^u - 1)) = exp(3u/4 - u^2/48 + u^4/5760 - ...).
SERIES: Final = (
    1.0, 0.75, 0.2604166666666667, 0.0546875, 0.00771484375, 0.0008056640625, 7.451778997189154e-05,
    6.842234778025794e-06, 4.3647840119753774e-07, 8.388801857277199e-10,
)  # fmt: skip


def _ratio(below: Floats, density: Floats) -> Floats:
    """The ratio f / F, where F is changed to be above 0."""
    np.maximum(below, SMALLEST, out=below)
    density /= below
    return density


class Normals:
    """F and f / F of normal variables; the ratio is accurate also where both are too small for a float."""

    def __init__(self, df: Floats) -> None:
        from scipy.special import erfcx, ndtr

        self.below, self.scaled_tail = ndtr, erfcx

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        ratio = self.scaled_tail(z * -ROOT_HALF)
        np.divide(ROOT_2_OVER_PI, ratio, out=ratio)
        return self.below(z), ratio


class NearlyNormals:
    """Those of Students of n >= 20 degrees of freedom.

    With u = log(1 + z^2 / n) and y = sqrt((n + 1) u) the density is proportional to exp(-y^2 / 2), and
    dz / dy to b(u) = e^u sqrt(u / (e^u - 1)), a power series in u = y^2 / (n + 1) that is integrated term by term.
    """

    def __init__(self, df: Floats) -> None:
        self.df = df[:, None]
        terms = np.empty((len(df), len(SERIES)))  # divided by powers of n + 1
        power = np.ones(len(df))
        for i, coefficient in enumerate(SERIES):
            terms[:, i] = power * coefficient
            power /= df + 1.0
        moments = np.cumprod([1.0, *range(1, 2 * len(SERIES) - 1, 2)])  # of a standard normal
        terms /= (terms * moments).sum(axis=1, keepdims=True)
        needed = int((terms * moments > SMALLEST_TERM).any(axis=0).sum())  # they fall
        self.terms = list(terms.T[:needed, :, None])
        self.peak = self.terms[0] * (np.sqrt((self.df + 1.0) / self.df) / ROOT_2_PI)

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        from scipy.special import ndtr

        square = (self.df + 1.0) * log1p(z * z / self.df)
        density = exp(-0.5 * square)
        y = np.copysign(np.sqrt(square), z)
        integral = ndtr(y) - 0.5  # of y^2i exp(-y^2 / 2) / sqrt(2 pi), from 0
        power = y * density
        power *= 1.0 / ROOT_2_PI
        below = 0.5 + self.terms[0] * integral
        for i, term in enumerate(self.terms[1:], 1):
            integral *= 2.0 * i - 1.0
            integral -= power
            power *= square
            below += term * integral
        density *= self.peak
        return below, _ratio(below, density)


class Students:
    """Those of Students of few degrees of freedom.

    For whole n, with q = n / (n + z^2):
    F = 1/2 + angle arctan(z / sqrt(n)) + z sqrt(q / n) (plain + root sqrt(q)) sum_i c_i q^i.
    """

    def __init__(self, df: Floats) -> None:
        self.df, self.root_df = df[:, None], np.sqrt(df[:, None])
        rows = [_closed_form(n) for n in df.tolist()]
        self.others = [k for k, n in enumerate(df.tolist()) if n != int(n)]  # they have no closed form
        terms = np.zeros((max(len(row[0]) for row in rows), len(rows), 1))
        for k, row in enumerate(rows):
            terms[: len(row[0]), k, 0] = row[0]
        self.terms = list(terms[::-1])
        self.angle, self.plain, self.root, self.peak = np.array([row[1:] for row in rows]).T[:, :, None]

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        ratio = self.df / (self.df + z * z)
        below = np.repeat(self.terms[0], z.shape[1], axis=1)
        for term in self.terms[1:]:
            below *= ratio
            below += term
        cosine, tangent = np.sqrt(ratio), z / self.root_df
        below *= self.plain + self.root * cosine
        below *= cosine
        below *= tangent
        below += self.angle * arctan(tangent)
        below += 0.5
        if self.others:
            from scipy.special import stdtr

            below[self.others] = stdtr(self.df[self.others], z[self.others])
        density: Floats = exp((0.5 * self.df + 0.5) * log(ratio))
        density *= self.peak
        return below, _ratio(below, density)


class EqualStudents:
    """As :class:`Students`, for whole degrees of freedom that are the same in all rows: the terms are plain numbers."""

    def __init__(self, df: Floats) -> None:
        self.df = float(df[0])
        terms, self.angle, plain, _, self.peak = _closed_form(self.df)
        self.is_even = plain > 0.0
        factor = (plain or self.angle) / math.sqrt(self.df)  # of z
        self.terms = [factor * term for term in reversed(terms)] if self.df > 1.0 else []

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        ratio = z * z
        ratio += self.df
        np.divide(self.df, ratio, out=ratio)
        density = self.peak * whole_power(ratio, (int(self.df) + 1) // 2)
        if self.is_even:
            root = np.sqrt(ratio)
            density *= root
            below = self._series(z, ratio)
            below *= root
        else:
            below = arctan(z * (1.0 / math.sqrt(self.df)))
            below *= self.angle
            if self.terms:
                ratio *= self._series(z, ratio)
                below += ratio
        below += 0.5
        return below, _ratio(below, density)

    def _series(self, z: Floats, ratio: Floats) -> Floats:
        """The sum of c_i q^i, times z and the factors that are the same everywhere."""
        if len(self.terms) == 1:
            return z * self.terms[0]
        series = ratio * self.terms[0]
        for term in self.terms[1:-1]:
            series += term
            series *= ratio
        series += self.terms[-1]
        series *= z
        return series


def _closed_form(n: float) -> tuple[list[float], float, float, float, float]:
    """The coefficients c_i, ``angle``, ``plain`` and ``root`` of a Student, and its density's peak."""
    peak = student_peak(n)
    odd = int(n) % 2
    terms = [1.0 if n > 1 else 0.0]
    for i in range(1, (int(n) - odd) // 2):
        terms.append(terms[-1] * (2 * i - 1 + odd) / (2 * i + odd))
    return (terms, 1.0 / math.pi, 0.0, 1.0 / math.pi, peak) if odd else (terms, 0.0, 0.5, 0.0, peak)
