"""No sampler loops for ever, whatever it is given: in Python and compiled, with the same result."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootleader._core import (
    numba_bridge,
    rng,
    sampling,
    tail_sampling,
)
from bootleader._core.disk_cache import kernel
from tests.helpers import as_arrays, stream_at

SECONDS = 600  # for all values of all samplers and their compilation; ten are enough on an idle machine
VALUES = (
    math.nan, math.inf, -math.inf, -1e308, -2.0, -0.5, -5e-324, 0.0, 5e-324, 1e-310, 0.3, 0.5 + 1e-15, 1.0, 2.0, 2.5,
    20.0, 1e6, 1e19, 1e155, 1e308,
)  # fmt: skip
WHOLE_VALUES = (-(2**63), -(2**32), -1, 0, 1, 3, 2**31, 2**31 + 1, 2**32, 2**32 + 1, 2**33, 2**62, 2**63 - 1)
DRAWS = 20

# How many values each takes before its stream.
SAMPLERS: dict[str, tuple[Callable[..., Any], int]] = {
    "standard_gamma": (sampling.standard_gamma, 1),
    "standard_beta": (sampling.standard_beta, 2),
    "studentise": (sampling.studentise, 2),
    "fair_binomial": (sampling.fair_binomial, 1),
    "binomial": (sampling.binomial, 2),
    "poisson": (sampling.poisson, 1),
    "noise_above": (tail_sampling.noise_above, 2),
    "attempt_above": (tail_sampling.attempt_above, 2),
    "below": (lambda n, stream: rng.below(stream, n), 1),
}


def compare(name: str) -> None:
    """Draw in Python and compiled, with every combination of values."""
    sampler, arity = SAMPLERS[name]
    numba_bridge.register(sampler)
    compiled = kernel(sampler)
    for values in itertools.product(WHOLE_VALUES if name == "below" else VALUES, repeat=arity):
        plain = stream_at(0, 1)
        arrays = as_arrays(plain)
        print(name, values, flush=True)
        wanted = [float(sampler(*values, plain)) for _ in range(DRAWS)]
        found = [float(compiled(*values, arrays)) for _ in range(DRAWS)]
        np.testing.assert_array_equal(found, wanted, err_msg=f"{name}{values}")
        if any(math.isnan(value) for value in values):
            assert np.isnan(wanted).all(), f"{name}{values} gives {wanted}"


@pytest.mark.long
def test_every_sampler_ends_whatever_it_is_given() -> None:
    """In another process, because a compiled loop cannot be interrupted; one for all, which imports numba once."""
    code = "from tests.core.test_sampler_termination import SAMPLERS, compare; [compare(name) for name in SAMPLERS]"
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    try:
        finished = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as expired:
        last = (expired.stdout or b"").decode().splitlines()[-1:]
        pytest.fail(f"no end within {SECONDS} s: {last}")
    assert finished.returncode == 0, [*finished.stdout.splitlines()[-1:], finished.stderr]
