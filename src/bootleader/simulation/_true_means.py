"""The runs' true means, recomputed from the bandit and the seed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader.bandits import Bandit
from bootleader.simulation._contextual_runs import has_contexts
from bootleader.simulation._python_loop import BANDIT_RANDOMNESS


def true_means(bandit: Any, seed: int, first_run: int, runs: int) -> npt.NDArray[np.float64]:
    """The means of the arms in the first round (run x arm).

    Raises
    ------
    ValueError
        If the bandit is known by its text only, or has contexts.
    """
    if isinstance(bandit, str):
        raise ValueError(
            f"the means are computed from the bandit, and a bandit of your own is kept in a file as a text only: "
            f"{bandit:.200}"
        )
    if has_contexts(bandit):
        raise ValueError(f"the means of a bandit with contexts differ from round to round: {bandit!r:.200}")
    if isinstance(bandit, Bandit):
        numbers = np.arange(first_run, first_run + runs, dtype=np.uint64)
        return np.ascontiguousarray(bandit.parameters_of(seed, numbers).mean[: bandit.arms].T)
    means = np.zeros((runs, bandit.arms))
    for place in range(runs):
        own = copy.deepcopy(bandit)
        if hasattr(own, "start"):
            own.start(np.random.default_rng([seed, first_run + place, BANDIT_RANDOMNESS]))
        means[place] = own.means(0)
    return means
