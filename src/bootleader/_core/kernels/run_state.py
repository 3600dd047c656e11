"""The state of one run in the general kernel, in parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.bootstrap_sums import WORKSPACE
from bootleader._core.kernels.aligned_memory import aligned_zeros
from bootleader._core.moments import pebay, welford
from bootleader._core.numba_bridge import inner
from bootleader._core.rng import below

FIRST_SEGMENT = 8


class Moments(NamedTuple):
    """Of each arm's rewards that have arrived."""

    count: Any
    anchor: Any
    drift: Any
    rss: Any
    mean: Any
    third: Any  # for index rules; and
    fourth: Any
    last: Any  # number of rewards when its last one came
    lowest: Any  # for history rules: smallest and
    highest: Any  # largest difference from the anchor, and
    at_lowest: Any  # how many rewards have
    at_highest: Any  # these


class Laws(NamedTuple):
    """The arms' index laws."""

    location: Any
    scale: Any
    shape: Any
    noise_sd: Any
    variance: Any  # pooled over the arms, and
    kurtosis: Any  # this too
    renewed_at: Any  # rewards at the last renewal of all laws; 0 before the first


class InitialPulls(NamedTuple):
    """The arms that still need initial pulls."""

    arms: Any
    left: Any  # how many they are
    needed: Any  # how many more pulls each arm needs


class History(NamedTuple):
    """The arms' rewards in one array: a full segment moves to one twice as long at the end."""

    values: Any  # differences from the anchor, for history rules; the rewards themselves, for choice rules
    sums: Any
    start: Any
    capacity: Any
    used: Any


class RunState(NamedTuple):
    """One run between two rounds."""

    moments: Moments
    laws: Laws
    initial: InitialPulls
    history: History
    memory: Any
    indices: Any  # of the arms in the present round
    arrived: Any  # number of rewards that have arrived
    pulls: Any  # of each arm


def new_history(arms: int, rounds: int) -> History:
    """Room for the rewards of so many rounds, 0 for none."""
    size = WORKSPACE + FIRST_SEGMENT * arms + 4 * rounds if rounds else 0
    return empty_history(arms, np.empty(size), np.empty(size))


def empty_history(arms: int, values: Any, sums: Any) -> History:
    """Histories without rewards; what the arrays hold from another run does not matter."""
    return History(values, sums, np.zeros(arms, np.int64), np.zeros(arms, np.int64), np.array([WORKSPACE]))


def new_run_state(noise_sd: Any, initial_pulls: int, history: History, memory: int) -> RunState:
    """A run before the first round, in the room of a history."""
    arms = len(noise_sd)
    return RunState(
        moments=Moments(*(np.zeros(arms) for _ in Moments._fields)),
        laws=Laws(
            location=np.zeros(arms),
            scale=np.zeros(arms),
            shape=np.zeros(arms),
            noise_sd=noise_sd,
            variance=np.zeros(1),
            kurtosis=np.zeros(1),
            renewed_at=np.zeros(1, np.int64),
        ),
        initial=InitialPulls(
            np.arange(arms), np.array([arms if initial_pulls else 0]), np.full(arms, initial_pulls, np.int64)
        ),
        history=empty_history(arms, history.values, history.sums),
        memory=aligned_zeros((memory,))[0],
        indices=np.zeros(arms),
        arrived=np.zeros(1, np.int64),
        pulls=np.zeros(arms, np.int64),
    )


@inner
def initial_arm(initial, spare):
    """One of the arms that still need initial pulls, uniformly at random."""
    place = below(spare, initial.left[0])
    k = initial.arms[place]
    initial.needed[k] -= 1
    if initial.needed[k] == 0:
        initial.left[0] -= 1
        initial.arms[place] = initial.arms[initial.left[0]]
    return k


@inner
def count_extremes(moments, k, value):
    """Renew an arm's smallest and largest difference from its first reward, and how often they occurred."""
    if value < moments.lowest[k]:
        moments.lowest[k], moments.at_lowest[k] = value, 0.0
    if value > moments.highest[k]:
        moments.highest[k], moments.at_highest[k] = value, 0.0
    moments.at_lowest[k] += value == moments.lowest[k]
    moments.at_highest[k] += value == moments.highest[k]


@inner
def add_to_moments(state, k, reward):
    """Add a reward to an arm's moments."""
    moments = state.moments
    count, anchor, drift, rss = moments.count, moments.anchor, moments.drift, moments.rss
    count[k], anchor[k], drift[k], rss[k] = welford(count[k], anchor[k], drift[k], rss[k], reward)
    moments.mean[k] = anchor[k] + drift[k]
    state.arrived[0] += 1


@inner
def add_to_power_sums(state, k, reward):
    """Add a reward to an arm's moments and to its sums of third and fourth powers."""
    moments = state.moments
    count, anchor, drift, rss = moments.count, moments.anchor, moments.drift, moments.rss
    count[k], anchor[k], drift[k], rss[k], moments.third[k], moments.fourth[k] = pebay(
        count[k], anchor[k], drift[k], rss[k], moments.third[k], moments.fourth[k], reward
    )
    moments.mean[k] = anchor[k] + drift[k]
    state.arrived[0] += 1
    moments.last[k] = float(state.arrived[0])


@inner
def add_to_history(history, size, k, value):
    """Append a value to an arm's history of ``size`` values."""
    if size + 1 >= history.capacity[k]:
        capacity = max(FIRST_SEGMENT, 2 * history.capacity[k])
        start = history.used[0]
        for j in range(size):
            history.values[start + j] = history.values[history.start[k] + j]
            history.sums[start + j] = history.sums[history.start[k] + j]
        history.values[start + size : start + capacity] = 0.0  # vectorised sums read one zero past the last value
        history.start[k] = start
        history.capacity[k] = capacity
        history.used[0] = start + capacity
    at = history.start[k] + size
    history.values[at] = value
    history.sums[at] = value if size == 0 else history.sums[at - 1] + value


@inner
def leader(state, ready, spare):
    """The arm with the largest index among those with at least ``ready`` rewards, ties broken at random."""
    indices, count = state.indices, state.moments.count
    best, ties, first = -np.inf, 0, 0
    for k in range(indices.shape[0]):
        if count[k] >= ready:
            if ties == 0 or indices[k] > best:
                best, ties, first = indices[k], 1, k
            elif indices[k] == best:
                ties += 1
    if ties > 1:
        left = below(spare, ties)
        for k in range(indices.shape[0]):
            if count[k] >= ready and indices[k] == best:
                if left == 0:
                    return k
                left -= 1
    return first
