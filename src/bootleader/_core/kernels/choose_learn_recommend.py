"""How each kind of rule chooses, learns and recommends in the general kernel: three compiled functions.

``choose(plan, state, noise, spare)`` is called when no arm needs initial pulls and some arm has had its first rewards;
``learn(plan, state, arm, reward, spare)`` when a reward arrives; ``recommend(plan, state)`` at a checkpoint.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from bootleader._core.code_fingerprint import code_digest
from bootleader._core.elementary import log
from bootleader._core.half_life import RENEWALS, moved_anchor, remembered_rounds, weight_left
from bootleader._core.kernels.run_state import add_to_history, add_to_moments, add_to_power_sums, count_extremes, leader
from bootleader._core.moments import pooled_kurtosis, pooled_variance
from bootleader._core.numba_bridge import compiled, inlined, inner, named, register, switch
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import below, next_word, uniform
from bootleader._core.rules import (
    ArmHistory,
    ArmStatistics,
    ArmsView,
    Contest,
    HistoryRule,
    IndexRule,
    Noise,
    Rule,
    SharedStatistics,
)
from bootleader._core.sampling import fair_binomial, finish_normal, studentise

for _function in (moved_anchor, remembered_rounds, weight_left):
    register(_function)

NONE, NORMAL, STUDENT, FAIR_COINS, OPTIMISM = (int(noise) for noise in Noise)


@cache
def parts_for(kind: Any, history: bool, fades: bool, functions: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """The three for rules of a kind; kernels for different rewards share them."""
    digest = code_digest(kind, history, fades, functions, make_parts)[:16]
    return make_parts(kind, history, fades, functions, digest)


def make_parts(
    kind: type[Rule], history: bool, fades: bool, functions: tuple[Any, ...], digest: str
) -> tuple[Any, Any, Any]:
    """The three for rules of a kind, with names that no others have.

    ``functions`` are what shares them: laws, resamplers, or the ``functions`` of choice rules. The plan names one of
    them.
    """
    if kind is IndexRule:
        law_of = switch(f"general_law_{digest}", [compiled(law) for law in functions])
        return *index_parts(law_of, fades, digest), recommend_largest_mean
    if kind is HistoryRule:
        resample_of = switch(f"general_resample_{digest}", [compiled(resample) for resample in functions])
        return *history_parts(resample_of, digest), recommend_largest_mean
    choose_rule, learn_rule, recommend_rule = (
        switch(f"general_{name}_{digest}", [compiled(function, inlined) for function in column], inlined)
        for name, column in zip(("choose", "learn", "recommend"), zip(*functions, strict=True), strict=True)
    )
    return choice_parts(choose_rule, learn_rule, recommend_rule, history, digest)


@inner
def recommend_largest_mean(plan, state):
    """The arm with the largest mean; the first of several."""
    moments = state.moments
    recommended, largest = np.int64(0), -np.inf
    for k in range(moments.count.shape[0]):
        if moments.count[k] > 0.0 and moments.mean[k] > largest:
            recommended, largest = np.int64(k), moments.mean[k]
    return recommended


@inlined
def noise_of(kind, shape, rounds, noise, spare):
    """The noise of one index."""
    if kind == NORMAL:
        return finish_normal(next_word(noise), spare)
    if kind == STUDENT:
        return studentise(finish_normal(next_word(noise), spare), shape, spare)
    if kind == FAIR_COINS:
        return fair_binomial(shape, spare)
    if kind == OPTIMISM:
        return math.sqrt(2.0 * log(rounds))
    return 0.0


@inlined
def weight_now(plan, state, k, now):
    """What the half-life has left of each unit of an arm's count."""
    return weight_left(state.moments.count[k], state.moments.last[k], now, plan.half_life, plan.initial_pulls)


@inlined
def no_fading(plan, state, k, now):
    """Without a half-life all is left."""
    return 1.0


@inlined
def rounds_remembered(plan, state):
    """What the half-life has left of the rounds so far, if an index reads them."""
    rounds = float(state.arrived[0])
    if plan.every_round or plan.noise == OPTIMISM:
        return remembered_rounds(rounds, plan.half_life)
    return rounds


@inlined
def rounds_so_far(plan, state):
    """Without a half-life every round counts."""
    return state.arrived[0]


@inlined
def fade(plan, state, k, reward):
    """Fade an arm's moments before a reward is added to them."""
    moments = state.moments
    weight = weight_now(plan, state, k, float(state.arrived[0] + 1))
    if weight != 1.0:
        moments.count[k] = max(moments.count[k] * weight, float(plan.initial_pulls))
        moments.rss[k] *= weight
        moments.third[k] *= weight
        moments.fourth[k] *= weight
    moments.anchor[k], moments.drift[k] = moved_anchor(moments.anchor[k], moments.drift[k], reward)


@inner
def pool_faded(plan, state):
    """Renew what is pooled over the arms, each faded to the present round."""
    moments, now = state.moments, float(state.arrived[0])
    squares, freedom, weighted = 0.0, 0.0, 0.0
    for k in range(moments.count.shape[0]):
        weight = weight_now(plan, state, k, now)
        rss = moments.rss[k] * weight
        squares += rss
        freedom += max(moments.count[k] * weight - 1.0, 0.0)
        weighted += moments.count[k] * weight * (moments.fourth[k] * weight / rss) if rss > 0.0 else 0.0
    state.laws.variance[0] = squares / freedom if freedom > 0.0 else 0.0
    state.laws.kurtosis[0] = weighted / squares if weighted > squares else 1.0


def index_parts(law_of: Any, fading: bool, digest: str) -> tuple[Any, Any]:
    """An :class:`IndexRule`."""
    weight_of, rounds_of = (weight_now, rounds_remembered) if fading else (no_fading, rounds_so_far)

    @inlined
    @named(f"renew_law_{digest}")
    def renew_law(plan, state, k, rounds):
        moments, laws = state.moments, state.laws
        if moments.count[k] >= plan.initial_pulls:
            weight = weight_of(plan, state, k, max(float(laws.renewed_at[0]), moments.last[k]))
            laws.location[k], laws.scale[k], laws.shape[k] = law_of(
                plan.function,
                plan.params,
                ArmStatistics(
                    moments.count[k] * weight,
                    moments.mean[k],
                    moments.rss[k] * weight,
                    laws.noise_sd[k],
                    moments.fourth[k] * weight,
                ),
                SharedStatistics(laws.variance[0], rounds, moments.count.shape[0], plan.horizon, laws.kurtosis[0]),
            )

    @inlined
    @named(f"renew_all_{digest}")
    def renew_all(plan, state):
        state.laws.renewed_at[0] = state.arrived[0]
        moments = state.moments
        state.laws.variance[0] = pooled_variance(moments.count, moments.rss)
        state.laws.kurtosis[0] = pooled_kurtosis(moments.count, moments.rss, moments.fourth)
        if fading:
            pool_faded(plan, state)
        rounds = rounds_of(plan, state)
        for k in range(state.moments.count.shape[0]):
            renew_law(plan, state, k, rounds)

    @inlined
    @named(f"choose_by_index_{digest}")
    def choose(plan, state, noise, spare):
        laws, arms = state.laws, state.moments.count.shape[0]
        if laws.renewed_at[0] == 0:
            renew_all(plan, state)
        rounds = rounds_of(plan, state)
        if plan.every_round:
            for k in range(arms):
                renew_law(plan, state, k, rounds)
        if plan.epsilon > 0.0 and uniform(spare) < plan.epsilon:
            return np.int64(below(spare, arms))
        for k in range(arms):
            if state.moments.count[k] >= plan.initial_pulls:
                drawn = noise_of(plan.noise, laws.shape[k], float(rounds), noise, spare)
                state.indices[k] = laws.location[k] + laws.scale[k] * drawn
        return np.int64(leader(state, plan.initial_pulls, spare))

    @inlined
    @named(f"learn_index_{digest}")
    def learn(plan, state, k, reward, spare):
        if fading:
            fade(plan, state, k, reward)
        add_to_power_sums(state, k, reward)
        arrived, renewed_at = state.arrived[0], state.laws.renewed_at[0]
        if state.initial.left[0] == 0:
            pool_is_old = plan.pooled and POOLING_GROWTH * (arrived - renewed_at) >= renewed_at
            laws_are_old = fading and arrived >= renewed_at + plan.half_life / RENEWALS
            if renewed_at == 0 or pool_is_old or laws_are_old:
                renew_all(plan, state)
            else:
                renew_law(plan, state, k, rounds_of(plan, state))

    return choose, learn


def history_parts(resample_of: Any, digest: str) -> tuple[Any, Any]:
    """A :class:`HistoryRule`."""

    @inner
    @named(f"choose_by_resampling_{digest}")
    def choose(plan, state, noise, spare):
        moments, history = state.moments, state.history
        longest, last = -1.0, 0
        for k in range(moments.count.shape[0]):
            if moments.count[k] >= plan.initial_pulls and moments.count[k] > longest:
                longest, last = moments.count[k], k
        best = -np.inf
        for turn in range(moments.count.shape[0] + 1):  # the longest history, which costs most, comes last
            is_last = turn == moments.count.shape[0]
            k = last if is_last else turn
            if (is_last or k != last) and moments.count[k] >= plan.initial_pulls:
                arm = ArmHistory(
                    history.values, history.start[k], int(moments.count[k]), moments.anchor[k], moments.drift[k],
                    moments.rss[k], moments.lowest[k], moments.highest[k], moments.at_lowest[k], moments.at_highest[k],
                )  # fmt: skip
                state.indices[k] = resample_of(plan.function, plan.params, arm, Contest(best, is_last), spare)
                best = max(best, state.indices[k])
        return np.int64(leader(state, plan.initial_pulls, spare))

    @inner
    @named(f"learn_history_{digest}")
    def learn(plan, state, k, reward, spare):
        size = int(state.moments.count[k])
        add_to_moments(state, k, reward)
        count_extremes(state.moments, k, reward - state.moments.anchor[k])
        add_to_history(state.history, size, k, reward - state.moments.anchor[k])

    return choose, learn


def choice_parts(
    choose_rule: Any, learn_rule: Any, recommend_rule: Any, keeps_history: bool, digest: str
) -> tuple[Any, Any, Any]:
    """A :class:`ChoiceRule`."""

    @inlined
    @named(f"view_{digest}")
    def view(state):
        moments, history = state.moments, state.history
        return ArmsView(
            moments.count, moments.mean, moments.rss, state.laws.noise_sd, history.values, history.sums, history.start
        )

    @inlined
    @named(f"shared_{digest}")
    def shared(plan, state):
        return SharedStatistics(0.0, state.arrived[0], state.moments.count.shape[0], plan.horizon, 0.0)

    @inlined
    @named(f"choose_by_rule_{digest}")
    def choose(plan, state, noise, spare):
        return np.int64(choose_rule(plan.function, plan.params, view(state), state.memory, shared(plan, state), spare))

    @inlined
    @named(f"learn_rule_{digest}")
    def learn(plan, state, k, reward, spare):
        size = int(state.moments.count[k])
        add_to_moments(state, k, reward)
        if keeps_history:
            add_to_history(state.history, size, k, reward)
        learn_rule(plan.function, plan.params, view(state), state.memory, shared(plan, state), k, reward, spare)

    @inlined
    @named(f"recommend_rule_{digest}")
    def recommend(plan, state):
        return np.int64(recommend_rule(plan.function, plan.params, view(state), state.memory, shared(plan, state)))

    return choose, learn, recommend
