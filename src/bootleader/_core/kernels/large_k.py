"""The kernel for index rules with very many arms: one run after the other, O(log K) a round.

The laws are those of :mod:`bootleader._core.kernels.lockstep`, and the choices have the same distribution; the leader
is found by :mod:`bootleader._core.leader_tree`. Where an index has no noise, the choices are the same bit for bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.code_fingerprint import code_digest
from bootleader._core.kernels.lockstep import NONE
from bootleader._core.kernels.lockstep_state import Plan
from bootleader._core.kernels.moment_rows import ANCHOR, COUNT, DRIFT, MomentRows, rows_for
from bootleader._core.kernels.trajectory import record_run
from bootleader._core.leader_tree import leader, new_tree, rebuild, set_law, write_law
from bootleader._core.numba_bridge import compiled, inner, is_raised, named, specialise, switch
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import Stream, below, uniform


class RunState(NamedTuple):
    """One run's arms: ``moments[k]`` is a row of :mod:`bootleader._core.kernels.moment_rows`."""

    moments: Any
    noise_sd: Any
    gap: Any
    initial_arms: Any  # the arms that still need initial pulls, and
    initial_left: Any  # how many they are
    variance: Any
    kurtosis: Any  # empty unless the rule asks for fourth moments
    renewed_at: Any  # pulls at the last renewal of all laws
    regret: Any
    tree: Any

    @property
    def pulls(self) -> Any:
        """Pulls of each arm."""
        return self.moments[:, COUNT]


def new_state(noise_sd: Any, gap: Any, fourth_moment: bool) -> RunState:
    """A run before the first round."""
    arms = len(gap)
    return RunState(
        moments=np.zeros((arms, rows_for(fourth_moment).columns)),
        noise_sd=noise_sd,
        gap=gap,
        initial_arms=np.arange(arms, dtype=np.int64),
        initial_left=np.array([arms]),
        variance=np.zeros(1),
        kurtosis=np.zeros(1 if fourth_moment else 0),
        renewed_at=np.zeros(1, np.int64),
        regret=np.zeros(1),
        tree=new_tree(arms),
    )


@inner
def pull_initial_arm(initial_pulls, spare, state):
    """Choose uniformly among the arms that still need initial pulls."""
    spot = below(spare, state.initial_left[0])
    k = state.initial_arms[spot]
    if state.moments[k, COUNT] + 1.0 == initial_pulls:
        state.initial_left[0] -= 1
        state.initial_arms[spot] = state.initial_arms[state.initial_left[0]]
    return k


def current_law(law_of: Any, records: MomentRows, digest: str) -> Any:
    """Arm k's index law; without noise its index is its location."""
    arm_of, shared_of = records.arm, records.shared

    @inner
    @named(f"law_now_{digest}")
    def law_now(plan, state, pulls, k):
        location, scale, df = law_of(
            plan.law,
            plan.params,
            arm_of(state.moments[k], state.noise_sd[k]),
            shared_of(state.variance, state.kurtosis, 0, pulls, state.moments.shape[0], plan.horizon),
        )
        return location, 0.0 if plan.noise == NONE else scale, df

    return law_now


def law_renewal(law_now: Any, digest: str) -> Any:
    """The renewal of all laws."""

    @inner
    @named(f"renew_tree_{digest}")
    def renew_laws(plan, state, pulls):
        for k in range(state.moments.shape[0]):
            location, scale, df = law_now(plan, state, pulls, k)
            write_law(state.tree, k, location, scale, df)
        rebuild(state.tree)

    return renew_laws


# Filled in by `kernel_for`.
law_now: Any = None
add: Any = None
pool: Any = None
renew_laws: Any = None
draw_of: Any = None


def advance_large_k(plan, parameters, streams, state, trajectory, checkpoints, run, interrupt, start, stop):
    """Play the rounds of one run from ``start`` to ``stop``; returns where it came to."""
    stride = streams.stride[run]
    tree, spare = state.tree, Stream(streams.spare, run, stride)
    initial_rounds = plan.initial_pulls * state.moments.shape[0]
    mark = np.searchsorted(checkpoints, start + 1)
    if start == 0 and initial_rounds == 0:
        pool(state.moments, state.variance, state.kurtosis, 0)
        renew_laws(plan, state, 0)
    for played in range(start, stop):
        if is_raised(interrupt):
            return played
        if played < initial_rounds:
            k = pull_initial_arm(plan.initial_pulls, spare, state)
        elif plan.epsilon > 0.0 and uniform(spare) < plan.epsilon:
            k = np.int64(below(spare, state.moments.shape[0]))
        else:
            k = leader(tree, spare)
        reward = draw_of(
            plan.draw,
            RewardParameters(
                parameters.first[k, run], parameters.second[k, run], parameters.third[k, run], parameters.table, played
            ),
            Stream(streams.rewards[k], run, stride),
        )
        add(state.moments[k], reward)
        state.regret[0] += state.gap[k]
        pulls = played + 1
        renewed_at = state.renewed_at[0]
        pool_is_old = plan.pooled and POOLING_GROWTH * (pulls - renewed_at) >= renewed_at
        if pulls >= initial_rounds:
            if renewed_at == 0 or pool_is_old:
                state.renewed_at[0] = pulls
                pool(state.moments, state.variance, state.kurtosis, 0)
                renew_laws(plan, state, pulls)
            else:
                location, scale, df = law_now(plan, state, pulls, k)
                set_law(tree, k, location, scale, df)
        if pulls == checkpoints[mark]:
            record_run(
                trajectory, mark, run, state.regret[0], state.gap, state.moments[:, COUNT], state.moments[:, ANCHOR],
                state.moments[:, DRIFT],
            )  # fmt: skip
            mark += 1
    return stop


KERNEL_CODE = ("advance_large_k", "current_law", "law_renewal")  # what the numbers of a run depend on


@cache
def kernel_for(laws: tuple[Any, ...], draws: tuple[Any, ...], fourth_moment: bool) -> Any:
    """The kernel that plays rules with these laws on rewards from these draws; a plan names one of each by number."""
    records = rows_for(fourth_moment)
    digest = code_digest(laws, draws, records, current_law, law_renewal)[:16]
    law_now = current_law(switch(f"tree_law_{digest}", [compiled(law) for law in laws]), records, digest)
    return specialise(
        advance_large_k,
        digest,
        law_now=law_now,
        add=records.add,
        pool=records.pool,
        renew_laws=law_renewal(law_now, digest),
        draw_of=switch(f"tree_draw_{digest}", [compiled(draw) for draw in draws]),
    )


__all__ = ["Plan", "RunState", "kernel_for", "new_state"]
