"""A progress bar says that something compiles when numba compiles, and only then."""

import sys

import numba
import pytest

import bootleader as bl
from bootleader._core.compilation_events import on_compilation
from tests.helpers import import_file

KERNEL = "import numba\n\n\n@numba.njit(cache=True)\ndef add(a, b):\n    return a + b\n"


def test_a_kernel_from_the_disk_cache_is_not_a_compilation(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    notified = []
    for _ in range(2):
        with on_compilation(lambda: notified.append("compiling")):
            kernel = import_file(tmp_path / "kernel.py", "kernel_of_a_test")
            assert kernel.add(1, 2) == 3
            assert kernel.add(3, 4) == 7
    del sys.modules["kernel_of_a_test"]
    assert notified == ["compiling"]


@pytest.mark.parametrize("compiles", [True, False])
def test_simulate_says_compiling_only_when_something_compiles(capsys, compiles):
    class Policy:
        """A policy of the user's that may compile a function when it starts."""

        name = "user"

        def __init__(self, compiles):
            self.compiles = compiles

        def start(self, arms, rng):
            if self.compiles:
                numba.njit(lambda x: x)(1.0)

        def pull(self):
            return 0

        def update(self, arm, reward):
            pass

    settings = {"rounds": 10, "runs": 2}
    bl.simulate(Policy(False), bl.GaussianBandit([1.0, 0.0]), **settings)  # what the library itself compiles
    bl.simulate(Policy(compiles), bl.GaussianBandit([1.0, 0.0]), progress=True, **settings)
    shown = capsys.readouterr().err
    assert ("compiling" in shown) == compiles
    assert "simulate" in shown
