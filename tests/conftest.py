"""Settings and fixtures of all tests. Plain functions that several packages' tests call are in helpers.py."""

from __future__ import annotations

import gc
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import bootleader as bl
from bootleader import cli
from bootleader.paper._cell_cache import CellCache

if TYPE_CHECKING:
    from tests.store.postgres_server import Server

os.environ.setdefault("MPLBACKEND", "Agg")  # also for the processes that tests start

# The same examples on every machine; `make fuzz` looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=5_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# Tests that need kernels of the simulator, in the order in which they run: those that compile most come first.
# Of two workers that begin at the two ends of the list, one then compiles what the other finds on disk later.
SIMULATING = (
    "tests/golden/",
    "tests/oracle/test_open_simulator.py",
    "tests/simulation/",
    "tests/test_docs.py",
    "tests/test_smoke.py",
    "tests/test_cli.py",
    "tests/oracle/",
    "tests/paper/",
    "tests/policies/",
    "tests/bandits/",
)


def place_in_order(item: pytest.Item) -> tuple[bool, int]:
    """Long tests before all others, and of each kind those that simulate first."""
    places = (place for place, start in enumerate(SIMULATING) if item.nodeid.startswith(start))
    return item.get_closest_marker("long") is None, next(places, len(SIMULATING))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests; skip the browser tests on systems whose browsers they do not know how to start."""
    items.sort(key=place_in_order)
    if not sys.platform.startswith("linux"):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="the browser tests run on Linux"))


def pytest_collection_finish() -> None:
    """Leave what was collected out of garbage collection, which would go through thousands of tests again and again."""
    gc.collect()
    gc.freeze()


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


# Stores: every test that takes ``store_url`` or ``store`` runs on every backend ---------------------------------------


@pytest.fixture(autouse=True)
def same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a store's decisions the same ids in every run: ids key the choices."""
    tags = itertools.count(1)
    monkeypatch.setattr("bootleader.store._ids.new_tag", lambda: f"{next(tags):012x}")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server. The path of its socket has to be short."""
    if sys.platform == "win32":
        pytest.skip("the server is started and killed as on Linux and macOS")
    from tests.store.postgres_server import Server, folder_in_memory

    with tempfile.TemporaryDirectory(prefix="bl-pg-", dir=folder_in_memory()) as folder:
        server = Server(folder)
        yield server
        server.kill()
        server.server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: Server = request.getfixturevalue("server")
    return server.new_database()


@pytest.fixture
def store(store_url: str) -> Iterator[bl.Store]:
    """An empty store."""
    with bl.Store(store_url, timeout=10.0) as store:
        yield store


@pytest.fixture
def memory() -> Iterator[bl.Store]:
    """A store in memory: as SQLite, without waiting for a disk."""
    with bl.Store("sqlite://") as store:
        yield store
