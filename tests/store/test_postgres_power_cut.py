"""The power of a PostgreSQL server is cut: what was not synced is gone, what was acknowledged is not.

A small library is loaded into the server's processes (``synced_copy.c``). It keeps a copy of the server's folder in
which every file is as it was at its last fsync. A cut is this copy at one instant, with any part of the pages that were
written since: what a disk may hold after a power cut. Renames and deletions count as durable at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bootleader as bl
from bootleader.store import _postgres
from tests.store.postgres_server import Server, folder_in_memory

HERE = Path(__file__).parent
PAGE = 8192
NOT_DATA = ("postmaster.pid", "postmaster.opts", "log", ".handle_pids.json", ".s.PGSQL")
needs_compiler = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)


class Disk:
    """The folder of a server, and the copy of what was synced."""

    def __init__(self, folder: Path) -> None:
        self.data, self.synced, self.lock = folder / "data", folder / "synced", folder / "lock"
        self.library, self.folder = folder / "synced_copy.so", folder
        self.data.mkdir()
        self.lock.touch()
        self.lock.chmod(0o666)
        source = str(HERE / "synced_copy.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(self.library), source, "-ldl"], check=True)

    @property
    def environment(self) -> dict[str, str]:
        """What loads the library into a server."""
        return {
            "LD_PRELOAD": str(self.library), "SYNCED_FROM": str(self.data), "SYNCED_TO": str(self.synced),
            "SYNCED_LOCK": str(self.lock),
        }  # fmt: skip

    @contextlib.contextmanager
    def at_one_instant(self) -> Iterator[None]:
        """No fsync returns meanwhile."""
        with self.lock.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def cut(self, name: str, kept: float, rng: random.Random) -> Path:
        """The folder after a power cut that kept a share of the pages that were not synced."""
        after = self.folder / name
        copied(self.synced, after)
        if kept:
            for file in sorted(self.data.rglob("*")):
                if file.is_file() and not file.name.startswith(NOT_DATA):
                    _mix(file, after / file.relative_to(self.data), kept, rng)
        return after


def copied(source: Path, target: Path) -> None:
    """A copy of a folder, owners included."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def _mix(written: Path, after: Path, kept: float, rng: random.Random) -> None:
    """Add to a file some of the pages that were written since it was synced."""
    try:
        now = written.read_bytes()
    except FileNotFoundError:  # deleted meanwhile
        return
    synced = after.read_bytes() if after.exists() else b""
    if now == synced or (not after.exists() and rng.random() > kept):
        return
    pages = bytearray(synced)
    for start in range(0, len(now), PAGE):
        page = now[start : start + PAGE]
        if page != synced[start : start + PAGE] and rng.random() < kept:
            pages.extend(bytes(max(0, start + len(page) - len(pages))))
            pages[start : start + len(page)] = page
    after.parent.mkdir(parents=True, exist_ok=True)
    after.write_bytes(pages)
    owner = written.stat()
    for path in (after.parent, after):
        os.chown(path, owner.st_uid, owner.st_gid)


class Shop:
    """A worker that decides and rewards until it is told to stop, and notes what was acknowledged."""

    def __init__(self, button: bl.Experiment) -> None:
        self.button = button
        self.acknowledged: list[tuple[str, float | None]] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(seed,)) for seed in range(3)]

    def __enter__(self) -> Shop:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, seed: int) -> None:
        rng = random.Random(seed)
        while not self._stop.is_set():
            decision = self.button.decide(unit=f"u{rng.random()}").id
            self.acknowledged.append((decision, None))
            value = rng.gauss(0.0, 1.0)
            self.button.reward(decision, value)
            self.acknowledged.append((decision, value))


def lost_after(folder: Path, acknowledged: list[tuple[str, float | None]]) -> int:
    """Start a server on what the disk holds; how many acknowledged events are not there."""
    server = Server(str(folder))
    try:
        with bl.Store(server.server.get_uri(), timeout=60.0) as store:
            button = store.open("button")
            log = button.log()
            kept = dict(zip(log["id"], log["reward"], strict=True))
            check = button.check()
            assert check, str(check)
            print(f"{len(acknowledged):,} acknowledged; {check}")
        return sum(
            decision not in kept or (value is not None and kept[decision] != value) for decision, value in acknowledged
        )
    finally:
        server.kill()
        server.server.cleanup()


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="bl-cut-", dir=folder_in_memory()) as folder:
        os.chmod(folder, 0o755)
        yield Disk(Path(folder).resolve())


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("durable", [True, False], ids=["durable", "not-durable"])
def test_a_power_cut_loses_nothing_that_was_acknowledged(disk, monkeypatch, durable):
    """Cut at random instants. The wrong version, which does not wait for the disk, loses something."""
    server = Server(str(disk.data))
    server.execute("ALTER ROLE postgres SET synchronous_commit = off")  # a store sets it on again
    server.server.stop()
    copied(disk.data, disk.synced)
    with monkeypatch.context() as preloaded:
        for name, value in disk.environment.items():
            preloaded.setenv(name, value)
        server.start()
    if not durable:
        connect = _postgres.PostgresBackend._connect

        def careless(self):
            connection = connect(self)
            connection.execute("SET synchronous_commit = off")
            return connection

        monkeypatch.setattr(_postgres.PostgresBackend, "_connect", careless)
    rng, cuts = random.Random(1), []
    try:
        with bl.Store(server.server.get_uri(), timeout=60.0) as store:
            button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
            button.decide()
            server.execute("CHECKPOINT")
            with Shop(button) as shop:
                for number in range(6):
                    time.sleep(rng.uniform(0.5, 2.0))
                    if number == 3:
                        server.execute("CHECKPOINT")
                    with disk.at_one_instant():
                        acknowledged = list(shop.acknowledged)
                        cuts.append((disk.cut(f"cut-{number}", [0.0, 0.5, 0.9][number % 3], rng), acknowledged))
    finally:
        server.kill()
        server.server.cleanup()
    monkeypatch.undo()
    lost = sum(lost_after(folder, acknowledged) for folder, acknowledged in cuts)
    assert sum(len(acknowledged) for _, acknowledged in cuts) > 200
    assert (lost == 0) == durable
