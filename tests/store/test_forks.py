"""Processes that are forked while a store is open: they write for themselves, and nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import bootleader as bl
from bootleader import Receipt
from bootleader.store import _sqlite
from tests.helpers import LONGEST_WAIT
from tests.store.test_experiment import reason_of

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:.*fork:DeprecationWarning"
    ),  # of later Pythons, where other libraries have threads
    pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"),
]


@pytest.fixture
def button(store):
    return store.create("button", bl.AdaptiveReBoot(), ["blue", "green", "red"], seed=7)


def forked(target, *args):
    context = multiprocessing.get_context("fork")
    child = context.Process(target=target, args=args)
    child.start()
    return child


def ended(*children) -> None:
    for child in children:
        child.join(60)
        assert child.exitcode == 0


def in_child(button, answers) -> None:
    decision = button.decide()
    answers.put((decision.id, button.reward(decision.id, 2.0)))


def test_a_fork_gets_connections_of_its_own(button):
    before = button.decide()
    answers = multiprocessing.get_context("fork").Queue()
    with button._writer.lock:  # held by this thread at the fork
        children = [forked(in_child, button, answers) for _ in range(3)]
    told = [answers.get(timeout=60) for _ in children]
    ended(*children)
    assert len({decision for decision, _ in told}) == 3
    assert button.reward(before.id, 1.0) == Receipt.COUNTED
    assert button.summary()["pulls"].sum() == 4
    assert button.check()


def decide_before_and_after(button, answers, parent_closed) -> None:
    answers.put(button.decide().id)
    parent_closed.wait(60)
    for _ in range(3):
        answers.put(button.decide().id)


def test_what_a_child_wrote_is_there_though_its_parent_closed_the_store(store, store_url, button):
    """SQLite: the last connection that closes deletes the write-ahead log, unless the child has locks of its own."""
    button.decide()
    context = multiprocessing.get_context("fork")
    answers, parent_closed = context.Queue(), context.Event()
    child = forked(decide_before_and_after, button, answers, parent_closed)
    acknowledged = [answers.get(timeout=60)]
    store.close()
    parent_closed.set()
    acknowledged += [answers.get(timeout=60) for _ in range(3)]
    ended(child)
    with bl.Store(store_url) as after:
        assert set(acknowledged) <= set(after.open("button").log()["id"])


def count(button, answers) -> None:
    answers.put(int(button.summary()["pulls"].sum()))


def test_a_replica_that_was_half_way_is_not_inherited(button):
    """Another thread of the parent is applying events at the fork."""
    for value in range(3):
        button.reward(button.decide().id, float(value))
    halfway, go_on = threading.Event(), threading.Event()

    def apply_half() -> None:
        with button._writer.lock:
            state = button._writer.replica().state
            state.arms[0].sums.add(5.0)  # as in the middle of a batch
            state.arms_to_refresh.add(0)
            state.version += 1
            halfway.set()
            go_on.wait(60)
            state.arms[0].sums.add(5.0, -1)
            state.version += 1

    worker = threading.Thread(target=apply_half)
    worker.start()
    halfway.wait(60)
    answers = multiprocessing.get_context("fork").Queue()
    child = forked(count, button, answers)
    go_on.set()
    worker.join()
    assert answers.get(timeout=60) == 3
    ended(child)
    assert button.summary()["pulls"].sum() == 3


def test_a_store_in_memory_stays_in_its_process(memory):
    button = memory.create("button", bl.UCB1(), ["a", "b"], seed=1)
    answers = multiprocessing.get_context("fork").Queue()
    child = forked(refused, button, answers)
    assert answers.get(timeout=60) == "unavailable"
    ended(child)
    assert button.decide().id


def refused(button, answers) -> None:
    answers.put(reason_of(button.decide))


def test_a_fork_that_was_not_announced_is_refused(tmp_path, monkeypatch):
    """A server in C may fork without a word to Python: its child must not use a file that the parent had open."""
    monkeypatch.setattr(_sqlite, "_inherited", [])
    url = f"sqlite:///{tmp_path}/store.db"
    store = bl.Store(url)
    button = store.create("button", bl.UCB1(), ["a", "b"], seed=1)
    store._backend.forget_connections()  # what runs in such a child
    assert reason_of(button.decide) == "unavailable"
    assert reason_of(bl.Store, url) == "unavailable"
    _sqlite._inherited[0][1].close()


def child_ends() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


def test_a_fork_while_another_thread_opens_a_store(tmp_path, monkeypatch):
    """The other store is not ready for a fork yet; the next fork does not wait for it."""
    button = bl.Store(f"sqlite:///{tmp_path}/a.db").create("button", bl.UCB1(), ["blue", "green"])
    opening, may_go_on, realpath = threading.Event(), threading.Event(), os.path.realpath

    def slow(path, *args, **options):
        if threading.current_thread() is opener:
            opening.set()
            may_go_on.wait(60)
        return realpath(path, *args, **options)

    opener = threading.Thread(target=lambda: bl.Store(f"sqlite:///{tmp_path}/b.db"))
    monkeypatch.setattr(_sqlite.os.path, "realpath", slow)
    opener.start()
    opening.wait(60)
    child_ends()
    may_go_on.set()
    opener.join()
    with time_limit() as reached:
        child_ends()
    assert not reached
    assert button.reward(button.decide().id, 1.0) == Receipt.COUNTED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_fork_that_a_signal_handler_interrupts(tmp_path, monkeypatch):
    """Python forks all the same. No lock stays locked."""
    store = bl.Store(f"sqlite:///{tmp_path}/a.db")
    button = store.create("button", bl.UCB1(), ["blue", "green"])

    def interrupted() -> None:
        raise OutOfTime

    with monkeypatch.context() as patch:
        patch.setattr(store._backend, "before_fork", interrupted)
        child_ends()
    with time_limit() as reached:
        child_ends()
    assert not reached
    assert button.reward(button.decide().id, 1.0) == Receipt.COUNTED


class OutOfTime(BaseException):
    """What the handler of an alarm raises."""


@contextlib.contextmanager
def time_limit(seconds=LONGEST_WAIT):
    """Raise an exception after a time; what was raised, since Python goes on after one that comes before a fork."""
    raised = []

    def out_of_time(*_):
        raised.append(OutOfTime())
        raise raised[-1]

    before = signal.signal(signal.SIGALRM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield raised
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_call_imports_nothing(tmp_path):
    """A child that is forked while another thread imports could never import the same."""
    code = f"""
        import sys, bootleader as bl
        store = bl.Store("sqlite:///{tmp_path}/a.db")
        known = set(sys.modules)
        button = store.create("button", bl.AdaptiveReBoot(), ["a", "b"], seed=1)
        for _ in range(30):
            decision = store.open("button").decide()
            button.reward(decision.id, float(len(decision.id) + ord(decision.arm)))
        print(sorted(name for name in set(sys.modules) - known))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=LONGEST_WAIT
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
