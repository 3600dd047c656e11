"""Non-parametric Thompson sampling from raw rewards."""

from __future__ import annotations

import numpy as np

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import ByIndex, Index
from tests.oracle.naive_bandits import Rng


def npts(upper: float) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        return float(np.append(y, upper) @ rng.dirichlet(np.ones(len(y) + 1)))

    return index


CASES = [
    PolicyCase(bl.NPTS(), ByIndex(npts(1.0)), bandit="bernoulli"),
    PolicyCase(bl.NPTS(upper=2.5), ByIndex(npts(2.5)), bandit="empirical"),
]
