"""Workers that are killed at random instants: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bootleader as bl
from bootleader.store import Check
from bootleader.store._events import Kind

ROOT = Path(__file__).parents[2]


def started(url: str, folder: Path, number: int, seed: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.store.worker", url, str(folder), f"worker-{number}", str(seed)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


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
    workers = [started(url, folder, number, number) for number in range(4)]
    names = [f"worker-{number}" for number in range(4)]
    try:
        killed = 0
        while killed < kills or len(noted(folder)) < events:
            time.sleep(rng.uniform(0.05, 0.4) if killed < kills else 1.0)
            place = rng.randrange(4)
            at_work = folder / f"{names[place]}.txt"
            if killed < kills and at_work.exists() and at_work.stat().st_size > 0:
                workers[place].kill()
                workers[place].communicate()
                killed += 1
                workers[place] = started(url, folder, 4 * killed + place, 4 * killed + place)
                names[place] = f"worker-{4 * killed + place}"
            assert all(worker.poll() is None for worker in workers), [w.stderr.read() for w in workers if w.poll()]
        (folder / "stop").touch()
        for worker in workers:
            _, errors = worker.communicate(timeout=120)
            assert worker.returncode == 0, errors.decode()
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            worker.stderr.close()


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


@pytest.mark.long
def test_kills_lose_nothing(tmp_path):
    folder = tmp_path / "noted"
    folder.mkdir()
    store_url = f"sqlite:///{tmp_path}/store.db"
    prepared(store_url)
    run_under_kills(store_url, folder, kills=2, events=60)
    assert check_after(store_url, folder).events > 40


@pytest.mark.slow
def test_two_hundred_kills_lose_nothing_in_a_hundred_thousand_events(store_url, tmp_path):
    folder = tmp_path / "noted"
    folder.mkdir()
    prepared(store_url)
    run_under_kills(store_url, folder, kills=200, events=120_000)
    assert check_after(store_url, folder).events > 100_000
