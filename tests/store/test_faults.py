"""What can go wrong in a database: every failure reaches the caller as StoreError, and nothing acknowledged is lost."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from functools import partial

import apsw
import pytest

import bootleader as bl
from bootleader import Receipt, StoreError
from bootleader.store import _replica
from bootleader.store._events import Core, Kind, Rest, new_event
from bootleader.store._sqlite import SqliteBackend
from tests.helpers import LONGEST_WAIT
from tests.store.power_cut import Disk, PowerCutVfs
from tests.store.test_experiment import reason_of


def created(store, **options):
    return store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1, **options)


# The disk -------------------------------------------------------------------------------------------------------------


def powered(tmp_path, disk: Disk, name: str) -> SqliteBackend:
    """A worker whose file is on a disk that may lose its power."""
    vfs = PowerCutVfs(name, disk)
    backend = SqliteBackend(str(tmp_path / "shop.db"), 10.0, vfs=name)
    backend.keeps = vfs  # registered as long as it is there
    return backend


def synced(monkeypatch, disk: Disk, tmp_path) -> None:
    """Tell the disk when a store waits for it."""
    log = f"{tmp_path}/shop.db-wal"
    monkeypatch.setattr("bootleader.store._write_ahead_log.flush", lambda descriptor: disk.sync(log))


@pytest.mark.parametrize(("alone", "durable"), [(True, True), (False, True), (False, False)])
def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path, alone, durable, monkeypatch):
    """Cut at random instants; without waiting for the disk (the wrong version) something is lost."""
    disk, rng, lost = Disk(), random.Random(1), 0
    store = bl.Store("sqlite://")
    synced(monkeypatch, disk if durable else Disk(), tmp_path)
    store._backend = powered(tmp_path, disk, f"power-{alone}-{durable}")
    if not alone:
        store._backend._let_commit_wait = lambda connection, commit_waits: None
    button = created(store)
    store._backend._connection.execute("PRAGMA wal_autocheckpoint = 20")
    acknowledged: list[tuple[str, float]] = []
    for number in range(60):
        decision = button.decide().id
        button.reward(decision, float(number))
        acknowledged.append((decision, float(number)))
        if number % 10 == 9:
            folder = tmp_path / f"cut-{number}"
            folder.mkdir()
            disk.cut(folder, rng)
            try:
                with bl.Store(f"sqlite:///{folder}/shop.db") as after:
                    here = after.open("button")
                    log = here.log()
                    kept = dict(zip(log["id"], log["reward"], strict=True))
                    lost += sum(kept.get(key) != value for key, value in acknowledged)
                    assert not durable or here.check(), str(here.check())
            except StoreError:
                assert not durable
                lost += 1
    assert (lost == 0) == durable
    assert (disk.syncs > 120) == durable
    store.close()


def test_a_repeated_reward_is_durable_though_its_first_writer_was_not(tmp_path, monkeypatch):
    """The first delivery is committed and never synced; the second is answered, and the power is cut."""
    disk, log = Disk(), "bootleader.store._write_ahead_log.flush"
    first, second = bl.Store("sqlite://"), bl.Store("sqlite://")
    synced(monkeypatch, disk, tmp_path)
    first._backend = powered(tmp_path, disk, "first")
    button = created(first)
    decision = button.decide().id

    def fails(descriptor: int) -> None:
        raise OSError("the disk does not answer")

    with monkeypatch.context() as broken:
        broken.setattr(log, fails)
        assert reason_of(button.reward, decision, 2.0) == "unavailable"
    second._backend = powered(tmp_path, disk, "second")
    assert second.open("button").reward(decision, 2.0) is Receipt.REPEATED
    after_cut = tmp_path / "after"
    after_cut.mkdir()
    disk.cut(after_cut)
    with bl.Store(f"sqlite:///{after_cut}/shop.db") as after:
        assert after.open("button").log()["reward"].tolist() == [2.0]
    first.close()
    second.close()


def test_a_full_disk(tmp_path):
    with bl.Store(f"sqlite:///{tmp_path}/shop.db") as store:
        button = created(store)
        connection = store._backend._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        acknowledged = []

        def fill() -> None:
            for _ in range(1000):
                acknowledged.append(button.decide(unit="x" * 500).id)

        assert reason_of(fill) == "unavailable"
        assert reason_of(button.add_arm, "gold", "y" * 5000) == "unavailable"
        assert button.log()["id"].tolist() == acknowledged
        connection.execute("PRAGMA max_page_count = 100000")
        assert button.decide().id
        assert button.check()


# The database ---------------------------------------------------------------------------------------------------------


def test_a_lock_that_is_held_too_long(tmp_path, server):
    with bl.Store(f"sqlite:///{tmp_path}/shop.db", timeout=0.2) as store:
        button = created(store)
        other = apsw.Connection(f"{tmp_path}/shop.db")
        other.execute("BEGIN IMMEDIATE")
        assert reason_of(button.decide) == "unavailable"
        assert button.summary() is not None  # readers do not wait
        other.execute("ROLLBACK")
        assert button.decide().id
        other.close()
    import psycopg

    url = server.new_database()
    with bl.Store(url, timeout=0.2) as store, psycopg.connect(url) as other:
        button = created(store)
        other.execute("LOCK TABLE bootleader_events")
        assert reason_of(button.decide) == "unavailable"
        other.rollback()
        assert button.decide().id


def test_an_experiment_removed_while_workers_decide(store, store_url):
    button = created(store)
    failed, made = [], []
    opened = threading.Barrier(3)

    def work() -> None:
        with bl.Store(store_url) as mine:
            here = mine.open("button")
            opened.wait()
            try:
                while True:  # until it is removed, however long that takes on a busy machine
                    made.append(here.decide().id)
            except StoreError as error:
                failed.append(error.reason)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    opened.wait()
    while len(made) < 6:
        time.sleep(0.01)
    store.remove("button")
    for worker in workers:
        worker.join()
    assert failed == ["removed", "removed"]
    events = [event.decision for event in store._backend.events(button._writer.found.id)]
    assert set(made) <= set(events)


# Races ----------------------------------------------------------------------------------------------------------------


def at_once(*calls):
    """Make calls at the same moment, in threads; what each returned, or the reason it was refused for."""
    barrier = threading.Barrier(len(calls))
    answers: list[object] = [None] * len(calls)

    def make(place, call) -> None:
        barrier.wait()
        try:
            answers[place] = call()
        except StoreError as error:
            answers[place] = error.reason

    threads = [threading.Thread(target=make, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_a_new_file_is_opened_by_many_at_once(tmp_path):
    """SQLite itself does not wait where several change the mode of a new file."""
    for number in range(20):
        opened = partial(bl.Store, f"sqlite:///{tmp_path}/{number}.db", timeout=LONGEST_WAIT)
        stores = at_once(*[opened] * 8)
        assert [store if isinstance(store, str) else store.list() for store in stores] == [[]] * 8
        for store in stores:
            store.close()


def race(button, other, number) -> None:
    """Calls of two processes on the same decisions at the same moment."""
    both = (button, other)
    ids = [button.decide(unit=f"u{number}").id for _ in range(4)]
    same = at_once(*(partial(each.reward, ids[0], 1.0, event=f"o{number}") for each in both))
    assert sorted(same) == [Receipt.REPEATED, Receipt.COUNTED]
    differing = at_once(partial(button.reward, ids[1], 1.0), partial(other.reward, ids[1], 2.0))
    assert sorted(differing) == ["conflict", Receipt.COUNTED]
    amended = at_once(partial(button.reward, ids[2], 5.0), partial(other.amend, ids[2], 7.0, event=f"a{number}"))
    assert amended == [Receipt.COUNTED, Receipt.COUNTED]
    at_once(*(partial(each.add, ids[3], 1.0, event=f"p{number}-{place}") for place, each in enumerate(both)))
    rewards = button.log().set_index("id")["reward"]
    assert (rewards[ids[2]], rewards[ids[3]]) == (7.0, 2.0)
    first = at_once(*(partial(each.decide, unit=f"new-{number}") for each in both))
    assert first[0].arm == first[1].arm  # assigned once


def test_races(store, store_url):
    """Two processes' worth of connections on one decision: repeated, conflicting, amending, adding."""
    button = created(store, traffic=bl.Traffic(sticky=True))
    with bl.Store(store_url) as second:
        other = second.open("button")
        for number in range(4):
            race(button, other, number)
        assert at_once(lambda: button.add_arm("gold"), lambda: other.add_arm("red")) == [None, None]
        assert set(other.arms) == {"blue", "green", "gold", "red"}
        assert button.check(), str(button.check())
        units = store.create("units", bl.UCB1(), ["a", "b"], traffic=bl.Traffic(sticky=True))
        theirs = second.open("units")
        for number in range(12):  # two different arms in half of the races, if both could assign one
            first = at_once(*(partial(each.decide, unit=f"u{number}") for each in (units, theirs)))
            assert first[0].arm == first[1].arm


def rush(store_url, ids, number, answers) -> None:
    """What a process got for rewards that another one reports at the same moment."""
    same, differing, amended = ids
    with bl.Store(store_url, timeout=60.0) as store:
        button = store.open("button")
        change = button.reward if number == 0 else button.amend
        got = [
            [answer_of(button.reward, decision, 1.0, event=f"order-{decision}") for decision in same],
            [answer_of(button.reward, decision, float(number)) for decision in differing],
            [answer_of(change, decision, 10.0 + number) for decision in amended],
        ]
        answers.put(got)


def answer_of(call, *args, **options) -> str:
    try:
        return str(call(*args, **options).value)
    except StoreError as error:
        return error.reason


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_two_processes_at_once(store, store_url):
    """Two processes go through the same decisions: repeated, conflicting, and amended while they are rewarded."""
    button = created(store)
    ids = [[button.decide().id for _ in range(8)] for _ in range(3)]
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    processes = [context.Process(target=rush, args=(store_url, ids, number, answers)) for number in range(2)]
    for process in processes:
        process.start()
    got = [answers.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(60)
    same, differing, amended = ([sorted(pair) for pair in zip(*rows, strict=True)] for rows in zip(*got, strict=True))
    assert same == 8 * [["already counted", "counted"]]
    assert differing == 8 * [["conflict", "counted"]]
    assert amended == 8 * [["counted", "counted"]]
    rewards = button.log().set_index("id")["reward"]
    assert rewards[ids[2]].tolist() == 8 * [11.0]  # the amendment counts, whichever came first
    assert button.summary()["pulls"].sum() == 24
    assert button.check(), str(button.check())


# Size and time --------------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_open_decisions(memory):
    check_open_decisions(memory)


@pytest.mark.slow
def test_a_hundred_thousand_open_decisions_of_every_backend(store):
    check_open_decisions(store)


def check_open_decisions(store: bl.Store) -> None:
    button = store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)
    writer = button._writer
    now = time.time()
    many = [
        new_event(Core(Kind.DECISION, f"open-{k}", 0, arm=k % 2, time=now), Rest(detail="recorded"))
        for k in range(10**5)
    ]
    writer.backend.append_many(writer.found.id, many, 0)
    decisions = [button.decide() for _ in range(20)]
    assert decisions[0].probability == 0.5  # all wait for their first reward
    assert button.summary()["open"].sum() == 10**5 + 20
    button.reward("open-7", 3.0)
    button.reward("open-8", 4.0)
    assert button.summary()["open"].sum() == 10**5 + 18
    assert writer.fresh_replica().state.to_bytes() == writer.replica().state.to_bytes()
    assert button.audit(button.decide().id).agrees


def test_clocks_that_jump(store_url):
    """Two workers whose clocks jump by days, and back to before 1970: all is counted and can be computed again."""
    jumps = [0.0, 86_400.0, -86_400.0, 1e9, -3e9, 0.0]
    now = [time.time()]
    clock = lambda: now[0]  # noqa: E731
    with bl.Store(store_url, clock=clock) as first, bl.Store(store_url) as second:
        button = created(first, max_age=3600.0, traffic=bl.Traffic(floor=0.05, sticky=True))
        other = second.open("button")
        waiting: list[str] = []
        for number, jump in enumerate(jumps):
            now[0] += jump
            made = [each.decide(unit=f"u{number % 2}").id for each in (button, other)]
            waiting += made
            assert other.reward(waiting.pop(0), float(number)) == Receipt.COUNTED
            assert button.amend(waiting[0], 1.0 + number) == Receipt.COUNTED
        assert button._writer.replica().state.to_bytes() == other._writer.replica().state.to_bytes()
        assert len(button.log()) == 2 * len(jumps)
        assert button.check(), str(button.check())
        assert other.check(), str(other.check())


def test_a_worker_that_was_asleep_for_a_day(store, store_url):
    button = created(store)
    with bl.Store(store_url, clock=lambda: time.time() - 86_400) as other:
        asleep = other.open("button")
        asleep.decide()
        for number in range(30):
            button.reward(button.decide().id, float(number))
        decision = asleep.decide()
        assert asleep.audit(decision.id).agrees
        assert asleep._writer.replica().state.to_bytes() == button._writer.replica().state.to_bytes()
    assert button.check()


@pytest.mark.parametrize(
    "odd",
    [{"blue": 10**30}, {"blue": {"x": "\ud83d"}}, {"blue": [2**64]}, ["\ud83d"]],
    ids=["large", "half", "64", "name"],
)
def test_metadata_and_names_that_are_hard_to_pack(store, store_url, odd, monkeypatch):
    monkeypatch.setattr(_replica, "SNAPSHOT_EVENTS", 5)
    arms = {**(odd if isinstance(odd, dict) else dict.fromkeys(odd)), "green": None}
    button = store.create("button", bl.ReBoot(sigma_a=1.5), arms, seed=1)
    for _ in range(10):
        button.reward(button.decide().id, 1.0)
    assert len(button._writer.backend.snapshots(button._writer.found.id)) > 0
    assert button.check(), str(button.check())
    assert button.fold(time.time() + 5.0) > 0
    with bl.Store(store_url) as other:
        assert other.open("button").arms == arms
