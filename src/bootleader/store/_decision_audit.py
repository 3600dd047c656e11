"""A decision computed again from the log."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bootleader.store._errors import StoreError
from bootleader.store._events import Event, Kind
from bootleader.store._model_sums import LoggedContext
from bootleader.store._state import State

if TYPE_CHECKING:
    from bootleader.store._experiment_writer import Writer
    from bootleader.store._replica import Replica

# What another kind of processor, or another library, may change by rounding in another way: a probability, or a
# prediction in distances of the rewards from it; and a prediction in its own size.
ROUNDING, LAST_DIGITS = 1e-9, 1e-12
GIVEN: Final = {"recorded": "the choice was made elsewhere and recorded", "imported": "an imported agent decided"}


@dataclass(frozen=True)
class Audit:
    """What :meth:`Experiment.audit` returns.

    Attributes
    ----------
    id : str
        Of the decision.
    arm, probability : str, float or None
        What the log says.
    recomputed_arm, recomputed_probability : str or None, float or None
        What comes out now; None where there is nothing to compute.
    events_seen : int
        Number of events that the deciding process had applied.
    origin : str
        ``"chosen"``, ``"sticky"``, ``"holdout"``, ``"recorded"`` or ``"imported"``.
    agrees : bool
        Whether the arm is the same, and the probability but for rounding, 1e-9 at most.
    note : str
        In words.

    Examples
    --------
    >>> import bootleader as bl
    >>> button = bl.Store("sqlite://").create("button", bl.UCB1(), arms=["blue", "green"], seed=1)
    >>> audit = button.audit(button.decide().id)
    >>> audit.agrees, audit.probability, audit.note
    (True, 0.5, 'arm and probability come out as they were')
    """

    id: str
    arm: str
    probability: float | None
    recomputed_arm: str | None
    recomputed_probability: float | None
    events_seen: int
    origin: str
    agrees: bool
    note: str


def audit(writer: Writer, decision_id: str) -> Audit:
    """Compute a decision again."""
    chain = writer.backend.chain(writer.found.id, decision_id) if isinstance(decision_id, str) else []
    if not chain or chain[0].kind != Kind.DECISION:
        raise writer.unknown(decision_id)
    return audited(writer, writer.fresh_replica(chain[0].seen), chain[0])


def audited(writer: Writer, replica: Replica, event: Event) -> Audit:
    """The audit of a decision by a replica at its horizon."""
    state, origin = replica.state, event.detail or ""
    arm = state.arms[event.arm].name if event.arm < len(state.arms) else f"(arm {event.arm})"

    def result(again: str | None, probability: float | None, agrees: bool, note: str) -> Audit:
        return Audit(
            event.decision, arm, event.probability, again, probability, state.events, origin, agrees, note
        )  # fmt: skip

    if origin in GIVEN:
        return result(None, None, True, GIVEN[origin])
    if event.round != state.rounds:
        return result(None, None, False, f"the log says round {event.round}, the events that it names {state.rounds}")
    if origin == "sticky":
        return result(*_sticky(writer, event))
    try:
        chooser = replica.chooser
        context = None if event.context is None else chooser.context_of(event.context)
        choice = chooser.choose(event.decision, event.unit, event.time, context)
    except StoreError as error:
        return result(None, None, False, str(error))
    again, predicted = state.arms[choice.arm].name, chooser.logged(choice.arm, context)
    is_same = (choice.arm, choice.origin) == (event.arm, origin)
    if not is_same or not _is_close(choice.probability, event.probability):
        note = f"the log says {arm!r} with {event.probability!r}, computed again: {again!r} with {choice.probability!r}"
        return result(again, choice.probability, False, note)
    if predicted != event.context and not _is_close_context(predicted, event.context, state):
        note = "the prediction that the log keeps with the context comes out differently"
        return result(again, choice.probability, False, note)
    note = "arm and probability come out as they were"
    if (choice.probability, predicted) != (event.probability, event.context):
        note += ", but for rounding, as on another kind of processor or with other versions of NumPy and SciPy"
    return result(again, choice.probability, True, note)


def _is_close(one: float | None, other: float | None) -> bool:
    """Whether two probabilities are the same but for rounding."""
    return one == other or (one is not None and other is not None and abs(one - other) <= ROUNDING)


def _is_close_context(one: str | None, other: str | None, state: State) -> bool:
    """Whether two logged contexts have the same values, and the same prediction but for rounding."""
    if one is None or other is None:
        return False
    found, before = LoggedContext.of(one), LoggedContext.of(other)
    if found.values != before.values or one.partition("\n")[2] != other.partition("\n")[2]:
        return False
    if found.predicted is None or before.predicted is None:
        return found.predicted is before.predicted
    off_by = abs(found.predicted - before.predicted)
    largest = ROUNDING * _distance(state, before.predicted) + LAST_DIGITS * abs(before.predicted)
    return off_by <= largest and abs(found.spread - before.spread) <= ROUNDING


def _distance(state: State, predicted: float) -> float:
    """How far the rewards are from a prediction: of the arm of which they are farthest, the mean and one deviation."""
    moments = [arm.moments(state.rounds, state.needed) for arm in state.arms if arm.sums.number]
    return max([abs(each.mean - predicted) + math.sqrt(each.rss / each.count) for each in moments], default=0.0)


def _sticky(writer: Writer, event: Event) -> tuple[None, None, bool, str]:
    """The audit of a decision that followed an earlier one of its unit."""
    before = writer.backend.assignments(writer.found.id, event.unit or "")
    same = [
        row for row in before if row.seq < event.seq and (row.arm, row.probability) == (event.arm, event.probability)
    ]
    if not same:
        return None, None, False, "no earlier decision of the unit has this arm and probability"
    return None, None, True, f"as decision {same[-1].decision} of the same unit"
