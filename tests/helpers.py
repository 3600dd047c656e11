"""Helpers that tests of several packages use. Fixtures are in conftest.py, oracles in oracle/."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.code_fingerprint import references
from bootleader._core.rng import Purpose, Stream, run_stride, stream_state

COLOURS = ["blue", "green", "red"]

LONGEST_WAIT = 300.0  # seconds after which a test that would hang fails

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals, links or devices")

# Everything in a Simulation that depends on the seed alone.
REPRODUCIBLE = [field.name for field in dataclasses.fields(bl.Simulation) if field.name not in ("bandit", "seconds")]


def assert_same_simulation(a: bl.Simulation, b: bl.Simulation) -> None:
    """Two simulations agree bit for bit, apart from the time that they took."""
    for name in REPRODUCIBLE:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def assert_rejected(build: Callable[[], Any], *wanted: str) -> None:
    """The call raises a ValueError or TypeError whose message has all of these words."""
    with pytest.raises((ValueError, TypeError)) as caught:
        build()
    for words in wanted:
        assert words in str(caught.value)


def run_python(code: str, *arguments: str, **environment: str) -> str:
    """Run code in a new interpreter, which must succeed; return what it prints."""
    command = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "PYTHONUTF8": "1", **environment}
    finished = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def import_file(path: Path, name: str) -> ModuleType:
    """Import a file as a new module, whatever was imported from it before."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # numba's cache looks functions up there
    spec.loader.exec_module(module)
    return module


def functions_of(function: Any, found: set[Any] | None = None) -> set[Any]:
    """A function and all functions that it calls; of one that numba has compiled, the Python form."""
    found, function = set() if found is None else found, getattr(function, "py_func", function)
    if function not in found:
        found.add(function)
        for other in references(function) if isinstance(function, FunctionType) else ():
            if callable(other):
                functions_of(other, found)
    return found


def classes_of(package: ModuleType, base: type) -> set[type]:
    """The classes with this base that any public file of a package defines, apart from private ones."""
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    names = [name for name in names if not name.rpartition(".")[2].startswith("_")]
    modules = [importlib.import_module(name) for name in names]
    members = [(module, member) for module in modules for member in vars(module).values()]
    return {
        member
        for module, member in members
        if isinstance(member, type) and issubclass(member, base) and member.__module__ == module.__name__
        if not member.__name__.startswith("_")
    }


def stream_at(seed: int, run: int, purpose: int = Purpose.SPARE) -> Stream:
    """A stream for plain Python functions."""
    return Stream([stream_state(seed, run, int(purpose), 0)], 0, run_stride(seed, run))


def as_arrays(stream: Stream) -> Stream:
    """A copy of a stream for compiled functions."""
    return Stream(np.array(stream.states, np.uint64), 0, np.uint64(stream.stride))


def exact_moments(values: Sequence[float]) -> tuple[int, Fraction, Fraction]:
    """Count, mean and residual sum of squares, without rounding."""
    fractions = [Fraction(value) for value in values]
    mean = sum(fractions, Fraction(0)) / len(fractions)
    return len(fractions), mean, sum(((fraction - mean) ** 2 for fraction in fractions), Fraction(0))


def kept_quantities(recorded: Any, checkpoints: np.ndarray) -> np.ndarray:
    """What is kept over time of recorded runs (quantity x checkpoint x run)."""
    shares, best_recommended = recorded.best_pulls / checkpoints[:, None], recorded.simple_regret == 0.0
    return np.stack([recorded.regret, recorded.reward, shares, recorded.simple_regret, best_recommended.astype(float)])


def agent_of(policy: bl.Policy | None = None, arms: Sequence[str] = COLOURS, **options: Any) -> bl.Agent:
    """An agent with three arms, unless given others."""
    return bl.Agent(policy or bl.AdaptiveReBoot(), arms, **{"seed": 7, **options})


def play(agent: bl.Agent, rounds: int) -> list[str]:
    """Pull and update for some rounds, with the same normal rewards in every call; the choices."""
    rng = np.random.default_rng(3)
    choices = []
    for _ in range(rounds):
        choices.append(agent.pull())
        agent.update(choices[-1], rng.normal())
    return choices


class NoWork(Executor):
    """An executor that fails the test if anything is submitted."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("work was started on bad input")


class Recorder:
    """A user's policy that pulls arms by a fixed pattern and records the rewards of every run, by arm.

    A simulation plays copies of it, so the record is the class's. Call :meth:`clear` first.
    """

    runs: list[dict[int, list[float]]] = []  # noqa: RUF012

    def __init__(self, stride: int = 1) -> None:
        self.stride = stride
        self.name = f"every {stride}"

    @classmethod
    def clear(cls) -> None:
        cls.runs = []

    def start(self, arms: int, rng: np.random.Generator) -> None:
        self.arms, self.pulls = arms, 0
        type(self).runs.append({arm: [] for arm in range(arms)})

    def pull(self) -> int:
        self.pulls += 1
        return self.pulls * self.stride % self.arms

    def update(self, arm: int, reward: float) -> None:
        type(self).runs[-1][arm].append(reward)
