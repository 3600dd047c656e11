"""Importing is cheap: nothing is compiled or drawn, and the heavy libraries stay out."""

from __future__ import annotations

import statistics

from tests.helpers import run_python

HEAVY = ("numba", "matplotlib", "pandas", "scipy", "tqdm", "distributed")
RATIO = 5.0  # measured: 1.6

# Processor time, as a ratio to an import on the same machine: other programs and slow machines do not matter.
PROBE = """
import sys, time
began = time.process_time()
import numpy
middle = time.process_time()
import bootleader
took = (time.process_time() - middle) / (middle - began)
print(took, *sorted({name.split('.')[0] for name in sys.modules}))
"""


def probe() -> list[str]:
    return run_python(PROBE).split()


def test_import_takes_a_few_times_as_long_as_numpy():
    assert statistics.median(float(probe()[0]) for _ in range(5)) < RATIO


def test_import_leaves_heavy_libraries_alone():
    assert not set(HEAVY) & set(probe()[1:])


def test_making_policies_and_bandits_compiles_nothing():
    code = (
        "import sys, bootleader as bl; bl.ReBoot(sigma_a=1.5); bl.Giro(); bl.GaussianBandit([1, 0]);"
        "assert 'numba' not in sys.modules"
    )
    run_python(code)


def test_every_public_name_is_there():
    import bootleader

    assert sorted(bootleader.__all__) == sorted(set(bootleader.__all__))
    assert all(hasattr(bootleader, name) for name in bootleader.__all__)


def test_dir_shows_public_names_only():
    import bootleader
    import bootleader.cli  # loads submodules

    assert dir(bootleader) == sorted(bootleader.__all__)
    for name in ("Policy", "Bandit", "Probabilities", "compare", "bound"):
        assert name in dir(bootleader)
    assert callable(bootleader.compare)
