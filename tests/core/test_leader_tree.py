"""The trees and the level: always what the laws say, and moved rarely."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bootleader._core.leader_tree import EXCESS, Forest, leader, plant, resume, set_law, settle, write_law

INF = math.inf


def _rebuilt(forest: Forest) -> Forest:
    fresh = plant(len(forest.law))
    for k, (location, scale, df, _) in enumerate(forest.law):
        write_law(fresh, k, location, scale, df)
    resume(fresh, forest.level, forest.tally[EXCESS])
    return fresh


@pytest.mark.parametrize("arms", [1, 7, 8, 9, 64, 65, 600])
def test_a_changed_forest_equals_one_built_anew(arms: int) -> None:
    rng = np.random.default_rng(arms)
    forest = plant(arms)
    for k in range(arms):
        write_law(forest, k, rng.normal(), 1.0, INF)
    settle(forest)
    state = [5]
    for _ in range(400):
        location, scale = (
            rng.choice([rng.normal(), 1.0, -INF, INF], p=[0.7, 0.2, 0.09, 0.01]),
            rng.choice([0.0, 0.5, 2.0]),
        )
        set_law(forest, int(rng.integers(arms)), location, scale, rng.choice([1.0, 2.0, 5.0, INF]))
        leader(forest, state, 0, 0x9E3779B97F4A7C15)
    fresh = _rebuilt(forest)
    for mine, new in zip(forest, fresh, strict=True):
        if mine is forest.law:
            mine, new = mine[:, :3], new[:, :3]
        np.testing.assert_array_equal(mine, new)


def test_every_position_lands_on_its_arm() -> None:
    from bootleader._core.leader_tree import _land

    forest = plant(700)
    rng = np.random.default_rng(0)
    for k in range(700):
        write_law(forest, k, rng.normal(), 1.0 if k % 3 else 0.0, INF)
    settle(forest)
    ends = np.cumsum(forest.rate[:700])
    for position in rng.uniform(0.0, ends[-1], 500):
        k, into = _land(forest.rate, forest.first, position)
        assert k == np.searchsorted(ends, position, side="right")
        assert into == pytest.approx(position - (ends[k] - forest.rate[k]), abs=1e-9)


def test_a_position_past_the_end_lands_on_the_last_arm_with_a_rate() -> None:
    from bootleader._core.leader_tree import _land

    forest = plant(70)
    for k in (3, 41):
        set_law(forest, k, 0.0, 1.0, INF)
    k, into = _land(forest.rate, forest.first, 1e6)
    assert k == 41
    assert into >= forest.rate[k]  # which the walk takes for no arm at all


def test_the_level_is_moved_rarely_while_arms_learn() -> None:
    arms, rounds = 600, 3_000
    rng = np.random.default_rng(1)
    mean, pulls = rng.normal(size=arms), np.ones(arms)
    forest = plant(arms)
    for k in range(arms):
        write_law(forest, k, mean[k], 1.0, INF)
    settle(forest)
    state, levels = [3], []
    for _ in range(rounds):
        k = leader(forest, state, 0, 0x9E3779B97F4A7C15)
        pulls[k] += 1
        set_law(forest, k, mean[k] * 0.9, 1.0 / math.sqrt(pulls[k]), INF)
        levels.append(forest.level[0])
    assert len(set(levels)) < rounds / 100
