"""Old events folded into a snapshot, without changing any later decision."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from bootleader._core.validation import real
from bootleader.store._backend import Fold
from bootleader.store._errors import DuplicateKey, StoreError
from bootleader.store._ids import tag_and_number

if TYPE_CHECKING:
    from bootleader.store._experiment_writer import Writer

ATTEMPTS: Final = 10  # of a fold that others overtake
CLOCKS_DIFFER: Final = 3_600.0  # seconds, by which the clocks of other machines may be ahead
AT_ONCE: Final = 5_000  # decisions whose rows are read at once


def fold(writer: Writer, before: Any) -> int:
    """Fold what is older than a time; return how many events were deleted.

    Kept are decisions without a reward, since one may come, those that assign an arm to a sticky unit, those of which
    something newer is in the log, and all changes of the experiment.
    """
    time, now = real("before", before, "a time in seconds"), writer.clock()
    if time > now + CLOCKS_DIFFER:
        raise ValueError(
            "before must be no more than an hour ahead of the clock, in seconds since 1970, got "
            f"{time:.0f} at {now:.0f}"
        )
    for _ in range(ATTEMPTS):
        try:
            return _fold_once(writer, time)
        except DuplicateKey:  # another process has folded meanwhile: begin with its fold
            continue
        except StoreError as error:
            if error.reason != "folded":
                raise
    raise StoreError(f"other processes folded the experiment {ATTEMPTS} times while this one tried to", "unavailable")


def _fold_once(writer: Writer, before: float) -> int:
    """Fold, or raise if another process has folded since this one has read the last fold."""
    backend, experiment, epoch = writer.backend, writer.found.id, writer.backend.epoch
    horizon = backend.horizon_before(experiment, before)
    earlier = backend.fold(experiment)
    if earlier is not None and backend.contains(earlier.horizon, horizon):
        return 0
    state = writer.fresh_replica(horizon).state
    decisions = list(backend.folding(experiment, horizon))
    for start in range(0, len(decisions), AT_ONCE):  # a damaged row is named, and not deleted with the others
        backend.chains(experiment, decisions[start : start + AT_ONCE])
    ids = {} if earlier is None else _largest_numbers(earlier)
    for decision in decisions:
        tag, number = tag_and_number(decision)
        if tag:
            ids[tag] = max(number, ids.get(tag, 0))
    text = json.dumps(ids)
    folded = Fold(horizon, state.events, state.to_bytes(horizon, text), text)
    return backend.save_fold(experiment, folded, decisions, 0 if earlier is None else earlier.position, epoch)


def _largest_numbers(fold: Fold) -> dict[str, int]:
    """Of each tag of decision ids, the largest number that was folded."""
    try:
        return dict(json.loads(fold.ids))
    except (ValueError, TypeError):
        raise StoreError("the numbers of the decisions that were folded are damaged: restore them", "damaged") from None


def is_folded(writer: Writer, decision_id: Any) -> bool:
    """Whether a decision was folded with its reward."""
    fold = writer.backend.fold(writer.found.id)
    if fold is None or not isinstance(decision_id, str):
        return False
    tag, number = tag_and_number(decision_id)
    return 0 < number <= _largest_numbers(fold).get(tag, 0)
