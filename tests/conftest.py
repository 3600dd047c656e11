"""Settings and fixtures of all tests. Plain functions that several packages' tests call are in helpers.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from bootleader import cli
from bootleader.paper._cell_cache import CellCache

os.environ.setdefault("MPLBACKEND", "Agg")  # also for the processes that tests start

# The same examples on every machine; `make fuzz` looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=5_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the browser tests on systems whose browsers they do not know how to start."""
    if not sys.platform.startswith("linux"):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="the browser tests run on Linux"))


@pytest.fixture
def run_cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command of the command line in this process: its exit status, output and errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = cli.main(list(arguments))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def cli_error(run_cli: Callable[..., tuple[int, str, str]]) -> Callable[..., str]:
    """Run a command that must be rejected: the one line that it prints."""

    def error(*arguments: str) -> str:
        status, out, err = run_cli(*arguments)
        assert status == cli.USER_ERROR
        assert out == ""
        (line,) = err.splitlines()
        return line

    return error


@pytest.fixture
def rewards_file(tmp_path: Path) -> Callable[[str | bytes], str]:
    """Write a file of recorded rewards: its name."""

    def write(text: str | bytes) -> str:
        path = tmp_path / "rewards.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def cell_cache(tmp_path: Path) -> CellCache:
    """An empty cache of the reproduction's cells."""
    return CellCache(tmp_path / "cells")
