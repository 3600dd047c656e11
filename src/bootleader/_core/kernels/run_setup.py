"""Set up the runs of a block, compiled: the initial states of their streams, and the numbers their arms are made of.

With NumPy this takes two hundred calls on small arrays, as long as hundreds of rounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.kernels.aligned_memory import aligned_zeros
from bootleader._core.numba_bridge import specialise
from bootleader._core.rng import Purpose, mix64, run_key, stream_of, unit

ARMS, REWARDS, NOISE, SPARE, STRIDE, DRIFT, DELAY = (np.uint64(purpose) for purpose in Purpose)
ZERO = np.uint64(0)


class Streams(NamedTuple):
    """Stream states and strides of some runs; ``rewards`` has one state for each arm (arm x run)."""

    stride: Any
    noise: Any
    spare: Any
    rewards: Any

    def copied(self) -> Streams:
        """The same states in arrays of their own."""
        return Streams(*(states.copy() for states in self))


def set_up(seed, first_run, streams, uniforms):
    """Fill in the streams of consecutive runs, and the uniform numbers of the stream that draws arms."""
    for run in range(streams.stride.shape[0]):
        key = run_key(seed, first_run + np.uint64(run))
        stride = stream_of(key, STRIDE, ZERO) | np.uint64(1)
        streams.stride[run] = stride
        streams.noise[run] = stream_of(key, NOISE, ZERO)
        streams.spare[run] = stream_of(key, SPARE, ZERO)
        for k in range(streams.rewards.shape[0]):
            streams.rewards[k, run] = stream_of(key, REWARDS, np.uint64(k))
        state = stream_of(key, ARMS, ZERO)
        for k in range(uniforms.shape[0]):
            state += stride
            uniforms[k, run] = unit(mix64(state))


kernel = specialise(set_up, "")


def run_setup(seed: int, first_run: int, runs: int, arms: int, draws: int) -> tuple[Streams, Any]:
    """The streams of some consecutive runs, and the first ``draws`` uniform numbers of the stream that draws arms."""
    states = aligned_zeros((runs,), (runs,), (runs,), (arms, runs))
    streams = Streams(*(array.view(np.uint64) for array in states))
    uniforms = np.empty((draws, runs))
    kernel(np.uint64(seed), np.uint64(first_run), streams, uniforms)
    return streams, uniforms
