"""What holds of every agent at every moment between two calls."""

from __future__ import annotations

import math
from typing import Any

import bootleader as bl
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._pending_changes import next_given_up


def check(agent: bl.Agent, *, probabilities: bool = True) -> None:
    """Assert every invariant. The agent is not changed."""
    table = agent.paused  # any call finishes what an interrupted one has committed
    assert agent._learner.pending is None
    _check_names(agent, table)
    _check_decisions(agent)
    _check_learner(agent._learner, agent.half_life)
    if probabilities:
        check_probabilities(agent)


def _check_names(agent: bl.Agent, paused: list[str]) -> None:
    learner: Any = agent._learner
    assert len(agent._names) == len(learner.arms) == len(set(agent._names))
    assert agent._slots == {name: slot for slot, name in enumerate(agent._names)}
    assert set(agent._metadata) == set(agent._names)
    assert not set(agent._names) & set(agent._removed)
    assert paused == [name for name, arm in zip(agent._names, learner.arms, strict=True) if not arm.active]


def _check_decisions(agent: bl.Agent) -> None:
    ledger = agent._ledger
    in_flight = dict.fromkeys(agent._names, 0)
    for decision in ledger.open.values():
        if decision.is_learnt:
            in_flight[decision.arm] += 1
    assert [arm.in_flight for arm in agent._learner.arms] == list(in_flight.values())
    for rows in (ledger.open, ledger.rewarded):
        times = [decision.time for decision in rows.values()]
        assert times == sorted(times)
        assert len(rows) <= ledger.max_open
    assert not set(ledger.open) & set(ledger.rewarded)


def _check_learner(learner: Any, half_life: float | None) -> None:
    needed = learner.initial_pulls
    lacking = [k for k, arm in enumerate(learner.arms) if arm.active and arm.expected < needed]
    assert sorted(learner.initial.slots) == lacking
    assert learner.initial.place == {slot: place for place, slot in enumerate(learner.initial.slots)}
    assert sum(arm.rewards for arm in learner.arms) <= learner.rounds
    assert learner.give_up_at <= next_given_up(learner.arms)
    for arm in learner.arms:
        assert len(arm.awaited) <= (needed if arm.count < needed else 0)
        assert all(map(math.isfinite, (arm.count, arm.anchor, arm.drift, arm.rss)))
        assert arm.rss >= 0.0
        assert arm.count <= arm.rewards
        assert half_life is not None or arm.count == arm.rewards
        assert arm.last <= learner.rounds
        assert not arm.history or len(arm.history) == arm.rewards
    if not learner.stale:
        _check_laws(learner)


def _check_laws(learner: Any) -> None:
    laws = learner.laws
    assert laws.playing == learner.now_playing(learner.arms)
    assert laws.place == {slot: place for place, slot in enumerate(laws.playing)}
    if isinstance(learner, IndexLearner):
        laws = learner._current(laws)
        computed = learner._laws_at(learner.arms, laws.playing, learner.rounds, laws.pooled, laws.pooled_at)
        assert (laws.location, laws.scale, laws.shape) == (computed.location, computed.scale, computed.shape)
        assert all(map(math.isfinite, laws.location))
        assert all(0.0 <= scale < math.inf for scale in laws.scale)
        assert learner.fast is learner._fast_laws()


def check_probabilities(agent: bl.Agent, tolerance: float = 1e-9) -> None:
    """The probabilities are probabilities."""
    if len(agent.paused) == len(agent._names):
        return
    chances = agent.probabilities()
    assert all(0.0 <= chance <= 1.0 for chance in chances.values()), dict(chances)
    assert abs(math.fsum(chances.values()) - 1.0) <= tolerance, dict(chances)
