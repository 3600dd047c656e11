"""Connections to PostgreSQL that wait for the server until a deadline. Needs psycopg 3."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from typing import Any

import psycopg


class TimedConnection(psycopg.Connection[Any]):
    """A connection whose calls raise ``OperationalError`` if the server does not answer until the deadline."""

    deadline = math.inf  # by ``time.monotonic()``

    def __del__(self, *_: Any) -> None:
        """Nothing: psycopg would warn. A connection that an exception has lost is closed with its ``pgconn``."""

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        """Wait as every call of psycopg does, which resumes ``gen`` several times a second."""
        return super().wait(gen if self.deadline == math.inf else self._until_deadline(gen), *args, **kwargs)

    def _until_deadline(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        ready = None
        while True:
            try:
                wanted = gen.send(ready)
            except StopIteration as ended:
                return ended.value
            ready = yield wanted
            if not ready and time.monotonic() > self.deadline:
                raise psycopg.OperationalError("the server does not answer")
