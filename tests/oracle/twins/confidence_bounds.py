"""UCB1-Tuned, UCB-V, MOSS and CHK from raw rewards."""

from __future__ import annotations

import math

import numpy as np

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import ByIndex, Index, mean
from tests.oracle.naive_bandits import Rng


def ucb_tuned() -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s = len(y)
        bound = np.mean(y**2) - mean(y) ** 2 + math.sqrt(2 * math.log(t) / s)
        return float(mean(y) + math.sqrt(math.log(t) / s * min(0.25, bound)))

    return index


def ucb_v(zeta: float = 1.2, c: float = 1.0, b: float = 1.0) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        exploration = zeta * math.log(t + 1)
        return float(mean(y) + math.sqrt(2 * y.var() * exploration / len(y)) + c * 3 * b * exploration / len(y))

    return index


def moss(sd: float, arms: int, horizon: int | None = None) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        share = (horizon or t) / (arms * len(y))
        return float(mean(y) + sd * math.sqrt(4 / len(y) * max(0.0, math.log(share))))

    return index


def chk() -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        return float(mean(y) + y.std() * math.sqrt(t ** (2 / (len(y) - 2)) - 1))

    return index


CASES = [
    PolicyCase(bl.UCBTuned(), ByIndex(ucb_tuned())),
    PolicyCase(bl.UCBV(zeta=0.4, c=0.5, b=0.6), ByIndex(ucb_v(0.4, 0.5, 0.6))),
    PolicyCase(bl.MOSS(sd=0.5), ByIndex(moss(0.5, arms=3))),
    PolicyCase(bl.MOSS(horizon=500, sd=0.3), ByIndex(moss(0.3, arms=3, horizon=500))),
    PolicyCase(bl.CHK(), ByIndex(chk(), initial_pulls=3)),
]
