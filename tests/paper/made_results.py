"""Results of cells with a chosen regret, for tests of what is concluded from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bootleader.paper._cell_cache import Cell, Results
from bootleader.simulation._block_runs import QUANTITIES
from bootleader.simulation.result import Simulation

RUNS = 60  # whatever the cells say: enough for intervals that are narrow beside the differences
STANDARD_ERROR = 0.01  # of the mean regret, as a share of it


def made_result(cell: Cell, regret: Callable[[float], float], scale: Any, checkpoints: int = 8) -> Simulation:
    """A result of this cell with mean regret ``regret(t)`` after t rounds, and ``scale`` times that in each run."""
    rounds = np.arange(1, checkpoints + 1) * cell.rounds // checkpoints
    curve = np.array([[float(regret(float(t))) for t in rounds]])
    over_time = np.zeros((1, len(QUANTITIES), 2, checkpoints))
    over_time[0, QUANTITIES.index("regret")] = curve[0] * np.mean(scale), curve[0] * STANDARD_ERROR
    pulls = np.ones((1, cell.bandit.arms))
    return Simulation(
        policies=(cell.policy.name,), rounds=rounds, over_time=over_time, final_regret=curve[:, -1:] * scale,
        pulls=pulls, pulls_by_rank=pulls, recommended_by_rank=pulls / cell.bandit.arms, seconds=np.ones(1),
        bandit=repr(cell.bandit), seed=cell.seed,
    )  # fmt: skip


def made_results(cells: Iterable[Cell], regret: Callable[[Cell, float], float]) -> Results:
    """Results with mean regret of about ``regret(cell, t)``: runs share most of their noise across cells."""
    rng = np.random.default_rng(8)
    shared = rng.lognormal(0.0, 0.1, RUNS)
    return Results(
        (cell, made_result(cell, lambda t, cell=cell: regret(cell, t), shared * rng.lognormal(0.0, 0.005, RUNS)))
        for cell in cells
    )


def with_final_regret(result: Simulation, final_regret: Any) -> Simulation:
    """The result with another final regret of its runs."""
    return Simulation(**{**vars(result), "final_regret": np.asarray(final_regret)[None]})
