"""A log of rewards: what is accepted as one, and the arrays that the answers are computed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader.inference._moments import Floats

LARGEST: Final = 1e70  # a reward in size, so that its fourth power is a number
READ: Final = ("arm", "reward", "probability", "holdout", "action", "pscore")
OBP_NAMES: Final = {"action": "arm", "pscore": "probability"}


class Log(NamedTuple):
    """A log in the order in which the decisions were made."""

    names: list[Any]
    arm: npt.NDArray[np.intp]
    reward: Floats
    probability: Floats | None
    holdout: npt.NDArray[np.bool_] | None

    @property
    def rounds(self) -> int:
        """How many rewards it has."""
        return len(self.reward)

    def number_of(self, name: Any) -> int:
        """An arm's number."""
        if name not in self.names:
            shown = ", ".join(map(repr, self.names[:10])) + (", ..." if len(self.names) > 10 else "")
            raise ValueError(f"arm must be one of {shown}, got {name!r}")
        return self.names.index(name)

    def only(self, rows: Any) -> Log:
        """Some of the rows."""
        return Log(
            self.names, self.arm[rows], self.reward[rows],
            None if self.probability is None else self.probability[rows],
            None if self.holdout is None else self.holdout[rows],
        )  # fmt: skip


def log_of(frame: Any, arms: Sequence[Any] | None = None, *, with_probability: bool = False) -> Log:
    """A log from a DataFrame or a mapping of columns.

    Columns ``arm`` and ``reward``, and if they are there ``probability`` and ``holdout``; or those of the Open Bandit
    Pipeline: ``action``, ``reward``, ``pscore``. Probabilities are read where they are needed; where they are not, some
    may be missing.
    """
    columns = _columns(frame)
    for needed in ("arm", "reward"):
        if needed not in columns:
            raise ValueError(
                f"a log must have the columns arm and reward, got {', '.join(map(str, columns)) or 'none'}"
            )
    names, arm = _numbered(columns["arm"], arms)
    reward = numbers("reward", columns["reward"])
    if len(arm) != len(reward):
        raise ValueError(f"arm and reward must be equally long, got {len(arm)} and {len(reward)}")
    if not len(reward):
        raise ValueError("the log has no rewards")
    if len(large := reward[np.abs(reward) > LARGEST]):
        raise ValueError(f"reward must be at most {LARGEST:g} in size, got {float(large[0])!r}")
    probability = holdout = None
    if with_probability and columns.get("probability") is not None:
        probability = numbers("probability", columns["probability"])
        wrong = probability[~((probability > 0.0) & (probability <= 1.0))]
        if len(wrong):
            raise ValueError(f"probability must be above 0 and at most 1, got {float(wrong[0])!r}")
        if len(probability) != len(reward):
            raise ValueError(f"probability and reward must be equally long, got {len(probability)} and {len(reward)}")
    if columns.get("holdout") is not None:
        holdout = np.asarray(columns["holdout"])
        if holdout.shape != reward.shape or not np.isin(holdout, (0, 1)).all():
            raise ValueError("holdout must be true or false for each reward")
        holdout = holdout.astype(np.bool_)
    return Log(names, arm, reward, probability, holdout)


def _columns(frame: Any) -> dict[Any, Any]:
    if not isinstance(frame, Mapping) and not hasattr(frame, "columns"):
        raise TypeError(f"a log must be a DataFrame or a mapping of columns, got {type(frame).__name__}")
    names = list(frame if isinstance(frame, Mapping) else frame.columns)
    for name in READ:
        if names.count(name) > 1:
            raise ValueError(f"a log must have the column {name} once, got it {names.count(name)} times")
    found = {name: frame[name] for name in names}
    for theirs, ours in OBP_NAMES.items():
        if theirs in found and ours not in found:
            found[ours] = found[theirs]
    return found


def _numbered(column: Any, arms: Sequence[Any] | None) -> tuple[list[Any], npt.NDArray[np.intp]]:
    import pandas as pd

    values = pd.Series(column)
    if values.isna().any():
        raise ValueError(f"arm must be a name in every row, got none in row {int(np.argmax(values.isna()))}")
    codes, found = pd.factorize(values)
    names = [name.item() if isinstance(name, np.generic) else name for name in found]
    listed = names if arms is None else list(arms)
    text, times = Counter(map(str, listed)).most_common(1)[0] if listed else ("", 0)
    if times > 1:
        raise ValueError(f"arms must have different names, got {text!r} {times} times")
    if arms is None:
        return names, np.asarray(codes, np.intp)
    if unknown := [name for name in names if name not in listed]:
        raise ValueError(f"arm must be one of {', '.join(map(repr, listed))}, got {unknown[0]!r}")
    return listed, np.array([listed.index(name) for name in names], np.intp)[codes]


def numbers(name: str, column: Any) -> Floats:
    """A column as floats; raise if a row has no finite number."""
    kind = np.asarray(column).dtype.kind if not hasattr(column, "dtype") else getattr(column.dtype, "kind", "O")
    if kind in "mMc":
        raise ValueError(f"{name} must hold numbers, got {'complex ones' if kind == 'c' else 'times'}")
    try:
        values = np.asarray(column, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers") from None
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"{name} must be a finite number in every row, got {float(values[row])!r} in row {row}")
    return values
