"""The fuzzers of the agent: a few seconds of each in every run of the tests, minutes with ``make fuzz``.

``make fuzz`` reads 50,000 mutated documents, injects 20,000 exceptions and looks at 5,000 extreme states of every
policy.
"""

from __future__ import annotations

import random
import signal
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import bootleader as bl
from tests.agent.fuzzing.calls import REFUSALS, random_call
from tests.agent.fuzzing.clocks import erratic_clocks
from tests.agent.fuzzing.documents import mutated_documents
from tests.agent.fuzzing.interruptions import Interrupt, interruptions
from tests.agent.fuzzing.invariants import check
from tests.agent.fuzzing.samples import POLICIES, sample_agent
from tests.agent.fuzzing.states import extreme_states
from tests.helpers import posix_only, run_python

CHUNKS = 10  # parts of a long run that processes share


def test_mutated_documents_are_refused_or_make_sound_agents() -> None:
    refused, accepted = mutated_documents(200, seed=0, calls=20)
    assert refused > 100
    assert accepted > 5


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_50_000_mutated_documents(chunk: int) -> None:
    refused, accepted = mutated_documents(50_000 // CHUNKS, seed=100 + chunk)
    print(f"{refused} documents refused, {accepted} accepted and then called 100 times")


def test_an_interrupted_call_happened_or_did_not() -> None:
    assert interruptions(400, seed=0, places=25) >= 400


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_20_000_interruptions(chunk: int) -> None:
    made = interruptions(20_000 // CHUNKS, seed=100 + chunk)
    print(f"{made} exceptions injected")


def signals(count: int, seed: int) -> int:
    """Interrupt random calls by a timer's signal; return how many signals arrived inside a call."""
    rng = random.Random(seed)
    arrived = 0

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while arrived < count:
            agent = sample_agent(rng)
            for _ in range(30):
                call = random_call(agent, rng, reads=False)
                try:
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(5e-6, 3e-4))
                    call(agent)
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
                except REFUSALS:
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
                except Interrupt:
                    arrived += 1
                check(agent, probabilities=False)
    except Interrupt:  # between two calls
        return arrived + signals(count - arrived, seed + 1) if arrived < count else arrived
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    return arrived


@posix_only
def test_a_signal_leaves_a_sound_agent() -> None:
    assert signals(30, seed=0) >= 30


@posix_only
@pytest.mark.fuzz
def test_5_000_signals() -> None:
    assert signals(5000, seed=1) >= 5000


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_probabilities_of_extreme_states(policy: Any) -> None:
    extreme_states(10, seed=0, policy=policy)


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_probabilities_of_5_000_extreme_states(policy: Any, chunk: int) -> None:
    extreme_states(5000 // CHUNKS, seed=100 + chunk, policy=policy)


def test_an_erratic_clock_neither_blocks_nor_breaks_an_agent() -> None:
    assert erratic_clocks(300, seed=0) > 10


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_erratic_clocks_at_length(chunk: int) -> None:
    for seed in range(20):
        erratic_clocks(1000, seed=100 * chunk + seed)


CHECKED = """
import sys
from tests.agent.fuzzing.documents import mutated_documents
print(mutated_documents(int(sys.argv[1]), seed=7, calls=20, large=0.5))
"""


@pytest.mark.fuzz
def test_documents_with_the_checks_of_malloc_and_numba(tmp_path: Path) -> None:
    """Nothing writes past an array: Python's debug allocator and numba's bounds checks would stop the process."""
    checks = {"PYTHONMALLOC": "debug", "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    print(run_python(CHECKED, "2000", **checks))


def test_a_sample_has_every_kind_of_agent() -> None:
    rng = random.Random(0)
    agents = [sample_agent(rng) for _ in range(90)]
    assert {type(agent.policy) for agent in agents} == {type(policy) for policy in POLICIES}
    assert any(agent.half_life for agent in agents)
    assert any(agent._removed for agent in agents)
    assert any(agent.paused for agent in agents)
    assert any(agent.open_decisions for agent in agents)
    assert all(isinstance(agent, bl.Agent) for agent in agents)
