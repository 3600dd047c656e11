"""The kernel for history rules (Giro, two-point weights): one run after the other.

An arm's rewards lie side by side in an arena. A full stretch moves to one twice as long at the arena's end, so that
all stretches together take O(rounds), however the pulls spread over the arms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.history_sums import WORKSPACE, prepare
from bootleader._core.numba_bridge import RESAMPLERS, fingerprint, inner, kernel, switch
from bootleader._core.moments import welford
from bootleader._core.kernels.lockstep import draw_of
from bootleader._core.rng import below

FIRST_STRETCH = 8

resample_of = switch("resample", [inner(resample) for resample in RESAMPLERS])


class HistoryPlan(NamedTuple):
    """A history rule and a reward family as numbers."""

    resample: int
    theta: Any
    opening: int
    draw: int


class HistoryTable(NamedTuple):
    """One run's arms: moments, and where each one's history lies in the arena."""

    count: Any
    anchor: Any
    drift: Any
    rss: Any
    lowest: Any
    highest: Any
    arena: Any
    start: Any
    room: Any
    used: Any
    gap: Any
    open_arms: Any
    open_left: Any
    regret: Any
    indices: Any

    @property
    def pulls(self) -> Any:
        """Of each arm."""
        return self.count


def arena_size(arms: int, rounds: int) -> int:
    """Enough for every way the pulls can fall: stretches of 8, 16, ... up to twice an arm's pulls, all kept."""
    return WORKSPACE + FIRST_STRETCH * arms + 4 * rounds


def new_table(arena: Any, gap: Any) -> HistoryTable:
    """A run at its start; what the arena holds from another run does not matter."""
    arms = len(gap)
    return HistoryTable(
        **{name: np.zeros(arms) for name in ("count", "anchor", "drift", "rss", "lowest", "highest")},
        arena=arena,
        start=np.zeros(arms, np.int64),
        room=np.zeros(arms, np.int64),
        used=np.array([WORKSPACE]),
        gap=gap,
        open_arms=np.arange(arms),
        open_left=np.array([arms]),
        regret=np.zeros(1),
        indices=np.zeros(arms),
    )


@inner
def remember(table, k, value):
    """Append a value to arm k's history."""
    size = int(table.count[k])
    if size + 1 >= table.room[k]:
        room = max(FIRST_STRETCH, 2 * table.room[k])
        start = table.used[0]
        for j in range(size):
            table.arena[start + j] = table.arena[table.start[k] + j]
        table.arena[start + size : start + room] = 0.0  # a zero stands behind the last value: see blockwise.py
        table.start[k] = start
        table.room[k] = room
        table.used[0] = start + room
    table.arena[table.start[k] + size] = value


@inner
def choose_by_history(plan, streams, table, lane):
    """The arm with the largest index; the one that costs most to draw comes last, and may not have to be drawn."""
    gamma = streams.gamma[lane]
    arms = table.count.shape[0]
    ties, best, leader = 0, -np.inf, 0
    longest = int(np.argmax(table.count))
    for turn in range(arms):
        is_last = turn == arms - 1
        k = longest if is_last else turn + (turn >= longest)
        index = resample_of(
            plan.resample, plan.theta, table.arena, table.start[k], int(table.count[k]), table.anchor[k],
            table.drift[k], table.rss[k], table.lowest[k], table.highest[k], best, is_last, streams.spare, lane, gamma,
        )  # fmt: skip
        table.indices[k] = index
        if index > best:
            ties, best, leader = 1, index, k
        elif index == best:
            ties += 1
    if ties > 1:
        left = below(streams.spare, lane, gamma, ties)
        for k in range(arms):
            if table.indices[k] == best:
                if left == 0:
                    return k
                left -= 1
    return leader


@inner
def open_arm(opening, streams, table, lane):
    spot = below(streams.spare, lane, streams.gamma[lane], table.open_left[0])
    k = table.open_arms[spot]
    if table.count[k] + 1.0 == opening:
        table.open_left[0] -= 1
        table.open_arms[spot] = table.open_arms[table.open_left[0]]
    return k


def build_kernel(source: str) -> Any:
    """The kernel, cached on disk under the fingerprint of its sources."""

    @kernel
    def advance(plan, arms, streams, table, curves, checkpoints, lane, bell, start, stop):
        source  # noqa: B018  (a free variable, and so part of numba's cache key)
        prepare(table.arena, streams.gamma[lane])
        opening_rounds = plan.opening * table.count.shape[0]
        mark = np.searchsorted(checkpoints, start + 1)
        for played in range(start, stop):
            if bell[0] != 0:
                return played
            if played < opening_rounds:
                k = open_arm(plan.opening, streams, table, lane)
            else:
                k = choose_by_history(plan, streams, table, lane)
            reward = draw_of(
                plan.draw, arms.first[k, lane], arms.second[k, lane], arms.third[k, lane], arms.samples,
                streams.rewards[k], lane, streams.gamma[lane],
            )  # fmt: skip
            anchor = reward if table.count[k] == 0.0 else table.anchor[k]
            remember(table, k, reward - anchor)
            table.lowest[k] = min(table.lowest[k], reward - anchor)
            table.highest[k] = max(table.highest[k], reward - anchor)
            table.count[k], table.anchor[k], table.drift[k], table.rss[k] = welford(
                table.count[k], table.anchor[k], table.drift[k], table.rss[k], reward
            )
            table.regret[0] += table.gap[k]
            if played + 1 == checkpoints[mark]:
                curves[mark, lane] = table.regret[0]
                mark += 1
        return stop

    return advance


advance = build_kernel(fingerprint())
__all__ = ["HistoryPlan", "HistoryTable", "advance", "arena_size", "new_table"]
