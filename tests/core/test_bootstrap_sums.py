"""The compiled sums over a history equal their plain definitions bit for bit, short and long."""

import numpy as np
import pytest

import bootleader._core.numba_bridge  # noqa: F401  (registers the functions with numba)
from bootleader._core.bootstrap_sums import (
    QUARTER,
    VECTORISED_FROM,
    WORKSPACE,
    add_signed,
    heads_sum,
    resampled_sum,
    write_strides,
)
from bootleader._core.disk_cache import kernel
from bootleader._core.rng import Purpose, Stream, run_stride, stream_state


def streams(key: int) -> tuple[Stream, Stream]:
    """The same stream for Python and for compiled code."""
    start, stride = int(stream_state(4, key, int(Purpose.SPARE), 0)), int(run_stride(4, key))
    return Stream([start], 0, stride), Stream(np.array([start], np.uint64), 0, np.uint64(stride))


def padded(values: np.ndarray, first: int) -> np.ndarray:
    """The values from ``first`` on; the numbers before them must not be read."""
    return np.concatenate([np.full(first, np.nan), values, [0.0]])


SIZES = [0, 1, 3, 4, VECTORISED_FROM - 1, VECTORISED_FROM, VECTORISED_FROM + 1, 255, 256, 257, 1000, 7003]


@kernel
def compiled_resampled_sum(history, start, count, draws, stream):
    if start >= WORKSPACE:
        write_strides(history, stream.stride)
    return resampled_sum(history, start, count, draws, stream)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 255, 256, 1000, 4096, 9001, QUARTER - 1, QUARTER, QUARTER + 5])
@pytest.mark.parametrize("draws", SIZES)
@pytest.mark.parametrize("first", [5, WORKSPACE])  # without and with a workspace for the vectorised sum
def test_compiled_resampled_sum_equals_the_plain_one(count, draws, first):
    values = np.random.default_rng(count).normal(size=count)
    stream, array_stream = streams(count)
    plain = resampled_sum(values.tolist(), 0, count, float(draws), stream)
    assert compiled_resampled_sum(padded(values, first), first, count, float(draws), array_stream) == plain
    assert int(array_stream.states[0]) == stream.states[0]


@kernel
def compiled_heads_sum(chance, history, start, count, drift, stream):
    return heads_sum(chance, history, start, count, drift, stream)


@pytest.mark.parametrize("chance", [0.5, 0.7])
@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 127, 128, 129, 1000, 7003])
def test_compiled_heads_sum_equals_the_plain_one(count, chance):
    values = np.random.default_rng(count).normal(size=count)
    stream, array_stream = streams(count)
    plain = heads_sum(chance, values.tolist(), 0, count, 0.25, stream)
    assert compiled_heads_sum(chance, padded(values, WORKSPACE), WORKSPACE, count, 0.25, array_stream) == plain
    assert int(array_stream.states[0]) == stream.states[0]


@kernel
def compiled_add_signed(sums, start, weights, word, amount):
    add_signed(sums, start, weights, word, amount)


def test_compiled_add_signed_equals_the_plain_one():
    before = np.random.default_rng(1).normal(size=200)
    plain, compiled, word = before.tolist(), before.copy(), 0x9E3779B97F4A7C15
    add_signed(plain, 7, 80, word, 0.3)
    compiled_add_signed(compiled, 7, 80, np.uint64(word), 0.3)
    assert compiled.tolist() == plain
    signs = np.array([1.0 - 2.0 * (word >> j & 1) for j in range(64)])
    expected = before.copy()
    expected[7:71] += 0.3 * signs
    expected[80:144] += signs
    assert plain == expected.tolist()
