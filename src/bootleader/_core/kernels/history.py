"""The kernel for history rules (Giro, two-point weights): one run after the other.

An arm's rewards lie side by side in one large array. When an arm's segment is full, it moves to one twice as long at
the array's end, so that all segments together take O(rounds), however the pulls are divided among the arms.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.bootstrap_sums import WORKSPACE, write_strides
from bootleader._core.code_fingerprint import code_digest
from bootleader._core.kernels.run_state import count_extremes
from bootleader._core.kernels.trajectory import record_run
from bootleader._core.moments import welford
from bootleader._core.numba_bridge import compiled, inlined, inner, is_raised, named, specialise, switch
from bootleader._core.rng import Stream, below
from bootleader._core.rules import ArmHistory, Contest

FIRST_SEGMENT = 8
MOMENTS = ("count", "anchor", "drift", "rss", "lowest", "highest", "at_lowest", "at_highest")


class HistoryPlan(NamedTuple):
    """A history rule and a reward family as numbers."""

    resample: int
    params: Any
    initial_pulls: int
    draw: int


class HistoryState(NamedTuple):
    """One run's arms: moments, and where each one's history lies in the array of all."""

    count: Any
    anchor: Any
    drift: Any
    rss: Any
    lowest: Any
    highest: Any
    at_lowest: Any
    at_highest: Any
    values: Any
    start: Any
    capacity: Any
    used: Any
    gap: Any
    initial_arms: Any  # the arms that still need initial pulls, and
    initial_left: Any  # how many they are
    regret: Any
    indices: Any

    @property
    def pulls(self) -> Any:
        """Pulls of each arm."""
        return self.count


def values_size(arms: int, rounds: int) -> int:
    """Enough for every division of the pulls: segments of 8, 16, ... up to twice an arm's pulls, all kept."""
    return WORKSPACE + FIRST_SEGMENT * arms + 4 * rounds


def new_state(values: Any, gap: Any) -> HistoryState:
    """A run before the first round; what the array holds from another run does not matter."""
    arms = len(gap)
    return HistoryState(
        **{name: np.zeros(arms) for name in MOMENTS},
        values=values,
        start=np.zeros(arms, np.int64),
        capacity=np.zeros(arms, np.int64),
        used=np.array([WORKSPACE]),
        gap=gap,
        initial_arms=np.arange(arms),
        initial_left=np.array([arms]),
        regret=np.zeros(1),
        indices=np.zeros(arms),
    )


@inner
def append(state, k, value):
    """Append a value to arm k's history."""
    size = int(state.count[k])
    if size + 1 >= state.capacity[k]:
        capacity = max(FIRST_SEGMENT, 2 * state.capacity[k])
        start = state.used[0]
        for j in range(size):
            state.values[start + j] = state.values[state.start[k] + j]
        state.values[start + size : start + capacity] = 0.0  # vectorised sums read one zero past the last value
        state.start[k] = start
        state.capacity[k] = capacity
        state.used[0] = start + capacity
    state.values[state.start[k] + size] = value


@inner
def learn_reward(state, k, reward):
    """Add a reward to an arm's history and moments, and the regret of its pull."""
    anchor = reward if state.count[k] == 0.0 else state.anchor[k]
    append(state, k, reward - anchor)
    count_extremes(state, k, reward - anchor)
    state.count[k], state.anchor[k], state.drift[k], state.rss[k] = welford(
        state.count[k], state.anchor[k], state.drift[k], state.rss[k], reward
    )
    state.regret[0] += state.gap[k]


@inner
def pull_initial_arm(initial_pulls, spare, state):
    """Choose uniformly among the arms that still need initial pulls."""
    spot = below(spare, state.initial_left[0])
    k = state.initial_arms[spot]
    if state.count[k] + 1.0 == initial_pulls:
        state.initial_left[0] -= 1
        state.initial_arms[spot] = state.initial_arms[state.initial_left[0]]
    return k


def choice(resample_of: Any, digest: str) -> Any:
    """The choice of the arm with the largest index."""

    @inlined
    @named(f"choose_by_history_{digest}")
    def choose(plan, spare, state):
        """The longest history, which costs most to resample, comes last: rejection often decides without it."""
        arms = state.count.shape[0]
        ties, best, leader = 0, -np.inf, 0
        longest = int(np.argmax(state.count))
        for turn in range(arms):
            is_last = turn == arms - 1
            k = longest if is_last else turn + (turn >= longest)
            history = ArmHistory(
                state.values, state.start[k], int(state.count[k]), state.anchor[k], state.drift[k], state.rss[k],
                state.lowest[k], state.highest[k], state.at_lowest[k], state.at_highest[k],
            )  # fmt: skip
            index = resample_of(plan.resample, plan.params, history, Contest(best, is_last), spare)
            state.indices[k] = index
            if index > best:
                ties, best, leader = 1, index, k
            elif index == best:
                ties += 1
        if ties > 1:
            left = below(spare, ties)
            for k in range(arms):
                if state.indices[k] == best:
                    if left == 0:
                        return k
                    left -= 1
        return leader

    return choose


# Filled in by `kernel_for`.
choose: Any = None
draw_of: Any = None


def advance_history(plan, parameters, streams, state, trajectory, checkpoints, run, interrupt, start, stop):
    """Play the rounds of one run from ``start`` to ``stop``; returns where it came to."""
    stride = streams.stride[run]
    spare = Stream(streams.spare, run, stride)
    write_strides(state.values, stride)
    initial_rounds = plan.initial_pulls * state.count.shape[0]
    mark = np.searchsorted(checkpoints, start + 1)
    for played in range(start, stop):
        if is_raised(interrupt):
            return played
        k = (
            pull_initial_arm(plan.initial_pulls, spare, state)
            if played < initial_rounds
            else choose(plan, spare, state)
        )
        reward = draw_of(
            plan.draw,
            RewardParameters(
                parameters.first[k, run], parameters.second[k, run], parameters.third[k, run], parameters.table, played
            ),
            Stream(streams.rewards[k], run, stride),
        )
        learn_reward(state, k, reward)
        if played + 1 == checkpoints[mark]:
            record_run(
                trajectory, mark, run, state.regret[0], state.gap, state.count, state.anchor, state.drift
            )  # fmt: skip
            mark += 1
    return stop


@cache
def kernel_for(resamplers: tuple[Any, ...], draws: tuple[Any, ...]) -> Any:
    """The kernel that plays these history rules on rewards from these draws; a plan names one of each by number."""
    digest = code_digest(resamplers, draws, choice)[:16]
    resample_of = switch(f"resample_{digest}", [compiled(resample, inlined) for resample in resamplers], inlined)
    return specialise(
        advance_history,
        digest,
        choose=choice(resample_of, digest),
        draw_of=switch(f"history_draw_{digest}", [compiled(draw, inlined) for draw in draws], inlined),
    )


__all__ = ["HistoryPlan", "HistoryState", "kernel_for", "new_state", "values_size"]
