"""Results of cells are kept on disk, whole ones only, and never taken for those of another cell."""

import dataclasses
import dis
import errno
import inspect
import math
from types import FunctionType

import numpy as np
import pytest

from bootleader import AffineBandit, GaussianBandit, ReBoot, ThompsonSampling
from bootleader.paper import _cell_cache
from bootleader.paper._cell_cache import Cell
from bootleader.paper._run_cells import play, run_cells
from bootleader.policies import reboot
from bootleader.simulation._result_files import ARRAYS
from tests.helpers import assert_same_simulation, functions_of

CELL = Cell(ReBoot(sigma_a=1.5), GaussianBandit((1.0, 0.0)), rounds=300, runs=70, seed=4)


@pytest.fixture(scope="module")
def result():
    return play(CELL, None)


def test_a_result_is_read_back_bit_for_bit(cell_cache, result):
    assert cell_cache.load(CELL) is None
    cell_cache.save(CELL, result)
    read = cell_cache.load(CELL)
    assert_same_simulation(read, result)
    assert np.array_equal(read.seconds, result.seconds)
    assert [path.name for path in cell_cache.folder.iterdir()] == [f"{CELL.key}.npz"]


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 301},
        {"runs": 71},
        {"seed": 5},
        {"timed": True},
        {"policy": ReBoot(sigma_a=1.5000000000000002)},
        {"policy": ReBoot(sigma_a=1.5, weights="mammen")},
        {"policy": ThompsonSampling(prior_sd=math.inf)},
        {"bandit": GaussianBandit((1.0, 0.0), sd=(1.0, 2.0))},
        {"bandit": AffineBandit(GaussianBandit((1.0, 0.0)), 1.0, 0.0)},
    ],
)
def test_any_change_is_another_cell(cell_cache, result, change):
    cell_cache.save(CELL, result)
    other = dataclasses.replace(CELL, **change)
    assert other.key != CELL.key
    assert cell_cache.load(other) is None


def test_other_code_is_another_cell(monkeypatch):
    before = CELL.key
    monkeypatch.setattr(_cell_cache, "simulation_fingerprint", lambda policy, bandit: "other kernels")
    assert CELL.key != before


def edited(old, new):
    """The cell, its policy defined by the source of ReBoot with a change."""
    source = inspect.getsource(reboot)
    assert old in source
    namespace = {"__name__": reboot.__name__}
    exec(compile(source.replace(old, new), reboot.__file__, "exec"), namespace)
    return dataclasses.replace(CELL, policy=namespace["ReBoot"](sigma_a=1.5))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('positive("sigma_a"', 'positive("the exploration aid unit"'),
        ("    Two pseudo residuals", "    Three words more: two pseudo residuals"),
        ('    """Index ~ N(', '    """The index is N('),
        ("def law(", "# A comment.\ndef law("),
        ('reference: ClassVar[str] = "Wang', 'reference: ClassVar[str] = "C.-H. Wang'),
    ],
    ids=["message", "docstring", "docstring of the law", "comment", "reference"],
)
def test_a_change_of_words_is_the_same_cell(old, new):
    assert edited(old, new).key == CELL.key


def test_no_error_message_is_part_of_a_key():
    """Checks of arguments have messages, so a key covers their results and not their code."""
    covered = {f for function in _cell_cache.merging_functions() for f in functions_of(function)}
    covered = {f for f in covered if isinstance(f, FunctionType) and f.__module__.startswith("bootleader")}
    assert [f.__name__ for f in covered if any(i.opname == "RAISE_VARARGS" for i in dis.get_instructions(f))] == []
    assert {"reduced", "reduce_row", "take"} <= {f.__name__ for f in covered}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/ (s + 2.0), math.inf", "/ (s + 3.0), math.inf"),
        ("Noise.NORMAL", "Noise.STUDENT"),
        ("(float(self.sigma_a),)", "(2.0 * float(self.sigma_a),)"),
    ],
    ids=["law", "noise", "parameters of the law"],
)
def test_a_change_of_the_algorithm_is_another_cell(old, new):
    assert edited(old, new).key != CELL.key


def test_another_version_of_the_library_is_the_same_cell(monkeypatch):
    from bootleader import _version

    before = CELL.key
    monkeypatch.setattr(_version, "__version__", "99.0")
    monkeypatch.setattr("bootleader.__version__", "99.0")
    assert CELL.key == before
    assert not hasattr(_cell_cache, "__version__")


@pytest.mark.parametrize("keep", [0, 1, 200, -1])
def test_a_half_written_file_is_never_used(cell_cache, result, keep):
    cell_cache.save(CELL, result)
    path = cell_cache.path(CELL)
    path.write_bytes(path.read_bytes()[:keep])
    assert cell_cache.load(CELL) is None


def test_a_file_with_flipped_bytes_is_never_used(cell_cache, result):
    cell_cache.save(CELL, result)
    path = cell_cache.path(CELL)
    whole = bytearray(path.read_bytes())
    for place in range(0, len(whole), max(1, len(whole) // 500)):
        damaged = whole.copy()
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        found = cell_cache.load(CELL)
        if found is not None:
            assert_same_simulation(found, result)


def test_a_file_under_the_wrong_name_is_never_used(cell_cache):
    other = dataclasses.replace(CELL, seed=5)
    cell_cache.save(other, play(other, None))
    cell_cache.path(other).rename(cell_cache.path(CELL))
    assert cell_cache.load(CELL) is None


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "forge",
    [
        lambda array: array[:0],
        lambda array: array[..., :0],
        lambda array: np.zeros((0, 0)),
        lambda array: np.float64(1.0),
        lambda array: array[..., :-1],
        lambda array: np.concatenate([array, array]),
        lambda array: np.full(array.shape, np.nan),
        lambda array: np.where(np.arange(array.size).reshape(array.shape) == 0, np.inf, array),
        lambda array: -1.0 - array,
        lambda array: array.astype(str),
        lambda array: array.astype(complex),
    ],
    ids=["no rows", "no columns", "empty", "scalar", "short", "twice", "NaN", "one infinite", "negative", "text",
         "complex"],
)  # fmt: skip
def test_a_forged_file_is_not_used_and_its_cell_is_played_again(cell_cache, result, name, forge):
    cell_cache.save(CELL, dataclasses.replace(result, **{name: forge(getattr(result, name))}))
    assert cell_cache.load(CELL) is None
    if forge(np.zeros((1, 2))).size == 0:
        results = run_cells([CELL], cell_cache, progress=False)
        assert_same_simulation(results[CELL], result)
        assert_same_simulation(cell_cache.load(CELL), result)


def test_a_full_disk_leaves_nothing_behind(cell_cache, result, monkeypatch):
    def full(self, path):
        with open(path, "wb") as file:
            file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(type(result), "save", full)
        with pytest.raises(OSError, match="No space left"):
            cell_cache.save(CELL, result)
    assert list(cell_cache.folder.iterdir()) == []
