"""Helpers that tests of several packages use. Fixtures are in conftest.py, oracles in oracle/."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np
import pytest

import bootleader as bl

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
