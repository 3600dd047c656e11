"""The kernel for all that the faster ones do not play: one run after the other, every kind of rule.

It plays rules that choose by themselves, rewards that change over time and rewards that arrive late, in the order of
draws of :mod:`bootleader._core.reference_player`. What a simulation does not need is a constant of its kernel and costs
nothing.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.bootstrap_sums import write_strides
from bootleader._core.changes_and_delays import delay_of, next_walk, shift_of, shifted
from bootleader._core.code_fingerprint import code_digest
from bootleader._core.kernels.choose_learn_recommend import make_parts, parts_for
from bootleader._core.kernels.run_state import initial_arm
from bootleader._core.numba_bridge import compiled, inlined, inner, is_raised, register, specialise, switch
from bootleader._core.rng import Stream, below
from bootleader._core.rules import Rule

for _function in (delay_of, next_walk, shift_of, shifted):
    register(_function)


class GeneralPlan(NamedTuple):
    """A rule as numbers."""

    function: int  # number of the law, resampler or choice rule
    noise: int
    params: Any
    initial_pulls: int
    arms_needed: int  # arms that must have had their initial rewards before the rule chooses
    pooled: bool
    every_round: bool
    epsilon: float
    half_life: float
    draw: int
    horizon: int


class World(NamedTuple):
    """The arms of one run as they are in the present round."""

    phase: Any
    walk: Any
    shift: Any
    mean: Any
    best: Any  # the largest mean
    drift_states: Any
    delay_state: Any


def new_world(mean: Any, drift_states: Any, delay_state: int) -> World:
    """The arms before the first round."""
    arms = len(drift_states)
    return World(
        phase=np.zeros(1, np.int64),
        walk=np.zeros(arms),
        shift=np.zeros(arms),
        mean=mean[:arms].copy(),
        best=np.array([mean[:arms].max()]),
        drift_states=drift_states,
        delay_state=np.array([delay_state], np.uint64),
    )


class Queue(NamedTuple):
    """Rewards on their way: linked lists, one for each round in which rewards arrive, in the order of the pulls."""

    first: Any  # of each round, or -1
    last: Any
    following: Any  # of each pull, or -1
    arm: Any
    reward: Any


def new_queue(rounds: int) -> Queue:
    """An empty queue; with ``rounds`` 0, one that is not used."""
    first, last, following = np.full((3, rounds + 1), -1, np.int64)
    return Queue(first, last, following, np.zeros(rounds, np.int64), np.zeros(rounds))


class Totals(NamedTuple):
    """Sums over the rounds so far, and an arm that the rule has named and that does not exist."""

    regret: Any
    reward: Any
    best_pulls: Any
    refused: Any


def new_totals() -> Totals:
    """Sums before the first round."""
    return Totals(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, np.int64))


class Environment(NamedTuple):
    """What surrounds the policy in one run."""

    world: World
    changes: Any
    delay: Any
    queue: Queue
    totals: Totals


@inner
def change(changes, parameters, run, world, stride, played):
    """Bring the arms to the round after ``played`` ones."""
    arms = world.mean.shape[0]
    if played >= changes.phase_end[world.phase[0]]:
        world.phase[0] += 1
    best = -np.inf
    for k in range(arms):
        if played > 0:
            world.walk[k] = next_walk(changes, world.walk[k], Stream(world.drift_states, k, stride))
        world.shift[k] = shift_of(changes, k, world.walk[k], played)
        world.mean[k] = shifted(changes, parameters.mean[world.phase[0] * arms + k, run], world.shift[k])
        best = max(best, world.mean[k])
    world.best[0] = best


@inner
def enqueue(queue, played, late, k, reward):
    """Let a reward arrive ``late`` rounds late."""
    due = played + 1 + late
    queue.arm[played], queue.reward[played] = k, reward
    if due < queue.first.shape[0]:
        if queue.first[due] < 0:
            queue.first[due] = played
        else:
            queue.following[queue.last[due]] = played
        queue.last[due] = played


@inner
def can_choose(plan, state):
    """Whether enough arms have had their initial rewards."""
    ready = 0
    for k in range(state.moments.count.shape[0]):
        ready += state.moments.count[k] >= plan.initial_pulls
    return ready >= plan.arms_needed


@inner
def record(trajectory, mark, run, recommended, world, totals):
    """Record the run at a checkpoint."""
    trajectory.regret[mark, run] = totals.regret[0]
    trajectory.reward[mark, run] = totals.reward[0]
    trajectory.best_pulls[mark, run] = totals.best_pulls[0]
    trajectory.simple_regret[mark, run] = world.best[0] - world.mean[recommended]
    trajectory.recommended[mark, run] = recommended


NO_SUCH_ARM = -1  # what the kernel returns if a rule names an arm that does not exist

# Filled in by `kernel_for`.
choose: Any = None
learn: Any = None
recommend: Any = None
draw_of: Any = None
CHANGING = False
DELAYED = False


def advance_general(
    plan, parameters, streams, state, environment, trajectory, checkpoints, run, interrupt, start, stop
):
    """Play the rounds of one run from ``start`` to ``stop``; returns where it came to.

    A rule that chooses or recommends an arm that does not exist ends the run: :data:`NO_SUCH_ARM` is returned.
    """
    world, changes, delay, queue, totals = environment
    stride = streams.stride[run]
    noise, spare = Stream(streams.noise, run, stride), Stream(streams.spare, run, stride)
    arms = world.mean.shape[0]
    if state.history.values.shape[0] > 0:
        write_strides(state.history.values, stride)
    mark = np.searchsorted(checkpoints, start + 1)
    for played in range(start, stop):
        if is_raised(interrupt):
            return played
        if DELAYED:
            place = queue.first[played]
            while place >= 0:
                learn(plan, state, queue.arm[place], queue.reward[place], spare)
                place = queue.following[place]
        if CHANGING:
            change(changes, parameters, run, world, stride, played)
        if state.initial.left[0] > 0:
            k = np.int64(initial_arm(state.initial, spare))
        elif DELAYED and not can_choose(plan, state):
            k = np.int64(below(spare, arms))
        else:
            k = choose(plan, state, noise, spare)
            if k < 0 or k >= arms:
                totals.refused[0] = k
                return NO_SUCH_ARM
        row, draw, table, first = k, plan.draw, parameters.table, parameters.first[k, run]
        if CHANGING:
            phase = world.phase[0]
            row, draw = phase * arms + k, changes.draw[phase]
            table = parameters.table[changes.table_start[phase] : changes.table_stop[phase]]
            first = shifted(changes, parameters.first[row, run], world.shift[k])
        arm = RewardParameters(first, parameters.second[row, run], parameters.third[row, run], table, played)
        reward = draw_of(draw, arm, Stream(streams.rewards[k], run, stride))
        state.pulls[k] += 1
        totals.regret[0] += world.best[0] - world.mean[k]
        totals.reward[0] += reward
        totals.best_pulls[0] += 1.0 if world.mean[k] == world.best[0] else 0.0
        if DELAYED:
            enqueue(queue, played, delay_of(delay, Stream(world.delay_state, 0, stride)), k, reward)
        else:
            learn(plan, state, k, reward, spare)
        if played + 1 == checkpoints[mark]:
            recommended = recommend(plan, state)
            if recommended < 0 or recommended >= arms:
                totals.refused[0] = recommended
                return NO_SUCH_ARM
            record(trajectory, mark, run, recommended, world, totals)
            mark += 1
    return stop


def kernel_for(rule: Rule, functions: tuple[Any, ...], draws: tuple[Any, ...], changing: bool, delayed: bool) -> Any:
    """The kernel that plays this rule, or others of its kind with these functions, on rewards from these draws."""
    kind: Any = type(rule)
    history, fades = getattr(rule, "history", False), getattr(rule, "half_life", math.inf) != math.inf
    return _kernel(kind, history, fades, functions, draws, changing, delayed)


@cache
def _kernel(
    kind: Any,
    history: bool,
    fades: bool,
    functions: tuple[Any, ...],
    draws: tuple[Any, ...],
    changing: bool,
    delayed: bool,
) -> Any:
    digest = code_digest(kind, history, fades, functions, draws, changing, delayed, make_parts)[:16]
    choose, learn, recommend = parts_for(kind, history, fades, functions)
    return specialise(
        advance_general,
        digest,
        choose=choose,
        learn=learn,
        recommend=recommend,
        draw_of=_draw_switch(draws),
        CHANGING=changing,
        DELAYED=delayed,
    )


@cache
def _draw_switch(draws: tuple[Any, ...]) -> Any:
    return switch(f"general_draw_{code_digest(draws)[:16]}", [compiled(draw, inlined) for draw in draws], inlined)
