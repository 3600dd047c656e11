"""Which events a reader of PostgreSQL has seen, as PostgreSQL says which transactions a query sees."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cmp_to_key
from typing import Final, NamedTuple

from bootleader._core.printable_text import shown
from bootleader.store._errors import StoreError
from bootleader.store._postgres_sql import WITHIN
from bootleader.store._sql import Execute


class Horizon(NamedTuple):
    """Which transactions are visible: those below ``xmax`` that are not in ``xip``."""

    xmax: int
    xip: list[int]

    @classmethod
    def of(cls, text: str, offset: int = 0) -> Horizon:
        """The horizon of what PostgreSQL calls a snapshot and writes as ``xmin:xmax:xip,xip``."""
        try:
            _, xmax, xip = text.split(":")
            return cls(int(xmax) + offset, [int(number) + offset for number in xip.split(",") if number])
        except ValueError:
            raise StoreError(f"the horizon {shown(text)} is damaged", "damaged") from None

    def contains(self, other: Horizon) -> bool:
        """Whether all transactions that are visible in the other are visible in this one."""
        hidden = set(other.xip)
        missing = itertools.chain(self.xip, range(self.xmax, other.xmax))
        return all(number in hidden for number in missing if number < other.xmax)

    def up_to(self, later: Horizon, number: int) -> Horizon:
        """What a reader has seen that had seen this, and then of a later horizon all transactions below a number."""
        if number > self.xmax:
            return Horizon(number, [each for each in later.xip if each < number])
        return Horizon(self.xmax, [each for each in self.xip if each >= number or each in later.xip])

    def with_transaction(self, number: int) -> Horizon:
        """The same, and one transaction that began later: those that took an id between may still be running."""
        return Horizon(number + 1, [*self.xip, *range(self.xmax, number)])

    def __str__(self) -> str:
        return f"{min(self.xip, default=self.xmax)}:{self.xmax}:{','.join(map(str, self.xip))}"


# What a damaged horizon says is left out: whoever needs it finds that it is damaged.
_HORIZON: Final = "'^[0-9]+:[0-9]{1,18}:'"


def last_transaction(execute: Execute) -> int:
    """The largest transaction id that the store knows, offset included.

    That of the log, by its index, experiment by experiment; and those of snapshots and folds. Their horizons may be
    far above the log, where the server has done other work since.
    """
    sql = f"""
        SELECT coalesce(max(txn), 0) FROM (
            SELECT (SELECT max(txn) FROM bootleader_events WHERE experiment = id) FROM bootleader_experiments
            UNION ALL
            SELECT split_part(horizon, ':', 2)::bigint - 1
            FROM (SELECT horizon FROM bootleader_snapshots UNION ALL SELECT horizon FROM bootleader_folds) kept
            WHERE horizon ~ {_HORIZON}
        ) known (txn)
    """
    return int(execute(sql, ())[0][0])


def next_transaction(execute: Execute, offset: int) -> int:
    """A transaction id, with the offset, that is above those of all rows that are visible."""
    return Horizon.of(execute("SELECT pg_current_snapshot()::text", ())[0][0], offset).xmax


def ranks(execute: Execute, experiment: int, horizons: Iterable[str]) -> dict[str, int]:
    """Numbers that sort horizons by inclusion of the events of an experiment.

    Two horizons may differ in transactions of others, so that neither contains the other. The log decides then.
    """
    sql = f"""
        SELECT 1 FROM bootleader_events WHERE experiment = ? AND txn >= ?::bigint AND {WITHIN} AND NOT {WITHIN} LIMIT 1
    """

    def compare(one: Horizon, other: Horizon) -> int:
        if other.contains(one):
            return 0 if one.contains(other) else -1
        if one.contains(other):
            return 1
        first = min(*one.xip, *other.xip, one.xmax, other.xmax)
        return 1 if execute(sql, (experiment, first, *one, *other)) else -1

    known = {text: Horizon.of(text) for text in horizons}
    roughly = sorted(known, key=lambda text: (known[text].xmax, -len(known[text].xip)))
    exactly = sorted(map(known.__getitem__, roughly), key=cmp_to_key(compare))
    rank = {str(horizon): place for place, horizon in enumerate(exactly)}
    return {text: rank[str(horizon)] for text, horizon in known.items()}
