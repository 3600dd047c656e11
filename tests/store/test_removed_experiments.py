"""An experiment that is gone is always reported as removed, also when its rows are gone too."""

from __future__ import annotations

import time

import pytest

import bootleader as bl
from tests.store.test_experiment import reason_of


@pytest.fixture
def button(store):
    button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    for value in (1.0, 2.0, 3.0):
        button.reward(button.decide().id, value)
    return button


def calls_of(button, decision):
    yield button.decide
    yield lambda: button.decide(arm="blue", probability=0.5)
    yield lambda: button.reward(decision, 5.0)
    yield lambda: button.amend(decision, 5.0)
    yield lambda: button.add(decision, 5.0)
    yield lambda: button.reward_many([(decision, 5.0)])
    yield lambda: button.audit(decision)
    yield lambda: button.add_arm("red")
    yield lambda: button.fold(time.time() + 60.0)


@pytest.mark.parametrize("vacuumed", [False, True], ids=["removed", "vacuumed"])
def test_a_worker_is_told(store, store_url, button, vacuumed):
    decision = button.decide().id
    with bl.Store(store_url) as other:
        late = other.open("button")  # it has read nothing yet
        store.remove("button")
        if vacuumed:
            store.vacuum()
        for experiment in (button, late):
            for number, call in enumerate(calls_of(experiment, decision)):
                if not vacuumed and number == 6:
                    continue  # what was decided can still be computed again
                assert reason_of(call) == "removed", number
        if vacuumed:
            assert reason_of(late.summary) == "removed"
            assert reason_of(late.log) == "removed"


def test_what_a_late_process_writes_is_not_kept(store, button):
    writer = button._writer
    early = writer.replica().snapshot()
    store.remove("button")
    assert reason_of(writer.backend.save_snapshot, writer.found.id, *early, writer.backend.epoch) == "removed"
    sql = "INSERT INTO bootleader_snapshots (experiment, position, horizon, blob) VALUES (?, ?, ?, ?)"
    writer.backend.write(lambda execute: execute(sql, (writer.found.id, *early)))
    store.vacuum()
    writer.backend.write(lambda execute: execute(sql, (writer.found.id, *early)))  # after its experiment
    store.vacuum()
    assert writer.backend.rows("SELECT * FROM bootleader_snapshots") == []


def test_a_reward_of_a_removed_arm_says_so(store, store_url):
    """In the process that removed it, in one that has not read that, and in one that has read nothing."""
    button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green", "red"], seed=1)
    with bl.Store(store_url) as other, bl.Store(store_url) as third:
        theirs, fresh = other.open("button"), third.open("button")
        for _ in range(12):  # as busy as alone
            theirs.reward(theirs.decide().id, 1.0)
        ids = [theirs.decide(arm="red").id for _ in range(5)]
        own = [button.decide(arm="red").id for _ in range(2)]
        known = fresh.reward(ids[0], 1.0)
        assert known == bl.Receipt.COUNTED
        button.remove_arm("red")
        assert button.reward(own[0], 1.0) == bl.Receipt.ARM_REMOVED
        assert theirs.reward(ids[1], 1.0) == bl.Receipt.ARM_REMOVED
        assert fresh.reward(ids[2], 1.0, event="order-1") == bl.Receipt.ARM_REMOVED
        assert fresh.amend(ids[2], 2.0) == bl.Receipt.ARM_REMOVED
        assert button.reward(ids[3], 1.0) == bl.Receipt.ARM_REMOVED
        button.add_arm("gold")
        assert fresh.reward(fresh.decide(arm="gold").id, 1.0) == bl.Receipt.COUNTED
        assert button.check(), str(button.check())
