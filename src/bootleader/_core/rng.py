"""Keyed random streams: every draw is a function of (seed, run, purpose, arm) and of its position in the stream.

The generator is SplitMix64 [1]_. A stream is one 64-bit *state* that grows by an odd *stride*; a word is the mixed
state. Every run has a stride of its own, so the streams of different runs do not overlap. The word at any position is
one multiplication away, so NumPy, a compiled lock-step loop and a GPU thread can all read the same stream.

The functions here and in :mod:`bootleader._core.sampling` are plain arithmetic on scalars. They run unchanged in
Python (``stream.states`` is a list of ints), compiled by numba (a ``uint64`` array) and, where they take no stream, on
NumPy arrays. ``& MASK`` keeps Python's ints at 64 bits; compiled, it costs nothing.

References
----------
.. [1] G. L. Steele, D. Lea, C. H. Flood (2014). Fast splittable pseudorandom number generators. OOPSLA.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, NamedTuple

MASK: Final = 0xFFFFFFFFFFFFFFFF
GOLDEN: Final = 0x9E3779B97F4A7C15
UNIT: Final = 2.0**-52


class Purpose(IntEnum):
    """What a stream is for. Purposes are independent: one more draw for one of them never changes another."""

    ARMS = 1  # a run's means and scales, where the bandit draws them
    REWARDS = 2  # one stream per arm: the n-th pull of arm k pays the same under every policy
    NOISE = 3  # exactly one word for each arm and round: the first word of every index draw
    SPARE = 4  # all other draws of a choice: rejected normals, ties, coins
    STRIDE = 5  # the run's stride
    DRIFT = 7  # one stream per arm: how its mean changes over time (6 seeds the generators of users' Python code)
    DELAY = 8  # how long each reward is delayed


class Stream(NamedTuple):
    """The stream whose state is ``states[at]``; drawing from it advances that state."""

    states: Any
    at: Any
    stride: Any


def mix64(z: Any) -> Any:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every input bit affects every output bit."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def run_key(seed: Any, run: Any) -> Any:
    """The key that all streams of a run share (scalars or NumPy ``uint64`` arrays, as below)."""
    key = mix64((seed + GOLDEN) & MASK)
    return mix64((key ^ ((run * 0xD1B54A32D192ED03) & MASK)) + GOLDEN & MASK)


def stream_of(key: Any, purpose: Any, arm: Any) -> Any:
    """Initial state of a stream of the run with this key."""
    state = mix64((key ^ ((purpose * 0xABC98388FB8FAC03) & MASK)) + GOLDEN & MASK)
    return mix64((state ^ ((arm * 0x8CB92BA72F3D8DD7) & MASK)) + GOLDEN & MASK)


def stream_state(seed: Any, run: Any, purpose: Any, arm: Any) -> Any:
    """Initial state of the stream of (seed, run, purpose, arm)."""
    return stream_of(run_key(seed, run), purpose, arm)


def stride_of(key: Any) -> Any:
    """The odd stride of the streams of the run with this key."""
    return stream_of(key, int(Purpose.STRIDE), 0) | 1


def run_stride(seed: Any, run: Any) -> Any:
    """The odd stride of a run's streams."""
    return stride_of(run_key(seed, run))


def next_word(stream: Any) -> Any:
    """The next 64 random bits of a stream."""
    states, at = stream.states, stream.at
    states[at] = (states[at] + stream.stride) & MASK
    return mix64(states[at])


def unit(word: Any) -> Any:
    """A word's 52 highest bits, as many as a mantissa holds, as a number in [0, 1)."""
    return (word >> 12) * UNIT


def uniform(stream: Any) -> Any:
    """Uniform on [0, 1)."""
    return unit(next_word(stream))


def below(stream: Any, n: Any) -> Any:
    """Uniform on 0..n-1, without bias for n <= 2**31 (Lemire 2019). No such number exists for n < 1: then 0."""
    if n <= 0 or n > 0x80000000:  # for a large n the product would overflow and the loop might not end
        return (next_word(stream) >> 1) % n if n > 0 else 0 * n
    product = (next_word(stream) >> 32) * n
    if product & 0xFFFFFFFF < n:
        threshold = (0x100000000 - n) % n
        while product & 0xFFFFFFFF < threshold:
            product = (next_word(stream) >> 32) * n
    return product >> 32
