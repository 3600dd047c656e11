"""The streams: keys that never meet, and one generator in Python ints, NumPy arrays and compiled code."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy import stats

from bootleader._core import numba_bridge  # noqa: F401  (makes the scalar functions known to numba)
from bootleader._core.rng import (
    MASK,
    Purpose,
    below,
    gamma_of,
    mix64,
    next_word,
    run_gamma,
    run_key,
    stream_of,
    stream_state,
    uniform,
)
from tests.oracle.cases import BANDIT_CASES

LEVEL = 1e-4  # of every single statistical test here; seeds are fixed


@numba.njit
def compiled_states(seed, runs, purpose, arm):
    return [stream_state(seed, run, purpose, arm) for run in runs]


@numba.njit
def compiled_words(start, gamma, count):
    state = np.array([start])
    return [next_word(state, 0, gamma) for _ in range(count)]


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("purpose", Purpose)
def test_states_are_the_same_in_python_numpy_and_compiled_code(seed, purpose):
    runs = [0, 1, 17, 10**6, 2**40]
    python = [stream_state(seed, run, int(purpose), 3) for run in runs]
    with np.errstate(all="raise"):
        vectorised = stream_state(seed, np.array(runs, np.uint64), int(purpose), 3)
    compiled = compiled_states(np.uint64(seed), np.array(runs, np.uint64), np.uint64(purpose), np.uint64(3))
    assert python == [int(x) for x in vectorised] == [int(x) for x in compiled]
    assert vectorised.dtype == np.uint64


def test_words_are_the_same_in_python_numpy_and_compiled_code():
    start, gamma = stream_state(1, 2, 3, 4), run_gamma(1, 2)
    state = [start]
    python = [next_word(state, 0, gamma) for _ in range(1_000)]
    places = np.arange(1, 1_001, dtype=np.uint64)
    vectorised = mix64(np.uint64(start) + places * np.uint64(gamma))
    compiled = compiled_words(np.uint64(start), np.uint64(gamma), 1_000)
    assert python == [int(x) for x in vectorised] == [int(x) for x in compiled]
    assert all(0 <= word <= MASK for word in python)


def test_the_generator_is_splitmix64():
    """The published sequence from seed 1234567 with the golden gamma."""
    state = [1234567]
    words = [next_word(state, 0, 0x9E3779B97F4A7C15) for _ in range(5)]
    assert words == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_no_two_keys_share_a_stream():
    """2.4 million keys: the chance that any two of that many random words are equal is 2e-7."""
    runs = np.arange(2_000, dtype=np.uint64)
    states = [
        stream_state(seed, runs, int(purpose), arm)
        for seed in (*range(18), 2**32, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15, 12345, 54321)
        for purpose in Purpose
        for arm in range(10)
    ]
    flat = np.concatenate(states)
    assert len(np.unique(flat)) == len(flat) == 2_400_000


def test_every_run_has_a_stride_of_its_own():
    gammas = np.concatenate([run_gamma(seed, np.arange(20_000, dtype=np.uint64)) for seed in range(10)])
    assert np.all(gammas % 2 == 1)
    assert len(np.unique(gammas)) == len(gammas)


@pytest.mark.parametrize("key", ["seed", "run", "purpose", "arm"])
def test_every_bit_of_a_key_moves_half_of_the_state(key):
    rng = np.random.default_rng(1)
    flips = []
    for _ in range(300):
        base = {name: int(rng.integers(2**63)) for name in ("seed", "run", "purpose", "arm")}
        other = dict(base)
        other[key] ^= 1 << int(rng.integers(64))
        flips.append((stream_state(**base) ^ stream_state(**other)).bit_count())
    # 300 x 64 fair coins: a standard deviation of 0.23 % around one half.
    assert abs(np.sum(flips) / (300 * 64) - 0.5) < 4 * 0.5 / np.sqrt(300 * 64)
    assert min(flips) > 10


def test_streams_of_neighbouring_keys_are_uncorrelated():
    words = 4_000
    gamma = run_gamma(0, 0)
    streams = []
    for purpose, arm in [(2, 0), (2, 1), (3, 0), (4, 0)]:
        state = [stream_state(0, 0, purpose, arm)]
        streams.append([uniform(state, 0, gamma) for _ in range(words)])
    state = [stream_state(0, 1, 2, 0)]
    streams.append([uniform(state, 0, run_gamma(0, 1)) for _ in range(words)])
    off_diagonal = np.corrcoef(streams)[np.triu_indices(5, 1)]
    assert np.abs(off_diagonal).max() < stats.norm.isf(LEVEL / 20) / np.sqrt(words)


def test_uniform_is_uniform():
    state = [stream_state(0, 0, 1, 0)]
    draws = np.array([uniform(state, 0, run_gamma(0, 0)) for _ in range(50_000)])
    assert stats.kstest(draws, "uniform").pvalue > LEVEL
    assert draws.min() >= 0.0
    assert draws.max() < 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 64, 1_000])
def test_below_is_uniform(n):
    state = [stream_state(0, n, 1, 0)]
    draws = [below(state, 0, run_gamma(0, n), n) for _ in range(40_000)]
    counts = np.bincount(draws, minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > LEVEL


def test_below_has_no_bias_at_a_bound_where_a_plain_multiplication_would():
    """Just above 2**31 * 2/3 every third value would be twice as likely without the rejection."""
    n = 1_431_655_766
    state = [stream_state(0, 0, 1, 0)]
    draws = np.array([below(state, 0, run_gamma(0, 0), n) for _ in range(40_000)])
    assert draws.max() < n
    assert stats.kstest((draws + 0.5) / n, "uniform").pvalue > LEVEL
    assert stats.chisquare(np.bincount(draws % 3, minlength=3)).pvalue > LEVEL


@pytest.mark.parametrize(("seed", "first_run"), [(0, 0), (7, 60), (2**64 - 1, 2**40)])
def test_compiled_starts_are_the_definition(seed, first_run):
    from bootleader._core.kernels.run_setup import started

    streams, uniforms = started(seed, first_run, runs=5, arms=3, draws=4)
    for lane in range(5):
        key = run_key(seed, first_run + lane)
        gamma = gamma_of(key)
        assert streams.gamma[lane] == gamma
        assert streams.noise[lane] == stream_of(key, int(Purpose.NOISE), 0)
        assert streams.spare[lane] == stream_of(key, int(Purpose.SPARE), 0)
        assert [int(x) for x in streams.rewards[:, lane]] == [stream_of(key, int(Purpose.REWARDS), k) for k in range(3)]
        state = [stream_of(key, int(Purpose.ARMS), 0)]
        assert uniforms[:, lane].tolist() == [uniform(state, 0, gamma) for _ in range(4)]


@pytest.mark.parametrize("bandit", BANDIT_CASES, ids=lambda case: case.id)
def test_arms_are_the_same_whoever_draws_their_numbers(bandit):
    from bootleader.simulation._blocks import Block, Runs

    block = Block(None, bandit.bandit, 5, 9, 4, 10, np.array([10]))
    by_numpy = bandit.bandit.parameters_of(5, np.arange(9, 13, dtype=np.uint64))
    for compiled, column in zip(Runs.of(block).arms, by_numpy, strict=True):
        np.testing.assert_array_equal(compiled, column)
