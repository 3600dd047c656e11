"""Random streams, keyed: every draw is a function of (seed, run, purpose, arm) and its place in line.

The generator is SplitMix64 [1]_: a stream is one 64-bit *state* that grows by an odd *gamma*, and a word is the
mixed state. Every run has a gamma of its own, so streams of different runs never walk the same path, and a word at
any place is one multiplication away, which lets NumPy, a compiled lock-step loop and a GPU thread all read the same
stream.

The functions here and in :mod:`bootleader._core.sampling` are plain arithmetic on scalars: they run as they stand in
Python (``state`` is a list of ints), compiled by numba (``state`` is a ``uint64`` array), and, where they do not
touch ``state``, on NumPy arrays. ``& MASK`` is what keeps Python's ints at 64 bits; compiled, it costs nothing.

References
----------
.. [1] G. L. Steele, D. Lea, C. H. Flood (2014). Fast splittable pseudorandom number generators. OOPSLA.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

MASK: Final = 0xFFFFFFFFFFFFFFFF
GOLDEN: Final = 0x9E3779B97F4A7C15
UNIT: Final = 2.0**-52


class Purpose(IntEnum):
    """What a stream is for. Each purpose is independent of the others, so one draw more never moves another."""

    ARMS = 1  # a run's means and scales, where the bandit draws them
    REWARDS = 2  # one stream an arm: the n-th pull of arm k pays the same whoever pulls it
    NOISE = 3  # exactly one word for each arm and round: the first word of every index draw
    SPARE = 4  # whatever else a choice needs: rejected draws, ties, coins
    GAMMA = 5  # the run's stride


def mix64(z: Any) -> Any:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every input bit moves every output bit."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def run_key(seed: Any, run: Any) -> Any:
    """What all streams of a run have in common (scalars or NumPy ``uint64`` arrays, as below)."""
    key = mix64((seed + GOLDEN) & MASK)
    return mix64((key ^ ((run * 0xD1B54A32D192ED03) & MASK)) + GOLDEN & MASK)


def stream_of(key: Any, purpose: Any, arm: Any) -> Any:
    """Where a stream of the run with this key starts."""
    state = mix64((key ^ ((purpose * 0xABC98388FB8FAC03) & MASK)) + GOLDEN & MASK)
    return mix64((state ^ ((arm * 0x8CB92BA72F3D8DD7) & MASK)) + GOLDEN & MASK)


def stream_state(seed: Any, run: Any, purpose: Any, arm: Any) -> Any:
    """Where the stream of (seed, run, purpose, arm) starts."""
    return stream_of(run_key(seed, run), purpose, arm)


def gamma_of(key: Any) -> Any:
    """The odd stride of the streams of the run with this key."""
    return stream_of(key, int(Purpose.GAMMA), 0) | 1


def run_gamma(seed: Any, run: Any) -> Any:
    """The odd stride of a run's streams."""
    return gamma_of(run_key(seed, run))


def next_word(state: Any, i: Any, gamma: Any) -> Any:
    """The next 64 random bits of stream ``state[i]``."""
    state[i] = (state[i] + gamma) & MASK
    return mix64(state[i])


def unit(word: Any) -> Any:
    """A word's 52 highest bits, as many as a mantissa holds, as a number in [0, 1)."""
    return (word >> 12) * UNIT


def uniform(state: Any, i: Any, gamma: Any) -> Any:
    """Uniform on [0, 1)."""
    return unit(next_word(state, i, gamma))


def below(state: Any, i: Any, gamma: Any, n: Any) -> Any:
    """Uniform on 0..n-1 without bias, n < 2**31 (Lemire 2019)."""
    product = (next_word(state, i, gamma) >> 32) * n
    if product & 0xFFFFFFFF < n:
        threshold = (0x100000000 - n) % n
        while product & 0xFFFFFFFF < threshold:
            product = (next_word(state, i, gamma) >> 32) * n
    return product >> 32
