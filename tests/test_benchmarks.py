"""The benchmarks call kernels directly: these tests notice when a kernel's signature changes."""

from __future__ import annotations

import json

import numba
import numpy as np
import pytest

import bootleader as bl
from benchmarks import baselines, large_k, store
from benchmarks.measuring import Measured, as_markdown
from bootleader.policies._two_point_weights import TWO_POINTS


def test_a_run_in_two_parts_equals_a_run_in_one():
    in_two, at_once = (large_k.Run(bl.ReBoot(sigma_a=1.5), 600) for _ in range(2))
    in_two.play(700)
    in_two.play(300)
    at_once.play(1_000)
    np.testing.assert_array_equal(in_two.state.pulls, at_once.state.pulls)
    assert at_once.state.pulls.sum() == 1_000
    at_once.draw_all(2)


@numba.njit
def seed_numba(seed):
    np.random.seed(seed)  # noqa: NPY002  (the generator that compiled code has)


@pytest.mark.parametrize("weights", TWO_POINTS)
def test_the_two_point_baseline_plays_the_same_policy(weights):
    """Mean regrets of 400 runs each, within 4 standard errors: fixed seeds, level 6e-5."""
    seed_numba(3)
    means = np.random.default_rng(3).uniform(5, 7, (400, 4))
    theirs = np.array([baselines.direct_two_points(row, 400, 1.5, *TWO_POINTS[weights]) for row in means])
    bandit = bl.GaussianBandit(bl.Uniform(5, 7, arms=4))
    ours = bl.simulate(bl.ReBoot(1.5, weights=weights), bandit, rounds=400, runs=400).final_regret[0]
    error = np.hypot(theirs.std() / np.sqrt(theirs.size), ours.std() / np.sqrt(ours.size))
    assert abs(theirs.mean() - ours.mean()) < 4 * error


def test_the_calls_of_a_store_are_those_that_it_has(tmp_path, monkeypatch):
    for name, small in (("VISITS", 2), ("WARM_UP", 2), ("APPLIED", 100), ("FILE_ROWS", 10), ("LENGTHS", (20, 40))):
        monkeypatch.setattr(store, name, small)
    url = f"sqlite:///{tmp_path}/store.db"
    figures = [
        *store.replica(1), *store.processor(1), *store.one_process(1, "SQLite", url), *store.bulk(1, "SQLite", url),
        *store.growth(1, "SQLite", url),
    ]  # fmt: skip
    assert all(figure.value > 0 for figure in figures)


def test_a_bar_is_met_or_missed():
    value = np.float64(12.0)  # as quantiles and medians are
    figures = [Measured("a", "fast", value, "x", bar=10), Measured("a", "small", value, "x", bar=10, at_most=True)]
    assert [figure.met for figure in figures] == [True, False]
    assert json.loads(json.dumps([figure.as_dict() for figure in figures]))[1]["met"] is False
    assert "missed" in as_markdown(figures).splitlines()[-1]
