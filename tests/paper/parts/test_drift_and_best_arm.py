"""The oracles that know the changes, and what is concluded about drift and about recommended arms."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.rng import Stream
from bootleader.paper import Size
from bootleader.paper import _change_oracles as oracles
from bootleader.paper.parts import best_arm, drift
from bootleader.simulation._block_runs import QUANTITIES
from tests.paper.made_results import made_results

SMALL = Size(runs=16, rounds=400, seed=1)


class Player:
    """Plays a rule by hand: rewards are given, choices are made or forced."""

    def __init__(self, policy, arms):
        self.rule, self.arms = policy.rule, arms
        self.memory = np.zeros(self.rule.memory(arms, 100))
        self.stream = Stream([1], 0, 3)
        self.pulls = 0

    def shared(self):
        return SimpleNamespace(pulls=self.pulls, arms=self.arms)

    def choose(self):
        return int(self.rule.choose(self.rule.params, None, self.memory, self.shared(), self.stream))

    def learn(self, arm, reward):
        self.pulls += 1
        self.rule.learn(self.rule.params, None, self.memory, self.shared(), arm, reward, self.stream)


def test_the_restarted_oracle_forgets_at_every_change_and_only_then():
    player = Player(oracles.RestartedThompson(period=50, noise_sd=1e-9), arms=3)
    chosen = []
    for t in range(100):
        arm = player.choose()
        chosen.append(arm)
        best = 0 if t < 50 else 2
        player.learn(arm, float(arm == best))
    assert sorted(chosen[:3]) == sorted(chosen[50:53]) == [0, 1, 2]
    assert set(chosen[3:50]) == {0}
    assert set(chosen[53:]) == {2}


def test_the_tracking_oracle_has_the_exact_posterior_of_a_random_walk():
    """Against the Gaussian posterior of the whole path, conditioned on all rewards at once."""
    noise, step, rng = 0.7, 0.3, np.random.default_rng(5)
    player = Player(oracles.TrackingThompson(drift_sd=step, noise_sd=noise), arms=2)
    observed = []
    for t in range(12):
        arm, reward = t % 3 % 2, float(rng.normal())
        player.learn(arm, reward)
        observed.append((arm, t, reward))
    for arm in range(2):
        times = np.array([t for k, t, _ in observed if k == arm])
        rewards = np.array([r for k, _, r in observed if k == arm])
        start = 1e5  # the sd of a nearly flat prior
        walk = start**2 + step**2 * np.minimum.outer(times, times)
        gain = np.linalg.solve(walk + noise**2 * np.eye(len(times)), walk[:, -1])
        assert player.memory[arm] == pytest.approx(gain @ rewards, abs=1e-5)
        assert player.memory[2 + arm] == pytest.approx(walk[-1, -1] - gain @ walk[:, -1], rel=1e-3)


def test_the_tracking_oracle_explores_what_it_has_not_seen_for_long():
    player = Player(oracles.TrackingThompson(drift_sd=0.5, noise_sd=0.01), arms=2)
    player.learn(0, 0.0)
    for _ in range(400):
        player.learn(1, 1.0)  # by now arm 0 may be anywhere within 10
    share = np.mean([player.choose() == 0 for _ in range(400)])
    assert 0.3 < share < 0.6


@pytest.mark.parametrize("made", [oracles.RestartedThompson(period=9), oracles.TrackingThompson(drift_sd=0.1)], ids=str)
def test_oracles_are_policies_that_know_the_changes(made):
    assert bl.Knowledge.CHANGE in made.must_know
    assert eval(repr(made), vars(oracles)) == made


def test_drift_compares_with_the_oracle_of_each_bandit():
    cells = drift._cells(SMALL)
    oracle = {title: type(row[drift.ORACLE].policy).__name__ for title, row in cells.items()}
    assert oracle == {
        drift.ABRUPT: "RestartedThompson", drift.DRIFTING: "TrackingThompson", drift.CONSTANT: "ThompsonSampling",
    }  # fmt: skip
    assert cells[drift.ABRUPT][drift.ORACLE].policy.period * drift.PHASES == SMALL.rounds_of()
    results = made_results(
        drift.cells(SMALL), lambda cell, t: (3.0 if isinstance(cell.policy, bl.Discounted) else 1.0) * math.log(1.0 + t)
    )
    (table,) = drift.analyse(SMALL, results).tables
    forgetful = table.data[table.data["policy"].str.contains("half-life")]
    assert forgetful["ratio"].to_numpy() == pytest.approx(3.0, rel=0.02)


def test_the_advised_window_at_full_size():
    assert drift.window(Size()) == round(2.0 * math.sqrt(10_000 * math.log(10_000) / 4))


def test_recommendations_are_read_at_every_horizon():
    results = made_results(best_arm.cells(SMALL), lambda cell, t: math.log(1.0 + t))
    right = QUANTITIES.index("best_arm_recommended")
    for result in results.values():
        result.over_time[0, right, 0] = result.rounds / 1_000.0
    row = best_arm._cells(SMALL, "one arm .25 above nine")["AdaptiveReBoot"]
    found = best_arm.recommendations(SMALL, results, row)
    assert [r.rounds for r in found] == [50, 100, 200, 400]
    assert [r.error for r in found] == pytest.approx([0.95, 0.9, 0.8, 0.6])


def test_a_policy_that_plans_ahead_has_a_cell_for_each_horizon():
    for row in best_arm._cells(SMALL, "ten arms, steps of .1").values():
        ends = [cell.rounds for cell in row]
        assert ends == (best_arm.horizons(SMALL) if best_arm.plans_ahead(row[0].policy) else [400])
