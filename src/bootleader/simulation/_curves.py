"""Every run's regret over time, of a simulation that has kept it: quantiles, and the regret at one checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from bootleader.simulation.result import Simulation

Floats = npt.NDArray[np.float64]


def quantiles(sim: Simulation, shares: Sequence[float]) -> Floats:
    """Quantiles over runs (policy x share x checkpoint).

    Raises
    ------
    ValueError
        If a share is not from 0 to 1, or the simulation has no curves.
    """
    if not shares or not all(isinstance(share, int | float) and 0.0 <= share <= 1.0 for share in shares):
        raise ValueError(f"quantiles are numbers from 0 to 1, such as quantiles(0.1, 0.9), got {shares!r}")
    return np.moveaxis(np.quantile(_kept(sim, "quantiles over time"), shares, axis=1), 0, 1)


def regret_at(sim: Simulation, at: int | None) -> Floats:
    """Every run's regret at a checkpoint, by default the last (policy x run).

    Raises
    ------
    ValueError
        If there is no such checkpoint, or it is not the last and the simulation has no curves.
    """
    if at is None or at == sim.rounds[-1]:
        return sim.final_regret
    (found,) = np.nonzero(sim.rounds == at)
    if len(found) == 0:
        nearest = np.sort(sim.rounds[np.argsort(np.abs(sim.rounds - at), kind="stable")[:2]])
        raise ValueError(
            f"at must be one of the checkpoints, got {at!r}; the nearest are {', '.join(map(str, nearest))}. "
            f"simulate(..., checkpoints=[{at}]) keeps it"
        )
    return _kept(sim, "a comparison before the last round")[:, :, int(found[0])]


def _kept(sim: Simulation, use: str) -> Floats:
    if sim.curves is None:
        raise ValueError(f'{use} needs every run\'s curve: simulate(..., keep="curves") keeps them')
    return sim.curves
