"""Importing is cheap: nothing is compiled or drawn, and the heavy libraries stay out."""

from __future__ import annotations

from tests.helpers import run_python

HEAVY = ("numba", "matplotlib", "pandas", "scipy", "tqdm", "distributed")
PROBE = "import sys, bootleader; print(*sorted({name.split('.')[0] for name in sys.modules}))"


def test_import_leaves_heavy_libraries_alone():
    assert not set(HEAVY) & set(run_python(PROBE).split())


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
