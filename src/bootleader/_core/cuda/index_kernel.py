"""The kernel for index rules on a GPU: one thread plays one run.

Laws, draws, samplers, streams and moments are those of the CPU's kernels; a run reads its streams in the order of
:class:`bootleader._core.reference_player.IndexPlayer`, so the results are the same bit for bit.

Where things lie decides the speed. The table of the ziggurat and the arms' locations and scales, which every index
draw reads, are in shared memory while they fit. Moments and stream states are in local memory; those of the last arm
pulled are in registers. Between two launches a run's state is in global memory, so that a long run is played in several
launches.
"""

from __future__ import annotations

import math
from functools import cache
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as np
from numba import cuda, float64, int64, uint64

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.cuda.compilation import callable_in_kernels, kernel
from bootleader._core.elementary import log
from bootleader._core.kernels.moment_rows import ANCHOR, COUNT, DRIFT, rows_for
from bootleader._core.numba_bridge import register
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import Purpose, Stream, below, mix64, next_word, run_key, stream_of, uniform
from bootleader._core.rules import Noise
from bootleader._core.sampling import (
    LAYERS,
    accepted_normal,
    fair_binomial,
    finish_normal,
    rejected,
    sample_outside_layers,
    signed,
    studentise,
)

NONE, NORMAL, STUDENT, FAIR_COINS, OPTIMISM = (int(noise) for noise in Noise)
REWARDS, NOISE_WORDS, SPARE_WORDS, STRIDE = (
    np.uint64(purpose) for purpose in (Purpose.REWARDS, Purpose.NOISE, Purpose.SPARE, Purpose.STRIDE)
)
ZERO, ONE = np.uint64(0), np.uint64(1)
MASKED_ARMS: Final = 64  # up to here the arms that share the lead are the bits of a word
SHARED_BYTES: Final = 48 * 1024  # of a block
MOST_REGISTERS: Final = 128  # of a thread: with 96 and 80 more threads play at once, and each reads memory more often
THREADS: Final = (128, 64)  # in a block: the first number with which locations and scales fit into shared memory


class DevicePlan(NamedTuple):
    """A rule as numbers."""

    params: Any
    initial_pulls: int
    pooled: bool
    epsilon: float
    horizon: int
    seed: Any
    first_run: Any


class DeviceArms(NamedTuple):
    """The arms (arm x run; arm x 1 if all runs have the same ones), and the ziggurat's table."""

    first: Any
    second: Any
    third: Any
    table: Any
    noise_sd: Any
    gap: Any
    edges: Any


class DeviceState(NamedTuple):
    """The runs between two launches (quantity x run)."""

    words: Any  # states of the noise and spare streams, and of the arms' rewards
    moments: Any  # arm x column x run
    laws: Any  # location, scale and shape, arm by arm; then pooled variance and kurtosis
    places: Any  # arms that still need initial pulls, how many they are, the last arm, round of the last renewal
    regret: Any


def state_shapes(arms: int, columns: int) -> dict[str, tuple[int, ...]]:
    """The shape of each array of a :class:`DeviceState`, without the runs."""
    return {
        "words": (arms + 2,), "moments": (arms, columns), "laws": (3 * arms + 2,), "places": (arms + 3,), "regret": (1,)
    }  # fmt: skip


# Filled in by `kernel_for`.
law: Any = None
draw: Any = None
add: Any = None
arm_of: Any = None
shared_of: Any = None
pool: Any = None
ARMS = COLUMNS = WIDTH = 0
NOISE = NONE
EVERY_ROUND = IN_SHARED = SHAPED = False


def advance_runs(plan, arms, state, trajectory, checkpoints, runs, mark, start, stop):
    """Play the rounds from ``start`` to ``stop`` of so many runs; ``mark`` is the next checkpoint."""
    run = cuda.grid(1)
    shared = cuda.shared.array(0, float64)
    for layer in range(cuda.threadIdx.x, LAYERS, WIDTH):
        shared[layer] = arms.edges[layer]
    cuda.syncthreads()
    if run >= runs:
        return
    if IN_SHARED:
        location = shared[LAYERS : LAYERS + ARMS * WIDTH]
        scale = shared[LAYERS + ARMS * WIDTH : LAYERS + 2 * ARMS * WIDTH]
        lane, step = cuda.threadIdx.x, WIDTH
    else:
        location = cuda.local.array(ARMS, float64)
        scale = cuda.local.array(ARMS, float64)
        lane, step = 0, 1
    shape = cuda.local.array(ARMS if SHAPED else 1, float64)
    moments = cuda.local.array((ARMS, COLUMNS), float64)
    rewards = cuda.local.array(ARMS, uint64)
    row = cuda.local.array(COLUMNS, float64)  # moments of the last arm pulled,
    row_word = cuda.local.array(1, uint64)  # and the state of its rewards
    own_words = cuda.local.array(2, uint64)
    variance = cuda.local.array(1, float64)
    kurtosis = cuda.local.array(1, float64)
    initial_arms = cuda.local.array(ARMS, int64)
    values = cuda.local.array(ARMS, float64)  # indices, where a word has too few bits; or noise outside the layers

    column = run if arms.gap.shape[1] > 1 else 0
    key = run_key(plan.seed, plan.first_run + np.uint64(run))
    stride = stream_of(key, STRIDE, ZERO) | ONE
    if start == 0:
        own_words[0], own_words[1] = stream_of(key, NOISE_WORDS, ZERO), stream_of(key, SPARE_WORDS, ZERO)
        left, arm, renewed_at, regret = ARMS, 0, 0, 0.0
        variance[0] = kurtosis[0] = 0.0
        for k in range(ARMS):
            rewards[k] = stream_of(key, REWARDS, np.uint64(k))
            location[k * step + lane] = scale[k * step + lane] = 0.0
            initial_arms[k] = k
            for moment in range(COLUMNS):
                moments[k, moment] = 0.0
    else:
        own_words[0], own_words[1] = state.words[0, run], state.words[1, run]
        left, arm = int(state.places[ARMS, run]), int(state.places[ARMS + 1, run])
        renewed_at, regret = int(state.places[ARMS + 2, run]), state.regret[0, run]
        variance[0], kurtosis[0] = state.laws[3 * ARMS, run], state.laws[3 * ARMS + 1, run]
        for k in range(ARMS):
            rewards[k] = state.words[2 + k, run]
            location[k * step + lane], scale[k * step + lane] = state.laws[k, run], state.laws[ARMS + k, run]
            if SHAPED:
                shape[k] = state.laws[2 * ARMS + k, run]
            initial_arms[k] = state.places[k, run]
            for moment in range(COLUMNS):
                moments[k, moment] = state.moments[k, moment, run]
    noise, spare = Stream(own_words, 0, stride), Stream(own_words, 1, stride)
    initial_rounds = plan.initial_pulls * ARMS
    next_mark = checkpoints[mark]
    held = -1  # the arm that `row`, `row_word` and the next numbers belong to
    gap = noise_sd = first = second = third = 0.0

    for played in range(start, stop):
        if played < initial_rounds:
            spot = int(below(spare, left))
            arm = int(initial_arms[spot])
            count = row[COUNT] if arm == held else moments[arm, COUNT]
            if count + 1.0 == plan.initial_pulls:
                left -= 1
                initial_arms[spot] = initial_arms[left]
        else:
            if (EVERY_ROUND or renewed_at == played) and held >= 0:
                for moment in range(COLUMNS):
                    moments[held, moment] = row[moment]
            if renewed_at == played:
                pool(moments, variance, kurtosis, 0)
            if EVERY_ROUND or renewed_at == played:
                for k in range(ARMS):
                    place, spread, form = law(
                        plan.params,
                        arm_of(moments[k], arms.noise_sd[k, column]),
                        shared_of(variance, kurtosis, 0, played, ARMS, plan.horizon),
                    )
                    location[k * step + lane], scale[k * step + lane] = place, spread
                    if SHAPED:
                        shape[k] = form
            best, ties, tied, outside = -math.inf, 0, ZERO, ZERO
            if NOISE == NORMAL and ARMS <= MASKED_ARMS:
                # Rejected words wait until all others are drawn: no thread of a warp waits for another's before.
                position = own_words[0]
                for k in range(ARMS):
                    position += stride
                    word = mix64(position)
                    is_outside = rejected(word)
                    value = location[k * step + lane] + scale[k * step + lane] * accepted_normal(word)
                    outside = outside + outside + np.uint64(is_outside)
                    leads = (value > best) & (not is_outside)
                    ties += (value == best) & (not is_outside)
                    arm = k if leads else arm
                    best = value if leads else best
                if outside != ZERO:
                    for k in range(ARMS):
                        if (outside >> np.uint64(ARMS - 1 - k)) & ONE == ONE:
                            word = mix64(own_words[0] + np.uint64(k + 1) * stride)
                            values[k] = signed(sample_outside_layers(word, spare), word)
                            value = location[k * step + lane] + scale[k * step + lane] * values[k]
                            ties += value == best
                            arm = k if value > best else arm
                            best = value if value > best else best
                if ties > 0:  # recomputed, not stored: ties are rare
                    for k in range(ARMS):
                        drawn = accepted_normal(mix64(own_words[0] + np.uint64(k + 1) * stride))
                        if (outside >> np.uint64(ARMS - 1 - k)) & ONE == ONE:
                            drawn = values[k]
                        if location[k * step + lane] + scale[k * step + lane] * drawn == best:
                            tied |= ONE << np.uint64(k)
                own_words[0] = position
            else:
                optimism = math.sqrt(2.0 * log(float(played))) if NOISE == OPTIMISM else 0.0
                for k in range(ARMS):
                    drawn = optimism
                    if NOISE == NORMAL or NOISE == STUDENT:  # noqa: SIM109  (numba prunes comparisons of constants)
                        drawn = finish_normal(next_word(noise), spare)
                        if NOISE == STUDENT:
                            drawn = studentise(drawn, shape[k], spare)
                    elif NOISE == FAIR_COINS:
                        drawn = fair_binomial(shape[k], spare)
                    value = location[k * step + lane] + scale[k * step + lane] * drawn
                    if ARMS > MASKED_ARMS:
                        values[k] = value
                        ties += value == best
                    else:
                        bit = ONE << np.uint64(k)
                        tied = bit if value > best else (tied | bit if value == best else tied)
                    arm = k if value > best else arm
                    best = value if value > best else best
            anyone = plan.epsilon > 0.0 and uniform(spare) < plan.epsilon
            sharing = 0
            if anyone:
                sharing = ARMS
            elif ARMS <= MASKED_ARMS:
                if tied & (tied - ONE) != ZERO:
                    for k in range(ARMS):
                        sharing += int((tied >> np.uint64(k)) & ONE)
            elif ties > 0:
                for k in range(ARMS):
                    sharing += int(values[k] == best)
            if sharing > 1:
                turn = int(below(spare, sharing))
                for k in range(ARMS):
                    if ARMS <= MASKED_ARMS:
                        shares = anyone or (tied >> np.uint64(k)) & ONE == ONE
                    else:
                        shares = anyone or values[k] == best
                    if shares:
                        if turn == 0:
                            arm = k
                        turn -= 1
        # Most rounds pull the arm of the round before. What belongs to it stays in registers: in local memory the
        # threads of a warp would read it from as many places as they pull different arms.
        if arm != held:
            if held >= 0:
                for moment in range(COLUMNS):
                    moments[held, moment] = row[moment]
                rewards[held] = row_word[0]
            for moment in range(COLUMNS):
                row[moment] = moments[arm, moment]
            row_word[0] = rewards[arm]
            gap, noise_sd = arms.gap[arm, column], arms.noise_sd[arm, column]
            first, second, third = arms.first[arm, column], arms.second[arm, column], arms.third[arm, column]
            held = arm
        reward = draw(RewardParameters(first, second, third, arms.table, played), Stream(row_word, 0, stride))
        add(row, reward)
        pulls = played + 1
        place, spread, form = law(
            plan.params, arm_of(row, noise_sd), shared_of(variance, kurtosis, 0, pulls, ARMS, plan.horizon)
        )
        location[arm * step + lane], scale[arm * step + lane] = place, spread
        if SHAPED:
            shape[arm] = form
        regret += gap
        is_old = plan.pooled and POOLING_GROWTH * (pulls - renewed_at) >= renewed_at
        if pulls >= initial_rounds and (renewed_at == 0 or is_old):
            renewed_at = pulls  # all laws are renewed at the start of the next round
        if pulls == next_mark:
            for moment in range(COLUMNS):
                moments[arm, moment] = row[moment]
            total, best_pulls, recommended, largest = 0.0, 0.0, 0, -math.inf
            for k in range(ARMS):
                count, mean = moments[k, COUNT], moments[k, ANCHOR] + moments[k, DRIFT]
                total += count * mean
                best_pulls += count if arms.gap[k, column] == 0.0 else 0.0
                candidate = mean if count > 0.0 else -math.inf
                recommended = k if candidate > largest else recommended
                largest = candidate if candidate > largest else largest
            trajectory.regret[mark, run] = regret
            trajectory.reward[mark, run] = total
            trajectory.best_pulls[mark, run] = best_pulls
            trajectory.simple_regret[mark, run] = arms.gap[recommended, column]
            trajectory.recommended[mark, run] = recommended
            mark += 1
            next_mark = checkpoints[min(mark, checkpoints.shape[0] - 1)]

    if held >= 0:
        for moment in range(COLUMNS):
            moments[held, moment] = row[moment]
        rewards[held] = row_word[0]
    state.words[0, run], state.words[1, run] = own_words[0], own_words[1]
    state.places[ARMS, run], state.places[ARMS + 1, run], state.places[ARMS + 2, run] = left, arm, renewed_at
    state.regret[0, run] = regret
    state.laws[3 * ARMS, run], state.laws[3 * ARMS + 1, run] = variance[0], kurtosis[0]
    for k in range(ARMS):
        state.words[2 + k, run] = rewards[k]
        state.laws[k, run], state.laws[ARMS + k, run] = location[k * step + lane], scale[k * step + lane]
        if SHAPED:
            state.laws[2 * ARMS + k, run] = shape[k]
        state.places[k, run] = initial_arms[k]
        for moment in range(COLUMNS):
            state.moments[k, moment, run] = moments[k, moment]


class Layout(NamedTuple):
    """Threads of a block, whether locations and scales are in shared memory, and how much of it the block needs."""

    threads: int
    in_shared: bool
    shared_bytes: int


def layout_for(arms: int) -> Layout:
    """The layout of a kernel for so many arms."""
    for threads in THREADS:
        shared_bytes = 8 * (LAYERS + 2 * arms * threads)
        if shared_bytes <= SHARED_BYTES:
            return Layout(threads, True, shared_bytes)
    return Layout(THREADS[0], False, 8 * LAYERS)


@cache
def kernel_for(law: Any, draw: Any, arms: int, noise: Noise, every_round: bool, fourth_moment: bool) -> Any:
    """The kernel that plays a rule with this law on rewards from this draw, compiled when first launched."""
    records = rows_for(fourth_moment)
    layout = layout_for(arms)
    register(law)
    register(draw)
    constants = {
        "law": law,
        "draw": draw,
        "add": callable_in_kernels(records.add),
        "arm_of": callable_in_kernels(records.arm),
        "shared_of": callable_in_kernels(records.shared),
        "pool": callable_in_kernels(records.pool),
        "ARMS": arms,
        "COLUMNS": records.columns,
        "WIDTH": layout.threads,
        "NOISE": int(noise),
        "EVERY_ROUND": every_round,
        "SHAPED": noise in (Noise.STUDENT, Noise.FAIR_COINS),
        "IN_SHARED": layout.in_shared,
    }
    function = FunctionType(advance_runs.__code__, {**advance_runs.__globals__, **constants}, "advance_runs")
    return kernel(function, max_registers=MOST_REGISTERS)
