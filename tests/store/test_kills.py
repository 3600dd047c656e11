"""Workers that are killed at random instants: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bootleader as bl
from bootleader.store import Check
from bootleader.store._events import Kind

ROOT = Path(__file__).parents[2]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked and killed")


class Workers:
    """Processes at work on a store."""

    def __init__(self, nursery: subprocess.Popen[str], folder: Path) -> None:
        self._nursery, self._folder = nursery, folder
        self._started = 0
        self.running: list[tuple[str, int]] = []  # names and process ids

    def start(self) -> None:
        name = f"worker-{self._started}"
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        print(name, self._started, file=self._nursery.stdin, flush=True)
        self.running.append((name, int(self._nursery.stdout.readline())))
        self._started += 1

    def kill(self, place: int) -> bool:
        """Kill a worker that has noted something, at whatever it is doing, and start another; whether there was one."""
        name, process = self.running[place]
        noted = self._folder / f"{name}.txt"
        if not noted.exists() or not noted.stat().st_size:
            return False
        os.kill(process, signal.SIGKILL)
        del self.running[place]
        self.start()
        return True

    def check(self) -> None:
        """Raise if a worker has failed."""
        assert not [file.read_text() for file in self._folder.glob("*.error")]

    def end(self) -> None:
        """Let all workers end what they are doing."""
        (self._folder / "stop").touch()
        until = time.monotonic() + 120.0
        while any(_is_alive(process) for _, process in self.running):
            assert time.monotonic() < until, "the workers do not end"
            time.sleep(0.02)
        self.check()


def _is_alive(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@contextlib.contextmanager
def workers_on(url: str, folder: Path) -> Iterator[Workers]:
    command = [sys.executable, "-m", "tests.store.worker", url, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery:
        workers = Workers(nursery, folder)
        try:
            yield workers
        finally:
            for _, process in workers.running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


def noted(folder: Path) -> list[list[str]]:
    """What the workers had acknowledged: whole lines."""
    return [
        line.split()
        for file in sorted(folder.glob("*.txt"))
        for line in file.read_text().split("\n")[:-1]
        if line
    ]  # fmt: skip


def run_under_kills(url: str, folder: Path, kills: int, events: int) -> None:
    """Four workers; a random one is killed and replaced until so many kills and events have been."""
    rng = random.Random(kills)
    with workers_on(url, folder) as workers:
        for _ in range(4):
            workers.start()
        killed = 0
        while killed < kills or len(noted(folder)) < events:
            time.sleep(rng.uniform(0.05, 0.4) if killed < kills else 1.0)
            if killed < kills:
                killed += workers.kill(rng.randrange(4))
            workers.check()
        workers.end()


def check_after(url: str, folder: Path) -> Check:
    """Every acknowledged event is in the log, once; all replicas agree; every probability comes out again."""
    with bl.Store(url) as store:
        button = store.open("button")
        lines = noted(folder)
        events = list(button._writer.backend.events(button._writer.found.id))
        made = {event.decision for event in events if event.kind == Kind.DECISION}
        ids = [event.event for event in events if event.event is not None]
        assert {line[1] for line in lines if line[0] == "decision"} <= made
        assert {line[3] for line in lines if line[0] != "decision"} <= set(ids)
        assert len(ids) == len(set(ids))
        counted = [event.decision for event in events if event.kind == Kind.REWARD]
        assert len(counted) == len(set(counted))
        assert button.summary()["pulls"].sum() == len({e.decision for e in events if e.value is not None})
        check = button.check()
        assert check, str(check)
        assert check.audited == check.decisions
        writer = button._writer
        states = {writer.fresh_replica(use_snapshots=use).state.to_bytes() for use in (True, False)}
        assert states == {writer.replica().state.to_bytes()}
        print(f"{len(lines):,} acknowledged; {check}")
        return check


def prepared(url: str) -> None:
    with bl.Store(url) as store:
        rules = bl.Traffic(floor=0.05, sticky=True)
        store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green", "red"], seed=1, traffic=rules)


@needs_fork
@pytest.mark.long
def test_kills_lose_nothing(tmp_path):
    folder = tmp_path / "noted"
    folder.mkdir()
    store_url = f"sqlite:///{tmp_path}/store.db"
    prepared(store_url)
    run_under_kills(store_url, folder, kills=2, events=60)
    assert check_after(store_url, folder).events > 40


@needs_fork
@pytest.mark.slow
def test_two_hundred_kills_lose_nothing_in_a_hundred_thousand_events(store_url, tmp_path):
    folder = tmp_path / "noted"
    folder.mkdir()
    prepared(store_url)
    run_under_kills(store_url, folder, kills=200, events=120_000)
    assert check_after(store_url, folder).events > 100_000
