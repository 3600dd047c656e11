"""The kernel for index rules: many runs in lock step, arms outermost.

Each step below is a loop over the lanes (one lane, one run), so that the samplers of
:mod:`bootleader._core.kernels.vector_sampling` and the comparison vectorise. Only ties and rejected draws are handled
lane by lane. A lane reads its streams in the order of :class:`bootleader._core.reference_player.IndexPlayer`, so the
results are the same bit for bit.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.code_fingerprint import code_digest
from bootleader._core.elementary import log
from bootleader._core.kernels.growing_indices import bounded_choice, forget_bounds
from bootleader._core.kernels.moment_rows import ANCHOR, COUNT, DRIFT, MomentRows, rows_for
from bootleader._core.kernels.vector_sampling import draw_normals, studentise_lanes, toss_coins
from bootleader._core.numba_bridge import compiled, inline, inner, is_raised, named, specialise, switch
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import Stream, below, mix64, uniform
from bootleader._core.rules import Noise
from bootleader._core.sampling import accepted_normal, finish_normal, rejected

NONE, NORMAL, STUDENT, FAIR_COINS, OPTIMISM = (int(noise) for noise in Noise)


# A round --------------------------------------------------------------------------------------------------------------


@inline
def draw_no_noise(kind, pulls, shape, state, stride, spare, scratch, noise):
    pass


@inline
def draw_normal_noise(kind, pulls, shape, state, stride, spare, scratch, noise):
    draw_normals(state, stride, spare, scratch.words, noise)


@inline
def draw_student_noise(kind, pulls, shape, state, stride, spare, scratch, noise):
    draw_normals(state, stride, spare, scratch.words, noise)
    studentise_lanes(shape, noise, spare, stride, scratch.chosen)


@inline
def draw_coin_noise(kind, pulls, shape, state, stride, spare, scratch, noise):
    toss_coins(shape, noise, spare, stride)


@inline
def draw_optimism(kind, pulls, shape, state, stride, spare, scratch, noise):
    noise[:] = math.sqrt(2.0 * log(pulls))


@inline
def draw_any_noise(kind, pulls, shape, state, stride, spare, scratch, noise):
    """One arm's noise in every lane, of any kind."""
    if kind == NORMAL or kind == STUDENT:  # noqa: SIM109  (a tuple would be searched at run time)
        draw_normals(state, stride, spare, scratch.words, noise)
        if kind == STUDENT:
            studentise_lanes(shape, noise, spare, stride, scratch.chosen)
    elif kind == FAIR_COINS:
        toss_coins(shape, noise, spare, stride)
    elif kind == OPTIMISM:
        noise[:] = math.sqrt(2.0 * log(pulls))


# One arm's noise in every lane, of one kind: a kernel for a single rule compiles faster with that kind alone.
DRAW_NOISE = {
    Noise.NONE: draw_no_noise,
    Noise.NORMAL: draw_normal_noise,
    Noise.STUDENT: draw_student_noise,
    Noise.FAIR_COINS: draw_coin_noise,
    Noise.OPTIMISM: draw_optimism,
    None: draw_any_noise,
}


@inline
def challenge(k, location, scale, noise, best, arm):
    """Compare arm k with the leader of every lane; returns the number of ties."""
    ties = 0
    for lane in range(best.shape[0]):
        value = location[k, lane] + scale[k, lane] * noise[k, lane]
        ties += value == best[lane]
        arm[lane] = np.uint64(k) if value > best[lane] else arm[lane]
        best[lane] = value if value > best[lane] else best[lane]
    return ties


@inline
def challenge_twice(k, location, scale, noise, best, arm):
    """Compare arms k and k + 1: the leaders are read and written once for both."""
    ties = 0
    challenger, next_challenger = np.uint64(k), np.uint64(k + 1)
    for lane in range(best.shape[0]):
        value = location[k, lane] + scale[k, lane] * noise[k, lane]
        next_value = location[k + 1, lane] + scale[k + 1, lane] * noise[k + 1, lane]
        lead = best[lane]
        leader = arm[lane]
        ties += value == lead
        leader = challenger if value > lead else leader
        lead = value if value > lead else lead
        ties += next_value == lead
        leader = next_challenger if next_value > lead else leader
        lead = next_value if next_value > lead else lead
        best[lane] = lead
        arm[lane] = leader
    return ties


@inner
def break_ties(epsilon, ties, streams, state, scratch):
    """Choose uniformly among the arms that share the largest index, or among all with probability epsilon."""
    arms, lanes = scratch.noise.shape
    for lane in range(lanes):
        spare = Stream(streams.spare, lane, streams.stride[lane])
        anyone = epsilon > 0.0 and uniform(spare) < epsilon
        tied = arms if anyone else 0
        if ties > 0 and not anyone:
            for k in range(arms):
                tied += leads(k, lane, state, scratch)
        if tied > 1:
            left = below(spare, tied)
            for k in range(arms):
                if anyone or leads(k, lane, state, scratch):
                    if left == 0:
                        scratch.arm[lane] = k
                    left -= 1


@inner
def leads(k, lane, state, scratch):
    """Whether no index is larger than arm k's. Recomputed, not stored: ties are rare."""
    return state.location[k, lane] + state.scale[k, lane] * scratch.noise[k, lane] == scratch.best[lane]


@inner
def pull_initial_arms(initial_pulls, streams, state, scratch):
    """Choose uniformly among the arms that still need initial pulls."""
    for lane in range(scratch.arm.shape[0]):
        spot = below(Stream(streams.spare, lane, streams.stride[lane]), state.initial_left[lane])
        k = state.initial_arms[spot, lane]
        scratch.arm[lane] = k
        if state.moments[k, lane, COUNT] + 1.0 == initial_pulls:
            state.initial_left[lane] -= 1
            state.initial_arms[spot, lane] = state.initial_arms[state.initial_left[lane], lane]


@inline
def pay_normal(arm, parameters, states, stride, words, reward):
    """Draw the normal reward of every lane's arm from that arm's own stream."""
    rejections = 0
    for lane in range(arm.shape[0]):  # the scattered states by themselves, so that the rest vectorises
        position = states[arm[lane], lane] + stride[lane]
        states[arm[lane], lane] = position
        words[lane] = position
    for lane in range(arm.shape[0]):
        words[lane] = mix64(words[lane])
    for lane in range(arm.shape[0]):
        rejections += rejected(words[lane])
        reward[lane] = accepted_normal(words[lane])
    if rejections > 0:
        for lane in range(arm.shape[0]):
            if rejected(words[lane]):
                reward[lane] = finish_normal(words[lane], Stream(states[arm[lane]], lane, stride[lane]))
    for lane in range(arm.shape[0]):
        reward[lane] = parameters.first[arm[lane], lane] + parameters.second[arm[lane], lane] * reward[lane]


@inner
def record(trajectory, mark, state):
    """Record every lane at a checkpoint. Lanes outermost: sums and leader of a lane stay in registers."""
    moments, gap = state.moments, state.gap
    for lane in range(gap.shape[1]):
        reward, best_pulls, recommended, largest = 0.0, 0.0, 0, -math.inf
        for k in range(gap.shape[0]):
            count = moments[k, lane, COUNT]
            mean = moments[k, lane, ANCHOR] + moments[k, lane, DRIFT]
            reward += count * mean
            best_pulls += count if gap[k, lane] == 0.0 else 0.0
            candidate = mean if count > 0.0 else -math.inf
            recommended = k if candidate > largest else recommended
            largest = candidate if candidate > largest else largest
        trajectory.regret[mark, lane] = state.regret[lane]
        trajectory.reward[mark, lane] = reward
        trajectory.best_pulls[mark, lane] = best_pulls
        trajectory.simple_regret[mark, lane] = gap[recommended, lane]
        trajectory.recommended[mark, lane] = recommended


# What depends on the rule and on the reward family ------------------------------------------------------------------


def learner(law: Any, records: MomentRows, every_round: bool, grows: bool, digest: str, place: int) -> Any:
    """One rule's step after a round: the pulled arms' moments, their index laws, and the regret.

    Laws that are renewed in every round are not renewed here. Bounds of indices no longer hold.
    """
    scalar, add, arm_of, shared_of = compiled(law), records.add, records.arm, records.shared

    @inner
    @named(f"learn_arm_{digest}_{place}")
    def learn(plan, pulls, arm, reward, state):
        moments, noise_sd, gap = state.moments, state.noise_sd, state.gap
        variance, kurtosis = state.variance, state.kurtosis
        location, scale, shape, regret = state.location, state.scale, state.shape, state.regret
        params, horizon = plan.params, plan.horizon
        for lane in range(arm.shape[0]):
            k = arm[lane]
            add(moments[k, lane], reward[lane])
            if not every_round:
                location[k, lane], scale[k, lane], shape[k, lane] = scalar(
                    params,
                    arm_of(moments[k, lane], noise_sd[k, lane]),
                    shared_of(variance, kurtosis, lane, pulls, gap.shape[0], horizon),
                )
            if grows:
                shape[k, lane] = 0.0
            regret[lane] += gap[k, lane]

    return learn


def law_renewal(law_of: Any, records: MomentRows, digest: str, place: int) -> Any:
    """The renewal of all arms' laws."""
    arm_of, shared_of = records.arm, records.shared

    @inner
    @named(f"renew_laws_{digest}_{place}")
    def renew_laws(plan, state, pulls):
        moments, noise_sd, variance, kurtosis = state.moments, state.noise_sd, state.variance, state.kurtosis
        location, scale, shape = state.location, state.scale, state.shape
        law, params, horizon = plan.law, plan.params, plan.horizon
        arms, lanes = location.shape
        for k in range(arms):
            for lane in range(lanes):
                location[k, lane], scale[k, lane], shape[k, lane] = law_of(
                    law,
                    params,
                    arm_of(moments[k, lane], noise_sd[k, lane]),
                    shared_of(variance, kurtosis, lane, pulls, arms, horizon),
                )

    return renew_laws


def pooling(records: MomentRows, digest: str) -> Any:
    """The renewal of what is pooled over the arms."""
    pool_lane = records.pool

    @inner
    @named(f"pool_{digest}")
    def pool(state):
        for lane in range(state.variance.shape[0]):
            pool_lane(state.moments[:, lane], state.variance, state.kurtosis, lane)

    return pool


def payment(draw_of: Any, digest: str) -> Any:
    """The draw of every lane's reward, lane by lane."""

    @inner
    @named(f"pay_{digest}")
    def pay(draw, pulls, arm, parameters, states, stride, reward):
        first, second, third, table = parameters.first, parameters.second, parameters.third, parameters.table
        for lane in range(arm.shape[0]):
            k = arm[lane]
            reward[lane] = draw_of(
                draw,
                RewardParameters(first[k, lane], second[k, lane], third[k, lane], table, pulls),
                Stream(states[k], lane, stride[lane]),
            )

    return pay


# Filled in by `kernel_for`.
learn: Any = None
renew_laws: Any = None
pool: Any = None
pay: Any = None
draw_noise: Any = None
renew_bounds: Any = None
choose_by_bounds: Any = None
EVERY_ROUND = False  # a constant of the kernel: as a branch on the plan it slows down the rules that do not need it
GROWS = False  # this too


def advance(plan, parameters, streams, state, scratch, trajectory, checkpoints, interrupt, start, stop):
    """Play the rounds from ``start`` to ``stop``; returns where it came to, which is earlier after an interrupt."""
    stride, noise_state, spare, rewards = streams.stride, streams.noise, streams.spare, streams.rewards
    location, scale, shape, renewed_at = state.location, state.scale, state.shape, state.renewed_at
    words, noise, best, arm, reward = scratch.words, scratch.noise, scratch.best, scratch.arm, scratch.reward

    initial_rounds = plan.initial_pulls * state.moments.shape[0]
    mark = np.searchsorted(checkpoints, start + 1)
    if start == 0 and initial_rounds == 0:
        pool(state)
        renew_laws(plan.law, plan, state, 0)
    for played in range(start, stop):
        if is_raised(interrupt):
            return played
        if played < initial_rounds:
            pull_initial_arms(plan.initial_pulls, streams, state, scratch)
        else:
            if GROWS:
                renew_bounds(plan.law, plan, state, played)
            elif EVERY_ROUND:
                renew_laws(plan.law, plan, state, played)
            ties = 0
            best[:] = -math.inf
            for k in range(location.shape[0]):
                draw_noise(plan.noise, played, shape[k], noise_state, stride, spare, scratch, noise[k])
                if k % 2 == 1:
                    ties += challenge_twice(k - 1, location, scale, noise, best, arm)
            if location.shape[0] % 2 == 1:
                ties += challenge(location.shape[0] - 1, location, scale, noise, best, arm)
            if GROWS:
                choose_by_bounds(plan.law, plan, streams, state, scratch, played, ties)
            elif ties > 0 or plan.epsilon > 0.0:
                break_ties(plan.epsilon, ties, streams, state, scratch)
        if plan.normal_rewards:
            pay_normal(arm, parameters, rewards, stride, words, reward)
        else:
            pay(plan.draw, played, arm, parameters, rewards, stride, reward)
        pulls = played + 1
        learn(plan.law, plan, pulls, arm, reward, state)
        pool_is_old = plan.pooled and POOLING_GROWTH * (pulls - renewed_at[0]) >= renewed_at[0]
        if pulls >= initial_rounds and (renewed_at[0] == 0 or pool_is_old):
            renewed_at[0] = pulls
            pool(state)
            renew_laws(plan.law, plan, state, pulls)
        if pulls == checkpoints[mark]:
            record(trajectory, mark, state)
            mark += 1
    return stop


KERNEL_CODE = (  # what a run depends on
    "advance", "draw_any_noise", "learner", "law_renewal", "pooling", "payment", "bounded_choice",
)  # fmt: skip


@cache
def kernel_for(
    laws: tuple[Any, ...],
    draws: tuple[Any, ...],
    every_round: bool,
    grows: bool,
    fourth_moment: bool,
    noise: Noise | None,
) -> Any:
    """The kernel that plays rules with these laws on rewards from these draws; a plan names one of each by number.

    With ``every_round`` the laws of all arms are renewed in every round; with ``grows`` too, only those of arms that
    might lead (:mod:`bootleader._core.kernels.growing_indices`). ``noise`` is the only kind of noise that the rules
    have; None if they have several.
    """
    records = rows_for(fourth_moment)
    parts = (records, DRAW_NOISE[noise], learner, law_renewal, pooling, payment, bounded_choice)
    digest = code_digest(laws, draws, every_round, grows, parts)[:16]
    # Laws that are renewed in every round have a loop each, without a switch inside; the others share one to compile
    # faster.
    groups = [(law,) for law in laws] if every_round else [laws]
    law_switches = [
        switch(f"law_{digest}_{place}", [compiled(law) for law in group]) for place, group in enumerate(groups)
    ]
    renewals = [law_renewal(law_of, records, digest, place) for place, law_of in enumerate(law_switches)]
    draw_of = switch(f"draw_{digest}", [compiled(draw) for draw in draws])
    learning = laws[:1] if every_round else laws  # a learner that does not renew laws serves them all
    learners = [learner(law, records, every_round, grows, digest, place) for place, law in enumerate(learning)]
    if grows:
        bounded = [bounded_choice(law_of, records, digest, place) for place, law_of in enumerate(law_switches)]
        bounds, choices = zip(*bounded, strict=True)
    return specialise(
        advance,
        digest,
        learn=switch(f"learn_{digest}", learners),
        renew_laws=forget_bounds if grows else switch(f"renew_{digest}", renewals),
        renew_bounds=switch(f"renew_bounds_{digest}", bounds) if grows else None,
        choose_by_bounds=switch(f"choose_by_bounds_{digest}", choices) if grows else None,
        pool=pooling(records, digest),
        pay=payment(draw_of, digest),
        draw_noise=DRAW_NOISE[noise],
        EVERY_ROUND=every_round,
        GROWS=grows,
    )
