"""The statements that PostgreSQL executes for every decision and reward. Placeholders are written ``?``."""

from __future__ import annotations

from functools import cache
from typing import Final

from bootleader.store._events import COLUMNS
from bootleader.store._sql import READ, READ_NAMES

TYPES: Final = {
    "kind": "smallint", "decision": "text", "version": "int", "arm": "int", "old": "float8", "value": "float8",
    "round": "bigint", "side": "smallint", "time": "float8", "crc": "bigint", "probability": "float8",
    "unit": "text", "assignment": "int", "event": "text", "seen": "text", "detail": "text", "crc_rest": "bigint",
    "context": "text",
}  # fmt: skip
WITHIN: Final = "(txn < ?::bigint AND NOT txn = ANY(?::bigint[]))"
INSERTION: Final = (
    f"INSERT INTO bootleader_events (experiment, txn, {', '.join(COLUMNS)}) "
    "SELECT id, pg_current_xact_id()::text::bigint + ?::bigint, "
    f"{', '.join(f'?::{TYPES[name]}' for name in COLUMNS)} FROM bootleader_experiments "
    "WHERE id = ?::int AND removed IS NULL"
)
_DECISION_IS_THERE: Final = (  # and cannot be folded before the event is committed
    " AND EXISTS (SELECT 1 FROM bootleader_events d WHERE d.experiment = bootleader_experiments.id "
    "AND d.decision = ? AND d.version = 0 FOR KEY SHARE)"
)
INSERTION_UNCHANGED: Final = f"{INSERTION} AND changes <= ?::int"
INSERTION_TO: Final = INSERTION_UNCHANGED + _DECISION_IS_THERE

# The events of some transactions, each looked up by its id. For ``txn = ANY(...)`` PostgreSQL may choose the index of
# decisions, and read all of an experiment, as long as it has no statistics of a new table.
_OF_TRANSACTIONS: Final = "unnest(?::bigint[]) open (id), LATERAL"


@cache
def next_insertion(has_open: bool, to_decision: bool) -> str:
    """The insertion of an event if no other is visible that was not visible in a snapshot, and none was folded since.

    The snapshot may have open transactions; the event may belong to a decision, which must be there. What comes back is
    the event's transaction, and the snapshot in which all this was found to be so.
    """
    conditions = [
        "",
        "coalesce((SELECT max(txn) FROM bootleader_events WHERE experiment = id), 0) < ?::bigint",
        "coalesce((SELECT position FROM bootleader_folds WHERE experiment = id), 0) = ?::bigint",
    ]
    if has_open:
        conditions.append(
            f"NOT EXISTS (SELECT 1 FROM {_OF_TRANSACTIONS} (SELECT 1 FROM bootleader_events "
            "WHERE experiment = bootleader_experiments.id AND txn = open.id ORDER BY txn, seq LIMIT 1) e)"
        )
    there = _DECISION_IS_THERE if to_decision else ""
    return f"{INSERTION}{' AND '.join(conditions)}{there} RETURNING txn, pg_current_snapshot()::text"


@cache
def news_query(has_open: bool, has_last: bool, limit: int) -> str:
    """The query for the first events after a horizon, which has open transactions, and up to a last one.

    A last row has the position of the fold in the place of ``seq``, and the present snapshot in that of ``detail``.
    """
    found = f"SELECT {READ}, txn FROM bootleader_events WHERE experiment = ?"
    rest = f"{f' AND {WITHIN}' if has_last else ''} ORDER BY txn, seq LIMIT {limit}"
    parts = [f"({found} AND txn >= ?::bigint{rest})"]
    if has_open:  # apart, so that an old transaction does not make the index be read from there on
        parts.append(f"(SELECT e.* FROM {_OF_TRANSACTIONS} ({found} AND txn = open.id{rest}) e)")
    fold = "(SELECT position FROM bootleader_folds WHERE experiment = ?)"
    beside = {"seq": fold, "detail": "pg_current_snapshot()::text"}
    return f"""
        (SELECT {READ} FROM ({" UNION ALL ".join(parts)}) found ORDER BY txn, seq LIMIT {limit})
        UNION ALL SELECT {", ".join(beside.get(name, "NULL") for name in READ_NAMES)}
    """
