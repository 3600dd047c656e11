"""Tables and verdicts of an experiment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bootleader.agent._contextual_summary import coefficient_table, prediction_table, segment_table
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._summary import summary_table
from bootleader.inference._moments import Moments
from bootleader.inference._verdict import verdict_of_moments
from bootleader.store._events import Event, Kind, Side
from bootleader.store._model_sums import LoggedContext

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.inference import Verdict
    from bootleader.store._experiment_writer import Writer
    from bootleader.store._replica import Replica


SIDES = ("the bandit", "the control (holdout)")


def summary(writer: Writer, context: Any = None) -> pd.DataFrame:
    """A row for each arm; with contexts, for each arm and term, or for each arm in a context."""
    with writer.lock:
        replica = writer.replica()
        state, now = replica.state, writer.clock()
        if state.features is not None and context is None:
            return _coefficients(replica, now)
        replica.chooser.look_at(writer.checked_context(state, context), now)
        names = [arm.name for arm in state.playing]
        chances = dict.fromkeys((arm.number for arm in state.playing), 0.0)
        if any(arm.active for arm in state.playing):
            final = replica.chooser.final(now)
            chances.update({arm.number: chance for arm, chance in zip(final.arms, final.chances, strict=True)})
        learner = replica.chooser.learner(now)
        maximize, fades = state.settings.maximize, state.settings.half_life is not None
        if isinstance(learner, LinearLearner):
            table = prediction_table(learner, names, list(chances.values()), maximize)
        else:
            table = summary_table(learner, names, list(chances.values()), maximize, fades)
        table["open"] = [arm.decisions - arm.rewarded for arm in state.playing]
        return table


def _coefficients(replica: Replica, now: float) -> pd.DataFrame:
    """A row for each arm and term."""
    state, learner = replica.state, replica.chooser.learner(now)
    assert isinstance(learner, LinearLearner)
    assert state.features is not None
    waiting = {arm.name: arm.decisions - arm.rewarded for arm in state.playing}
    table = coefficient_table(learner, list(waiting), state.features, state.constant, state.settings.maximize)
    every = sum(waiting.values())
    table["open"] = [waiting.get(arm, every) if state.shared is None else every for arm, _ in table.index]
    return table


def shares(writer: Writer, by: Any) -> pd.DataFrame:
    """How often each arm was chosen in each segment."""
    with writer.lock:
        replica = writer.replica()
        state = replica.state
        if state.features is None or state.features.of_arms:
            raise ValueError("there are no segments of visitors: the experiment needs features, and not those of arms")
        learner = replica.chooser.learner(writer.clock())
        assert isinstance(learner, LinearLearner)
        counts = segment_table(learner, [arm.name for arm in state.playing], state.features, by)
    return counts.div(counts.sum(axis=1), axis=0)


def verdict(writer: Writer, options: dict[str, Any]) -> Verdict:
    """The verdict on the arms."""
    if writer.settings.features is not None:
        raise ValueError("the arms of an experiment with contexts are compared in a context: see summary(context)")
    if writer.settings.half_life is not None:
        raise ValueError(
            "an experiment with a half-life has no fixed mean to give a verdict on: ask bootleader.verdict(log, "
            "drift=True, floor=...) on its log"
        )
    with writer.lock:
        arms = writer.replica().state.playing
        rows = [(arm.sums.number, *arm.moments(0, 0)[1:3], arm.moments(0, 0).fourth) for arm in arms]
        names = [arm.name for arm in arms]
    return verdict_of_moments(names, _moments(rows), maximize=writer.settings.maximize, **options)


def _moments(rows: Sequence[tuple[float, float, float, float]]) -> Moments:
    """Moments from a row of count, mean, RSS and fourth moment for each arm; there may be none."""
    return Moments.of(*([row[column] for row in rows] for column in range(4)))


def holdout(writer: Writer, options: dict[str, Any]) -> Verdict:
    """The holdout against all others."""
    with writer.lock:
        sides = writer.replica().state.sides
        if sides is None:
            raise ValueError("the experiment has no holdout: create it with Traffic(holdout=..., control=...)")
        rows = [(side.number, *side.moments()[1:3], side.moments().fourth) for side in sides]
    return verdict_of_moments(SIDES, _moments(rows), maximize=writer.settings.maximize, **options)


def decisions_table(writer: Writer) -> pd.DataFrame:
    """A row for each decision, with its reward."""
    import pandas as pd

    state = writer.changes_alone()  # a damaged row of a decision does not matter here
    names, features = [arm.name for arm in state.arms], state.features
    made: dict[str, Event] = {}
    rewards: dict[str, float | None] = {}
    for event in writer.backend.events(writer.found.id):
        if not event.intact:
            continue
        if event.kind == Kind.DECISION:
            made[event.decision] = event
        elif event.kind not in (Kind.CHANGE, Kind.ASSIGNMENT):
            rewards[event.decision] = event.value
    events = list(made.values())
    values = [rewards.get(event.decision) for event in events]
    contexts = [None if event.context is None else LoggedContext.of(event.context).values for event in events]
    columns = {
        f"context.{name}": [None if values is None else values[place] for values in contexts]
        for place, name in enumerate(features or ())
    }
    return pd.DataFrame(
        {
            "id": [event.decision for event in events],
            "time": pd.to_datetime([event.time for event in events], unit="s", utc=True, errors="coerce"),
            "arm": [names[event.arm] if event.arm < len(names) else None for event in events],
            "probability": [math.nan if event.probability is None else event.probability for event in events],
            "reward": [math.nan if value is None else value for value in values],
            "unit": [event.unit for event in events],
            "holdout": [event.side == Side.HOLDOUT for event in events],
            "origin": [event.detail for event in events],
            **columns,
        }
    )


def events_table(writer: Writer) -> pd.DataFrame:
    """A row for each event."""
    import pandas as pd

    events = list(writer.backend.events(writer.found.id))
    table = pd.DataFrame(
        [event[:10] + event[11:17] + event[18:] for event in events],
        columns=[*Event._fields[:10], *Event._fields[11:17], *Event._fields[18:]],
    )
    table["kind"] = [_word(event.kind) for event in events]
    table["damaged"] = [not event.intact for event in events]
    return table


def _word(kind: Any) -> str:
    try:
        return Kind(kind).name.lower()
    except ValueError:
        return f"kind {kind}"
