"""Elementary functions: the same bits in Python and compiled, and close to the system's."""

import math

import numpy as np
import pytest

from bootleader._core import elementary
from bootleader._core.numba_bridge import LEAN, compiled, numba

UNITS = 1.5  # units in the last place: theirs below one, and half a one of the system's

SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-310, 2.0**-1022, math.inf, -math.inf, math.nan, 1.7e308, 1e16]
AT_ROOT = [elementary.ROOT_HALF, math.nextafter(elementary.ROOT_HALF, 0.0), math.sqrt(2.0)]
generator = np.random.default_rng(17)
ARGUMENTS = {
    "log": [*generator.random(3000), *np.exp(generator.uniform(-744, 709, 3000)), *AT_ROOT, *SPECIAL],
    "log1p": [*generator.uniform(-1, 1, 3000), *np.exp(generator.uniform(-40, 40, 3000)), *AT_ROOT, *SPECIAL],
    "exp": [*generator.uniform(-2, 2, 3000), *generator.uniform(-745.2, 709.8, 3000), *SPECIAL, 709.782712893384],
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_python_and_compiled_code_agree_in_every_bit(name):
    function = compiled(getattr(elementary, name))

    @numba.njit(**LEAN)
    def fill(arguments, values):
        for i in range(len(arguments)):
            values[i] = function(arguments[i])

    arguments = np.array(ARGUMENTS[name])
    values = np.empty_like(arguments)
    fill(arguments, values)
    plain = np.array([getattr(elementary, name)(float(x)) for x in arguments])
    np.testing.assert_array_equal(values, plain)
    np.testing.assert_array_equal(np.signbit(values), np.signbit(plain))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_values_are_within_a_unit_of_the_last_place(name):
    for x in map(float, ARGUMENTS[name]):
        with np.errstate(all="ignore"):
            wanted = float(getattr(np, name)(x))
        found = getattr(elementary, name)(x)
        if math.isfinite(wanted):
            assert abs(found - wanted) <= UNITS * math.ulp(wanted), (x, found, wanted)
        else:
            np.testing.assert_equal(found, wanted)


def test_power():
    assert elementary.power(0.0, 2.5) == 0.0
    assert elementary.power(0.25, 0.5) == pytest.approx(0.5, rel=1e-15)
    assert elementary.power(1e-300, 2.0) == 0.0
