"""What becomes of a decision: its reward, amendments, additions, a withdrawal; each at most once for an event id.

The reward of a decision follows from its events: the reward counts first, whenever it came, and the others follow in
the order of their versions. An amendment sets the value, an addition adds to it, a withdrawal takes it away. So an
amendment that overtakes its reward still counts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

from bootleader._core.moments import LARGEST_FOURTH_POWER
from bootleader._core.printable_text import shown
from bootleader.agent._validation import ANY_REWARD, check_range, reward_of
from bootleader.store._errors import StoreError
from bootleader.store._events import EXPERIMENT, Core, Event, Kind, Rest, new_event
from bootleader.store._model_sums import context_of_reward

ADVICE: Final = "add() adds a part, amend() replaces the value"
LONGEST_ID: Final = 200  # characters of an event id
LONGEST_UNIT: Final = 1_000
NOT_IN_IDS: Final = ("Cc", "Cs", "Zl", "Zp")  # control characters, half surrogates, ends of lines and paragraphs
MOST_BYTES: Final = 2_000  # of an id in UTF-8: PostgreSQL has no index of much longer ones
Range = tuple[float, float]  # the smallest and the largest reward that a policy takes


def checked_value(value: Any, accepted: Range = ANY_REWARD) -> float:
    """A reward as a float; minus zero is zero, since SQLite does not keep its sign."""
    number = reward_of(value, LARGEST_FOURTH_POWER) + 0.0
    check_range(number, *accepted)
    return number


def checked_id(what: str, value: Any, longest: int = LONGEST_ID) -> str:
    """An id that every database can hold."""
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise TypeError(f"{what} must be a string of 1 to {longest} characters, got {shown(value)}")
    if not value.isprintable() and any(unicodedata.category(letter) in NOT_IN_IDS for letter in value):
        raise ValueError(f"{what} must have no control characters, got {shown(value)}")
    if len(value) * 4 > MOST_BYTES and len(value.encode()) > MOST_BYTES:
        raise ValueError(f"{what} must have at most {MOST_BYTES:,} bytes in UTF-8, got {shown(value)}")
    return str(value)


def amount_of(event: Event) -> float | None:
    """What the caller gave: the value, or the amount of an addition."""
    return event.value if event.detail is None else float(event.detail)


def reward_after(events: Iterable[tuple[int, float | None]]) -> float | None:
    """The reward that events (kind and amount, in the order of versions) make."""
    ordered = sorted(events, key=lambda event: event[0] != Kind.REWARD)
    value: float | None = None
    for kind, amount in ordered:
        if kind == Kind.ADDITION:
            assert amount is not None
            value = checked_value((value or 0.0) + amount)
        else:
            value = amount
    return value


def next_event(
    chain: Sequence[Event], kind: Kind, amount: float | None, event: str | None, now: float,
    accepted: Range = ANY_REWARD,
) -> Event | None:  # fmt: skip
    """The event that a call appends to those of its decision; None if it was counted before.

    Raises
    ------
    StoreError
        If the decision has another reward, or the event id was used for something else.
    ValueError
        If the policy does not take the reward that comes out.
    """
    decision, last = chain[0], chain[-1]
    core = Core(kind, decision.decision, 1, decision.arm, None, amount, decision.round, decision.side, now)
    if kind == Kind.REWARD and last is decision:  # nearly always
        return new_event(core, Rest(event=event), context_of_reward(decision.context))
    if event is not None:
        for before in chain[1:]:
            if before.event == event:
                if (before.kind, amount_of(before)) != (kind, amount):
                    raise _conflict(before, kind, amount, "give each event an id of its own")
                return None
    if kind == Kind.REWARD:
        for before in chain[1:]:
            if before.kind == Kind.REWARD:
                is_other = event is not None and before.event is not None  # is it another part of the reward?
                if is_other or amount_of(before) != amount:
                    is_withdrawn = last.value is None
                    advice = "it was withdrawn: amend() gives the decision another" if is_withdrawn else ADVICE
                    raise _conflict(before, kind, amount, advice, event)
                return None
    if kind == Kind.WITHDRAWAL and last.value is None:
        raise StoreError(f"decision {shown(decision.decision)} has no reward to withdraw", "conflict")
    if kind == Kind.AMENDMENT and event is None and last.value == amount:
        return None
    value = reward_after([*((e.kind, amount_of(e)) for e in chain[1:]), (kind, amount)])
    if value is not None:
        check_range(value, *accepted)
    return new_event(
        core._replace(version=last.version + 1, old=last.value, value=value),
        Rest(event=event, detail=None if value == amount else repr(amount)),
        context_of_reward(decision.context),
    )


def event_in_use(event: str | None, owner: str, wanted: str) -> StoreError:
    """What to raise for an event id that belongs to another decision, or to a summary."""
    used_for = "a summary" if owner == EXPERIMENT else f"decision {shown(owner)}"
    return StoreError(
        f"event {shown(event)} was used for {used_for}, got it for {wanted}: an event id is for one event", "conflict"
    )


def _conflict(before: Event, kind: Kind, amount: float | None, advice: str, event: str | None = None) -> StoreError:
    """What to raise if a decision has another event already."""
    has, got = _named(Kind(before.kind), amount_of(before), before.event), _named(kind, amount, event)
    return StoreError(f"decision {shown(before.decision)} already has {has}, got {got}; {advice}", "conflict")


def _named(kind: Kind, amount: float | None, event: str | None) -> str:
    words = [kind.name.lower(), *([] if amount is None else [repr(amount)])]
    return " ".join(words if event is None else [*words, "by event", shown(event)])
