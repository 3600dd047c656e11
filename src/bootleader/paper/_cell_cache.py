"""Cells: one policy on one bandit at one size. Results are kept on disk, keyed by what they depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bootleader._core.code_fingerprint import code_digest
from bootleader._core.files import replacing
from bootleader.bandits import BernoulliBandit, RandomFeatures
from bootleader.paper._bootstrap_intervals import Floats
from bootleader.policies import ContextualPolicy, HistoryRule, Noise
from bootleader.simulation._bandit_json import text_of
from bootleader.simulation._block_runs import QUANTITIES
from bootleader.simulation._kernel_choice import simulation_fingerprint
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._task_schedule import Gathered
from bootleader.simulation.result import Simulation

FORMAT = 2  # part of every key; increase it when the meaning of a cell changes
CHECKPOINTS = 200
REPEATS = 3  # of a timed cell; the fastest counts

# Approximate costs in nanoseconds, for the time left in the progress bar only: of a round, of an index, for policies
# that resample the history of an index and of each reward in it (none if those are 0 or 1), and of a round of policies
# that other work dominates.
ROUND_COST = 14.0
INDEX_COST = {Noise.NONE: 1.0, Noise.NORMAL: 2.5, Noise.STUDENT: 10.0, Noise.FAIR_COINS: 13.0, Noise.OPTIMISM: 1.0}
RESAMPLED_INDEX_COST, RESAMPLED_REWARD_COST, TWO_VALUED_INDEX_COST = 170.0, 0.15, 80.0
RESAMPLED_ROW_COST, PRODUCT_COST = 60.0, 0.3  # with contexts: of a row, and of each product of two features
SLOW_ROUND_COST = {
    "MOSS": 60.0, "CHK": 70.0, "LBSDA": 75.0, "IMED": 90.0, "RBSDA": 90.0, "EnsembleSampling": 90.0,
    "MaillardSampling": 95.0, "KLMaillardSampling": 100.0, "KLUCB": 105.0, "BetaThompson": 130.0,
    "MultiplierBootstrap": 130.0, "Exp3": 145.0, "BayesUCB": 160.0, "BootstrappedUCB": 160.0, "TsallisINF": 180.0,
    "WRSDA": 570.0,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """Everything that determines the simulation of one policy.

    A ``timed`` cell is played on one core while no other cell is played, so that its seconds can be compared.
    """

    policy: Any  # a Policy, or a ContextualPolicy
    bandit: Any  # a Bandit, or a ContextualBandit
    rounds: int
    runs: int
    seed: int = 0
    timed: bool = False

    @property
    def key(self) -> str:
        """The name of the file that holds this cell's result: a digest of all that the result depends on.

        Words do not count: a corrected message or docstring, or another version of the library, leaves it as it was.
        """
        depends_on = {
            "format": FORMAT,
            "code": [simulation_fingerprint(self.policy, self.bandit), _merging_code()],
            "policy": [type(self.policy).__name__, self.policy.parameters],
            "rule": {name: value for name, value in _field_values(self.policy.rule).items() if not callable(value)},
            "bandit": [type(self.bandit).__name__, _field_values(self.bandit)],
            "checkpoints": checkpoint_rounds(self.rounds, CHECKPOINTS).tolist(),
            **{name: getattr(self, name) for name in ("rounds", "runs", "seed", "timed")},
        }
        return hashlib.sha256(json.dumps(depends_on, default=repr, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def cost_per_run(self) -> float:
        """Approximate processor seconds of a run."""
        rule, name = self.policy.rule, type(self.policy).__name__
        if name in SLOW_ROUND_COST:
            per_round = SLOW_ROUND_COST[name]
        elif isinstance(self.policy, ContextualPolicy):
            per_round = self._contextual_round_cost
        elif isinstance(rule, HistoryRule) and isinstance(self.bandit, BernoulliBandit):
            per_round = TWO_VALUED_INDEX_COST * self.bandit.arms
        elif isinstance(rule, HistoryRule):
            per_round = RESAMPLED_INDEX_COST * self.bandit.arms + RESAMPLED_REWARD_COST * self.rounds
        else:
            per_round = ROUND_COST + INDEX_COST[getattr(rule, "noise", Noise.STUDENT)] * self.bandit.arms
        return float(1e-9 * self.rounds * per_round)

    @property
    def _contextual_round_cost(self) -> float:
        """Nanoseconds of a round with contexts: sums over all rows, or predictions and an update of the model."""
        squares = float(self.bandit.dimension) ** 2
        if getattr(self.policy.rule, "history", False):
            return (RESAMPLED_ROW_COST + PRODUCT_COST * squares) * self.rounds / 2.0
        is_drawn = isinstance(getattr(self.bandit, "features", None), RandomFeatures)  # each arm, in every round
        return float(500.0 + 14.0 * self.bandit.arms + (4.0 + 0.5 * is_drawn * self.bandit.arms) * squares)

    @property
    def cost(self) -> float:
        """Approximate processor seconds of the cell; a timed one is repeated, and leaves the other cores idle."""
        return self.cost_per_run * self.runs * (2 * REPEATS if self.timed else 1)

    def __str__(self) -> str:
        return f"{self.policy} on {self.bandit}, {self.runs:,} runs of {self.rounds:,} rounds"


def _field_values(instance: Any) -> dict[str, Any]:
    """Every field of a dataclass, also those that its repr leaves out."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


@cache
def _merging_code() -> str:
    """Digest of the code that turns the runs' regret into a result."""
    return code_digest(*merging_functions())


def merging_functions() -> tuple[Any, ...]:
    """The functions that turn the runs' regret into a result. None of them has an error message."""
    from bootleader._core.kernels.trajectory import reduce_row, reduce_runs, reduced

    return reduced, reduce_runs, reduce_row, Gathered.take, Gathered.standard_error.fget  # type: ignore[attr-defined]


class CellCache:
    """A folder of results, one file a cell. A file that does not hold a whole result of its cell is not used.

    Parameters
    ----------
    folder : Path
        Where the files are; it is created when the first result is saved.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        """The file that holds a cell's result."""
        return self.folder / f"{cell.key}.npz"

    def load(self, cell: Cell) -> Simulation | None:
        """A cell's result, or None if there is no file that holds exactly this cell."""
        try:
            found = Simulation.load(self.path(cell))
        except Exception:  # a damaged file makes NumPy, zipfile, zlib and tokenize raise almost anything
            return None
        return found if _is_result_of(found, cell) else None

    def save(self, cell: Cell, result: Simulation) -> None:
        """Keep a result. The file appears whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.path(cell)) as unfinished:
            result.save(unfinished)


def _is_result_of(found: Simulation, cell: Cell) -> bool:
    """Whether a simulation that was read from a file can be the result of this cell.

    The file may be damaged or made by hand: nothing about its arrays is taken for granted.
    """
    points = min(CHECKPOINTS, cell.rounds)
    shapes = {
        "rounds": (points,),
        "over_time": (1, len(QUANTITIES), 2, points),
        "final_regret": (1, cell.runs),
        "pulls": (1, cell.bandit.arms),
        "pulls_by_rank": (1, cell.bandit.arms),
        "recommended_by_rank": (1, cell.bandit.arms),
        "seconds": (1,),
    }
    for name, shape in shapes.items():
        array = getattr(found, name)
        if array.shape != shape or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            return False
        if name != "over_time" and (array < 0).any():
            return False
    if (found.mean_regret < 0).any() or (found.standard_error < 0).any():
        return False
    described = (found.policies, text_of(found.bandit), found.seed, int(found.rounds[-1]))
    return described == ((cell.policy.name,), repr(cell.bandit), cell.seed, cell.rounds)


class Results(Mapping[Cell, Simulation]):
    """The results of cells."""

    def __init__(self, found: Mapping[Cell, Simulation] | Iterable[tuple[Cell, Simulation]] = ()) -> None:
        self._found = dict(found)

    def __getitem__(self, cell: Cell) -> Simulation:
        return self._found[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, cell: Cell, result: Simulation) -> None:
        """Add the result of a cell."""
        self._found[cell] = result

    def final_regret(self, cell: Cell) -> Floats:
        """Final regret of every run of a cell."""
        return np.asarray(self._found[cell].final_regret[0])
