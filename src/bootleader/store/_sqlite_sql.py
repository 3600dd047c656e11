"""The statements that SQLite executes for every decision and reward.

An event is one row of values, and the conditions are in the first of them: where they do not hold, the experiment is
NULL, which the table refuses. An ``INSERT ... SELECT`` with the same conditions takes a tenth longer, because SQLite
keeps the rows of a query in a table of their own if it reads the table that is written to.
"""

from __future__ import annotations

from typing import Final

from bootleader.store._events import COLUMNS
from bootleader.store._sql import READ

# Parameters: ?1 is the experiment, then come the columns of an event; then the number of changes of the experiment, or
# the horizon.
_CHANGES: Final = f"?{len(COLUMNS) + 2}"
_HORIZON: Final = f"?{len(COLUMNS) + 2}"
_DECISION: Final = f"?{COLUMNS.index('decision') + 2}"

_DECISION_IS_THERE: Final = (  # an event is not appended to a decision that was folded meanwhile
    f" AND EXISTS (SELECT 1 FROM bootleader_events WHERE experiment = ?1 AND decision = {_DECISION} AND version = 0)"
)
_THERE: Final = "removed IS NULL"
_UNCHANGED: Final = f"{_THERE} AND changes <= {_CHANGES}"
_NOTHING_NEW: Final = f" AND NOT EXISTS (SELECT 1 FROM bootleader_events WHERE experiment = ?1 AND seq > {_HORIZON})"


def _insertion(seq: str, conditions: str) -> str:
    return (
        f"INSERT INTO bootleader_events (experiment, seq, {', '.join(COLUMNS)}) VALUES "
        f"((SELECT id FROM bootleader_experiments WHERE id = ?1 AND {conditions}), "
        f"{seq}, {', '.join(f'?{place}' for place in range(2, len(COLUMNS) + 2))})"
    )


_LAST: Final = "(SELECT coalesce(max(seq), 0) + 1 FROM bootleader_events WHERE experiment = ?1)"

INSERTION: Final = _insertion(_LAST, _THERE)
INSERTION_UNCHANGED: Final = _insertion(_LAST, _UNCHANGED)
INSERTION_TO: Final = _insertion(_LAST, _UNCHANGED + _DECISION_IS_THERE)
NEXT_INSERTION: Final = _insertion(f"{_HORIZON} + 1", _THERE + _NOTHING_NEW)
NEXT_INSERTION_TO: Final = _insertion(f"{_HORIZON} + 1", _THERE + _NOTHING_NEW + _DECISION_IS_THERE)

# The events of a horizon, and at last the position of the fold, if there is one.
NEWS: Final = (
    f"SELECT * FROM (SELECT {READ} FROM bootleader_events WHERE experiment = ?1 AND seq > ?2 AND seq <= ?3 "
    f"ORDER BY seq LIMIT ?4) UNION ALL SELECT position{', NULL' * READ.count(',')} FROM bootleader_folds "
    "WHERE experiment = ?1"
)
