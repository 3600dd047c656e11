"""Decisions, rewards, amendments, files, folds and paused arms by several processes at once; the sums stay exact.

The log is read in small parts and snapshots are written often, so that parts, snapshots, folds and transactions overlap
in many ways.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import bootleader as bl
from bootleader.store import _postgres, _replica, _sqlite
from tests.helpers import LONGEST_WAIT
from tests.store.postgres_server import Server, folder_in_memory

ARMS = ["a", "b", "c"]
WORKERS = 3
RECENT = 30  # decisions whose reward a worker may change


def work(url: str, seed: int, calls: int, answers: Any) -> None:
    """Make calls at random; answer what each decision should have earned, with its arm, and what went wrong."""
    _postgres.READ_AT_ONCE = _sqlite.READ_AT_ONCE = 5 + seed % 3  # type: ignore[misc]
    _replica.SNAPSHOT_EVENTS, _replica.SNAPSHOT_BYTES = 20, 10**9  # type: ignore[misc]
    rng, clock = random.Random(seed), [1e9]
    store = bl.Store(url, timeout=LONGEST_WAIT, clock=lambda: clock[0])
    button = store.open("button")
    earned: dict[str, float | None] = {}
    arms: dict[str, str | None] = {}
    rewarded: set[str] = set()
    wrong: list[str] = []

    def call() -> None:
        action, recent = rng.random(), list(earned)[-RECENT:]
        decision = rng.choice(recent) if recent else None
        amount = float(rng.randrange(1000))
        if action < 0.45 or decision is None:
            made = button.decide(unit=f"u{rng.randrange(300)}")
            earned[made.id], arms[made.id] = None, None if made.holdout else made.arm
        elif action < 0.6:
            button.amend(decision, amount)
            earned[decision] = amount
            rewarded.add(decision)
        elif action < 0.75:
            button.add(decision, amount, event=f"{decision}-{rng.random()}")
            earned[decision] = (earned[decision] or 0.0) + amount
            rewarded.add(decision)
        elif action < 0.8 and earned[decision] is not None:
            button.withdraw(decision)
            earned[decision] = None
        elif action < 0.86:
            part = [each for each in recent if each not in rewarded]
            button.reward_many([(each, 7.0) for each in part])
            earned.update(dict.fromkeys(part, 7.0))
            rewarded.update(part)
        elif action < 0.9:
            button.fold(clock[0] - rng.uniform(0.0, 50.0))
        elif action < 0.92:
            (button.pause_arm if rng.random() < 0.5 else button.resume_arm)("c")

    for _ in range(calls):
        clock[0] += 1.0
        try:
            call()
        except bl.StoreError as error:
            if error.reason != "folded":
                wrong.append(f"{error.reason}: {error}")
        except ValueError as error:
            if "paused" not in str(error):
                wrong.append(str(error))
    answers.put((earned, arms, wrong))
    store.close()


def check_soak(
    store: bl.Store, url: str, calls: int, seed: int, traffic: bl.Traffic | None,
    before_check: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    button = store.create("button", bl.StudentThompson(), ARMS, seed=seed, traffic=traffic)
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    workers = [context.Process(target=work, args=(url, 10 * seed + k, calls, answers)) for k in range(WORKERS)]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=LONGEST_WAIT) for _ in workers]
    for worker in workers:
        worker.join()
    before_check()
    sums, counts, decisions = dict.fromkeys(ARMS, 0.0), dict.fromkeys(ARMS, 0), 0
    for earned, arms, wrong in found:
        assert wrong == []
        decisions += len(earned)
        for decision, amount in earned.items():
            if amount is not None and arms[decision] is not None:
                sums[arms[decision]] += amount
                counts[arms[decision]] += 1
    writer = button._writer
    state = writer.replica().state
    for use_snapshots in (False, True):
        assert writer.fresh_replica(use_snapshots=use_snapshots).state.to_bytes() == state.to_bytes()
    for arm in state.arms:
        assert arm.sums.number == counts[arm.name]
        assert Fraction(arm.sums.powers[1], 2**arm.sums.exponent) == sums[arm.name]
    assert sum(arm.decisions for arm in state.arms) == decisions
    assert button.check(), str(button.check())


RULES = [None, bl.Traffic(floor=0.05, holdout=0.2, control="a", sticky=True)]


@pytest.mark.long
def test_everything_at_once(store, store_url):
    check_soak(store, store_url, calls=150, seed=1, traffic=RULES[1])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_everything_at_once_for_longer(store, store_url, seed):
    check_soak(store, store_url, calls=2_000, seed=seed, traffic=RULES[seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [8, 9])
def test_everything_at_once_while_the_server_crashes(seed):
    """Calls go on when it is there again, and count once."""
    with tempfile.TemporaryDirectory(prefix="bl-pg-", dir=folder_in_memory()) as folder:
        server, ended, rng = Server(folder), threading.Event(), random.Random(seed)

        def crash() -> None:
            while not ended.wait(rng.uniform(0.5, 3.0)):
                server.kill()
                server.start()

        crashes = threading.Thread(target=crash)
        url = server.new_database()
        with bl.Store(url, timeout=LONGEST_WAIT) as store:
            crashes.start()
            try:
                check_soak(store, url, calls=5_000, seed=seed, traffic=RULES[seed % 2], before_check=ended.set)
            finally:
                ended.set()
                crashes.join()
        server.kill()
        server.server.cleanup()
