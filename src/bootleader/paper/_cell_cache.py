"""Cells: one policy on one bandit at one size. Finished ones are kept on disk under a digest of all they depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from bootleader._core.files import replacing
from bootleader.bandits import Bandit
from bootleader.policies import HistoryRule, Noise, Policy
from bootleader.simulation._kernels import simulation_fingerprint
from bootleader.simulation.result import Simulation

FORMAT = 1  # part of every digest: raise it when what a cell means changes
CHECKPOINTS = 200
REPEATS = 3  # of a timed cell, the fastest of which counts

# Rough costs, for the progress bar's idea of the time left only, in nanoseconds: a round, an index, and for policies
# that resample the history an index and a reward of it.
ROUND = 14.0
INDEX = {Noise.NONE: 1.0, Noise.NORMAL: 2.5, Noise.STUDENT: 10.0, Noise.FAIR_COINS: 13.0, Noise.OPTIMISM: 1.0}
RESAMPLED_INDEX, RESAMPLED_REWARD = 170.0, 0.15


@dataclass(frozen=True)
class Cell:
    """Everything that decides a simulation of one policy.

    A ``timed`` cell is played on one core with nothing else of ours running, for its seconds to mean something.
    """

    policy: Policy
    bandit: Bandit
    rounds: int
    runs: int
    seed: int = 0
    timed: bool = False

    @property
    def digest(self) -> str:
        """The name of the file that holds this cell: no two cells, versions or sources share one."""
        about = {
            "format": FORMAT,
            "code": simulation_fingerprint(self.policy, self.bandit),
            "policy": [type(self.policy).__name__, self.policy.parameters],
            "bandit": _in_full(self.bandit),
            "checkpoints": CHECKPOINTS,
            **{name: getattr(self, name) for name in ("rounds", "runs", "seed", "timed")},
        }
        return hashlib.sha256(json.dumps(about, default=repr, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def cost_a_run(self) -> float:
        """About how many processor seconds a run takes."""
        rule = self.policy.rule
        if isinstance(rule, HistoryRule):
            return 1e-9 * self.rounds * (RESAMPLED_INDEX * self.bandit.arms + RESAMPLED_REWARD * self.rounds)
        return 1e-9 * self.rounds * (ROUND + INDEX[rule.noise] * self.bandit.arms)

    @property
    def cost(self) -> float:
        """About how many processor seconds the cell takes; a timed one keeps the other cores idle, and is repeated."""
        return self.cost_a_run * self.runs * (2 * REPEATS if self.timed else 1)

    def __str__(self) -> str:
        return f"{self.policy} on {self.bandit}, {self.runs:,} runs of {self.rounds:,} rounds"


def _in_full(bandit: Bandit) -> Any:
    """A bandit with every parameter it has, nested ones included."""
    return [type(bandit).__name__, {field.name: getattr(bandit, field.name) for field in fields(bandit)}]


class Store:
    """A folder of finished cells. A file either holds one whole cell or is not used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        """Where a cell is kept."""
        return self.folder / f"{cell.digest}.npz"

    def load(self, cell: Cell) -> Simulation | None:
        """The cell's result, or None if there is no file that holds exactly this cell."""
        try:
            found = Simulation.load(self.path(cell))
        except (OSError, ValueError):
            return None
        about = (found.policies, found.bandit, found.seed, found.runs, int(found.rounds[-1]))
        wanted = ((cell.policy.name,), repr(cell.bandit), cell.seed, cell.runs, cell.rounds)
        return found if about == wanted else None

    def save(self, cell: Cell, result: Simulation) -> None:
        """Keep a result; at no moment does its name belong to half a file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.path(cell)) as unfinished:
            result.save(unfinished)


class Results(Mapping[Cell, Simulation]):
    """The finished cells of a job."""

    def __init__(self, found: Mapping[Cell, Simulation] | Iterable[tuple[Cell, Simulation]] = ()) -> None:
        self._found = dict(found)

    def __getitem__(self, cell: Cell) -> Simulation:
        return self._found[cell]

    def __iter__(self) -> Any:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, cell: Cell, result: Simulation) -> None:
        """One more finished cell."""
        self._found[cell] = result

    def final(self, cell: Cell) -> Any:
        """Final regret of every run of a cell."""
        return self._found[cell].final_regret[0]
