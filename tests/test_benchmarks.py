"""The benchmarks' own code: it drives kernels by hand, so a kernel's new shape could break it unseen."""

from __future__ import annotations

import json

import numba
import numpy as np
import pytest

import bootleader as bl
from benchmarks import baselines, many_arms
from benchmarks.measuring import Measured, as_markdown
from bootleader.policies._two_point_weights import TWO_POINTS


def test_a_run_of_many_arms_goes_on_where_it_was():
    in_two, at_once = (many_arms.Run(bl.ReBoot(sigma_a=1.5), 600) for _ in range(2))
    in_two.play(700)
    in_two.play(300)
    at_once.play(1_000)
    np.testing.assert_array_equal(in_two.table.pulls, at_once.table.pulls)
    assert at_once.table.pulls.sum() == 1_000
    at_once.draw_all(2)


@numba.njit
def seed_numba(seed):
    np.random.seed(seed)  # noqa: NPY002  (the generator that compiled code has)


@pytest.mark.parametrize("weights", TWO_POINTS)
def test_what_two_point_weights_are_measured_against_does_the_same_job(weights):
    """Mean regrets of 400 runs each, within 4 standard errors: fixed seeds, level 6e-5."""
    seed_numba(3)
    means = np.random.default_rng(3).uniform(5, 7, (400, 4))
    theirs = np.array([baselines.direct_two_points(row, 400, 1.5, *TWO_POINTS[weights]) for row in means])
    bandit = bl.GaussianBandit(bl.Uniform(5, 7, arms=4))
    ours = bl.simulate(bl.ReBoot(1.5, weights=weights), bandit, rounds=400, runs=400).final_regret[0]
    error = np.hypot(theirs.std() / np.sqrt(theirs.size), ours.std() / np.sqrt(ours.size))
    assert abs(theirs.mean() - ours.mean()) < 4 * error


def test_a_bar_is_met_or_missed():
    value = np.float64(12.0)  # as quantiles and medians are
    figures = [Measured("a", "fast", value, "x", bar=10), Measured("a", "small", value, "x", bar=10, at_most=True)]
    assert [figure.met for figure in figures] == [True, False]
    assert json.loads(json.dumps([figure.as_dict() for figure in figures]))[1]["met"] is False
    assert "missed" in as_markdown(figures).splitlines()[-1]
