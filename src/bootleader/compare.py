"""The practitioner's question, put to the simulator: how would each policy do on rewards like these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bootleader.bandits import EmpiricalBandit
from bootleader.policies import (
    PHE,
    UCB1,
    AdaptiveReBoot,
    EpsilonGreedy,
    FollowTheLeader,
    Policy,
    ReBoot,
    StudentThompson,
    ThompsonSampling,
)
from bootleader.simulation.engine import simulate
from bootleader.simulation.result import Simulation

COLUMNS = ("arm", "reward")
ARMS_SHOWN = 20
INFLATION = 1.5  # the paper's advice for sigma_a, in standard deviations


@dataclass(frozen=True)
class Rewards:
    """Observed rewards by arm, and what is known of them."""

    names: tuple[str, ...]
    bandit: EmpiricalBandit
    counts: tuple[int, ...]
    means: tuple[float, ...]
    pooled_sd: float


def read_rewards(path: str | Path) -> Rewards:
    """Read a CSV with the columns ``arm`` and ``reward``; raise with the line at fault."""
    import pandas as pd

    try:
        frame = _read(path)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not a CSV file") from None
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty; it must have the columns arm and reward") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a readable CSV file: {' '.join(str(error).split())}") from None
    frame.columns = [str(name).strip() for name in frame.columns]
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        found = ", ".join(map(repr, frame.columns))
        raise ValueError(
            f"{path} has no column {missing[0]!r}; it must have the columns arm and reward, and has {found}"
        )
    arms, rewards = (frame[name].str.strip() for name in COLUMNS)
    filled = (arms != "") | (rewards != "")
    if not filled.any():
        raise ValueError(f"{path} has no rewards, only a header")
    return _grouped(path, arms[filled], rewards[filled])


def _read(path: str | Path) -> Any:
    """The file as text, one row a line (blank ones too, so that a row's number tells its line)."""
    import warnings

    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row longer than the header
        return pd.read_csv(
            path, dtype=str, keep_default_na=False, skipinitialspace=True, skip_blank_lines=False, index_col=False,
            encoding="utf-8-sig",
        ).fillna("")  # fmt: skip


def _grouped(path: str | Path, arms: Any, written: Any) -> Rewards:
    import pandas as pd

    rewards = pd.to_numeric(written, errors="coerce").to_numpy(float)
    _reject(path, ~np.isfinite(rewards), written, "reward", "a finite number")
    _reject(path, (arms == "").to_numpy(), arms, "arm", "a name")
    by_arm = pd.Series(rewards).groupby(arms.to_numpy(), sort=False)
    names = tuple(str(name) for name, _ in by_arm)
    if len(names) < 2:
        raise ValueError(f"{path} has one arm, {names[0]!r}; a comparison needs at least two")
    samples = [group.to_numpy() for _, group in by_arm]
    squares = sum(float(((sample - sample.mean()) ** 2).sum()) for sample in samples)
    spare = sum(len(sample) - 1 for sample in samples)
    return Rewards(
        names=names,
        bandit=EmpiricalBandit(samples),
        counts=tuple(len(sample) for sample in samples),
        means=tuple(float(sample.mean()) for sample in samples),
        pooled_sd=math.sqrt(squares / spare) if spare else 0.0,
    )


def _reject(path: str | Path, wrong: Any, written: Any, column: str, accepted: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        line = int(written.index[row]) + 2  # the header is line 1
        more = f" (and {int(wrong.sum()) - 1:,} more such lines)" if wrong.sum() > 1 else ""
        raise ValueError(f"{path}, line {line}: {column} must be {accepted}, got {str(written.iloc[row])!r}{more}")


def contenders(rewards: Rewards) -> dict[str, Policy]:
    """The policies that are compared, named by what each is told."""
    found: dict[str, Policy] = {
        "AdaptiveReBoot (told nothing)": AdaptiveReBoot(),
        "StudentThompson (told nothing)": StudentThompson(),
        "EpsilonGreedy 0.1 (told nothing)": EpsilonGreedy(0.1),
        "FollowTheLeader (told nothing)": FollowTheLeader(),
    }
    if rewards.pooled_sd > 0.0:
        sd = rewards.pooled_sd
        found |= {
            f"ReBoot (told the pooled sd, {sd:.3g})": ReBoot(sigma_a=INFLATION * sd),
            f"UCB1 (told the pooled sd, {sd:.3g})": UCB1(sd=sd),
            "ThompsonSampling flat (told every arm's sd)": ThompsonSampling(prior_sd=math.inf, noise_sd="oracle"),
        }
    low = min(float(np.min(sample)) for sample in rewards.bandit.samples)
    high = max(float(np.max(sample)) for sample in rewards.bandit.samples)
    if low >= 0.0 and high <= 1.0:
        found["PHE 2.1 (for rewards in [0, 1], as these are)"] = PHE(a=2.1)
    return found


def compare(rewards: Rewards, *, rounds: int, runs: int, seed: int = 0, progress: bool = False) -> Simulation:
    """Simulate the contenders on arms that pay the observed rewards, drawn with replacement."""
    return simulate(contenders(rewards), rewards.bandit, rounds=rounds, runs=runs, seed=seed, progress=progress)


def verdict(simulation: Simulation) -> str:
    """Who does best, and whether the runs can tell."""
    order = np.argsort(simulation.mean_regret[:, -1], kind="stable")
    first, second = (simulation.policies[i] for i in order[:2])
    paired = simulation.compare(first, second)
    if not paired.high < 0.0:
        return f"Best: {first}, but {len(simulation.final_regret[0]):,} runs cannot tell it from {second}."
    more = f"{-paired.difference:,.4g} more regret (95 % interval {-paired.high:,.4g} to {-paired.low:,.4g})"
    return f"Best: {first}. {second} is next, with {more}."


def describe(rewards: Rewards, simulation: Simulation) -> str:
    """The arms, the table and the verdict, as text."""
    import pandas as pd

    arms = pd.DataFrame({"arm": rewards.names, "rewards": rewards.counts, "mean": rewards.means})
    arms = arms.sort_values("mean", ascending=False, kind="stable").head(ARMS_SHOWN)
    cut = f"\n(the {ARMS_SHOWN} best of {len(rewards.names):,} arms)" if len(rewards.names) > ARMS_SHOWN else ""
    table = simulation.summary().sort_values("mean regret", kind="stable").drop(columns="seconds")
    return (
        f"{arms.to_string(index=False, float_format=lambda value: f'{value:.6g}')}{cut}\n\n"
        f"{int(simulation.rounds[-1]):,} rounds, {simulation.runs:,} runs, seed {simulation.seed}; regret in the "
        "rewards' own "
        f"unit\n\n{table.to_string(index=False, float_format=lambda value: f'{value:,.4g}')}\n\n{verdict(simulation)}"
    )
