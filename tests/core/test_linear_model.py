"""Coefficients, leverages and RSS of the rank-one updates, against solutions with fifty digits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from bootleader._core import double_double as dd
from bootleader._core import linear_model as lm
from bootleader._core.moments import pebay

SIZES = {
    "plain": (np.ones(4), 0.0, 0.0),
    "features from 1e-3 to 1e6": (np.logspace(-3, 6, 4), 0.0, 0.0),
    "an offset of 1e9": (np.logspace(-3, 6, 4), 1e9, 0.0),
    "nearly collinear": (np.logspace(-3, 6, 4), 1e9, 1e-5),
}
ACCURACY = 1e-8


def sample(rows: int, sizes: Any, offset: float, collinear: float, noise: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(15)
    x = rng.normal(size=(rows, len(sizes)))
    if collinear:
        x[:, 1] = x[:, 0] + collinear * rng.normal(size=rows)
    x *= sizes
    return x, x @ (rng.normal(size=len(sizes)) / sizes) + noise * rng.normal(size=rows) + offset


def exact_sum(values: Any) -> mpmath.mpf:
    """The sum of floats without rounding, in chunks that ``fsum`` rounds once, with what it lost."""
    high = math.fsum(values)
    low = math.fsum([*values, -high])
    return mpmath.mpf(high) + mpmath.mpf(low) + mpmath.mpf(math.fsum([*values, -high, -low]))


def exact_product(a: Any, b: Any) -> Any:
    """Products of floats as pairs of floats, by Dekker's splitting."""
    product = a * b
    (ah, al), (bh, bl) = ((h := 134217729.0 * c - (134217729.0 * c - c), c - h) for c in (a, b))
    return np.concatenate([product, ((ah * bh - product) + ah * bl + al * bh) + al * bl])


def solution(x: Any, y: Any, intercept: bool, ridge: float) -> tuple[Any, float]:
    """Coefficients of the features and penalised RSS, with fifty digits."""
    with mpmath.workdps(50):
        columns = [*x.T, *([np.ones(len(y))] if intercept else []), y]
        size = len(columns)
        gram = mpmath.matrix(size, size)
        for i in range(size):
            for j in range(i, size):
                gram[i, j] = gram[j, i] = exact_sum(exact_product(columns[i], columns[j]))
        left, right = gram[: size - 1, : size - 1], gram[: size - 1, size - 1]
        for j in range(x.shape[1]):
            left[j, j] += ridge
        found = mpmath.lu_solve(left, right)
        rss = gram[size - 1, size - 1] - (right.T * found)[0]
        return np.array([float(number) for number in found])[: x.shape[1]], float(rss)


def learnt(x: Any, y: Any, intercept: bool, ridge: float) -> lm.LinearModels:
    models, work = lm.new_models(1, x.shape[1], intercept), lm.new_workspace(x.shape[1])
    if intercept:
        models.ridge[0] = ridge
    else:
        lm.set_ridge(models, 0, ridge, work)
    for row, reward in zip(x, y, strict=True):
        lm.learn(models, 0, row, reward, work)
        if lm.is_old(models, 0):
            lm.refresh(models, 0, work)
    return models


@pytest.mark.parametrize("case", SIZES)
@pytest.mark.parametrize(("intercept", "ridge"), [(True, 0.0), (True, 2.0), (False, 1e-3)])
def test_coefficients_and_rss_agree_with_fifty_digits(case: str, intercept: bool, ridge: float) -> None:
    sizes, offset, collinear = SIZES[case]
    x, y = sample(300, sizes, offset if intercept else 0.0, collinear)
    models = learnt(x, y, intercept, ridge)
    coefficients, rss = solution(x, y, intercept, ridge)
    np.testing.assert_allclose(models.coefficients[0], coefficients, rtol=ACCURACY)
    np.testing.assert_allclose(models.rss[0], rss, rtol=ACCURACY)


@pytest.mark.slow
@pytest.mark.parametrize("case", SIZES)
@pytest.mark.parametrize("noise", [1.0, 1e-5])
def test_a_million_updates_do_not_drift(case: str, noise: float) -> None:
    import numba

    from bootleader._core import numba_bridge

    for function in (lm.learn, lm.is_old, lm.refresh):
        numba_bridge.register(function)

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def feed(models, x, y, work):  # type: ignore[no-untyped-def]
        for t in range(len(y)):
            lm.learn(models, 0, x[t], y[t], work)
            if lm.is_old(models, 0):
                lm.refresh(models, 0, work)

    x, y = sample(1_000_000, *SIZES[case], noise=noise)
    models = lm.new_models(1, 4, True)
    feed(models, x, y, lm.new_workspace(4))
    coefficients, rss = solution(x, y, True, 0.0)
    np.testing.assert_allclose(models.coefficients[0], coefficients, rtol=ACCURACY)
    np.testing.assert_allclose(models.rss[0], rss, rtol=ACCURACY)


def test_leverages_predictions_and_freedom_between_two_refreshes() -> None:
    x, y = sample(45, np.array([1.0, 30.0, 0.1]), 5.0, 0.0)
    models = learnt(x, y, True, 0.5)
    assert models.refreshed_at[0] < 45
    models.ridge[0] = 0.5
    centred = x - x.mean(axis=0)
    inverse = np.linalg.inv(centred.T @ centred + 0.5 * np.eye(3))
    slopes = inverse @ centred.T @ (y - y.mean())
    np.testing.assert_allclose(models.coefficients[0], slopes, rtol=1e-10)
    np.testing.assert_allclose(models.freedom[0], 44.0 - 3.0 + 0.5 * np.trace(inverse), rtol=1e-10)
    for row in x[:5]:
        z = row - x.mean(axis=0)
        np.testing.assert_allclose(lm.slope_leverage(models, 0, row), z @ inverse @ z, rtol=1e-10)
        np.testing.assert_allclose(lm.predicted(models, 0, row), y.mean() + z @ slopes, rtol=1e-10)


@pytest.mark.parametrize("rewards", [np.zeros(40), np.full(40, 1e9), np.arange(40.0)], ids=["0", "1e9", "line"])
@pytest.mark.parametrize("kind", ["constant", "twice the same", "zero", "huge and tiny"])
def test_degenerate_features_give_no_nan_and_no_negative_variance(kind: str, rewards: Any) -> None:
    rng = np.random.default_rng(3)
    x = {
        "constant": np.full((40, 2), 7.0),
        "twice the same": np.repeat(rng.normal(size=(40, 1)), 2, axis=1),
        "zero": np.zeros((40, 2)),
        "huge and tiny": rng.normal(size=(40, 2)) * [1e60, 1e-60],
    }[kind]
    for intercept, ridge in ((True, 0.0), (True, 1.0), (False, 1.0)):
        models = learnt(x, rewards, intercept, ridge)
        assert all(np.isfinite(part).all() for part in models)
        assert models.rss[0] >= 0.0
        assert models.squares[0] >= 0.0
        assert lm.slope_leverage(models, 0, x[0] + 1.0) >= 0.0


def test_without_varying_features_the_moments_are_those_of_a_sample_bit_for_bit() -> None:
    rewards = np.random.default_rng(1).exponential(size=50) + 1e6
    models = learnt(np.ones((50, 2)), rewards, True, 0.0)
    moments: Any = (0.0,) * 6
    for reward in rewards:
        moments = pebay(*moments, reward)
    count, anchor, drift, rss, third, fourth = moments
    assert (models.count[0], models.anchor[0, 2], models.mean[0, 2]) == (count, anchor, drift)
    assert (models.rss[0], models.squares[0], models.third[0], models.fourth[0]) == (rss, rss, third, fourth)
    assert models.freedom[0] == 49.0


def test_recursive_residuals_sum_to_the_rss() -> None:
    x, y = sample(60, np.array([1.0, 2.0]), 3.0, 0.0)
    models, work = lm.new_models(1, 2, True), lm.new_workspace(2)
    for row, reward in zip(x[:2], y[:2], strict=True):
        lm.learn(models, 0, row, reward, work)
    models.ridge[0] = 1.0
    lm.refresh(models, 0, work)
    before = models.rss[0] - models.squares[0]
    for row, reward in zip(x[2:], y[2:], strict=True):
        lm.learn(models, 0, row, reward, work)
    np.testing.assert_allclose(models.squares[0], models.rss[0] - before, rtol=1e-9)


def test_an_intercept_is_given_up_where_the_features_have_none() -> None:
    rng = np.random.default_rng(8)
    segments = np.eye(3)[rng.integers(0, 3, 50)]
    for x, kept in ((rng.normal(size=(50, 3)) + 5.0, False), (segments, True), (np.ones((50, 1)), True)):
        y = x.sum(axis=1) + rng.normal(size=50)
        models, work = learnt(x, y, True, 0.0), lm.new_workspace(x.shape[1])
        lm.drop_intercept_if_possible(models, 0, work)
        assert (models.centred[0] == 1.0) == kept
        if not kept:
            lm.refresh(models, 0, work)
            np.testing.assert_allclose(models.coefficients[0], np.linalg.lstsq(x, y)[0], rtol=1e-10)
            np.testing.assert_allclose(models.rss[0], np.linalg.lstsq(x, y)[1], rtol=1e-10)


def test_pairs_of_floats_are_as_accurate_as_they_say() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        a, b, c, d = (float(number) for number in rng.normal(size=4) * 10.0 ** rng.integers(-8, 8, 4))
        x, y = dd.two_sum(a, b * 1e-17), dd.two_sum(c, d * 1e-17)
        left, right = (Fraction(p[0]) + Fraction(p[1]) for p in (x, y))
        for found, wanted in (
            (dd.add(*x, *y), left + right),
            (dd.multiply(*x, *y), left * right),
            (dd.divide(*x, *y), left / right),
        ):
            scale = max(abs(wanted), abs(left + right) if found is None else abs(wanted))
            assert (
                abs(Fraction(found[0]) + Fraction(found[1]) - wanted)
                <= Fraction(2) ** -97 * scale + abs(left) * Fraction(2) ** -102
            )
        root = dd.square_root(abs(x[0]), x[1] if x[0] > 0 else -x[1])
        square = (Fraction(root[0]) + Fraction(root[1])) ** 2
        assert abs(square - abs(left)) <= Fraction(2) ** -97 * abs(left)
