"""Functions of arrays against those of ``math`` and NumPy, which are right to the last digit or two."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bootleader.agent import _elementary_arrays as arrays

X = np.concatenate([[0.0], np.logspace(-300, 150, 2000), -np.logspace(-300, 150, 2000), [math.inf, -math.inf]])


def test_exp() -> None:
    x = np.concatenate([np.linspace(-700.0, 700.0, 5001), [-800.0]])
    np.testing.assert_allclose(arrays.exp(x), [math.exp(one) for one in x], rtol=2e-13)


def test_log_and_log1p() -> None:
    positive = X[(X > 0.0) & np.isfinite(X)]
    np.testing.assert_allclose(arrays.log(positive), [math.log(one) for one in positive], rtol=1e-15)
    above = np.concatenate([positive, -positive[positive < 0.99]])
    np.testing.assert_allclose(arrays.log1p(above), [math.log1p(one) for one in above], rtol=1e-15)


def test_arctan() -> None:
    np.testing.assert_allclose(arrays.arctan(X), [math.atan(one) for one in X], rtol=3e-15)
    small = np.linspace(-1.0, 1.0, 5001)
    np.testing.assert_allclose(arrays.arctan_up_to_one(small), [math.atan(one) for one in small], rtol=3e-15)


def test_weighted_sums() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.random((3, 4, 50)), rng.random(50)
    np.testing.assert_allclose(arrays.weighted_sums(values, weights), values @ weights, rtol=1e-14)


@pytest.mark.parametrize("number", [2, 3, 16, 20, 24])
def test_gauss_legendre(number: int) -> None:
    nodes, weights = arrays.gauss_legendre(number)
    wanted, wanted_weights = np.polynomial.legendre.leggauss(number)
    np.testing.assert_allclose(nodes, wanted, atol=3e-16)
    np.testing.assert_allclose(weights, wanted_weights, atol=3e-15)
    for power in range(2 * number):  # it is exact for polynomials of that degree
        assert math.fsum(weights * nodes**power) == pytest.approx((1.0 + (-1.0) ** power) / (power + 1.0), abs=2e-15)
