"""Syncs that are made while something else is computed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import bootleader as bl
from bootleader.store import _asynchronous_sync
from bootleader.store._asynchronous_sync import sync_during

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems sync by themselves")


@pytest.fixture
def descriptor(tmp_path):
    found = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield found
    os.close(found)


@linux
def test_the_file_is_synced_while_the_work_is_done(descriptor):
    done = []
    for number in range(50):
        os.write(descriptor, b"x" * 4096)
        assert sync_during(descriptor, lambda number=number: done.append(number))
    assert done == list(range(50))


@linux
def test_the_sync_has_ended_before_the_call_returns(descriptor, monkeypatch):
    """Work that ends at once does not shorten the wait: the library is asked until it says that the sync has ended."""
    calls, answers = _asynchronous_sync._calls(), []

    def error(request):
        answers.append(calls.error(request))
        return answers[-1]

    monkeypatch.setattr(_asynchronous_sync, "_calls", lambda: calls._replace(error=error))
    os.write(descriptor, b"x" * 4096)
    assert sync_during(descriptor, lambda: None)
    assert answers[-1] == 0


@linux
def test_work_that_fails_does_not_matter(descriptor):
    assert sync_during(descriptor, lambda: 1 / 0)


@linux
def test_an_interruption_waits_for_the_sync(descriptor):
    """Otherwise the library would write to memory that was given back."""

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync_during(descriptor, interrupted)
    assert sync_during(descriptor, lambda: None)


@linux
def test_a_disk_that_does_not_take_it():
    reading, writing = os.pipe()  # a pipe cannot be synced
    try:
        with pytest.raises(OSError, match="Invalid argument"):
            sync_during(writing, lambda: None)
    finally:
        os.close(reading)
        os.close(writing)


def test_a_system_without_it(tmp_path, descriptor, monkeypatch):
    monkeypatch.setattr(_asynchronous_sync, "_calls", lambda: None)
    assert not sync_during(descriptor, lambda: 1 / 0)
    with bl.Store(f"sqlite:///{tmp_path}/shop.db") as store:
        button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"])
        for number in range(10):
            button.reward(button.decide().id, float(number))
        assert button.check()


@linux
def test_a_child_of_a_process_that_has_used_it_syncs_by_itself(tmp_path):
    """The thread of the C library is not in the child, which would wait for it without end."""
    program = """
import os, sys
from bootleader.store._asynchronous_sync import sync_during
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
assert sync_during(descriptor, lambda: None)
child = os.fork()
if child == 0:
    os._exit(int(sync_during(descriptor, lambda: None)))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "file")], check=True, timeout=120)
