"""The page on a web shop, with real processes: workers, late orders, refunds, some workers killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bootleader as bl
from tests.test_docs import DOCS, blocks_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc to find the workers")

SERVERS = {
    "uvicorn": ["uvicorn", "shop:app", "--workers", "4", "--port", "{port}"],
    "gunicorn": [
        "gunicorn", "shop:app", "--worker-class", "uvicorn_worker.UvicornWorker", "--workers", "4", "--preload",
        "--bind", "127.0.0.1:{port}",
    ],
}  # fmt: skip
Answer = Callable[..., str]


def children_of(pid: int) -> list[int]:
    """The workers of a server."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            is_worker = int(fields[1]) == pid and fields[0] != "Z"
            if is_worker and b"resource_tracker" not in (stat.parent / "cmdline").read_bytes():
                found.append(int(stat.parent.name))
    return found


@contextlib.contextmanager
def started(folder: Path, module: str, block: int, more: str, command: list[str], store_url: str) -> Iterator[int]:
    """A block of the page as a module, under a server; its process id, which is also that of its group."""
    (folder / f"{module}.py").write_text(blocks_of(DOCS / "web-shop.md")[block][1] + more, encoding="utf-8")
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "SHOP_STORE": store_url, "PYTHONPATH": paths}
    with (folder / "server.txt").open("ab") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=environment, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield server.pid
        finally:
            server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(60)
            kill_all(server.pid)
            server.wait()


def kill_all(group: int) -> None:
    """Kill a server and its workers."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


# HTTP -----------------------------------------------------------------------------------------------------------------


def answer(url: str, path: str, **what: str) -> str:
    """The answer to a request, asked again while a worker dies under it."""
    method = "GET" if path == "/button" else "POST"
    request = urllib.request.Request(f"{url}{path}?{urllib.parse.urlencode(what)}", method=method)
    deadline = time.monotonic() + 300.0
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(request, timeout=60) as found:
                return str(found.read().decode())
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.1)
    raise AssertionError("no worker answers")


def visits(url: str, server: int, count: int, kills: int) -> dict[str, float]:
    """Visits with orders and refunds; what each decision should have earned."""
    rng, earned = random.Random(1), {}
    kill_at = set(rng.sample(range(5, count), kills))
    for number in range(count):
        if number in kill_at:
            os.kill(rng.choice(children_of(server)), signal.SIGKILL)
        decision = json.loads(answer(url, "/button", visitor=f"v{rng.randrange(count)}"))["decision"]
        amount = float(rng.randrange(100))
        calls: list[tuple[str, dict[str, str]]] = [("/visit-ended", {})]
        if rng.random() < 0.5:
            calls.append(("/order", {"number": f"n{number}", "amount": str(amount)}))
            if rng.random() < 0.3:
                calls.append(("/refund", {"number": f"n{number}", "amount": str(amount)}))
        earned[decision] = sum({"/order": amount, "/refund": -amount}.get(path, 0.0) for path, _ in calls)
        calls += rng.sample(calls, rng.randint(0, len(calls)))  # delivered twice
        rng.shuffle(calls)
        for path, what in calls:
            answer(url, path, decision=decision, **what)
    return earned


def check_shop(kind: str, folder: Path, store_url: str, count: int, kills: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [part.format(port=port) for part in SERVERS[kind]]
    with started(folder, "shop", 0, "", command, store_url) as process:
        earned = visits(f"http://127.0.0.1:{port}", process, count, kills)
    check_log(store_url, earned)


def check_log(store_url: str, earned: dict[str, float]) -> None:
    """No order is lost and none counts twice, and every decision comes out again."""
    with bl.Store(store_url) as store:
        button = store.open("button")
        log = button.log().set_index("id")["reward"]
        assert {decision: log[decision] for decision in earned} == earned
        check = button.check()
        assert check, str(check)
        print(f"{len(earned):,} visits; {check}")


@pytest.mark.long
@pytest.mark.parametrize("kind", SERVERS)
def test_a_shop_with_four_workers(kind, tmp_path):
    check_shop(kind, tmp_path, f"sqlite:///{tmp_path}/shop.db", count=20, kills=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SERVERS)
def test_a_shop_for_longer(kind, store_url, tmp_path):
    check_shop(kind, tmp_path, store_url, count=1500, kills=20)


# Celery ---------------------------------------------------------------------------------------------------------------

SENT_AGAIN = 5.0  # seconds after which a task that is not done is sent again
BROKER = """
import pathlib
folder = pathlib.Path(__file__).parent / "queue"
folder.mkdir(exist_ok=True)
folders = dict.fromkeys(["data_folder_in", "data_folder_out", "control_folder"], str(folder))
options = {**folders, "polling_interval": 0.1}
queue.conf.update(broker_url="filesystem://", broker_transport_options=options, task_ignore_result=True)
"""
WORKER = [
    "celery", "-A", "tasks", "worker", "--pool", "prefork", "--concurrency", "{processes}", "--loglevel", "INFO",
    "--without-gossip", "--without-mingle",  # other workers are not asked first
]  # fmt: skip


def client_of(folder: Path):
    """What sends tasks to the workers."""
    from celery import Celery

    (folder / "queue").mkdir(exist_ok=True)
    folders = dict.fromkeys(["data_folder_in", "data_folder_out", "control_folder"], str(folder / "queue"))
    queue = Celery("tasks", broker="filesystem://")
    queue.conf.update(broker_transport_options=folders, task_ignore_result=True)
    return queue


def sent_until_done(queue, process: int, kills: list[int], missing: Callable[[], list[tuple[str, Any]]]) -> bool:
    """Send tasks until none is missing; False if the workers have ended: some of the tasks died with them.

    They are killed when they have done the last number of ``kills``, or end by themselves when this broker shows them a
    file that is not written yet.
    """
    began, sent, before = time.monotonic(), 0, len(missing())
    while left := missing():
        now = time.monotonic() - began
        if now >= SENT_AGAIN * sent:  # a task is lost with a worker
            sent += 1
            for task, arguments in 2 * left:  # delivered twice
                queue.send_task(task, arguments)
        if kills and before - len(left) >= kills[-1]:
            kills.pop()
            kill_all(process)
            return False
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False
        assert now < 300.0, "the tasks were not done"
        time.sleep(0.1)
    return True


def check_tasks(folder: Path, store_url: str, processes: int, mails: int, kills: int) -> None:
    """Mails and orders as tasks. Workers are killed, all at once, with the tasks that they hold, and started again."""
    rules = bl.Traffic(floor=0.02, holdout=0.05, control="blue", sticky=True)
    rng, amounts = random.Random(1), {}
    kill_after = [rng.randint(1, mails // 10) for _ in range(kills)]
    command = [part.format(processes=processes) for part in WORKER]
    queue = client_of(folder)
    with bl.Store(store_url) as store:
        button = store.create("button", bl.AdaptiveReBoot(), ["blue", "green", "red"], seed=1, traffic=rules)

        def no_mail() -> list[tuple[str, Any]]:
            done = set(button.log()["unit"])
            return [("tasks.mail", (f"v{number}",)) for number in range(mails) if f"v{number}" not in done]

        def no_order() -> list[tuple[str, Any]]:
            rewards = button.log().set_index("id")["reward"]
            for decision in rewards.index:
                amounts.setdefault(decision, float(rng.randrange(1, 100)))
            return [
                ("tasks.book", (decision, f"order-{decision}", amount))
                for decision, amount in amounts.items()
                if rewards[decision] != amount
            ]

        phases = [no_mail, no_order]
        while phases:
            with started(folder, "tasks", 1, BROKER, command, store_url) as process:
                while phases and sent_until_done(queue, process, kill_after, phases[0]):
                    del phases[0]
        assert not kill_after
        assert button.log().groupby("unit")["arm"].nunique().max() == 1  # a task that was done again has the same arm
    check_log(store_url, amounts)


@pytest.mark.long
def test_tasks_in_celery(tmp_path):
    check_tasks(tmp_path, f"sqlite:///{tmp_path}/shop.db", processes=2, mails=4, kills=0)


@pytest.mark.slow
def test_tasks_in_celery_for_longer(store_url, tmp_path):
    check_tasks(tmp_path, store_url, processes=4, mails=400, kills=6)
