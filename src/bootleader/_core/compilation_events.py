"""When numba compiles: so that a progress bar says so, and only then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def on_compilation(notify: Callable[[], object]) -> Iterator[None]:
    """Call ``notify`` once if numba compiles something in this block; kernels from its disk cache do not count.

    Parameters
    ----------
    notify : callable
        Called from the thread that compiles, before it does.
    """
    from numba.core import event

    class FirstCompilation(event.Listener):
        seen = False

        def on_start(self, event: Any) -> None:
            if not self.seen:
                self.seen = True
                notify()

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", FirstCompilation()):
        yield
