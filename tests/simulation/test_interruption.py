"""Ctrl-C stops every kernel soon, and leaves no threads or files behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.helpers import posix_only

pytestmark = posix_only

LONGEST_WAIT = 300  # seconds

STOPPABLE = """
import signal, sys, threading, time
import bootleader as bl

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored

class Slow:
    def start(self, arms, rng): pass
    def pull(self): return 0
    def update(self, arm, reward): pass

bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms={arms}))
bl.simulate({policies}, bandit, rounds=2 * {arms}, runs=2)  # compiled, or read from the cache
ended = []

def count(runs):
    ended.append(runs)

print("ready", flush=True)
try:
    bl.simulate({policies}, bandit, rounds={rounds}, runs=4_000, progress={progress} or count)
except KeyboardInterrupt:
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    early = "early" if sum(ended) < 4_000 else "late"
    print("stopped", [name for name in left if "tqdm" not in name.lower()], early, flush=True)
    sys.exit(7)
"""


@pytest.mark.parametrize(
    ("policies", "arms", "rounds"),
    [
        ("bl.ReBoot(sigma_a=1.5)", 10, 1_000_000),
        ("bl.AdaptiveReBoot()", 200, 1_000_000),
        ("bl.Giro()", 10, 1_000_000),
        ("bl.ReBoot(1.0, weights='mammen')", 10, 1_000_000),
        ("Slow()", 10, 1_000_000),
    ],
)
@pytest.mark.parametrize("progress", [False, True])
def test_ctrl_c_stops_soon_and_leaves_nothing(tmp_path, policies, arms, rounds, progress):
    code = STOPPABLE.format(policies=policies, arms=arms, rounds=rounds, progress=progress)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        cwd=tmp_path,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        output = process.stdout.readline()
        _, errors = process.communicate(timeout=LONGEST_WAIT)
    finally:
        process.kill()
    assert process.returncode == 7, errors
    assert output.split() == ["stopped", "[]", "early"]
    assert list(tmp_path.iterdir()) == []
