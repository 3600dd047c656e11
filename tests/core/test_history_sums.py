"""The compiled resampled sum against its plain definition, to the bit, short and long."""

import numba
import numpy as np
import pytest

import bootleader._core.numba_bridge  # noqa: F401  (makes the function known to numba)
from bootleader._core.history_sums import LONG, WORKSPACE, prepare
from bootleader._core.rng import Purpose, run_gamma, stream_state
from bootleader.policies.giro import QUARTER, resampled_sum


@numba.njit(error_model="numpy")
def compiled(history, start, count, draws, state, gamma):
    if start >= WORKSPACE:
        prepare(history, gamma)
    return resampled_sum(history, start, count, draws, state, 0, gamma)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 255, 256, 1000, 4096, 9001, QUARTER - 1, QUARTER, QUARTER + 5])
@pytest.mark.parametrize("draws", [0, 1, 3, 4, LONG - 1, LONG, LONG + 1, 255, 256, 257, 1000, 7003])
@pytest.mark.parametrize("first", [5, WORKSPACE])  # without and with room for the blockwise sum
def test_compiled_is_plain(count, draws, first):
    values = np.random.default_rng(count).normal(size=count)
    padded = np.concatenate([np.full(first, np.nan), values, [0.0]])  # what stands before the start must not be read
    start, gamma = int(stream_state(4, count, int(Purpose.SPARE), 0)), int(run_gamma(4, count))
    plain_state, state = [start], np.array([start], np.uint64)
    plain = resampled_sum(values.tolist(), 0, count, float(draws), plain_state, 0, gamma)
    assert compiled(padded, first, count, float(draws), state, np.uint64(gamma)) == plain
    assert int(state[0]) == plain_state[0]
