"""The statements that PostgreSQL executes for every decision and reward. Placeholders are written ``?``."""

from __future__ import annotations

from functools import cache
from typing import Final

from bootleader.store._events import COLUMNS, EXPERIMENT
from bootleader.store._sql import READ

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
    f"{', '.join(f'?::{TYPES[name]}' for name in COLUMNS)} "
    "FROM bootleader_experiments WHERE id = ?::int AND removed IS NULL"
)
_DECISION_IS_THERE: Final = (  # and cannot be folded before the event is committed
    " AND EXISTS (SELECT 1 FROM bootleader_events d WHERE d.experiment = bootleader_experiments.id "
    "AND d.decision = ? AND d.version = 0 FOR KEY SHARE)"
)
INSERTION_TO: Final = (
    f"{INSERTION} AND NOT EXISTS (SELECT 1 FROM bootleader_events c WHERE c.experiment = bootleader_experiments.id "
    f"AND c.decision = '{EXPERIMENT}' AND c.version > ?::int){_DECISION_IS_THERE}"
)


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
            "NOT EXISTS (SELECT 1 FROM bootleader_events WHERE experiment = id AND txn = ANY(?::bigint[]))"
        )
    there = _DECISION_IS_THERE if to_decision else ""
    return f"{INSERTION}{' AND '.join(conditions)}{there} RETURNING txn, pg_current_snapshot()::text"


@cache
def news_query(has_open: bool, has_last: bool, limit: int) -> str:
    """The query for the first events after a horizon, which has open transactions, and up to a last one."""
    conditions = ["txn >= ?::bigint"]
    if has_open:  # apart, so that an old transaction does not make the index be read from there on
        conditions.append("txn = ANY(?::bigint[])")
    parts = [
        f"""(SELECT txn, {READ} FROM bootleader_events WHERE experiment = ? AND {condition}
        {"AND " + WITHIN if has_last else ""} ORDER BY txn, seq LIMIT {limit})"""
        for condition in conditions
    ]
    return f"""
        SELECT {READ}, (SELECT position FROM bootleader_folds WHERE experiment = ?), txn,
            pg_current_snapshot()::text FROM (SELECT 1) one LEFT JOIN (
            SELECT * FROM ({" UNION ALL ".join(parts)}) found ORDER BY txn, seq LIMIT {limit}
        ) e ON TRUE ORDER BY txn, seq
    """
