"""The compiled resampled sum against its plain definition, to the bit, short and long."""

import numba
import numpy as np
import pytest

import bootleader.compilation  # noqa: F401  (makes the function known to numba)
from bootleader.policies.giro import QUARTER, resampled_sum
from bootleader.streams import Purpose, run_gamma, stream_state


@numba.njit(error_model="numpy")
def compiled(history, start, count, draws, state, gamma):
    return resampled_sum(history, start, count, draws, state, 0, gamma)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 255, 256, 1000, 4096, 9001, QUARTER - 1, QUARTER, QUARTER + 5])
@pytest.mark.parametrize("draws", [0, 1, 3, 4, 255, 256, 257, 1000, 7003])
def test_compiled_is_plain(count, draws):
    values = np.random.default_rng(count).normal(size=count)
    padded = np.concatenate([np.full(5, np.nan), values, [0.0]])  # what stands before the start must not be read
    start, gamma = int(stream_state(4, count, int(Purpose.SPARE), 0)), int(run_gamma(4, count))
    plain_state, state = [start], np.array([start], np.uint64)
    plain = resampled_sum([0.0] * 5 + values.tolist(), 5, count, float(draws), plain_state, 0, gamma)
    assert compiled(padded, 5, count, float(draws), state, np.uint64(gamma)) == plain
    assert int(state[0]) == plain_state[0]
