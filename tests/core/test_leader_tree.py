"""The leader tree: its nodes always fit the laws, and its threshold moves rarely."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bootleader._core.leader_tree import (
    EXCESS,
    TAU,
    LeaderTree,
    leader,
    new_tree,
    rebuild,
    restore,
    set_law,
    write_law,
)
from bootleader._core.rng import GOLDEN, Stream
from bootleader._core.segment_trees import leaf_at

INF = math.inf


def _built_anew(tree: LeaderTree) -> LeaderTree:
    fresh = new_tree(len(tree.law))
    for k, (location, scale, df, _) in enumerate(tree.law):
        write_law(fresh, k, location, scale, df)
    restore(fresh, tree.threshold, tree.tally[EXCESS])
    return fresh


@pytest.mark.parametrize("arms", [1, 7, 8, 9, 64, 65, 600])
def test_a_changed_tree_equals_one_built_anew(arms: int) -> None:
    rng = np.random.default_rng(arms)
    tree = new_tree(arms)
    for k in range(arms):
        write_law(tree, k, rng.normal(), 1.0, INF)
    rebuild(tree)
    stream = Stream([5], 0, GOLDEN)
    for _ in range(400):
        location, scale = (
            rng.choice([rng.normal(), 1.0, -INF, INF], p=[0.7, 0.2, 0.09, 0.01]),
            rng.choice([0.0, 0.5, 2.0]),
        )
        set_law(tree, int(rng.integers(arms)), location, scale, rng.choice([1.0, 2.0, 5.0, INF]))
        leader(tree, stream)
    fresh = _built_anew(tree)
    for mine, new in zip(tree, fresh, strict=True):
        if mine is tree.law:
            mine, new = mine[:, :3], new[:, :3]
        np.testing.assert_array_equal(mine, new)


def test_every_position_along_the_rates_finds_its_arm() -> None:
    tree = new_tree(700)
    rng = np.random.default_rng(0)
    for k in range(700):
        write_law(tree, k, rng.normal(), 1.0 if k % 3 else 0.0, INF)
    rebuild(tree)
    ends = np.cumsum(tree.rate[:700])
    for position in rng.uniform(0.0, ends[-1], 500):
        k, into = leaf_at(tree.rate, tree.first, position)
        assert k == np.searchsorted(ends, position, side="right")
        assert into == pytest.approx(position - (ends[k] - tree.rate[k]), abs=1e-9)


def test_a_position_past_the_end_finds_the_last_arm_with_a_rate() -> None:
    tree = new_tree(70)
    for k in (3, 41):
        set_law(tree, k, 0.0, 1.0, INF)
    k, into = leaf_at(tree.rate, tree.first, 1e6)
    assert k == 41
    assert into >= tree.rate[k]  # past the arm's end, so the walk stops without an arm


def test_the_threshold_moves_rarely_while_arms_learn() -> None:
    arms, rounds = 600, 3_000
    rng = np.random.default_rng(1)
    mean, pulls = rng.normal(size=arms), np.ones(arms)
    tree = new_tree(arms)
    for k in range(arms):
        write_law(tree, k, mean[k], 1.0, INF)
    rebuild(tree)
    stream, thresholds = Stream([3], 0, GOLDEN), []
    for _ in range(rounds):
        k = leader(tree, stream)
        pulls[k] += 1
        set_law(tree, k, mean[k] * 0.9, 1.0 / math.sqrt(pulls[k]), INF)
        thresholds.append(tree.threshold[TAU])
    assert len(set(thresholds)) < rounds / 100
