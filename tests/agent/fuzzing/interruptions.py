"""Exceptions injected at every line of a call: the call then happened or it did not."""

from __future__ import annotations

import json
import linecache
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import bootleader as bl
from tests.agent.fuzzing.calls import REFUSALS, make_calls, random_call
from tests.agent.fuzzing.invariants import check
from tests.agent.fuzzing.samples import Clock, sample_agent

LIBRARY = str(Path(bl.__file__).parent)


class Interrupt(BaseException):
    """What a signal handler raises."""


class Injector:
    """A trace function that raises at the n-th line of the library; with n = 0 it counts them.

    It never raises at a line ``with self._lock``. On the way out of such a block the line is reported again before
    the lock is released. An exception there would leave it locked, but no signal handler runs there: Python releases
    the lock without looking for signals in between.
    """

    def __init__(self, at: int) -> None:
        self.at, self.lines = at, 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        if event == "line":
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            if not line.startswith("with self._lock"):
                self.lines += 1
                if self.lines == self.at:
                    raise Interrupt
        return self


def traced(call: Callable[[bl.Agent], Any], agent: bl.Agent, at: int) -> tuple[int, bool]:
    """Make a call with an injection: the number of lines, and whether it was interrupted."""
    injector, before = Injector(at), sys.gettrace()
    try:
        sys.settrace(injector)
        call(agent)
    except REFUSALS:
        pass
    except Interrupt:
        return injector.lines, True
    finally:
        sys.settrace(before)
    return injector.lines, False


def comparable(agent: bl.Agent) -> str:
    """The document, without what a large tree remembers of its search, which decides no distribution."""
    body = json.loads(agent.to_json())
    body.pop("checksum")
    body["index"].pop("tree", None)
    return json.dumps(body)


def interrupt_call(document: str, now: float, call: Callable[[bl.Agent], Any], places: int, rng: random.Random) -> int:
    """Interrupt a call at up to so many lines, each time on a fresh copy; return how many interruptions there were.

    The agent must be what it was or what the call makes of it, have no broken invariant, and go on working; also if
    the next call is interrupted as well.
    """

    def fresh() -> bl.Agent:
        return bl.Agent.from_json(document, clock=Clock(now))

    untouched, expired, done = fresh(), fresh(), fresh()
    expire(expired)
    lines, _ = traced(call, done, 0)
    allowed = {comparable(untouched), comparable(expired), comparable(done)}
    at_all = range(1, lines + 1)
    chosen = list(at_all) if lines <= places else rng.sample(at_all, places)
    made = 0
    for at in chosen:
        agent = fresh()
        _, interrupted = traced(call, agent, at)
        made += interrupted
        if rng.random() < 0.2:  # the call that finishes the job is interrupted too
            made += traced(lambda a: a.paused, agent, rng.randint(1, 20))[1]
        assert comparable(agent) in allowed, f"interrupted at line {at} of {lines}"
        check(agent, probabilities=False)
        assert agent._lock.acquire(blocking=False)
        agent._lock.release()
        if rng.random() < 0.1:
            make_calls(agent, rng, 10)
            check(agent, probabilities=False)
    return made


def expire(agent: bl.Agent) -> None:
    """Give up what is due, which a call may do before it chooses."""
    from bootleader.agent._pending_changes import Draft

    draft = Draft(agent._learner)
    stores = agent._giving_up(draft, agent._ledger.now())
    agent._learner.commit(stores + draft.stores())


def interruptions(count: int, seed: int, places: int = 60) -> int:
    """Interrupt random calls of random agents until there were so many interruptions."""
    rng = random.Random(seed)
    made = 0
    with (
        mock.patch("bootleader.agent._decisions.secrets.token_hex", return_value="0123456789ab"),
        mock.patch("bootleader.agent._probabilities.MOST_DRAWS", 3),
    ):
        while made < count:
            agent = sample_agent(rng, arms=rng.choice([None] * 19 + [192]))
            document, now = agent.to_json(), 1000.0 + rng.choice([0.0, 0.0, 50.0, 200.0])
            for _ in range(3):
                made += interrupt_call(document, now, random_call(agent, rng), places, rng)
    return made
