"""Many rewards at once: a nightly file, all of it or nothing."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bootleader._core.printable_text import shown
from bootleader._core.validation import counted
from bootleader.store._errors import DuplicateKey, StoreError
from bootleader.store._events import Event, Kind
from bootleader.store._rewards import Range, checked_id, checked_value, event_in_use, next_event

if TYPE_CHECKING:
    from bootleader.store._experiment_writer import Writer

AT_ONCE: Final = 20_000  # decisions that are looked up at once
ATTEMPTS: Final = 5
SEPARATORS: Final = ",;\t"

Reward = tuple[str, float, str | None]  # decision, value, event


@dataclass(frozen=True)
class BulkReceipt:
    """What became of many rewards.

    Attributes
    ----------
    counted : int
        Rewards that are new.
    repeated : int
        Rewards that were counted before.

    Examples
    --------
    >>> print(BulkReceipt(counted=2, repeated=1))
    2 rewards counted, 1 counted before
    """

    counted: int
    repeated: int

    def __str__(self) -> str:
        return f"{counted(self.counted, 'reward')} counted, {self.repeated:,} counted before"


def in_order(number: int) -> str:
    """Where a reward is, in a sequence."""
    return f"reward {number}"


def reward_many(writer: Writer, rewards: Sequence[Reward], where: Callable[[int], str] = in_order) -> BulkReceipt:
    """Append the rewards of many decisions, all or none; ``where`` says where the reward of a number is."""
    now = writer.clock()
    for _ in range(ATTEMPTS):
        fold = writer.backend.fold_position(writer.found.id)
        events = list(_events(writer, rewards, now, where))
        try:
            if events:
                writer.backend.append_many(writer.found.id, events, fold)
            else:
                writer.backend.make_durable()
        except DuplicateKey as error:
            if not writer.is_own(events[0], error):  # another process has rewarded or folded one of them: look again
                continue
        writer.read_again()
        return BulkReceipt(len(events), len(rewards) - len(events))
    raise StoreError("other processes kept rewarding the same decisions; nothing was counted", "unavailable")


def _events(
    writer: Writer, rewards: Sequence[Reward], now: float, where: Callable[[int], str]
) -> Iterator[Event]:  # fmt: skip
    """The events that are not in the log yet."""
    backend, experiment = writer.backend, writer.found.id
    added: dict[str, list[Event]] = {}  # decisions that occur more than once in the file
    owners: dict[str, str] = {}  # event ids in the file
    for start in range(0, len(rewards), AT_ONCE):
        part = rewards[start : start + AT_ONCE]
        chains = backend.chains(experiment, list(dict.fromkeys(decision for decision, _, _ in part)))
        known = backend.by_events(experiment, [event for _, _, event in part if event is not None])
        for place, (decision, value, event) in enumerate(part, start + 1):
            chain = [*chains.get(decision, ()), *added.get(decision, ())]
            if not chain or chain[0].kind != Kind.DECISION:
                raise _at(where(place), writer.unknown(decision))
            if event is not None:
                owner = known.get(event) or owners.setdefault(event, decision)
                if owner != decision:
                    raise _at(where(place), event_in_use(event, owner, f"decision {shown(decision)}"))
            try:
                row = next_event(chain, Kind.REWARD, value, event, now, writer.settings.reward_range)
            except StoreError as error:
                raise _at(where(place), error) from None
            except ValueError as error:
                raise ValueError(f"{where(place)}: {error}; nothing was counted") from None
            if row is not None:
                added.setdefault(decision, []).append(row)
                yield row


def _at(place: str, error: StoreError) -> StoreError:
    return StoreError(f"{place}: {error}; nothing was counted", error.reason)


def checked_rewards(rewards: Iterable[Any], accepted: Range) -> list[Reward]:
    """Rewards as (decision, value, event), or raise naming the place."""
    if isinstance(rewards, str) or not isinstance(rewards, Iterable):
        raise TypeError(f"rewards must be tuples of decision's id, value and event id, got {shown(rewards)}")
    found: list[Reward] = []
    for place, row in enumerate(rewards, 1):
        try:
            fields = tuple(row) if isinstance(row, Iterable) and not isinstance(row, str) else ()
            if len(fields) not in (2, 3):
                raise TypeError(f"it must be decision's id, value and, if there is one, event id, got {shown(row)}")
            decision, value, event = (*fields, None)[:3]
            if not isinstance(decision, str):
                raise TypeError(f"decision must be the id of a Decision, got {shown(decision)}")
            number = checked_value(value, accepted)
            found.append((decision, number, None if event is None else checked_id("event", event)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"reward {place}: {error}; nothing was counted") from None
    return found


class RewardFile(NamedTuple):
    """The rewards of a file, and the lines that they are in."""

    path: str
    rewards: list[Reward]
    lines: list[int]

    def where(self, number: int) -> str:
        """Where the reward of a number is, counted from 1."""
        return f"line {self.lines[number - 1]} of {self.path}"


def read_file(path: str, decision: str, reward: str, event: str | None, accepted: Range) -> RewardFile:
    """The rewards of a CSV file with a header."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            header = file.readline()
            separator = max(SEPARATORS, key=header.count)
            names = [name.strip().lower() for name in next(csv.reader([header], delimiter=separator), [])]
            places = [_place(names, column, path) for column in (decision, reward)]
            if event is not None or "event" in names:
                places.append(_place(names, event or "event", path))
            rewards, lines = _parsed(csv.reader(file, delimiter=separator), places, len(names), path, accepted)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8: {error}; nothing was counted") from None
    return RewardFile(path, rewards, lines)


def _place(names: list[str], column: str, path: str) -> int:
    if names.count(column.lower()) != 1:
        raise ValueError(f"{path} must have one column {column!r}, got {', '.join(names) or 'nothing'}")
    return names.index(column.lower())


def _parsed(
    rows: Any, places: list[int], columns: int, path: str, accepted: Range
) -> tuple[list[Reward], list[int]]:  # fmt: skip
    at, value_at, *event_at = places
    rewards: list[Reward] = []
    lines: list[int] = []
    try:
        for row in rows:
            if row:
                if any(field.strip() for field in row[columns:]):  # such as a number with a comma in it
                    raise ValueError(f"it has {len(row)} fields, and the header {columns}: quote what has a separator")
                event = row[event_at[0]].strip() if event_at else ""
                number = checked_value(_number(row[value_at]), accepted)
                rewards.append((row[at].strip(), number, checked_id("event", event) if event else None))
                lines.append(rows.line_num + 1)  # the header is the first
    except IndexError:
        raise ValueError(f"line {rows.line_num + 1} of {path} has too few columns; nothing was counted") from None
    except (ValueError, TypeError, csv.Error) as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        raise ValueError(f"line {rows.line_num + 1} of {path}: {error}; nothing was counted") from None
    return rewards, lines


def _number(text: str) -> float:
    try:
        if "_" in text:  # a number in Python, and in no file
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError(f"reward must be a number, got {shown(text)}") from None
