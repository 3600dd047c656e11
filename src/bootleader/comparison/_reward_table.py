"""Observed rewards by arm: from a CSV file, a pandas frame or a mapping. Errors name the line or row at fault."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from typing import Any, Final, TextIO

import numpy as np
import numpy.typing as npt

from bootleader._core.printable_text import printable, shown
from bootleader.bandits import EmpiricalBandit

SEPARATORS: Final = ",;\t"
LARGEST: Final = 1e100  # magnitude of a reward: multiples of a standard deviation of such stay valid parameters
ACCEPTED: Final = (
    "rewards must be the path of a CSV file, a pandas frame with one reward a row, or a mapping of arm to rewards"
)


@dataclass(frozen=True)
class Rewards:
    """Observed rewards by arm.

    Attributes
    ----------
    names : tuple of str
        The arms, in the order in which they first appear.
    bandit : EmpiricalBandit
        Pays the observed rewards of each arm, drawn with replacement; their negatives if ``maximize`` is False.
    counts : tuple of int
        Number of rewards of each arm.
    means, standard_errors : tuple of float
        Mean reward of each arm as it was observed, and its standard error (NaN for an arm with one reward).
    pooled_sd : float
        Standard deviation within arms, pooled over arms; 0 if no arm has two different rewards.
    maximize : bool
        Whether larger rewards are better.

    Examples
    --------
    >>> observed = read_rewards({"blue": [1.0, 2.0], "red": [4.0, 6.0]})
    >>> observed.counts, observed.means, observed.standard_errors
    ((2, 2), (1.5, 5.0), (0.5, 1.0))
    """

    names: tuple[str, ...]
    bandit: EmpiricalBandit
    counts: tuple[int, ...]
    means: tuple[float, ...]
    standard_errors: tuple[float, ...]
    pooled_sd: float
    maximize: bool


@dataclass(frozen=True)
class _Table:
    """Arms and rewards, one a row, with what an error message needs: where a row stands and what is written there."""

    source: str
    arms: Sequence[str]
    rewards: npt.NDArray[np.float64]
    place: Callable[[int], str]
    written: Callable[[int], object]


def read_rewards(
    rewards: Any, *, arm: str = "arm", reward: str = "reward", maximize: bool = True, rounds: int | None = None
) -> Rewards:
    r"""Read observed rewards from a CSV file, a pandas frame or a mapping.

    Parameters
    ----------
    rewards : path, pandas.DataFrame, or mapping of arm to rewards
        A CSV file has a header and one reward a line. Fields may be separated by commas, semicolons or tabs; where
        the separator is a semicolon a decimal comma is accepted.
    arm, reward : str
        Names of the columns of a file or frame. Upper and lower case are the same where that is unambiguous.
    maximize : bool
        Whether larger rewards are better. If False they are costs, and the bandit pays their negatives.
    rounds : int, optional
        Length of the runs that will be simulated. A run pulls every arm, so more arms than this are refused.

    Returns
    -------
    Rewards
        The rewards by arm, with their means and standard errors.

    Raises
    ------
    ValueError
        If the file cannot be read, a column is missing, a line is wrong, or there are fewer than two arms.
    TypeError
        If ``rewards`` is none of the accepted kinds.

    Examples
    --------
    >>> found = read_rewards({"blue": [1.0, 2.0], "red": [4.0]})
    >>> found.names, found.means
    (('blue', 'red'), (1.5, 4.0))
    """
    if isinstance(rewards, str | PathLike):
        table = _from_file(fspath(rewards), arm, reward)
    elif hasattr(rewards, "columns") and hasattr(rewards, "itertuples"):
        table = _from_frame(rewards, arm, reward)
    elif isinstance(rewards, Mapping):
        table = _from_mapping(rewards)
    else:
        raise TypeError(f"{ACCEPTED}, got {shown(rewards, 100)}")
    return _grouped(table, maximize, rounds)


def _from_file(path: str, arm: str, reward: str) -> _Table:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _parsed(path, file, arm, reward)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not a CSV file") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text; save it as UTF-8 (in a spreadsheet: CSV UTF-8)") from None


def _parsed(path: str, file: TextIO, arm: str, reward: str) -> _Table:
    separator, records = _records(path, file)
    _, header = next(records, (0, []))
    if not header:
        raise ValueError(f"{path} is empty; it must have the columns {arm} and {reward}")
    arm_at, reward_at = _columns(path, header, arm, reward)
    lines: list[int] = []
    arms: list[str] = []
    texts: list[str] = []
    for line, row in records:
        if len(row) != len(header):
            if any(row[len(header) :]):
                raise ValueError(f"{path}, line {line}: {len(row)} fields, where the header has {len(header)}")
            row += [""] * (len(header) - len(row))
        name, text = row[arm_at].strip(), row[reward_at].strip()
        if name or text:
            lines.append(line)
            arms.append(name)
            texts.append(text)
    if not lines:
        raise ValueError(f"{path} has no rewards, only a header")
    numbers = np.array([_number(text) for text in (_decimal_points(path, texts) if separator == ";" else texts)])
    return _Table(path, arms, numbers, lambda row: f"line {lines[row]}", lambda row: texts[row])


def _records(path: str, file: TextIO) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """The separator, which the first line that is not blank decides, and every row with the line where it begins."""
    first, header = next(((n, text) for n, text in enumerate(file, 1) if text.strip()), (1, ""))
    separator = max(SEPARATORS, key=header.count)

    def rows() -> Iterator[tuple[int, list[str]]]:
        # Strict: without it a quote left open would swallow the rest of the file.
        reader = csv.reader(chain([header], file), delimiter=separator, skipinitialspace=True, strict=True)
        line = first
        try:
            for row in reader:
                yield line, row
                line = first + reader.line_num  # a quoted field may hold line breaks
        except csv.Error as error:
            raise ValueError(f"{path}, line {line}: {error}; check the quotes") from None

    return separator, rows()


def _columns(source: str, header: Sequence[Any], arm: str, reward: str) -> tuple[int, int]:
    names = [str(name).strip() for name in header]
    found = tuple(_position(source, names, option, wanted) for option, wanted in (("arm", arm), ("reward", reward)))
    if found[0] == found[1]:
        raise ValueError(f"arm and reward must be different columns, got {printable(names[found[0]])!r} for both")
    return found[0], found[1]


def _position(source: str, names: list[str], option: str, wanted: str) -> int:
    exact = [place for place, name in enumerate(names) if name == wanted]
    alike = exact or [place for place, name in enumerate(names) if name.casefold() == wanted.casefold()]
    if len(alike) == 1:
        return alike[0]
    fault = f"the column {wanted!r} more than once" if alike else f"no column {wanted!r}"
    listed = ", ".join(repr(printable(name)) for name in names[:20]) + (", …" if len(names) > 20 else "")
    raise ValueError(f"{source} has {fault}; its columns are {listed}; --{option} (in Python: {option}=) names another")


def _decimal_points(path: str, texts: list[str]) -> list[str]:
    """Numbers with decimal commas rewritten; refused if some have points, which could then separate thousands."""
    if not any("," in text for text in texts):
        return texts
    point = next((text for text in texts if "." in text), None)
    if point is not None:
        comma = next(text for text in texts if "," in text)
        raise ValueError(
            f"{path} has decimal commas and points, such as {printable(comma)!r} and {printable(point)!r}: use one"
        )
    return [text.replace(",", ".") for text in texts]


def _number(text: str) -> float:
    try:
        return math.nan if "_" in text else float(text)  # Python's 1_000 is no number elsewhere
    except ValueError:
        return math.nan


def _from_frame(frame: Any, arm: str, reward: str) -> _Table:
    import pandas as pd

    arm_at, reward_at = _columns("the frame", list(frame.columns), arm, reward)
    if not len(frame):
        raise ValueError("the frame has no rows")
    names, values = frame.iloc[:, arm_at], frame.iloc[:, reward_at]
    missing = names.isna().to_numpy()
    arms = ["" if absent else str(name) for name, absent in zip(names, missing, strict=True)]
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=math.nan)
    return _Table("the frame", arms, numbers, lambda row: f"row {row}", lambda row: values.iloc[row])


def _from_mapping(rewards: Mapping[Any, Any]) -> _Table:
    names, numbers, places = [], [], []
    for name, sample in rewards.items():
        try:
            values = np.asarray(sample, dtype=float)
        except (TypeError, ValueError):
            values = np.asarray(0.0)
        if values.ndim != 1 or not len(values):
            raise ValueError(
                f"the rewards of arm {printable(str(name))!r} must be at least one number in a list, got "
                f"{shown(sample, 100)}"
            )
        names += [str(name)] * len(values)
        numbers.append(values)
        places += [f"arm {printable(str(name))!r}, reward {place}" for place in range(len(values))]
    if len({str(name) for name in rewards}) < len(rewards):
        raise ValueError(f"arm names must differ as text, got {', '.join(shown(n, 40) for n in rewards)}")
    together = np.concatenate(numbers) if numbers else np.zeros(0)
    return _Table("the mapping", names, together, places.__getitem__, together.__getitem__)


def _grouped(table: _Table, maximize: bool, rounds: int | None) -> Rewards:
    _reject(table, np.array([name == "" for name in table.arms], dtype=bool), "arm must be a name", table.arms)
    codes: dict[str, int] = {}
    arm = np.array([codes.setdefault(name, len(codes)) for name in table.arms], dtype=np.int64)
    if len(codes) < 2:
        only = f"one arm, {printable(table.arms[0])!r}" if codes else "no arm"
        raise ValueError(f"{table.source} has {only}; a comparison needs at least two")
    if rounds is not None and len(codes) > rounds:
        raise ValueError(
            f"{table.source} has {len(codes):,} arms, and a run pulls each at least once: "
            f"rounds must be at least {len(codes):,}, got {rounds:,}"
        )
    _reject(table, ~np.isfinite(table.rewards), "reward must be a finite number, such as 12.7")
    _reject(table, np.abs(table.rewards) > LARGEST, f"reward must be at most {LARGEST:g} in magnitude")
    return _statistics(tuple(codes), arm, table.rewards, maximize)


def _reject(table: _Table, wrong: Any, rule: str, written: Sequence[object] | None = None) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        value = table.written(row) if written is None else written[row]
        more = f" (and {int(wrong.sum()) - 1:,} more such rows)" if wrong.sum() > 1 else ""
        raise ValueError(f"{table.source}, {table.place(row)}: {rule}, got {shown(value, 60)}{more}")


def _statistics(names: tuple[str, ...], arm: Any, rewards: Any, maximize: bool) -> Rewards:
    order = np.argsort(arm, kind="stable")
    samples = np.split(rewards[order], np.flatnonzero(np.diff(arm[order])) + 1)
    squares = [float(((sample - sample.mean()) ** 2).sum()) for sample in samples]
    counts = [len(sample) for sample in samples]
    spare = len(rewards) - len(samples)
    return Rewards(
        names=names,
        bandit=EmpiricalBandit(samples if maximize else [-sample for sample in samples]),
        counts=tuple(counts),
        means=tuple(float(sample.mean()) for sample in samples),
        standard_errors=tuple(
            math.sqrt(square / (count - 1) / count) if count > 1 else math.nan
            for square, count in zip(squares, counts, strict=True)
        ),
        pooled_sd=math.sqrt(sum(squares) / spare) if spare else 0.0,
        maximize=maximize,
    )
