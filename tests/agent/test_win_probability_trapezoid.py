"""The trapezoidal rule for a few arms: right to nine digits, or no answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtr

import bootleader as bl
from bootleader.agent import _student_distributions, _trapezoidal_rule
from bootleader.agent import _win_probability_normal as normal
from bootleader.agent import _win_probability_trapezoid as trapezoid
from bootleader.agent._student_distributions import distributions, kind_of
from bootleader.agent._win_probability_student import winning_probabilities
from bootleader.agent._win_probability_trapezoid import few_winning_probabilities

INF = math.inf
KINDS = {
    "normal": [INF],
    "young": [1.0, 2.0, 3.0, 5.0, 8.0, 11.0, INF],
    "faded": [1.3, 2.5, 6.7, 19.5],
    "nearly normal": [21.0, 60.5, 99.0, 1e4, 1e8],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arms", [2, 10, 40])
def test_it_agrees_with_adaptive_quadrature(arms: int, kind: str) -> None:
    rng = np.random.default_rng(arms)
    answered = 0
    for orders in (0.3, 1.0, 2.0, 4.0):
        location = (rng.normal(size=arms) * rng.choice([0.05, 0.5, 3.0])).tolist()
        scale, df = (10.0 ** rng.uniform(-orders, 0.0, arms)).tolist(), rng.choice(KINDS[kind], arms).tolist()
        got = few_winning_probabilities(location, scale, df)
        if got is not None:
            answered += 1
            assert np.abs(np.array(got) - winning_probabilities(location, scale, df, tolerance=1e-12)).max() < 2e-10
            assert math.fsum(got) == pytest.approx(1.0, abs=1e-14)
    assert answered >= 3


@pytest.fixture
def forgotten_shapes() -> Iterator[None]:
    """What is kept of a shape depends on steps that a test may change."""
    trapezoid._shape_of.cache_clear()
    yield
    trapezoid._shape_of.cache_clear()


@pytest.mark.usefixtures("forgotten_shapes")
@pytest.mark.parametrize(("module", "third", "fewest", "most"), [(normal, INF, 8, 10), (trapezoid, 2.0, 32, 40)])
def test_nodes_are_doubled_until_they_suffice(
    monkeypatch: Any, module: Any, third: float, fewest: int, most: int
) -> None:
    location, scale, df = [0.0, 0.3, -0.2, 0.1], [1.0, 0.5, 2.0, 0.8], [INF, INF, third, INF]
    wanted = winning_probabilities(location, scale, df, tolerance=1e-12)
    monkeypatch.setattr(_trapezoidal_rule, "FEWEST_NODES", fewest)
    monkeypatch.setattr(module, "NORMAL_STEP", 40.0)
    monkeypatch.setattr(trapezoid, "STUDENT_STEP", 40.0)
    got = few_winning_probabilities(location, scale, df)
    assert got is not None
    assert np.abs(np.array(got) - wanted).max() < 2e-10
    monkeypatch.setattr(_trapezoidal_rule, "MOST_NODES", most)
    assert few_winning_probabilities(location, scale, df) is None
    monkeypatch.setattr(_trapezoidal_rule, "OFF_BY", 1.0)  # without the two estimates the error would be visible
    monkeypatch.setattr(module, "HALF_OFF_BY_NORMAL" if module is normal else "HALF_OFF_BY", 1.0)
    coarse = few_winning_probabilities(location, scale, df)
    assert coarse is not None
    assert np.abs(np.array(coarse) - wanted).max() > 1e-8


@pytest.mark.parametrize("n", [1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 19.0, 19.5, 20.0, 20.5, 33.0, 61.0, 1000.0, 1e7])
def test_distribution_and_density_are_those_of_the_student(n: float) -> None:
    from scipy.stats import t

    z = np.array([[-1e4, -40.0, -9.0, -3.0, -1.0, 0.0, 0.2, 1.0, 2.5, 7.0, 30.0, 1e5]])
    below, ratio = distributions(z, [n], [kind_of(n)])
    np.testing.assert_allclose(below, stdtr(n, z), atol=3e-14, rtol=0)
    np.testing.assert_allclose(below * ratio, t.pdf(z, n), atol=1e-14, rtol=1e-9)


def test_distribution_and_density_are_those_of_the_normal() -> None:
    """Their ratio also where both are 0 as floats."""
    from scipy.stats import norm

    z = np.array([[-1e4, -40.0, -9.0, -3.0, -1.0, 0.0, 0.2, 1.0, 2.5, 7.0, 30.0, 1e5]])
    below, ratio = distributions(z, [INF], [kind_of(INF)])
    np.testing.assert_allclose(below, norm.cdf(z), atol=1e-300, rtol=1e-12)
    np.testing.assert_allclose(ratio, np.exp(norm.logpdf(z) - norm.logcdf(z)), atol=1e-300, rtol=1e-6)


def test_second_nodes_that_nearly_agree() -> None:
    """They are 2e-5 away here, and all nodes of that level are wrong by 1.7e-9."""
    scale = [
        0.0026, 0.0026, 0.02, 0.18, 0.0017, 0.00011, 0.15, 0.00019, 0.072, 0.13, 0.00013, 0.0061, 0.23, 0.00019, 0.34,
        0.0012, 0.015, 0.015, 0.0043, 0.0016, 0.019, 0.0052, 0.6, 0.00033, 0.0041, 0.0025, 0.036, 0.00052, 0.0028,
        0.021,
    ]  # fmt: skip
    df = [
        1.5, 2.5, 5.0, 1.0, 2.5, 4.9, 4.9, 1.5, 1.0, 2.5, 5.0, 4.9, 4.9, 1.5, 2.5, 4.9, 1.5, 4.9, 1.0, 4.9, 1.5, 2.5,
        1.0, 1.5, 5.1, 5.0, 5.1, 4.9, 4.9, 1.0,
    ]  # fmt: skip
    got = few_winning_probabilities([0.0] * 30, scale, df)
    assert got is not None
    assert np.abs(np.array(got) - winning_probabilities([0.0] * 30, scale, df, tolerance=1e-12)).max() < 2e-10


def test_what_is_kept_of_degrees_of_freedom_does_not_grow() -> None:
    """With a half-life nearly every state has others."""
    for place in range(6000):
        few_winning_probabilities([0.0, 0.1], [1.0, 1.0], [30.0 + 0.01 * place, 3.0 + 0.001 * place])
    for kept in (trapezoid._shape_of, _student_distributions._series):
        assert kept.cache_info().currsize <= 4096


def test_what_it_does_not_resolve_has_no_answer() -> None:
    assert few_winning_probabilities([0.0, 1.0], [1.0, 1e-13], [INF, INF]) is None
    assert few_winning_probabilities([0.0, 1e30], [1.0, 1.0], [INF, INF]) is None
    assert few_winning_probabilities([0.0, 1.0], [1e120, 1e120], [INF, INF]) is None
    sure = few_winning_probabilities([0.0, 100.0, 1.0], [1.0, 1.0, 2.0], [INF, INF, INF])
    assert sure is not None
    assert sure == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_constants_among_variables(kind: str) -> None:
    rng = np.random.default_rng(5)
    answered = 0
    for arms in (2, 3, 10, 10):
        for orders in (0.3, 1.0, 2.0):
            location = rng.normal(size=arms).round(1).tolist()  # some are equal
            scale = (10.0 ** rng.uniform(-orders, 0.0, arms) * (rng.random(arms) < 0.6)).tolist()
            df = rng.choice(KINDS[kind], arms).tolist()
            got = few_winning_probabilities(location, scale, df)
            if got is not None:
                answered += 1
                assert np.abs(np.array(got) - winning_probabilities(location, scale, df, tolerance=1e-12)).max() < 2e-10
    assert answered >= 11


def test_constants_alone() -> None:
    """The largest wins; equal ones share."""
    assert few_winning_probabilities([1.0, 2.0, 2.0, 0.5], [0.0] * 4, [3.0, INF, 1.0, 2.0]) == [0.0, 0.5, 0.5, 0.0]
    got = few_winning_probabilities([0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [INF, INF, INF])
    assert got == pytest.approx([0.5, 0.5, 0.0], abs=1e-11)
    assert got is not None
    assert got[2] == 0.0


def test_an_agent_of_few_arms_takes_it_and_one_arm_is_certain() -> None:
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b", "c"], seed=1)
    agent.update_many(["a", "b", "c"] * 3, [0.0, 1.0, 2.0, 1.5, 0.5, 0.2, 1.0, 1.0, 0.0])
    laws = agent._learner.laws_now()  # type: ignore[attr-defined]
    assert list(agent.probabilities().values()) == few_winning_probabilities(laws.location, laws.scale, laws.shape)
    agent.pause_arm("b")
    agent.pause_arm("c")
    assert agent.probabilities()["a"] == 1.0
