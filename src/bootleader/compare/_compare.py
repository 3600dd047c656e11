"""The practitioner's question, put to the simulator: how would each policy do on rewards like these."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from bootleader.bandits import EmpiricalBandit
from bootleader.policies import (
    PHE,
    POLICIES,
    UCB1,
    AdaptiveReBoot,
    EpsilonGreedy,
    FollowTheLeader,
    Giro,
    Policy,
    ReBoot,
    ResidualBootstrap,
    StudentThompson,
    ThompsonSampling,
)
from bootleader.simulation._simulate import simulate
from bootleader.simulation.result import Simulation

COLUMNS = ("arm", "reward")
SEPARATORS = ",;\t"
LARGEST = 1e100  # a reward in size: what policies are told of such, as 1.5 sd, is still a parameter that they take
ARMS_SHOWN = 20
INFLATION = 1.5  # the paper's advice for sigma_a, in standard deviations
ORACLE = "ThompsonSampling flat (oracle: told every arm's sd)"
NEED_SD = ("ReBoot", "UCB1", "ThompsonSampling")


@dataclass(frozen=True)
class Rewards:
    """Observed rewards by arm, and what is known of them."""

    names: tuple[str, ...]
    bandit: EmpiricalBandit
    counts: tuple[int, ...]
    means: tuple[float, ...]
    pooled_sd: float
    maximize: bool


def read_rewards(path: str | Path, rounds: int | None = None, *, maximize: bool = True) -> Rewards:
    """Read a CSV with the columns ``arm`` and ``reward``; raise with the line at fault.

    Fields may be separated by commas, semicolons or tabs. With more arms than ``rounds`` nothing can be compared, which
    is said before the rewards are sorted out. Without ``maximize`` they are costs: policies are paid their negatives.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            table = _table(path, file)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not a CSV file") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text; save it as UTF-8 (in a spreadsheet: CSV UTF-8)") from None
    _reject(path, np.array([arm == "" for arm in table.arms]), table.lines, table.arms, "arm must be a name")
    codes: dict[str, int] = {}
    arm = np.array([codes.setdefault(name, len(codes)) for name in table.arms])
    if len(codes) < 2:
        raise ValueError(f"{path} has one arm, {table.arms[0]!r}; a comparison needs at least two")
    if rounds is not None and len(codes) > rounds:
        raise ValueError(
            f"{path} has {len(codes):,} arms, and a run pulls each at least once: --rounds must be at least that, "
            f"got {rounds:,}"
        )
    rewards = np.array([_number(text) for text in table.rewards])
    _reject(path, ~np.isfinite(rewards), table.lines, table.rewards, "reward must be a finite number, such as 12.7")
    too_large = f"reward must be at most {LARGEST:g} in size, so that its square is a number"
    _reject(path, np.abs(rewards) > LARGEST, table.lines, table.rewards, too_large)
    return _grouped(tuple(codes), arm, rewards if maximize else -rewards, maximize)


@dataclass(frozen=True)
class _Table:
    """The rows of a file that name an arm or a reward, as text, and the line on which each begins."""

    lines: list[int]
    arms: list[str]
    rewards: list[str]


def _table(path: str | Path, file: TextIO) -> _Table:
    records = _records(path, file)
    _, header = next(records, (0, []))
    if not header:
        raise ValueError(f"{path} is empty; it must have the columns arm and reward")
    arm_at, reward_at = (_position(path, header, column) for column in COLUMNS)
    table = _Table([], [], [])
    for line, row in records:
        if len(row) != len(header):
            if any(row[len(header) :]):
                raise ValueError(f"{path}, line {line}: {len(row)} fields, where the header has {len(header)}")
            row += [""] * (len(header) - len(row))
        arm, reward = row[arm_at].strip(), row[reward_at].strip()
        if arm or reward:
            table.lines.append(line)
            table.arms.append(arm)
            table.rewards.append(reward)
    if not table.lines:
        raise ValueError(f"{path} has no rewards, only a header")
    return table


def _records(path: str | Path, file: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Every row with the line on which it begins; the first that is not blank, the header, tells the separator."""
    line, header = next(((n, text) for n, text in enumerate(file, 1) if text.strip()), (1, ""))
    before = line - 1
    separator = max(SEPARATORS, key=header.count)
    # Strict, or a quote left open would swallow the rest of the file.
    reader = csv.reader(chain([header], file), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            yield line, row
            line = before + reader.line_num + 1  # a quoted field may hold line breaks
    except csv.Error as error:
        raise ValueError(f"{path}, line {line}: {error}; check the quotes") from None


def _position(path: str | Path, header: list[str], column: str) -> int:
    names = [name.strip() for name in header]
    if names.count(column) == 1:
        return names.index(column)
    fault = f"the column {column!r} more than once" if column in names else f"no column {column!r}"
    found = ", ".join(map(repr, names))
    raise ValueError(f"{path} has {fault}; it must have the columns arm and reward, and has {found}")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _reject(path: str | Path, wrong: Any, lines: list[int], written: list[str], rule: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        more = f" (and {int(wrong.sum()) - 1:,} more such lines)" if wrong.sum() > 1 else ""
        raise ValueError(f"{path}, line {lines[row]}: {rule}, got {written[row]!r}{more}")


def _grouped(names: tuple[str, ...], arm: Any, rewards: Any, maximize: bool) -> Rewards:
    order = np.argsort(arm, kind="stable")
    samples = np.split(rewards[order], np.flatnonzero(np.diff(arm[order])) + 1)
    squares = sum(float(((sample - sample.mean()) ** 2).sum()) for sample in samples)
    spare = len(rewards) - len(samples)
    return Rewards(
        names=names,
        bandit=EmpiricalBandit(samples),
        counts=tuple(len(sample) for sample in samples),
        means=tuple(float(sample.mean()) for sample in samples),
        pooled_sd=math.sqrt(squares / spare) if spare else 0.0,
        maximize=maximize,
    )


def left_out(rewards: Rewards) -> dict[str, str]:
    """Which policies are compared only if they are asked for, if at all, and why."""
    found = {"Giro": "reads its whole history every round", "ResidualBootstrap": "locks itself in"}
    if not _within_unit(rewards):
        found["PHE"] = "made for rewards in [0, 1]"
    if rewards.pooled_sd == 0.0:
        found |= dict.fromkeys(NEED_SD, "no arm has two different rewards, so there is no sd to tell")
    return found


def contenders(rewards: Rewards, chosen: Sequence[str] = ()) -> dict[str, Policy]:
    """The policies that are compared, labelled by what each is told: the ``chosen`` classes, or what suits."""
    ready, out = _ready(rewards), left_out(rewards)
    known = {type(policy).__name__ for policy in POLICIES}
    possible = {type(policy).__name__ for policy in ready.values()}
    for name in chosen:
        if name not in known:
            raise ValueError(f"unknown policy {name!r}; there are {', '.join(sorted(known))}")
        if name not in possible:
            raise ValueError(f"{name} cannot play these rewards: {out[name]}")
    wanted = set(chosen) or possible - set(out)
    return {label: policy for label, policy in ready.items() if type(policy).__name__ in wanted}


def _ready(rewards: Rewards) -> dict[str, Policy]:
    """Every policy that these rewards allow."""
    sd = rewards.pooled_sd
    unit = f"for rewards in [0, 1], as these are{'' if _within_unit(rewards) else ' not'}"
    found: dict[str, Policy] = {
        "AdaptiveReBoot (told nothing)": AdaptiveReBoot(),
        "StudentThompson (told nothing)": StudentThompson(),
        "EpsilonGreedy 0.1 (told nothing)": EpsilonGreedy(0.1),
        "FollowTheLeader (told nothing)": FollowTheLeader(),
    }
    if sd > 0.0:
        found |= {
            f"ReBoot (told the pooled sd, {sd:.3g})": ReBoot(sigma_a=INFLATION * sd),
            f"UCB1 (told the pooled sd, {sd:.3g})": UCB1(sd=sd),
            ORACLE: ThompsonSampling(prior_sd=math.inf, noise_sd="oracle"),
        }
    return found | {
        f"PHE 2.1 ({unit})": PHE(a=2.1),
        f"Giro 1 ({unit})": Giro(a=1),
        "ResidualBootstrap (told nothing)": ResidualBootstrap(),
    }


def _within_unit(rewards: Rewards) -> bool:
    return all(np.min(sample) >= 0.0 and np.max(sample) <= 1.0 for sample in rewards.bandit.samples)


def compare(
    rewards: Rewards, *, rounds: int, runs: int, seed: int = 0, chosen: Sequence[str] = (), progress: bool = False
) -> Simulation:
    """Simulate the contenders on arms that pay the observed rewards, drawn with replacement."""
    policies = contenders(rewards, chosen)
    return simulate(policies, rewards.bandit, rounds=rounds, runs=runs, seed=seed, progress=progress)


def verdict(simulation: Simulation) -> str:
    """Which policy does best of those that can be run, whether the runs can tell, and the oracle beside it."""
    regret = dict(zip(simulation.policies, simulation.mean_regret[:, -1], strict=True))
    order = [name for name in sorted(regret, key=lambda name: regret[name]) if name != ORACLE]
    sentences = [_best(simulation, *order[:2])] if len(order) > 1 else []
    if ORACLE in regret:
        beside = f"{regret[ORACLE]:,.4g} regret" + (f" against {regret[order[0]]:,.4g}" if order else "")
        sentences.append(f"For scale, {ORACLE}, which nobody can run: {beside}.")
    return "\n".join(sentences)


def _best(simulation: Simulation, first: str, second: str) -> str:
    paired = simulation.compare(first, second)
    if not paired.high < 0.0:
        return f"Best: {first}, but {simulation.runs:,} runs cannot tell it from {second}."
    more = f"{-paired.difference:,.4g} more regret (95 % interval {-paired.high:,.4g} to {-paired.low:,.4g})"
    return f"Best: {first}. {second} is next, with {more}."


def describe(rewards: Rewards, simulation: Simulation) -> str:
    """The arms, the table and the verdict, as text."""
    import pandas as pd

    arms = pd.DataFrame({"arm": rewards.names, "rewards": rewards.counts, "mean": rewards.means})
    arms = arms.sort_values("mean", ascending=False, kind="stable").head(ARMS_SHOWN)
    arms["mean"] *= 1.0 if rewards.maximize else -1.0
    better = "" if rewards.maximize else "; smaller rewards are better"
    cut = f"\n(the {ARMS_SHOWN} best of {len(rewards.names):,} arms)" if len(rewards.names) > ARMS_SHOWN else ""
    table = simulation.summary().sort_values("mean regret", kind="stable").drop(columns="seconds")
    return "\n\n".join(
        text
        for text in (
            arms.to_string(index=False, float_format=lambda value: f"{value:.6g}") + cut,
            f"{int(simulation.rounds[-1]):,} rounds, {simulation.runs:,} runs, seed {simulation.seed}; "
            f"regret in the rewards' own unit{better}",
            table.to_string(index=False, float_format=lambda value: f"{value:,.4g}"),
            verdict(simulation),
        )
        if text
    )


def describe_left_out(rewards: Rewards) -> str:
    """One line: which policies were not compared, and why."""
    reasons: dict[str, list[str]] = {}
    for name, why in left_out(rewards).items():
        reasons.setdefault(why, []).append(name)
    listed = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    return f"Left out: {listed}."
