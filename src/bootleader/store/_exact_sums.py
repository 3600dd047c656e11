"""Exact sums of the powers of rewards: whole numbers, so that the order of the events does not matter.

A float is a whole number times a power of two, so sums of y, y^2, y^3 and y^4 can be kept exactly. Moments taken from
them are correctly rounded. Two replicas that applied the same events in another order are equal bit for bit; an
amended or withdrawn reward is a subtraction, and leaves no trace.

With a half-life every reward has a weight, and the sums are those of weight times power. A weight depends on the round
of the *decision*, which is stored with it, not on when the reward arrives. Rounds are grouped in steps of a 32nd of the
half-life (as often as an agent renews its laws). Within an epoch of 64 half-lives the weight of a step is a whole
number of 2^-52, and an epoch weighs exactly 2^-64 of the next. An arm's moments are taken from its last two epochs;
what is older weighs less than rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import repeat
from operator import lshift, mul
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader._core.half_life import RENEWALS

STEPS: Final = RENEWALS  # of a half-life
EPOCH: Final = 64  # half-lives
UNIT_BITS: Final = 52
UNIT: Final = 1 << UNIT_BITS
_STEP_WEIGHTS: Final = tuple(int(math.exp2(step / STEPS) * UNIT) for step in range(STEPS))


class ExactMoments(NamedTuple):
    """Moments, each correctly rounded."""

    count: float  # type: ignore[assignment]  # the tuple's method of this name is not needed
    mean: float
    rss: float
    third: float
    fourth: float


NO_MOMENTS: Final = ExactMoments(0.0, 0.0, 0.0, 0.0, 0.0)


class ExactSums:
    """Sums of weight times y^k for k from 0 to 4, as whole numbers of 2^(-k exponent).

    Attributes
    ----------
    number : int
        Number of values, whatever their weight.
    powers : list of int
        The five sums.
    exponent : int
        Values are whole numbers of 2^-exponent.

    Examples
    --------
    >>> sums = ExactSums()
    >>> sums.add_many([1e9, 1e9 + 1.0, 7.0])
    >>> sums.add(7.0, -1)
    >>> sums.moments()
    ExactMoments(count=2.0, mean=1000000000.5, rss=0.5, third=0.0, fourth=0.125)
    """

    __slots__ = ("exponent", "number", "powers")

    def __init__(self) -> None:
        self.number = 0
        self.exponent = 0
        self.powers = [0, 0, 0, 0, 0]

    def add(self, value: float, sign: int = 1, weight: int = 1) -> None:
        """Add a value, or take it back with ``sign=-1``."""
        numerator, denominator = value.as_integer_ratio()
        exponent = denominator.bit_length() - 1
        if exponent > self.exponent:
            self._refine(exponent)
        y = numerator << (self.exponent - exponent)
        w = sign * weight
        powers, square = self.powers, y * y
        powers[0] += w
        powers[1] += w * y
        powers[2] += w * square
        powers[3] += w * square * y
        powers[4] += w * square * square
        self.number += sign

    def add_many(self, values: Sequence[float]) -> None:
        """Add values of weight 1, several times as fast as one by one."""
        mantissas, exponents = np.frexp(np.asarray(values, np.float64))
        whole = np.ldexp(mantissas, 53).astype(np.int64)
        lowest = whole & -whole  # the lowest bit that is set: trailing zeros would only make the numbers longer
        zeros = np.where(whole == 0, 53, np.frexp(lowest.astype(np.float64))[1] - 1)
        whole >>= zeros
        needed = np.where(whole == 0, 0, 53 - exponents - zeros)
        exponent = max(0, int(needed.max(initial=0)))
        if exponent > self.exponent:
            self._refine(exponent)
        shifts = np.where(whole == 0, 0, self.exponent - needed)
        ys = list(map(lshift, whole.tolist(), shifts.tolist()))
        squares = list(map(mul, ys, ys))
        powers = self.powers
        powers[0] += len(ys)
        powers[1] += sum(ys)
        powers[2] += sum(squares)
        powers[3] += sum(map(mul, squares, ys))
        powers[4] += sum(map(mul, squares, squares))
        self.number += len(ys)

    def add_moments(self, number: int, moments: ExactMoments, weight: int = 1) -> None:
        """Add what a summary says of values that are not known one by one; exactly these moments come back.

        The sum of y^2 is rss + n mean^2, and so on: sums and products of floats, all of them exact.
        """
        count, mean, rss, third, fourth = moments
        one = ExactSums()
        one._refine(max(bits_of(mean), -(-bits_of(rss) // 2), -(-bits_of(third) // 3), -(-bits_of(fourth) // 4)))
        scale = one.exponent
        n, n_bits = count.as_integer_ratio()[0], bits_of(count)  # the count is n / 2^n_bits
        m = whole_of(mean, scale)
        c2, c3, c4 = whole_of(rss, 2 * scale), whole_of(third, 3 * scale), whole_of(fourth, 4 * scale)
        raw = (0, 0, c2, c3 + 3 * m * c2, c4 + 4 * m * c3 + 6 * m * m * c2)
        if weight == 1 and n_bits:
            raise ValueError(f"a count without half-life is whole, got {count!r}")
        w = (n * weight) >> n_bits  # a faded count is no whole number: it is kept to 2^-52
        one.powers = [w * m**power + weight * raw[power] for power in range(5)]
        one.number = number
        self.merge(one)

    def copy(self) -> ExactSums:
        """The same sums."""
        twin = ExactSums()
        twin.number, twin.exponent, twin.powers = self.number, self.exponent, list(self.powers)
        return twin

    def merge(self, other: ExactSums) -> None:
        """Add another's sums: those of all values of both."""
        if other.exponent > self.exponent:
            self._refine(other.exponent)
        more = self.exponent - other.exponent
        pairs = zip(self.powers, other.powers, strict=True)
        self.powers = [mine + (its << (more * k)) for k, (mine, its) in enumerate(pairs)]
        self.number += other.number

    def faded(self, epochs: int) -> ExactSums:
        """The sums after so many epochs, in the unit of that epoch; exact but for what is below 2^-52."""
        twin = ExactSums()
        twin.number, twin.exponent = self.number, self.exponent
        twin.powers = [power >> (EPOCH * epochs) for power in self.powers]
        return twin

    def _refine(self, exponent: int) -> None:
        more = exponent - self.exponent
        self.powers = [power << (more * k) for k, power in enumerate(self.powers)]
        self.exponent = exponent

    def moments(self, unit: int = 1, counts_as: int = 1) -> ExactMoments:
        """Moments, each correctly rounded; a weight of ``unit`` counts as so many values."""
        s0, s1, s2, s3, s4 = self.powers
        if self.number == 0 or s0 <= 0:
            return NO_MOMENTS
        e, square = self.exponent, s1 * s1
        rss = s0 * s2 - square
        third = s0 * s0 * s3 - 3 * s0 * s1 * s2 + 2 * square * s1
        fourth = s0 * s0 * (s0 * s4 - 4 * s1 * s3) + 6 * s0 * square * s2 - 3 * square * square
        return ExactMoments(
            s0 * counts_as / unit,
            s1 / (s0 << e),
            max(0, rss) * counts_as / (s0 * unit << 2 * e),
            third * counts_as / (s0 * s0 * unit << 3 * e),
            max(0, fourth) * counts_as / (s0 * s0 * s0 * unit << 4 * e),
        )

    def raw(self, unit: int = 1) -> tuple[float, float, float]:
        """Sums of the second, third and fourth powers, each correctly rounded."""
        return tuple(self.powers[k] / (unit << k * self.exponent) for k in (2, 3, 4))  # type: ignore[return-value]

    def to_plain(self) -> list[int | str]:
        """The sums as plain data."""
        return [self.number, self.exponent, *map(format, self.powers, repeat("x"))]

    @classmethod
    def from_plain(cls, plain: Sequence[int | str]) -> ExactSums:
        """The sums that :meth:`to_plain` describes."""
        sums = cls()
        sums.number, sums.exponent = int(plain[0]), int(plain[1])
        sums.powers = [int(str(power), 16) for power in plain[2:]]
        return sums


def bits_of(value: float) -> int:
    """The number of bits after the point."""
    return value.as_integer_ratio()[1].bit_length() - 1


def whole_of(value: float, bits: int) -> int:
    """A float as a whole number of 2^-bits; exact, because ``bits`` are enough."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (bits - (denominator.bit_length() - 1))


def step_weight(round_: int, half_life: float) -> tuple[int, int]:
    """The epoch of a round, and its weight there as a whole number of 2^-52."""
    step = int(round_ * STEPS // half_life)
    epoch, within = divmod(step, STEPS * EPOCH)
    halves, fraction = divmod(within, STEPS)
    return epoch, _STEP_WEIGHTS[fraction] << halves


class FadingSums:
    """Exact sums of rewards whose weight halves with every ``half_life`` rounds.

    Examples
    --------
    >>> sums = FadingSums(half_life=100.0)
    >>> sums.add(1.0, round_=0)
    >>> sums.add(4.0, round_=100)
    >>> sums.moments(now=100)[:2]  # the first weighs half
    (1.5, 3.0)
    """

    __slots__ = ("epochs", "half_life", "number")

    def __init__(self, half_life: float) -> None:
        self.half_life = half_life
        self.epochs: dict[int, ExactSums] = {}
        self.number = 0

    def add(self, value: float, round_: int, sign: int = 1) -> None:
        """Add the reward of a decision made in this round, or take it back."""
        epoch, weight = self.weight(round_)
        self._of(epoch).add(value, sign, weight)
        self.number += sign

    def add_moments(self, number: int, moments: ExactMoments, round_: int) -> None:
        """Add what a summary says of values, as of this round."""
        epoch, weight = self.weight(round_)
        self._of(epoch).add_moments(number, moments, weight)
        self.number += number

    def _of(self, epoch: int) -> ExactSums:
        found = self.epochs.get(epoch)
        if found is None:
            found = self.epochs[epoch] = ExactSums()
        return found

    def weight(self, round_: int) -> tuple[int, int]:
        """The epoch of a round, and its weight there as a whole number of 2^-52."""
        return step_weight(round_, self.half_life)

    def moments(self, now: int, least: int = 0) -> ExactMoments:
        """Moments as of round ``now``; the count is at least ``least``, or the number of values if that is less."""
        total, unit = self._total(now)
        weight, least = total.powers[0], min(least, self.number)
        if weight < least * unit:
            return total.moments(weight, least)
        return total.moments(unit)

    def raw(self, now: int) -> tuple[float, float, float]:
        """Sums of the second, third and fourth powers as of round ``now``."""
        total, unit = self._total(now)
        return total.raw(unit)

    def _total(self, now: int) -> tuple[ExactSums, int]:
        """The sums of the last two epochs, and the weight that a value of round ``now`` has there."""
        filled = sorted(epoch for epoch, sums in self.epochs.items() if sums.number)[-2:]
        total = ExactSums()
        if not filled:
            return total, 1
        last = filled[-1]
        for epoch in filled:
            total.merge(self.epochs[epoch].faded(last - epoch))
        epoch, unit = self.weight(now)
        return total, unit << EPOCH * max(0, epoch - last)

    def to_plain(self) -> list[Any]:
        """The sums as plain data."""
        return [self.number, [[epoch, part.to_plain()] for epoch, part in sorted(self.epochs.items())]]

    @classmethod
    def from_plain(cls, plain: Sequence[Any], half_life: float) -> FadingSums:
        """The sums that :meth:`to_plain` describes."""
        sums = cls(half_life)
        sums.number = plain[0]
        sums.epochs = {epoch: ExactSums.from_plain(part) for epoch, part in plain[1]}
        return sums
