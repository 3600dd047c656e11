"""The kernel for contextual bandits on a GPU: one thread plays one run.

A round is that of :mod:`bootleader._core.kernels.linear`: the same functions, over arrays whose last axis is the run.
So the results are those of the CPU bit for bit.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any, Final, NamedTuple

import numpy as np
from numba import cuda, float64

from bootleader._core.code_fingerprint import code_digest
from bootleader._core.context_parameters import CONTEXTS, ContextParameters
from bootleader._core.cuda.compilation import kernel, simulated
from bootleader._core.kernels.linear import PARTS, Functions, advance_linear, plain_parts_for, round_functions
from bootleader._core.kernels.linear_state import ContextStreams, LinearPlan
from bootleader._core.numba_bridge import register
from bootleader._core.rng import Purpose, run_key, stream_of
from bootleader._core.sampling import LAYERS

REWARDS, NOISE_WORDS, SPARE_WORDS, STRIDE = (
    np.uint64(purpose) for purpose in (Purpose.REWARDS, Purpose.NOISE, Purpose.SPARE, Purpose.STRIDE)
)
CONTEXT_WORDS = np.uint64(CONTEXTS)
ZERO, ONE = np.uint64(0), np.uint64(1)
FIRST_REWARDS: Final = 3  # streams before those of the arms' rewards
THREADS: Final = 64  # in a block: few, because a run needs much memory
SHARED_BYTES: Final = 8 * LAYERS
MOST_REGISTERS: Final = 128  # of a thread


class RunNumbers(NamedTuple):
    """What the random numbers of the runs are keyed by."""

    seed: Any
    first_run: Any


class DeviceContexts(NamedTuple):
    """What the runs are made of; the last axis is the run, or has length 1 if all runs have the same."""

    features: Any
    coefficients: Any
    second: Any
    third: Any
    table: Any
    noise_sd: Any
    edges: Any  # the ziggurat's table


def never_raised(flag):
    """A GPU is interrupted between two launches."""
    return False


# Filled in by `kernel_for`.
advance: Any = None
view: Any = None
NOISE, UNIT_FREE, JOINT, CORRELATED, CHANGING, DISJOINT = 0, False, False, False, False, False


def advance_runs(plan, numbers, contexts, words, stacks, trajectory, checkpoints, runs, start, stop):
    """Play the rounds from ``start`` to ``stop`` of so many runs."""
    place = cuda.grid(1)
    shared = cuda.shared.array(0, float64)
    for layer in range(cuda.threadIdx.x, LAYERS, THREADS):
        shared[layer] = contexts.edges[layer]
    cuda.syncthreads()
    if place >= runs:
        return
    key = run_key(numbers.seed, numbers.first_run + np.uint64(place))
    run = view(stacks, place)
    arms = run.arms.mean.shape[0]
    if start == 0:
        words[0, place] = stream_of(key, NOISE_WORDS, ZERO)
        words[1, place] = stream_of(key, SPARE_WORDS, ZERO)
        words[2, place] = stream_of(key, CONTEXT_WORDS, ZERO)
        column = place if contexts.noise_sd.shape[1] > 1 else 0
        for k in range(arms):
            words[FIRST_REWARDS + k, place] = stream_of(key, REWARDS, np.uint64(k))
            run.arms.noise_sd[k] = contexts.noise_sd[k, column]
    streams = ContextStreams(
        stream_of(key, STRIDE, ZERO) | ONE, words[0:1, place], words[1:2, place], words[FIRST_REWARDS:, place],
        words[2:3, place],
    )  # fmt: skip
    shown = place if contexts.features.shape[2] > 1 else 0
    drawn = place if contexts.coefficients.shape[2] > 1 else 0
    # The sd of the noise, the last field, is not read in a round.
    parameters = ContextParameters(
        contexts.features[:, :, shown], contexts.coefficients[:, :, drawn], contexts.second[:, drawn],
        contexts.third[:, drawn], contexts.table[:, drawn], contexts.second[:, drawn],
    )  # fmt: skip
    plan = LinearPlan(
        plan.law, NOISE, plan.params, plan.ridge, UNIT_FREE, plan.initial_pulls, JOINT, CORRELATED, plan.draw,
        plan.link, plan.pay, CHANGING, DISJOINT, plan.horizon,
    )  # fmt: skip
    # In the place of the interrupt's flag any array will do: `never_raised` does not read it.
    advance(plan, parameters, streams, run, trajectory, checkpoints, place, checkpoints, start, stop)


def fill_stack(stack, start, runs):
    """Every run's values at its start (place x run)."""
    run = cuda.grid(1)
    if run < runs:
        for place in range(start.shape[0]):
            stack[place, run] = start[place]


_fill_stack = kernel(fill_stack)


def fill(stacks: tuple[Any, ...], starts: tuple[Any, ...], runs: int) -> None:
    """Set so many runs to their start."""
    for stack, start in zip(stacks, starts, strict=True):
        flat = stack.reshape(start.size, stack.size // start.size)
        _fill_stack.launch(-(-runs // THREADS), THREADS, 0, flat, start, runs)


def _advance_for(functions: Functions, digest: str) -> Any:
    """A run's rounds for these functions, without interrupts."""
    if simulated:
        parts = plain_parts_for(functions)
        parts["is_raised"] = never_raised
        return parts["advance_linear"]
    names = {**round_functions(functions, digest), "is_raised": never_raised}
    register(never_raised)
    made = FunctionType(advance_linear.__code__, {**advance_linear.__globals__, **names}, f"advance_linear_{digest}")
    made.__qualname__ = made.__name__
    register(made)
    return made


class Flags(NamedTuple):
    """What of a plan is constant in a kernel: the branches that it does not take are not compiled."""

    noise: int
    unit_free: bool
    joint: bool
    correlated: bool
    changing: bool
    disjoint: bool


def flags_of(plan: LinearPlan) -> Flags:
    """The flags of a plan."""
    return Flags(*(getattr(plan, name) for name in Flags._fields))


@cache
def kernel_for(functions: Functions, flags: Flags, view: Any) -> Any:
    """The kernel that plays these functions on runs that :func:`.stacked_state.stacks_of` laid out."""
    digest = code_digest(*functions, PARTS, advance_linear)[:16]
    register(view)
    constants = {"advance": _advance_for(functions, digest), "view": view}
    constants |= {name.upper(): value for name, value in flags._asdict().items()}
    function = FunctionType(advance_runs.__code__, {**advance_runs.__globals__, **constants}, "advance_runs")
    return kernel(function, max_registers=MOST_REGISTERS)
