"""The kernel for index rules with very many arms: one run after the other, O(log K) a round.

The laws are those of :mod:`bootleader._core.kernels.lockstep`, and so are the choices, in distribution; only how the
leader is found differs (:mod:`bootleader._core.leader_tree`). Where an index has no noise the choices are the same bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.numba_bridge import fingerprint, inner, kernel
from bootleader._core.leader_tree import leader, plant, set_law, settle, write_law
from bootleader._core.moments import welford
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.kernels.lockstep import ANCHOR, COUNT, DRIFT, NONE, RSS, Plan, draw_of, law_of
from bootleader._core.rng import below, uniform


class RunTable(NamedTuple):
    """One run's arms: ``moments[k]`` is (count, anchor, drift, RSS)."""

    moments: Any
    noise_sd: Any
    gap: Any
    open_arms: Any
    open_left: Any
    variance: Any
    pooled_at: Any
    regret: Any
    forest: Any

    @property
    def pulls(self) -> Any:
        """Of each arm."""
        return self.moments[:, COUNT]


def new_table(noise_sd: Any, gap: Any) -> RunTable:
    """A run at its start."""
    arms = len(gap)
    return RunTable(
        moments=np.zeros((arms, 4)),
        noise_sd=noise_sd,
        gap=gap,
        open_arms=np.arange(arms, dtype=np.int64),
        open_left=np.array([arms]),
        variance=np.zeros(1),
        pooled_at=np.zeros(1, np.int64),
        regret=np.zeros(1),
        forest=plant(arms),
    )


@inner
def open_arm(opening, spare, gamma, lane, table):
    """One of the arms that the opening still asks for, uniformly at random."""
    spot = below(spare, lane, gamma, table.open_left[0])
    k = table.open_arms[spot]
    if table.moments[k, COUNT] + 1.0 == opening:
        table.open_left[0] -= 1
        table.open_arms[spot] = table.open_arms[table.open_left[0]]
    return k


@inner
def law_now(plan, table, k):
    """Arm k's index law; without noise its index is its location."""
    record = table.moments[k]
    location, scale, df = law_of(
        plan.law, plan.theta, table.noise_sd[k], record[COUNT], record[ANCHOR] + record[DRIFT], record[RSS],
        table.variance[0],
    )  # fmt: skip
    return location, 0.0 if plan.noise == NONE else scale, df


@inner
def renew_all(plan, table, pulls):
    """Renew the pooled variance, and with it the laws of all arms."""
    squares, freedom = 0.0, 0.0
    arms = table.moments.shape[0]
    for k in range(arms):
        squares += table.moments[k, RSS]
        freedom += max(table.moments[k, COUNT] - 1.0, 0.0)
    table.variance[0] = squares / freedom if freedom > 0.0 else 0.0
    table.pooled_at[0] = pulls
    for k in range(arms):
        location, scale, df = law_now(plan, table, k)
        write_law(table.forest, k, location, scale, df)
    settle(table.forest)


@inner
def learn(table, k, reward):
    record = table.moments[k]
    count, anchor, drift, rss = welford(record[COUNT], record[ANCHOR], record[DRIFT], record[RSS], reward)
    record[COUNT], record[ANCHOR], record[DRIFT], record[RSS] = count, anchor, drift, rss
    table.regret[0] += table.gap[k]


def build_kernel(source: str) -> Any:
    """The kernel, cached on disk under the fingerprint of its sources."""

    @kernel
    def advance(plan, arms, streams, table, curves, checkpoints, lane, bell, start, stop):
        source  # noqa: B018  (a free variable, and so part of numba's cache key)
        forest, spare, gamma = table.forest, streams.spare, streams.gamma[lane]
        opening_rounds = plan.opening * table.moments.shape[0]
        mark = np.searchsorted(checkpoints, start + 1)
        if start == 0 and opening_rounds == 0:
            renew_all(plan, table, 0)
        for played in range(start, stop):
            if bell[0] != 0:
                return played
            if played < opening_rounds:
                k = open_arm(plan.opening, spare, gamma, lane, table)
            elif plan.epsilon > 0.0 and uniform(spare, lane, gamma) < plan.epsilon:
                k = np.int64(below(spare, lane, gamma, table.moments.shape[0]))
            else:
                k = leader(forest, spare, lane, gamma)
            reward = draw_of(
                plan.draw, arms.first[k, lane], arms.second[k, lane], arms.third[k, lane], arms.samples,
                streams.rewards[k], lane, gamma,
            )  # fmt: skip
            learn(table, k, reward)
            pulls = played + 1
            pooled_at = table.pooled_at[0]
            pool_is_old = plan.pooled and POOLING_GROWTH * (pulls - pooled_at) >= pooled_at
            if pulls >= opening_rounds:
                if pooled_at == 0 or pool_is_old:
                    renew_all(plan, table, pulls)
                else:
                    location, scale, df = law_now(plan, table, k)
                    set_law(forest, k, location, scale, df)
            if pulls == checkpoints[mark]:
                curves[mark, lane] = table.regret[0]
                mark += 1
        return stop

    return advance


advance = build_kernel(fingerprint())
__all__ = ["Plan", "RunTable", "advance", "new_table"]
