"""Decisions over HTTP: uvicorn with four workers on one store, and a client with four threads."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured

VARIABLE = "BENCHMARK_STORE"
WORKERS, THREADS, SECONDS = 4, 4, 6.0


def app() -> Any:
    """Make the application of a worker."""
    from fastapi import FastAPI

    button = bl.Store(os.environ[VARIABLE], timeout=60.0).open("button")
    application = FastAPI()

    @application.get("/decide")
    def decide() -> dict[str, Any]:
        decision = button.decide()
        return {"id": decision.id, "arm": decision.arm}

    return application


@contextlib.contextmanager
def served(url: str) -> Iterator[str]:
    """Serve the application; the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "uvicorn", "benchmarks.store_http:app", "--factory", "--workers", str(WORKERS),
        "--port", str(port), "--log-level", "warning",
    ]  # fmt: skip
    server = subprocess.Popen(command, env={**os.environ, VARIABLE: url}, cwd=Path(__file__).parents[1])
    address = f"http://127.0.0.1:{port}/decide"
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(address).read()
                break
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


def over_http() -> Iterator[Measured]:
    """The time of a decision over HTTP: half of them are under p50, 99 % under p99."""
    section = f"A decision over HTTP, uvicorn with {WORKERS} workers, {THREADS} clients, SQLite"
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/store.db"
        with bl.Store(url) as store:
            button = store.create("button", bl.AdaptiveReBoot(), [f"arm {k}" for k in range(10)], seed=1)
            for place in range(10):
                button.learn_summary(f"arm {place}", 100, 0.1 * place, 1.0)
        times: list[float] = []

        def visit() -> None:
            until = time.perf_counter() + SECONDS
            while time.perf_counter() < until:
                started = time.perf_counter()
                urllib.request.urlopen(address).read()
                times.append(time.perf_counter() - started)

        with served(url) as address:
            time.sleep(1.0)
            clients = [threading.Thread(target=visit) for _ in range(THREADS)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
    yield Measured(section, "p50", float(np.quantile(times, 0.5) * 1e3), "ms")
    yield Measured(section, "p99", float(np.quantile(times, 0.99) * 1e3), "ms")
    yield Measured(section, "decisions", len(times) / SECONDS, "1/s")
