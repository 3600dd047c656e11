"""From an agent of one process to an experiment, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bootleader._core.printable_text import shown
from bootleader.agent._arm_state import ArmState
from bootleader.agent._decisions import DEFAULT_LIMIT, Assignment, Group, OpenDecision
from bootleader.agent._initial_pulls import InitialPulls
from bootleader.agent._laws import Laws
from bootleader.agent._learner import HistoryLearner
from bootleader.agent._linear_laws import ContextArm
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._shared_learner import SharedLearner
from bootleader.agent.agent import Agent
from bootleader.agent.traffic import Traffic
from bootleader.store._events import Core, Event, Kind, Rest, Side, new_event
from bootleader.store._exact_sums import ExactSums
from bootleader.store._model_sums import LoggedContext, plain_model
from bootleader.store._rewards import LONGEST_UNIT, checked_id
from bootleader.store._settings import Settings
from bootleader.store._sql import intact

if TYPE_CHECKING:
    from bootleader.store._experiment_writer import Writer


_SIDES = {Group.PLAIN: Side.ELSEWHERE, Group.BANDIT: Side.BANDIT, Group.HOLDOUT: Side.HOLDOUT}
_GROUPS = {side: group for group, side in _SIDES.items()}


def imported(agent: Any, traffic: Traffic | None) -> tuple[Settings, dict[str, Any], list[Event]]:
    """The settings, the first change and the open decisions of an agent."""
    if not isinstance(agent, Agent):
        raise TypeError(f"agent must be an Agent, got {shown(agent)}")
    with agent._lock:
        agent._finish()
        learner, ledger = agent._learner, agent._ledger
        traffic = agent.traffic if traffic is None else traffic
        settings = Settings.of(
            agent.policy, agent.seed, agent.maximize, agent.half_life, traffic, ledger.max_age, True,
            getattr(agent, "features", None),
        )  # fmt: skip
        states = [learner.state_now(slot) for slot in range(len(agent._names))]
        arms: list[dict[str, Any]] = [
            {
                "name": name,
                "metadata": agent._metadata[name],
                "noise_sd": arm.noise_sd,
                "active": arm.active,
                "later": arm.added_later,
            }
            for name, arm in zip(agent._names, states, strict=True)
        ]
        arms += [{"name": name, "metadata": None, "noise_sd": 1.0, "removed": True} for name in agent._removed]
        numbers = {arm["name"]: number for number, arm in enumerate(arms)}
        learnt = [_learnt(number, arm, agent) for number, arm in enumerate(states) if arm.rewards]
        rounds = learner.rounds
        models = _models(agent, states)
        events = [
            new_event(
                Core(
                    Kind.DECISION, decision_id, 0, numbers[decision.arm], round=rounds,
                    side=_SIDES[Group(decision.group)], time=decision.time,
                ),
                Rest(detail="imported"),
                None if decision.context is None else LoggedContext(None, 1.0, decision.context).to_text(),
            )
            for decision_id, decision in ledger.awaited()
            if decision.arm in numbers
        ]  # fmt: skip
        for unit in ledger.units:
            checked_id("unit", unit, LONGEST_UNIT)
        events += [
            new_event(
                Core(Kind.ASSIGNMENT, f"#unit-{place}", 0, numbers[kept.arm], time=kept.time),
                Rest(kept.probability, unit, assignment=1),
            )
            for place, (unit, kept) in enumerate(ledger.units.items())
        ]
        sides = [
            [side.rewards, side.count, side.mean, side.rss, side.third, side.fourth]
            for side in agent._sides
            if settings.holds_out and agent.traffic is not None and agent.traffic.control == settings.control
        ]
    change = {"change": "create", "arms": arms, "rounds": rounds, "learnt": learnt, "models": models, "sides": sides}
    return settings, change, events


def _models(agent: Agent, states: list[ArmState]) -> list[Any]:
    """The models of an agent with contexts: arm, number of rows and sums of each."""
    learner = agent._learner
    if isinstance(learner, SharedLearner):
        model = learner.model
        rows = int(model.count) if agent.half_life is None else sum(arm.rewards for arm in states)
        return [[None, rows, plain_model(model, agent.maximize)]] if model.count else []
    return [
        [number, arm.rewards, plain_model(arm.model, agent.maximize)]
        for number, arm in enumerate(states)
        if isinstance(arm, ContextArm) and arm.rewards
    ]


def _learnt(number: int, arm: ArmState, agent: Agent) -> list[Any]:
    """An arm's number, its number of rewards, its history and its moments, in the rewards' own sign."""
    sign = 1.0 if agent.maximize else -1.0
    if isinstance(agent._learner, HistoryLearner):
        values = [sign * (arm.anchor + deviation) for deviation in arm.history]
        return [number, arm.rewards, values, 0.0, 0.0, 0.0, 0.0, 0.0]
    # Without fourth moments of its own, an arm gets those of a Gaussian sample.
    fourth = arm.fourth if agent._learner.fourth_moment else 3.0 * arm.rss * arm.rss / arm.count
    return [number, arm.rewards, [], arm.count, sign * arm.mean, arm.rss, sign * arm.third, fourth]


def exported(writer: Writer) -> Agent:
    """The agent that an experiment would be in one process."""
    backend, experiment = writer.backend, writer.found.id
    fold, epoch = backend.fold_position(experiment), backend.epoch
    with writer.lock:
        began = writer.replica().horizon
    logged = _OpenDecisions()
    for event in backend.events(experiment):  # which takes a while: others may append meanwhile
        logged.add(event)
    with writer.lock:
        replica = writer.replica()
        state, settings, horizon = replica.state, writer.settings, replica.horizon
        learner = replica.chooser.learner(writer.clock())
        states = [arm.copy() for arm in learner.arms]
        playing = state.playing
        removed = [arm.name for arm in state.arms if arm.removed and arm.name not in {other.name for other in playing}]
        rounds = state.rounds
        sides = [_side(side) for side in state.sides or ()]
        models = (learner.model, learner.laws) if isinstance(learner, SharedLearner) else (None, learner.laws)
    logged.bring_to(horizon, began, writer)
    if (backend.fold_position(experiment), backend.epoch) != (fold, epoch):  # rewards that came meanwhile may be hidden
        return exported(writer)
    waiting, units = list(logged.made.values()), logged.units
    agent = Agent(
        settings.policy, {arm.name: arm.metadata for arm in playing}, seed=settings.seed, maximize=settings.maximize,
        half_life=settings.half_life, features=state.features, max_age=settings.max_age, traffic=settings.traffic,
    )  # fmt: skip
    slots = {arm.number: slot for slot, arm in enumerate(playing)}
    for arm, tally in zip(states, playing, strict=True):
        arm.in_flight, arm.active = 0, tally.active
    for event in waiting[-DEFAULT_LIMIT:]:
        slot = slots.get(event.arm)
        if slot is not None:
            group = _GROUPS[Side(event.side)] if state.sides is not None else Group.PLAIN
            context = None if event.context is None else tuple(LoggedContext.of(event.context).values)
            agent._ledger.open[event.decision] = OpenDecision(playing[slot].name, event.time, True, group, context)
            states[slot].in_flight += event.side != Side.HOLDOUT
    for unit, event in list(units.items())[-DEFAULT_LIMIT:]:
        if event.arm in slots:
            kept = Assignment(playing[slots[event.arm]].name, event.time, event.probability, None)
            agent._ledger.units[unit] = kept
    agent._sides[:] = sides
    agent._removed = dict.fromkeys(removed)
    filled = agent._learner
    filled.arms, filled.rounds, filled.stale = states, rounds, True
    needed = filled.initial_pulls
    filled.initial = InitialPulls(slot for slot, arm in enumerate(states) if arm.active and arm.expected < needed)
    if isinstance(filled, LinearLearner):
        shared, laws = models
        if isinstance(filled, SharedLearner) and shared is not None:
            filled.model = shared
        if laws.playing and rounds:
            filled.laws = Laws.none(laws.pooled, rounds)
    filled.commit([])
    return Agent.from_json(agent.to_json(), policies=[type(settings.policy)], max_size=2**62)


def _side(sums: ExactSums) -> ArmState:
    """One side of the comparison with the holdout."""
    count, mean, rss, third, fourth = sums.moments()
    return ArmState(count=count, anchor=mean, rss=rss, third=third, fourth=fourth, rewards=sums.number)


class _OpenDecisions:
    """The decisions without a reward, oldest first, their times in order; and the last assignment of each unit."""

    def __init__(self) -> None:
        self.made: dict[str, Event] = {}
        self.units: dict[str, Event] = {}
        self._latest = -math.inf

    def add(self, event: Event) -> None:
        """Take in the next event of the log."""
        intact(event)
        if event.kind in (Kind.DECISION, Kind.ASSIGNMENT):
            self._latest = max(self._latest, event.time)  # an agent's times never go back
            event = event._replace(time=self._latest)
            if event.unit is not None and event.assignment is not None:
                self.units.pop(event.unit, None)
                self.units[event.unit] = event
            if event.kind == Kind.DECISION:
                self.made[event.decision] = event
        elif event.kind != Kind.CHANGE:
            self.made.pop(event.decision, None)

    def bring_to(self, horizon: str, began: str, writer: Writer) -> None:
        """Take in what was appended up to a horizon; the log that was added is of some moment after ``began``."""
        backend, experiment, more = writer.backend, writer.found.id, True
        versions: dict[str, int] = {}  # of each decision that was made or changed, the last
        while more:
            news = backend.news(experiment, began, horizon)
            versions.update((row[2], row[3]) for row in news.rows if row[1] != Kind.CHANGE)
            began, more = news.horizon, news.more
        chains = backend.chains(experiment, list(versions))
        for decision in chains:
            self.made.pop(decision, None)
        events = (event for chain in chains.values() for event in chain if event.version <= versions[event.decision])
        for event in sorted(events, key=lambda event: event.seq):  # the units and the times follow the log
            self.add(event)
