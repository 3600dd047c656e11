"""The agent's linear model against solutions with fifty digits, and against the simulator's model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bootleader._core import linear_model as exact
from bootleader.agent import _linear_model as fast
from bootleader.agent._linear_model_changes import faded, merged, widened
from tests.core.test_linear_model import ACCURACY, SIZES, sample, solution


def learnt(x: Any, y: Any, intercept: bool, ridge: float) -> fast.Model:
    model = fast.new_model(x.shape[1], ridge, intercept)
    if intercept:
        model = model._replace(ridge=np.full(x.shape[1], ridge))
    for row, reward in zip(x, y.tolist(), strict=True):
        model = fast.learn(model, row, reward)
        if fast.is_old(model, intercept):
            model = fast.refresh(model)
    return model


@pytest.mark.parametrize("case", SIZES)
@pytest.mark.parametrize(("intercept", "ridge"), [(True, 0.0), (True, 2.0), (False, 1e-3)])
def test_coefficients_and_rss_agree_with_fifty_digits(case: str, intercept: bool, ridge: float) -> None:
    sizes, offset, collinear = SIZES[case]
    x, y = sample(600, sizes, offset if intercept else 0.0, collinear)
    coefficients, rss = solution(x, y, intercept, ridge)
    model = learnt(x, y, intercept, ridge)
    for found in (model, fast.refresh(model)):
        np.testing.assert_allclose(found.coefficients, coefficients, rtol=ACCURACY)
        np.testing.assert_allclose(found.rss, rss, rtol=ACCURACY)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["an offset of 1e9", "nearly collinear"])
def test_a_million_updates_do_not_drift(case: str) -> None:
    x, y = sample(1_000_000, *SIZES[case])
    model = learnt(x, y, True, 0.0)
    coefficients, rss = solution(x, y, True, 0.0)
    np.testing.assert_allclose(model.coefficients, coefficients, rtol=ACCURACY)
    np.testing.assert_allclose(model.rss, rss, rtol=ACCURACY)


COMPARED = (
    "count", "freedom", "rss", "drift", "squares", "third", "fourth", "weighted_squares", "weights", "coefficients",
    "diagonal",
)  # fmt: skip


@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_the_simulators_model_up_to_rounding(intercept: bool) -> None:
    x, y = sample(90, np.array([1.0, 30.0, 0.1, 5.0]), 3.0, 0.0)
    models, work = exact.new_models(1, 4, intercept), exact.new_workspace(4)
    model = fast.new_model(4, 0.5, intercept)
    if intercept:
        models.ridge[0] = 0.5
        model = model._replace(ridge=np.full(4, 0.5))
    else:
        exact.set_ridge(models, 0, 0.5, work)
    for row, reward in zip(x, y.tolist(), strict=True):
        exact.learn(models, 0, row, reward, work)
        model = fast.learn(model, row, reward)
        if exact.is_old(models, 0):
            exact.refresh(models, 0, work)
            model = fast.refresh(model)
        for name in COMPARED:
            there, size = getattr(models, name)[0], np.abs(y).max() ** (4 if name in ("third", "fourth") else 2)
            np.testing.assert_allclose(getattr(model, name), there, rtol=1e-9, atol=1e-12 * size, err_msg=name)
        inverse = models.root[0].T @ models.root[0]
        np.testing.assert_allclose(model.root.T @ model.root, inverse, rtol=1e-8, atol=1e-12 * np.abs(inverse).max())


@pytest.mark.parametrize("rewards", [np.zeros(40), np.full(40, 1e9), np.arange(40.0)], ids=["0", "1e9", "line"])
@pytest.mark.parametrize("kind", ["constant", "twice the same", "zero", "huge and tiny", "one-hot"])
def test_degenerate_features_give_no_nan_and_no_negative_variance(kind: str, rewards: Any) -> None:
    rng = np.random.default_rng(3)
    side = rng.integers(0, 2, 40).astype(float)
    x = {
        "constant": np.full((40, 2), 7.0),
        "twice the same": np.repeat(rng.normal(size=(40, 1)), 2, axis=1),
        "zero": np.zeros((40, 2)),
        "huge and tiny": rng.normal(size=(40, 2)) * [1e50, 1e-60],
        "one-hot": np.column_stack([side, 1.0 - side]),
    }[kind]
    for intercept, ridge in ((True, 0.0), (True, 1.0), (False, 1.0)):
        model = learnt(x, rewards, intercept, ridge)
        for found in (model, fast.refresh(model), faded(model, 1e-9)):
            numbers = [getattr(found, name) for name in found._fields if name != "waiting"]
            assert all(np.isfinite(number).all() for number in numbers)
            assert found.rss >= 0.0
            assert found.squares >= 0.0


def test_rows_that_wait_are_summed_without_rounding() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(fast.WAITING, 3)) * 10.0 ** rng.uniform(-6, 6, size=(fast.WAITING, 3))
    (high, low), (gram, rest) = fast._summed(rows)
    from fractions import Fraction

    exactly = [[Fraction(float(value)) for value in column] for column in rows.T]
    for k, column in enumerate(exactly):
        assert abs(Fraction(float(high[k])) + Fraction(float(low[k])) - sum(column)) <= 1e-27 * max(map(abs, column))
    for k, (i, j) in enumerate(zip(*fast.triangle(3), strict=True)):
        found = Fraction(float(gram[k])) + Fraction(float(rest[k]))
        true = sum(a * b for a, b in zip(exactly[i], exactly[j], strict=True))
        assert abs(found - true) <= 1e-27 * max(map(abs, exactly[i])) * max(map(abs, exactly[j]))


@pytest.mark.parametrize("intercept", [True, False])
def test_merged_models_are_the_model_of_all_rows(intercept: bool) -> None:
    x, y = sample(150, np.logspace(-3, 6, 4), 1e9 if intercept else 0.0, 0.0)
    together = fast.refresh(learnt(x, y, intercept, 0.5))
    one, other = (learnt(x[part], y[part], intercept, 0.5) for part in (slice(0, 60), slice(60, None)))
    both = fast.refresh(merged(one, other))
    for name in ("count", "coefficients", "rss", "freedom", "mean", "variation"):
        there = getattr(together, name)
        here = getattr(both, name) + (both.anchor if name == "mean" else 0.0)
        np.testing.assert_allclose(here, there + (together.anchor if name == "mean" else 0.0), rtol=ACCURACY)
    empty = fast.new_model(4, 0.5, intercept)
    assert merged(empty, one).count == merged(one, empty).count == one.count


def test_a_feature_more_that_was_zero_changes_nothing() -> None:
    x, y = sample(50, np.ones(3), 2.0, 0.0)
    wide = np.insert(x, 1, 0.0, axis=1)
    for intercept in (True, False):
        model = widened(learnt(x, y, intercept, 1.0), 1, 0.0 if intercept else 1.0)
        if intercept:
            model = model._replace(ridge=np.array([1.0, 0.0, 1.0, 1.0]))
        there = fast.refresh(model)
        for found in (model, there):
            np.testing.assert_allclose(np.delete(found.coefficients, 1), learnt(x, y, intercept, 1.0).coefficients)
            assert found.coefficients[1] == 0.0
        if not intercept:
            np.testing.assert_allclose(there.root.T @ there.root, model.root.T @ model.root, atol=1e-12)
            np.testing.assert_allclose(there.gram[0], fast.settled(learnt(wide, y, False, 1.0)).gram[0], atol=1e-12)


def test_a_faded_model_is_one_of_weighted_rows() -> None:
    x, y = sample(40, np.ones(3), 2.0, 0.0)
    model = fast.refresh(faded(learnt(x, y, True, 1.0), 0.25)._replace(ridge=np.full(3, 1.0)))
    centred = x - x.mean(axis=0)
    inverse = np.linalg.inv(0.25 * centred.T @ centred + np.eye(3))
    np.testing.assert_allclose(model.coefficients, 0.25 * inverse @ centred.T @ (y - y.mean()), rtol=1e-10)
    np.testing.assert_allclose(model.root.T @ model.root, inverse, rtol=1e-10)
    assert model.count == 10.0


@pytest.mark.parametrize("kind", ["no constant", "one-hot", "a constant", "twice the same"])
def test_an_intercept_is_given_up_where_the_simulators_model_gives_it_up(kind: str) -> None:
    x, y = sample(60, np.array([1.0, 30.0, 0.1]), 3.0, 0.0)
    if kind == "one-hot":
        x = np.column_stack([x[:, 0] > 0.0, x[:, 0] <= 0.0, x[:, 2]]).astype(float)
    elif kind == "a constant":
        x[:, 1] = 7.0
    elif kind == "twice the same":
        x[:, 1] = x[:, 0]
    models, work = exact.new_models(1, 3, True), exact.new_workspace(3)
    model = fast.new_model(3, 0.5, True)._replace(ridge=np.full(3, 0.5))
    models.ridge[0] = 0.5
    for row, reward in zip(x, y.tolist(), strict=True):
        exact.learn(models, 0, row, reward, work)
        model = fast.learn(model, row, reward)
    exact.drop_intercept_if_possible(models, 0, work)
    exact.refresh(models, 0, work)
    model = fast.refresh(fast.without_useless_intercept(model))
    assert model.centred == bool(models.centred[0]) == (kind in ("one-hot", "a constant"))
    for name in ("coefficients", "rss", "freedom"):
        np.testing.assert_allclose(getattr(model, name), getattr(models, name)[0], rtol=1e-9, atol=1e-12)
    if not model.centred:
        np.testing.assert_allclose(model.variation, (x * x).sum(axis=0), rtol=1e-12)
