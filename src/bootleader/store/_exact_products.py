"""Exact sums of the products of features and rewards: the normal equations, whatever the order of the events.

A row is (1, features, reward). Every number of a column is a whole number of 2^-exponent of the column, so that the
sums of all products of two columns are whole numbers too. Two replicas that added the same rows in another order are
equal bit for bit, and a row that is taken back leaves no trace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader.store._exact_sums import EPOCH, STEPS, bits_of, step_weight, whole_of

Floats = npt.NDArray[np.float64]


class ExactProducts:
    """Sums of weight times the product of every two columns of rows (1, features, reward).

    Parameters
    ----------
    features : int
        Number of features.

    Attributes
    ----------
    number : int
        Number of rows, whatever their weight.
    exponents : list of int
        Of each column.
    sums : list of list of int
        ``sums[i][j - i]`` belongs to the columns i and j, i at most j, in units of 2^-(both exponents).

    Examples
    --------
    >>> products = ExactProducts(1)
    >>> products.add([0.5, 3.0])
    >>> products.add([1e9, 7.0])
    >>> products.add([1e9, 7.0], -1)
    >>> products.sums, products.exponents
    ([[1, 1, 3], [1, 3], [9]], [0, 1, 0])
    """

    __slots__ = ("exponents", "number", "sums")

    def __init__(self, features: int) -> None:
        size = features + 2
        self.number = 0
        self.exponents = [0] * size
        self.sums = [[0] * (size - i) for i in range(size)]

    def add(self, row: Sequence[float], sign: int = 1, weight: int = 1) -> None:
        """Add the features and the reward of one row, or take them back with ``sign=-1``."""
        exponents = self.exponents
        found = [(0, 1)]
        for column, value in enumerate(row, 1):
            if value == 0.0:
                continue
            numerator, denominator = value.as_integer_ratio()
            exponent = denominator.bit_length() - 1
            if exponent > exponents[column]:
                self._refine(column, exponent)
            found.append((column, numerator << (exponents[column] - exponent)))
        factor = sign * weight
        for place, (i, a) in enumerate(found):
            sums, scaled = self.sums[i], factor * a
            for j, b in found[place:]:
                sums[j - i] += scaled * b
        self.number += sign

    def _refine(self, column: int, exponent: int) -> None:
        more = exponent - self.exponents[column]
        for i in range(column):
            self.sums[i][column - i] <<= more
        own = self.sums[column]
        self.sums[column] = [own[0] << 2 * more, *(value << more for value in own[1:])]
        self.exponents[column] = exponent

    def merge(self, other: ExactProducts) -> None:
        """Add another's sums: those of all rows of both."""
        for column, exponent in enumerate(other.exponents):
            if exponent > self.exponents[column]:
                self._refine(column, exponent)
        shifts = [mine - its for mine, its in zip(self.exponents, other.exponents, strict=True)]
        for i, (mine, its) in enumerate(zip(self.sums, other.sums, strict=True)):
            for k, value in enumerate(its):
                mine[k] += value << (shifts[i] + shifts[i + k])
        self.number += other.number

    def faded(self, epochs: int) -> ExactProducts:
        """The sums after so many epochs, in the unit of that epoch; see :class:`ExactSums`."""
        twin = ExactProducts(0)
        twin.number, twin.exponents = self.number, list(self.exponents)
        twin.sums = [[value >> (EPOCH * epochs) for value in row] for row in self.sums]
        return twin

    def widen(self, place: int) -> None:
        """Take in a feature that was 0 in all rows so far, at this place of the features."""
        column = place + 1
        self.exponents.insert(column, 0)
        for i in range(column):
            self.sums[i].insert(column - i, 0)
        self.sums.insert(column, [0] * (len(self.exponents) - column))

    # In and out ----------------------------------------------------------------------------------------------------

    def add_model(self, number: int, count: float, anchor: Floats, sums: Floats, gram: Floats, weight: int = 1) -> None:
        """Add the rows of an agent's model: pairs of floats, sums and products of the differences from the anchor."""
        size = len(anchor) + 1
        one = ExactProducts(size - 2)
        high, low = np.zeros((2, size, size))
        rows, columns = np.triu_indices(size - 1)
        high[0, 1:], low[0, 1:] = sums
        high[rows + 1, columns + 1], low[rows + 1, columns + 1] = gram
        centre = [0.0, *anchor.tolist()]
        one.exponents = [_finest(centre, high, low, column) for column in range(size)]
        centres = [whole_of(value, bits) for value, bits in zip(centre, one.exponents, strict=True)]

        def difference(i: int, j: int) -> int:
            bits = one.exponents[i] + one.exponents[j]
            return weight * (whole_of(float(high[i, j]), bits) + whole_of(float(low[i, j]), bits))

        numerator, bits = count.as_integer_ratio()[0], bits_of(count)
        total = (numerator * weight) >> bits  # a faded count is no whole number: it is kept to 2^-52
        apart = [0, *(difference(0, j) for j in range(1, size))]  # sums of the differences from the anchor
        whole = [d + total * a for d, a in zip(apart, centres, strict=True)]
        for i in range(size):
            for j in range(max(i, 1), size):
                # sum xy = sum (x-a)(y-b) + a sum y + b sum (x-a)
                own = difference(i, j) if i > 0 else 0
                one.sums[i][j - i] = own + centres[i] * whole[j] + centres[j] * apart[i] if i > 0 else whole[j]
        one.sums[0][0], one.number = total, number
        self.merge(one)

    def to_plain(self) -> list[Any]:
        """The sums as plain data."""
        return [self.number, self.exponents, [[format(value, "x") for value in row] for row in self.sums]]

    @classmethod
    def from_plain(cls, plain: Sequence[Any]) -> ExactProducts:
        """The sums that :meth:`to_plain` describes."""
        products = cls(0)
        products.number, products.exponents = int(plain[0]), list(plain[1])
        products.sums = [[int(value, 16) for value in row] for row in plain[2]]
        return products


def _finest(centre: Sequence[float], high: Floats, low: Floats, column: int) -> int:
    """An exponent of a column in which its products with all columns are whole numbers."""
    if column == 0:
        return 0
    values = [*high[column], *low[column], *high[:, column], *low[:, column]]
    return max(bits_of(centre[column]), *(bits_of(float(value)) for value in values))


class FadingProducts:
    """Exact sums of products whose weight halves with every ``half_life`` rounds; see :class:`FadingSums`."""

    __slots__ = ("epochs", "features", "half_life", "number")

    def __init__(self, features: int, half_life: float) -> None:
        self.features, self.half_life = features, half_life
        self.epochs: dict[int, ExactProducts] = {}
        self.number = 0

    def of_round(self, round_: int) -> tuple[ExactProducts, int]:
        """The sums that a row of this round is added to, and its weight there."""
        epoch, weight = step_weight(round_, self.half_life)
        found = self.epochs.get(epoch)
        if found is None:
            found = self.epochs[epoch] = ExactProducts(self.features)
        return found, weight

    def total(self, now: int) -> tuple[ExactProducts, int]:
        """All rows that still count, and the weight that a row of round ``now`` has there."""
        filled = sorted(epoch for epoch, products in self.epochs.items() if products.number)[-2:]
        total = ExactProducts(self.features)
        if not filled:
            return total, 1
        last = filled[-1]
        for epoch in filled:
            total.merge(self.epochs[epoch].faded(last - epoch))
        epoch, unit = step_weight(now, self.half_life)
        return total, unit << EPOCH * max(0, epoch - last)

    def step(self, now: int) -> int:
        """The step of a round: within one, no weight changes."""
        return int(now * STEPS // self.half_life)


def ratio_pair(numerator: int, denominator: int) -> tuple[float, float]:
    """A quotient as the nearest float and the nearest float to what is left.

    Examples
    --------
    >>> ratio_pair(1, 3)
    (0.3333333333333333, 1.850371707708594e-17)
    """
    high = numerator / denominator
    if not math.isfinite(high):
        return high, 0.0
    p, q = high.as_integer_ratio()
    return high, (numerator * q - p * denominator) / (denominator * q)
