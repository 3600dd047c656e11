"""The rules of traffic as plain functions: validation, the holdout's hash, floor and ramp."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.agent.traffic import final_probabilities


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"floor": -0.1}, "floor must be a probability"),
        ({"floor": 1.0}, "floor must be a probability"),
        ({"floor": "0.1"}, "floor must be"),
        ({"holdout": 1.0, "control": "a"}, "holdout must be"),
        ({"holdout": 0.1}, "give control="),
        ({"control": ""}, "control must be the name"),
        ({"sticky": 1}, "sticky must be True or False"),
        ({"ramp": 0.0}, "share of the ramp must be"),
        ({"ramp": 1.5}, "share of the ramp must be"),
        ({"ramp": True}, "share of the ramp must be"),
        ({"ramp": 0.1, "floor": 0.2}, "lower the floor or raise the share"),
    ],
    ids=str,
)
def test_bad_rules_are_refused(options: Any, match: str) -> None:
    with pytest.raises((TypeError, ValueError), match=match):
        bl.Traffic(**options)


def test_rules_are_values() -> None:
    rules = bl.Traffic(floor=0.02, holdout=0.05, control="blue", sticky=True, ramp=0.2)
    assert rules.ramp == bl.Ramp(0.2, rewards=100)
    assert bl.Traffic.from_parameters(rules.parameters()) == rules
    assert bl.Traffic.from_parameters(bl.Traffic().parameters()) == bl.Traffic()
    assert hash(rules) == hash(bl.Traffic(floor=0.02, holdout=0.05, control="blue", sticky=True, ramp=bl.Ramp(0.2)))
    with pytest.raises(AttributeError):
        rules.floor = 0.1  # type: ignore[misc]
    with pytest.raises(ValueError, match="rewards of the ramp"):
        bl.Ramp(0.2, rewards=0)


def test_the_holdout_is_a_share_of_units_fixed_by_unit_and_seed() -> None:
    rules = bl.Traffic(holdout=0.1, control="a")
    units = [f"visitor-{k}" for k in range(40_000)]
    held = np.array([rules.in_holdout(unit, 7) for unit in units])
    # Binomial(40000, 0.1): a deviation of 4.5 standard deviations has probability 7e-6.
    assert abs(held.sum() - 4000) < 4.5 * np.sqrt(40_000 * 0.1 * 0.9)
    other = np.array([rules.in_holdout(unit, 8) for unit in units])
    assert abs((held & other).sum() - 400) < 4.5 * np.sqrt(40_000 * 0.01 * 0.99)
    # A larger share contains the smaller: raising the holdout moves nobody out of it.
    wider = bl.Traffic(holdout=0.2, control="a")
    assert all(wider.in_holdout(unit, 7) for unit, inside in zip(units[:2000], held, strict=False) if inside)
    # The hash is part of what a log means: these never change.
    assert np.flatnonzero(held[:40]).tolist() == [4, 6, 12, 15, 16, 17, 24, 25, 33]


def test_a_floor_mixes_with_a_uniform_choice() -> None:
    got = final_probabilities([0.0, 0.25, 0.75], bl.Traffic(floor=0.05))
    np.testing.assert_allclose(got, [0.05, 0.05 + 0.85 * 0.25, 0.05 + 0.85 * 0.75], rtol=1e-15)
    assert final_probabilities([1.0, 0.0, 0.0], bl.Traffic(floor=1 / 3)) == pytest.approx([1 / 3] * 3)
    with pytest.raises(
        ValueError, match=r"at most 1 / 4 = 0.25 with 4 active arms, got 0.3: lower the floor, or pause"
    ):
        final_probabilities([0.25] * 4, bl.Traffic(floor=0.3))


def test_a_ramp_caps_new_arms_and_keeps_the_floor() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        arms = int(rng.integers(2, 8))
        policy = rng.dirichlet(np.full(arms, 0.4))
        new = rng.random(arms) < 0.5
        floor = float(rng.uniform(0.0, 1.0 / arms))
        share = float(rng.uniform(floor, 1.0))
        old = np.where(new, 0.0, rng.random(arms))
        old = old / old.sum() if old.any() else old
        got = np.array(final_probabilities(policy.tolist(), bl.Traffic(floor=floor, ramp=share), new, old.tolist))
        assert got.sum() == pytest.approx(1.0, abs=1e-12)
        assert (got >= floor - 1e-15).all()
        if not new.all():
            assert (got[new] <= share + 1e-15).all()
            mixed = floor + (1.0 - arms * floor) * policy
            assert (got[~new] >= mixed[~new] - 1e-15).all()
        else:
            np.testing.assert_allclose(got, floor + (1.0 - arms * floor) * policy)


def test_what_a_new_arm_may_not_take_needs_a_choice_among_the_others() -> None:
    rules = bl.Traffic(ramp=0.2)
    assert final_probabilities([0.9, 0.1], rules, [False, True]) == [0.9, 0.1]
    with pytest.raises(ValueError, match="among_old"):
        final_probabilities([0.1, 0.9], rules, [False, True])
    assert rules.is_new(True, 99)
    assert not rules.is_new(True, 100)
    assert not rules.is_new(False, 0)
    assert not bl.Traffic().is_new(True, 0)
