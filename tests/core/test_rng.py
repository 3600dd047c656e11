"""Random streams: distinct keys have distinct streams; Python ints, NumPy arrays and compiled code agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bootleader._core import numba_bridge  # noqa: F401  (registers the scalar functions with numba)
from bootleader._core.disk_cache import kernel
from bootleader._core.rng import (
    GOLDEN,
    MASK,
    Purpose,
    Stream,
    below,
    mix64,
    next_word,
    run_key,
    run_stride,
    stream_of,
    stream_state,
    stride_of,
    uniform,
)
from tests.oracle.cases import BANDIT_CASES

LEVEL = 1e-4  # of every single statistical test here; seeds are fixed


@kernel
def compiled_states(seed, runs, purpose, arm):
    return [stream_state(seed, run, purpose, arm) for run in runs]


@kernel
def compiled_words(start, stride, count):
    stream = Stream(np.array([start]), 0, stride)
    return [next_word(stream) for _ in range(count)]


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
    start, stride = stream_state(1, 2, 3, 4), run_stride(1, 2)
    stream = Stream([start], 0, stride)
    python = [next_word(stream) for _ in range(1_000)]
    places = np.arange(1, 1_001, dtype=np.uint64)
    vectorised = mix64(np.uint64(start) + places * np.uint64(stride))
    compiled = compiled_words(np.uint64(start), np.uint64(stride), 1_000)
    assert python == [int(x) for x in vectorised] == [int(x) for x in compiled]
    assert all(0 <= word <= MASK for word in python)


def test_the_generator_is_splitmix64():
    """The published sequence from seed 1234567 with the golden-ratio stride."""
    stream = Stream([1234567], 0, GOLDEN)
    words = [next_word(stream) for _ in range(5)]
    assert words == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_distinct_keys_have_distinct_streams():
    """A million keys: the chance that any two of that many random words are equal is 3e-8."""
    runs = np.arange(600, dtype=np.uint64)
    states = [
        stream_state(seed, runs, int(purpose), arm)
        for seed in (*range(18), 2**32, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15, 12345, 54321)
        for purpose in Purpose
        for arm in range(10)
    ]
    flat = np.concatenate(states)
    assert len(np.unique(flat)) == len(flat) == 24 * len(Purpose) * 10 * 600


def test_distinct_runs_have_distinct_odd_strides():
    strides = np.concatenate([run_stride(seed, np.arange(20_000, dtype=np.uint64)) for seed in range(10)])
    assert np.all(strides % 2 == 1)
    assert len(np.unique(strides)) == len(strides)


@pytest.mark.parametrize("key", ["seed", "run", "purpose", "arm"])
def test_flipping_one_bit_of_a_key_flips_half_of_the_state(key):
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
    draws = []
    for run, purpose, arm in [(0, 2, 0), (0, 2, 1), (0, 3, 0), (0, 4, 0), (1, 2, 0)]:
        stream = Stream([stream_state(0, run, purpose, arm)], 0, run_stride(0, run))
        draws.append([uniform(stream) for _ in range(words)])
    off_diagonal = np.corrcoef(draws)[np.triu_indices(5, 1)]
    assert np.abs(off_diagonal).max() < stats.norm.isf(LEVEL / 20) / np.sqrt(words)


def test_uniform_is_uniform():
    stream = Stream([stream_state(0, 0, 1, 0)], 0, run_stride(0, 0))
    draws = np.array([uniform(stream) for _ in range(50_000)])
    assert stats.kstest(draws, "uniform").pvalue > LEVEL
    assert draws.min() >= 0.0
    assert draws.max() < 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 64, 1_000])
def test_below_is_uniform(n):
    stream = Stream([stream_state(0, n, 1, 0)], 0, run_stride(0, n))
    draws = [below(stream, n) for _ in range(40_000)]
    counts = np.bincount(draws, minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > LEVEL


def test_below_has_no_bias_at_a_bound_where_a_plain_multiplication_would():
    """Just above 2**31 * 2/3 every third value would be twice as likely without the rejection."""
    n = 1_431_655_766
    stream = Stream([stream_state(0, 0, 1, 0)], 0, run_stride(0, 0))
    draws = np.array([below(stream, n) for _ in range(40_000)])
    assert draws.max() < n
    assert stats.kstest((draws + 0.5) / n, "uniform").pvalue > LEVEL
    assert stats.chisquare(np.bincount(draws % 3, minlength=3)).pvalue > LEVEL


@pytest.mark.parametrize(("seed", "first_run"), [(0, 0), (7, 60), (2**64 - 1, 2**40)])
def test_compiled_run_setup_equals_the_definition(seed, first_run):
    from bootleader._core.kernels.run_setup import run_setup

    streams, uniforms = run_setup(seed, first_run, runs=5, arms=3, draws=4)
    for lane in range(5):
        key = run_key(seed, first_run + lane)
        stride = stride_of(key)
        assert streams.stride[lane] == stride == run_stride(seed, first_run + lane)
        assert streams.noise[lane] == stream_of(key, int(Purpose.NOISE), 0)
        assert streams.spare[lane] == stream_of(key, int(Purpose.SPARE), 0)
        assert [int(x) for x in streams.rewards[:, lane]] == [stream_of(key, int(Purpose.REWARDS), k) for k in range(3)]
        stream = Stream([stream_of(key, int(Purpose.ARMS), 0)], 0, stride)
        assert uniforms[:, lane].tolist() == [uniform(stream) for _ in range(4)]


@pytest.mark.parametrize("bandit", BANDIT_CASES, ids=lambda case: case.id)
def test_numpy_and_compiled_code_draw_the_same_arms(bandit):
    from bootleader.simulation._block_runs import Block, Runs

    block = Block(None, bandit.bandit, 5, 9, 4, 10, np.array([10]))
    by_numpy = bandit.bandit.parameters_of(5, np.arange(9, 13, dtype=np.uint64))
    for compiled, column in zip(Runs.of(block).parameters, by_numpy, strict=True):
        np.testing.assert_array_equal(compiled, column)
