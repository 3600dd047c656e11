"""The page on a web shop, with real processes: four workers, late orders, refunds, some workers killed."""

from __future__ import annotations

import contextlib
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
from pathlib import Path

import pytest

import bootleader as bl
from tests.test_docs import DOCS, blocks_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc to find the workers")


def answer(url: str, path: str, **what: str) -> str:
    """The answer to a request, asked again while a worker dies under it."""
    method = "GET" if path == "/button" else "POST"
    request = urllib.request.Request(f"{url}{path}?{urllib.parse.urlencode(what)}", method=method)
    for _ in range(200):
        try:
            with urllib.request.urlopen(request, timeout=30) as found:
                return str(found.read().decode())
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.1)
    raise AssertionError("no worker answers")


def children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and b"multiprocessing.spawn" in (stat.parent / "cmdline").read_bytes():
                found.append(int(stat.parent.name))
    return found


def visits(url: str, server: subprocess.Popen[bytes], count: int, kills: int) -> dict[str, float]:
    """Visits with orders and refunds; what each decision should have earned."""
    import json

    rng, earned = random.Random(1), {}
    kill_at = set(rng.sample(range(5, count), kills))
    for number in range(count):
        if number in kill_at:
            os.kill(rng.choice(children_of(server.pid)), signal.SIGKILL)
        seen = json.loads(answer(url, "/button", visitor=f"v{rng.randrange(count)}"))
        decision = seen["decision"]
        amount = float(rng.randrange(100))
        calls = [("/visit-ended", {})]
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


@contextlib.contextmanager
def running(folder: Path, store_url: str):
    """The page's first block under uvicorn with four workers."""
    (folder / "shop.py").write_text(blocks_of(DOCS / "web-shop.md")[0][1], encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "shop:app", "--workers", "4", "--port", str(port)]
    paths = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "SHOP_STORE": store_url, "PYTHONPATH": paths}
    with (folder / "server.txt").open("wb") as output:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        try:
            yield f"http://127.0.0.1:{port}", server
        finally:
            server.terminate()
            server.wait(30)


def check_shop(folder: Path, store_url: str, count: int, kills: int) -> None:
    with running(folder, store_url) as (url, server):
        earned = visits(url, server, count, kills)
    with bl.Store(store_url) as store:
        button = store.open("button")
        log = button.log().set_index("id")["reward"]
        assert {decision: log[decision] for decision in earned} == earned  # none lost, none counted twice
        check = button.check()
        assert check, str(check)


@pytest.mark.long
def test_a_shop_with_four_workers(tmp_path):
    check_shop(tmp_path, f"sqlite:///{tmp_path}/shop.db", count=25, kills=1)


@pytest.mark.slow
def test_a_shop_for_longer(store_url, tmp_path):
    check_shop(tmp_path, store_url, count=1500, kills=20)
