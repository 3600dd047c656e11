"""How the runs of a block start, compiled: the states of their streams, and the numbers that their arms are made of.

NumPy says the same in some two hundred calls on small arrays, which took as long as hundreds of rounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.numba_bridge import fingerprint, kernel
from bootleader._core.rng import Purpose, mix64, run_key, stream_of, unit

ARMS, REWARDS, NOISE, SPARE, GAMMA = (np.uint64(purpose) for purpose in Purpose)
ZERO = np.uint64(0)


class Streams(NamedTuple):
    """Generator states of the lanes (one lane, one run); ``rewards`` has one for each arm."""

    gamma: Any
    noise: Any
    spare: Any
    rewards: Any

    def copied(self) -> Streams:
        """The same states in arrays of their own."""
        return Streams(*(states.copy() for states in self))


def build_kernel(source: str) -> Any:
    """The kernel, cached on disk under the fingerprint of its sources."""

    @kernel
    def start(seed, first_run, streams, uniforms):
        source  # noqa: B018  (a free variable, and so part of numba's cache key)
        for lane in range(streams.gamma.shape[0]):
            key = run_key(seed, first_run + np.uint64(lane))
            gamma = stream_of(key, GAMMA, ZERO) | np.uint64(1)
            streams.gamma[lane] = gamma
            streams.noise[lane] = stream_of(key, NOISE, ZERO)
            streams.spare[lane] = stream_of(key, SPARE, ZERO)
            for k in range(streams.rewards.shape[0]):
                streams.rewards[k, lane] = stream_of(key, REWARDS, np.uint64(k))
            place = stream_of(key, ARMS, ZERO)
            for k in range(uniforms.shape[0]):
                place += gamma
                uniforms[k, lane] = unit(mix64(place))

    return start


start = build_kernel(fingerprint())


def started(seed: int, first_run: int, runs: int, arms: int, draws: int) -> tuple[Streams, Any]:
    """The streams of some consecutive runs, and the first ``draws`` uniform numbers of the one that makes arms."""
    gamma, noise, spare = np.empty((3, runs), np.uint64)
    streams = Streams(gamma, noise, spare, np.empty((arms, runs), np.uint64))
    uniforms = np.empty((draws, runs))
    start(np.uint64(seed), np.uint64(first_run), streams, uniforms)
    return streams, uniforms
