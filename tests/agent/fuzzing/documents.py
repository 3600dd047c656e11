"""Documents with mutations, their checksum made to match."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any
from unittest import mock

import bootleader as bl
from bootleader.agent._document import checksum
from tests.agent.fuzzing.calls import make_calls
from tests.agent.fuzzing.invariants import check
from tests.agent.fuzzing.samples import Clock, sample_agent

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 5e-324, 1e-300, 1e16, 1e120, -1e120, 1e150, 1.7e308, -1.7e308, 2**31,
    2**53, 2**53 + 1, 2**63, 2**64, 10**400, -(10**400), float("nan"), float("inf"), "", "x", "infinity", "nan",
    "0x1.8p+3", "a" * 300, "\x1b[31m", "\ud800", "0" * 16, "f" * 16, "0123456789ab-1", [], {}, [[]], [0, 0], {"a": 1},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a document."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            found += places(inner, (*path, place))
    return found


def at(body: Any, path: tuple[Any, ...]) -> Any:
    """The value at a path."""
    for key in path:
        body = body[key]
    return body


def anything(rng: random.Random) -> Any:
    """A value of any kind."""
    return deepcopy(rng.choice(VALUES))


def mutate(body: dict[str, Any], rng: random.Random) -> None:
    """Change something, anywhere, in place."""
    paths = places(body)
    path = rng.choice(paths)
    parent, key = at(body, path[:-1]), path[-1]
    value = parent[key]
    match rng.randrange(8):
        case 0 | 1:
            parent[key] = anything(rng)
        case 2 | 3 if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
            parent[key] = rng.choice([value + 1, value - 1, value * 2, -value, value * (1 + 1e-12), value / 3, 0])
        case 2 | 3 if isinstance(value, str) and value:
            place = rng.randrange(len(value))
            parent[key] = value[:place] + rng.choice(["", "0", "9", "x", "\n"]) + value[place + 1 :]
        case 4:
            del parent[key]
        case 5:
            parent[key] = deepcopy(at(body, rng.choice(paths)))
        case 6 if isinstance(value, list):
            value.insert(rng.randrange(len(value) + 1), deepcopy(rng.choice([*value, anything(rng)])))
        case 6 if isinstance(value, dict):
            value[rng.choice([*value, "new"])] = anything(rng)
        case 7 if isinstance(value, list):
            rng.shuffle(value)
        case _:
            parent[key] = anything(rng)


def with_checksum(body: dict[str, Any]) -> str:
    """The text of a document."""
    try:
        return json.dumps({**body, "checksum": checksum(body)})
    except ValueError:  # NaN or infinity, which the checksum refuses
        return json.dumps({**body, "checksum": ""})


def mutated_documents(count: int, seed: int, calls: int = 100, large: float = 0.02) -> tuple[int, int]:
    """Read so many mutated documents, a share of them ``large``. Return how many were refused and how many accepted.

    The only exception is ``ValueError``, with a short message; an agent that is made has every invariant, and keeps
    it through random calls.
    """
    rng = random.Random(seed)
    refused = accepted = longest = 0
    with mock.patch("bootleader.agent._probabilities.MOST_DRAWS", 3):
        while refused + accepted < count:
            agent = sample_agent(rng, arms=192 if rng.random() < large else None)
            original = agent.to_json()
            for _ in range(25):
                body = json.loads(original)
                body.pop("checksum")
                for _ in range(rng.choice([1, 1, 1, 2, 3])):
                    if body:
                        mutate(body, rng)
                document = with_checksum(body)
                try:
                    read = bl.Agent.from_json(document, clock=Clock(1000.0))
                except ValueError as error:
                    refused += 1
                    longest = max(longest, len(str(error)))
                    continue
                accepted += 1
                try:
                    check(read)
                    make_calls(read, rng, calls)
                    check(read)
                    assert bl.Agent.from_json(read.to_json(), clock=Clock(1000.0)).to_json() == read.to_json()
                except BaseException:
                    print(document)
                    raise
    assert longest < 500
    return refused, accepted
