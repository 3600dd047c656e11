"""Duels on the raw histories."""

from __future__ import annotations

from dataclasses import dataclass, field

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import History, initial_arm
from tests.oracle.naive_bandits import Rng


@dataclass
class NaiveDuels:
    """Rounds of duels on the raw histories; ``subsample`` is "block", "last" or "without replacement"."""

    subsample: str
    initial_pulls: int = 1
    queue: list[int] = field(default_factory=list, init=False)
    previous: int = field(default=-1, init=False)

    def choose(self, history: History, rng: Rng) -> int:
        first = initial_arm(history, 1, rng)
        if first is not None:
            self.queue, self.previous = [], -1
            return first
        if not self.queue:
            lead = self.previous = self.leader(history, rng)
            challengers = [k for k in range(len(history)) if k != lead]
            winners = [k for k in challengers if self.wins(history, lead, k, rng)]
            self.queue = [int(k) for k in rng.permutation(winners or [lead])]
        return self.queue.pop()

    def wins(self, history: History, lead: int, k: int, rng: Rng) -> bool:
        own, other = sum(history[k]), sum(self.drawn(history, lead, k, rng))
        tied = self.subsample != "without replacement" or rng.integers(2) == 0
        return own > other or (own == other and tied)

    def leader(self, history: History, rng: Rng) -> int:
        standing = [(len(y), sum(y)) for y in history]
        tied = [k for k in range(len(history)) if standing[k] == max(standing)]
        return self.previous if self.previous in tied else tied[rng.integers(len(tied))]

    def drawn(self, history: History, lead: int, k: int, rng: Rng) -> list[float]:
        size, most = len(history[k]), len(history[lead])
        if self.subsample == "last":
            return history[lead][most - size :]
        if self.subsample == "block":
            first = rng.integers(most - size + 1)
            return history[lead][first : first + size]
        return [history[lead][i] for i in rng.choice(most, size, replace=False)]


CASES = [
    PolicyCase(bl.WRSDA(), NaiveDuels("without replacement")),
    PolicyCase(bl.LBSDA(), NaiveDuels("last"), bandit="bernoulli"),
    PolicyCase(bl.RBSDA(), NaiveDuels("block"), bandit="bernoulli"),
]
