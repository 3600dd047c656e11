"""Kernels on disk: found again unless what they compute has changed, replaced when damaged, not needed to work."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from bootleader._core.code_fingerprint import code_digest
from bootleader._core.numba_bridge import compiled, specialise
from tests.helpers import posix_only, run_python

MODULE = '''
"""A kernel and two laws."""

FACTOR = 2.0

def law(x):
    """A law."""
    return FACTOR * x

def other_law(x):
    return x - 1.0

law_of = None  # filled in by specialise

def total(values):
    """The sum of a law's values."""
    result = 0.0
    for value in values:
        result += law_of(value)
    return result
'''

PLAY = """
import json, sys, warnings
import numpy as np

sys.path.insert(0, sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import small_module
    from bootleader._core.code_fingerprint import code_digest
    from bootleader._core.numba_bridge import compiled, specialise

    report = []
    for name in sys.argv[2:]:
        law = getattr(small_module, name)
        kernel = specialise(small_module.total, code_digest(law)[:16], law_of=compiled(law))
        value = kernel(np.arange(4.0))
        stats = kernel.stats
        report.append([value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())])
print(json.dumps([report, [[w.category.__name__, str(w.message)] for w in caught]]))
"""
DOUBLED, SHIFTED = 12.0, 2.0  # what the two laws give
COMPILED, LOADED = [0, 1], [1, 0]  # cache hits and misses


class Folder:
    """A module with a kernel, and a cache folder beside it."""

    def __init__(self, path: Path) -> None:
        self.path, self.cache = path, path / "cache"
        self.write(MODULE)

    def write(self, source: str) -> None:
        (self.path / "small_module.py").write_text(source)

    def play(self, *laws: str, **environment: str) -> tuple[list[list[float]], list[list[str]]]:
        """Value, hits and misses of the kernel for each law, in a new process, and the warnings."""
        environment = {"NUMBA_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1", **environment}
        report, warned = json.loads(run_python(PLAY, str(self.path), *(laws or ("law",)), **environment))
        return report, warned

    def files(self, ending: str) -> list[Path]:
        return sorted(self.cache.rglob(f"*.{ending}"))

    def play_here(self, *laws: str) -> list[list[float]]:
        """The same in this process: a kernel that is specialised again reads the cache folder again."""
        file = self.path / "small_module.py"
        module = ModuleType("small_module")
        exec(compile(file.read_text(), str(file), "exec"), module.__dict__)
        report = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(numba.config, "CACHE_DIR", str(self.cache))
            patch.setitem(sys.modules, "small_module", module)  # a kernel that is loaded imports its module
            for name in laws or ("law",):
                law = getattr(module, name)
                kernel = specialise(module.total, code_digest(law)[:16], law_of=compiled(law))
                value = kernel(np.arange(4.0))
                report.append([value, sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())])
        return report


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_kernel_is_compiled_once_and_then_loaded(folder: Folder) -> None:
    assert folder.play() == ([[DOUBLED, *COMPILED]], [])
    assert folder.play() == ([[DOUBLED, *LOADED]], [])


def test_only_changes_of_what_is_computed_recompile(folder: Folder) -> None:
    folder.play_here()
    described = MODULE.replace('"""A law."""', '"""A law with another description."""').replace('"""The sum', '"""Sum')
    folder.write("# A comment that moves every line.\n" + described)
    assert folder.play_here() == [[DOUBLED, *LOADED]]
    folder.write(MODULE.replace("FACTOR = 2.0", "FACTOR = 3.0"))
    assert folder.play_here() == [[1.5 * DOUBLED, *COMPILED]]
    folder.write(MODULE.replace("result = 0.0", "result = 100.0"))
    assert folder.play_here() == [[100.0 + DOUBLED, *COMPILED]]
    folder.write(MODULE)
    assert folder.play_here() == [[DOUBLED, *LOADED]]


def test_two_laws_of_one_module_have_kernels_of_their_own(folder: Folder) -> None:
    assert folder.play_here("law", "other_law") == [[DOUBLED, *COMPILED], [SHIFTED, *COMPILED]]
    assert folder.play_here("other_law", "law") == [[SHIFTED, *LOADED], [DOUBLED, *LOADED]]


DAMAGE: dict[str, Any] = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "random bytes": lambda content: bytes(range(256)) * 4,
    "another object": lambda content: pickle.dumps(5),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])  # numba's index and its data
def test_a_damaged_file_is_replaced(folder: Folder, ending: str, damage: str) -> None:
    assert folder.play_here() == [[DOUBLED, *COMPILED]]
    assert folder.play_here() == [[DOUBLED, *LOADED]]
    (kept,) = folder.files(ending)
    kept.write_bytes(DAMAGE[damage](kept.read_bytes()))
    assert folder.play_here() == [[DOUBLED, *COMPILED]]
    assert folder.play_here() == [[DOUBLED, *LOADED]]


def without_any_cache(folder: Folder) -> dict[str, str]:
    """An environment in which none of the folders that numba tries can be made, for any user."""
    blocked = folder.path / "not_a_folder"
    blocked.write_text("")
    (folder.path / "__pycache__").write_text("")
    return dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), str(blocked / "cache"))


@posix_only
def test_without_a_writable_cache_kernels_are_compiled_in_memory(folder: Folder) -> None:
    report, warned = folder.play("law", "other_law", **without_any_cache(folder))
    assert [row[0] for row in report] == [DOUBLED, SHIFTED]
    assert not folder.files("nb*")
    ((category, message),) = warned  # one warning for all kernels
    assert category == "RuntimeWarning"
    assert "NUMBA_CACHE_DIR" in message


LOST_FOLDER = PLAY.replace(
    "        value = kernel(", "        import os, shutil; shutil.rmtree(sys.argv[1] + '/cache')\n"
    "        open(sys.argv[1] + '/cache', 'w').close()\n        value = kernel("
)  # fmt: skip


@posix_only
def test_a_cache_that_is_lost_before_a_kernel_is_kept_is_a_warning(folder: Folder) -> None:
    environment = {"NUMBA_CACHE_DIR": str(folder.cache), "PYTHONDONTWRITEBYTECODE": "1"}
    report, warned = json.loads(run_python(LOST_FOLDER, str(folder.path), "law", **environment))
    assert report[0][0] == DOUBLED
    ((category, message),) = warned
    assert (category, "NUMBA_CACHE_DIR" in message) == ("RuntimeWarning", True)
