"""Ctrl-C stops every kernel soon, and leaves no threads or files behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import bootleader as bl
from tests.helpers import LONGEST_WAIT, posix_only

pytestmark = [posix_only, pytest.mark.long]

POLICIES = {  # and the number of arms that brings each to its kernel
    "bl.ReBoot(sigma_a=1.5)": 10,
    "bl.AdaptiveReBoot()": 200,
    "bl.Giro()": 10,
    "bl.ReBoot(1.0, weights='mammen')": 10,
    "Slow()": 10,
}

# One process for all policies. Each is interrupted when the parent sends a signal, some time after "ready".
STOPPABLE = """
import gc, signal, sys, threading
import bootleader as bl

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored

class Slow:
    def start(self, arms, rng): pass
    def pull(self): return 0
    def update(self, arm, reward): pass

def interrupted(policy, arms, progress):
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    bl.simulate(policy, bandit, rounds=2 * arms, runs=2)  # compiled, or read from the cache
    ended = []
    gc.collect()  # the last progress bar: Python ignores an interruption that falls into a __del__
    try:
        print("ready", flush=True)
        bl.simulate(policy, bandit, rounds=1_000_000, runs=4_000, progress=progress or ended.append)
    except KeyboardInterrupt:
        left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
        early = "early" if sum(ended) < 4_000 else "late"
        print("stopped", [name for name in left if "tqdm" not in name.lower()], early, flush=True)

for policy, arms in {policies}:
    interrupted(policy, arms, progress=False)
interrupted(policy, arms, progress=True)
sys.exit(7)
"""


def test_ctrl_c_stops_soon_and_leaves_nothing(tmp_path: Path) -> None:
    code = STOPPABLE.replace("{policies}", f"[{', '.join(f'({name}, {arms})' for name, arms in POLICIES.items())}]")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)}, cwd=tmp_path,
    )  # fmt: skip
    watchdog = threading.Timer(LONGEST_WAIT, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        for policy in [*POLICIES, "with a progress bar"]:
            assert process.stdout.readline().strip() == "ready", policy
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline().split() == ["stopped", "[]", "early"], policy
        process.wait(LONGEST_WAIT)
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()
    assert process.returncode == 7
    assert list(tmp_path.iterdir()) == []


AT_EVERY_LOCK = """
import itertools, signal, threading
import bootleader as bl

signal.signal(signal.SIGINT, signal.default_int_handler)
take, left, main = threading.Condition.__enter__, None, threading.get_ident()

def take_and_interrupt(condition):
    global left
    taken = take(condition)
    if left is not None and threading.get_ident() == main:
        left -= 1
        if left == 0:
            signal.raise_signal(signal.SIGINT)
    return taken

bandit = bl.GaussianBandit([1.0, 0.0])
play = lambda: bl.simulate(bl.UCB1(), bandit, rounds=100, runs=40, seed=1)
play()
threading.Condition.__enter__ = take_and_interrupt
for number in itertools.count(1):
    left = number
    try:
        play()
    except KeyboardInterrupt:
        left = None
        assert len(threading.enumerate()) == 1, threading.enumerate()
        continue
    break
print(number)
"""


def test_ctrl_c_at_any_lock() -> None:
    """A lock that stayed locked would let the pool wait for ever."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EVERY_LOCK], capture_output=True, text=True, timeout=LONGEST_WAIT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 2


def test_ctrl_c_while_a_thread_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool does not know the thread then; it has ended all the same."""
    start, started = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        run = thread.run

        def run_and_linger() -> None:
            run()
            time.sleep(0.3)

        thread.run = run_and_linger  # type: ignore[method-assign]
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bl.simulate(bl.UCB1(), bl.GaussianBandit([1.0, 0.0]), rounds=10, runs=2, seed=1)
    assert started
    assert not any(thread.is_alive() for thread in started)
