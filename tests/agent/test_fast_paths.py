"""What an agent does faster than by its definition, against the definition."""

from __future__ import annotations

import math
import random

import pytest

import bootleader as bl
from bootleader._core.rules import SharedStatistics
from bootleader._core.sampling import COUNTED_TOSSES, fair_binomial, studentise
from bootleader.agent._decisions import Ledger
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._laws import Laws
from bootleader.agent._learner import clear_leader
from bootleader.agent._random_streams import SpareStream, Streams, heads_of


@pytest.mark.parametrize("tosses", [0.0, 1.0, 63.0, 64.0, 65.0, 128.0, 700.0, COUNTED_TOSSES, COUNTED_TOSSES + 1.0])
def test_counted_heads_are_those_of_the_sampler(tosses):
    ours, its = SpareStream(7, 0x9E3779B97F4A7C15), SpareStream(7, 0x9E3779B97F4A7C15)
    for _ in range(20):
        assert heads_of(tosses, ours) == fair_binomial(tosses, its)
    assert ours.states == its.states


@pytest.mark.parametrize("df", [0.0, 1e-300, 0.5, 1.0, 2.0, 5.0, 11.0, 1e300, math.inf, math.nan])
def test_student_variables_are_those_of_the_sampler(df):
    ours, its = (Streams(3, 7, 0x9E3779B97F4A7C15) for _ in range(2))
    shapes = [df, math.inf, 4.0, 1.0, df]
    for k in range(2_000):
        found = ours.students(shapes)
        wanted = [float(studentise(its.normal(), shape, its.spare)) for shape in shapes]
        assert found == pytest.approx(wanted, rel=0.0, abs=0.0, nan_ok=True)
        assert ours.spare.states == its.spare.states
        assert ours.noise == its.noise
        if k % 50 == 0:  # another draw, and streams that were copied
            assert ours.below(5) == its.below(5)
            ours = ours.copy()


@pytest.mark.parametrize("half_life", [None, 60.0])
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5)], ids=str)
def test_laws_are_renewed_as_by_a_draft(policy, half_life, monkeypatch):
    def played(calls: list[int]) -> tuple[object, ...]:
        agent, rng = bl.Agent(policy, ["a", "b", "c"], seed=3, half_life=half_life), random.Random(5)
        renew = agent._learner._learn_and_renew
        monkeypatch.setattr(agent._learner, "_learn_and_renew", lambda *given: (calls.append(1), renew(*given)))
        for k in range(300):
            if k % 3:
                agent.update(agent.pull(), rng.gauss(0.0, 1.0))
            else:
                agent.reward(agent.decide().id, rng.gauss(0.0, 1.0))
        learner = agent._learner
        laws = [getattr(learner.laws, name) for name in ("location", "scale", "shape", "place", "pooled", "renew_at")]
        return learner.arms, laws, learner.rounds, learner.changes, learner.slow_at, agent.pull_many(20)

    with_it, without = [], []
    found = played(with_it)
    monkeypatch.setattr(IndexLearner, "_only_renews", lambda *given: False)
    assert found == played(without)
    assert (len(with_it) > 20) == (policy.rule.pooled or half_life is not None)
    assert not without


@pytest.mark.parametrize(
    ("location", "scale", "noise", "leader"),
    [
        ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], 12),
        ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], [5.0, 0.0, 0.0], 10),
        ([1.0, 3.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], None),
        ([3.0, 1.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], None),
        ([1.0, 1.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 12),
        ([math.inf, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 10),
        ([-math.inf] * 3, [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], None),
    ],
    ids=["largest location", "largest noise", "tie of the last", "tie of first and last", "tie below", "inf", "-inf"],
)
def test_a_clear_leader_has_the_largest_index_alone(location, scale, noise, leader):
    laws = Laws([10, 11, 12], [location, scale, [math.inf] * 3], SharedStatistics(0.0, 0, 3, math.inf, 0.0))
    assert clear_leader(laws, noise) == leader


def test_a_ledger_is_full_when_something_is_due():
    rng, time = random.Random(3), [0.0]
    ledger = Ledger(12, 10.0, lambda: time[0])
    seen = set()
    for k in range(3_000):
        time[0] += rng.choice([0.1, 1.0, 1.0, 2.0]) if rng.random() < 0.5 else 0.0
        now = ledger.now()
        opened = rng.random() < 0.5 or not ledger.open
        due = bool(
            ledger.due(ledger.open, now, opened - (not opened)) or ledger.due(ledger.rewarded, now, int(not opened))
        )
        assert ledger.is_full(now, opened=int(opened), rewarded=int(not opened)) == due
        seen.add(due)
        for table in (ledger.open, ledger.rewarded):
            for store, target, key, value in ledger.forgetting(table, ledger.due(table, now, 1)):
                store(target, key, value)
        if opened:
            stores = ledger.issuing(str(k), "a", now)
        elif ledger.open:
            stores = ledger.rewarding(rng.choice(list(ledger.open)), 1.0, now)
        for store, target, key, value in stores:
            store(target, key, value)
    assert seen == {False, True}
