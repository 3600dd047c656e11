"""Contextual policies and bandits of the user's own: compiled, or in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.bandits.contextual import ContextParameters
from tests.helpers import assert_rejected, assert_same_simulation

SIZE: dict[str, Any] = {"rounds": 120, "runs": 3, "seed": 5}
FEATURES = ((1.0, 0.2), (0.3, 0.9), (0.5, 0.5))
BANDIT = bl.LinearBandit(FEATURES, (0.5, 0.2), sd=0.3)


def own_law(params: Any, arm: Any, shared: Any) -> tuple[Any, Any, Any]:
    """LinUCB's law, written again."""
    return arm.location + params[0] / math.sqrt(arm.count), 0.0, math.inf


@dataclass(frozen=True, repr=False)
class OwnLinUCB(bl.ContextualPolicy):
    width: float = 1.0

    @property
    def rule(self) -> bl.LinearRule:
        return bl.LinearRule(own_law, bl.Noise.NONE, (float(self.width),))


class PlainLinUCB:
    """LinUCB as a plain class."""

    def start(self, arms: int, dimension: int, rng: Any) -> None:
        self.v, self.total = np.eye(dimension), np.zeros(dimension)

    def pull(self, features: Any) -> int:
        inverse = np.linalg.inv(self.v)
        width = np.sqrt(np.einsum("ki,ij,kj->k", features, inverse, features))
        return int(np.argmax(features @ inverse @ self.total + width))

    def update(self, arm: int, features: Any, reward: float) -> None:
        self.v += np.outer(features[arm], features[arm])
        self.total += reward * features[arm]


def weekday(table: Any, features: Any, stream: Any) -> None:
    """The number 1, and whether it is a weekend."""
    features[0, 0] = 1.0
    features[1, 0] = 1.0 if bl.random.uniform(stream) < 2.0 / 7.0 else 0.0


def noisy(arm: Any, stream: Any) -> Any:
    return arm.first + arm.second * (bl.random.uniform(stream) - 0.5)


@dataclass(frozen=True)
class Week(bl.ContextualBandit):
    """A compiled bandit of the user's own."""

    arms = 2
    dimension = 2
    disjoint = True
    changing = True
    draw = property(lambda self: weekday)
    pay = property(lambda self: noisy)

    def parameters_from(self, uniforms: Any) -> ContextParameters:
        coefficients, two = np.array([[0.5, 0.0], [0.2, 0.6]]), np.ones(2)
        return ContextParameters(np.zeros((2, 1)), coefficients, two, two, np.zeros(1), two)


class PlainWeek:
    """A bandit as a plain class."""

    arms, dimension = 2, 2

    def features(self, t: int) -> Any:
        return [1.0, float(t % 7 >= 5)]

    def means(self, t: int) -> Any:
        return [0.5, 0.8] if t % 7 >= 5 else [0.5, 0.2]

    def pay(self, arm: int, t: int, rng: Any) -> float:
        return float(rng.normal(self.means(t)[arm], 0.3))


def test_an_own_law_has_the_results_of_the_library() -> None:
    mine = bl.simulate(OwnLinUCB(), BANDIT, **SIZE, compiled=False)
    np.testing.assert_array_equal(mine.final_regret, bl.simulate(bl.LinUCB(), BANDIT, **SIZE).final_regret)


def test_a_plain_class_makes_the_choices_of_the_library() -> None:
    mine, theirs = bl.simulate(PlainLinUCB(), BANDIT, **SIZE), bl.simulate(bl.LinUCB(), BANDIT, **SIZE)
    np.testing.assert_array_equal(mine.pulls, theirs.pulls)
    np.testing.assert_allclose(mine.final_regret, theirs.final_regret, rtol=1e-12)


def test_policies_of_the_library_play_a_plain_bandit() -> None:
    sims = [bl.simulate(bl.AdaptiveLinReBoot(), PlainWeek(), **SIZE) for _ in range(2)]
    assert_same_simulation(*sims)
    always_first = 0.3 * (120 // 7 * 2)
    assert sims[0].final_regret.mean() < always_first


@pytest.mark.slow
def test_an_own_law_and_bandit_are_compiled() -> None:
    for policy, bandit in ((OwnLinUCB(), BANDIT), (bl.AdaptiveLinReBoot(), Week())):
        assert_same_simulation(*(bl.simulate(policy, bandit, **SIZE, compiled=flag) for flag in (True, False)))


def test_an_own_bandit_plays_in_python() -> None:
    sim = bl.simulate(bl.AdaptiveLinReBoot(), Week(), **SIZE, compiled=False)
    assert 0.0 < sim.final_regret.mean() < 10.0


def test_classes_that_break_the_contract_are_named() -> None:
    class NoContexts:
        def start(self, arms: int, rng: Any) -> None: ...

        def pull(self) -> int:
            return 0

        def update(self, arm: int, reward: float) -> None: ...

    class WrongShape(PlainWeek):
        def features(self, t: int) -> Any:
            return [1.0, 2.0, 3.0]

    assert_rejected(lambda: bl.simulate(NoContexts(), BANDIT, **SIZE), "pull(features)")
    assert_rejected(lambda: bl.simulate(bl.LinUCB(), WrongShape(), **SIZE), "features(0)", "(3,)")
    assert_rejected(lambda: bl.simulate(bl.LinThompson(noise_sd="oracle"), PlainWeek(), **SIZE), "oracle")
