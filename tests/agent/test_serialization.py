"""Saved and restored: the same agent, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.agent._serialization import checksum
from bootleader.policies import IndexRule
from tests.oracle.cases import POLICY_CASES

COLOURS = ["blue", "green", "red"]


def worked(policy: Any, arms: Any = COLOURS, rounds: int = 100, **options: Any) -> bl.Agent:
    agent = bl.Agent(policy, arms, seed=5, clock=lambda: 0.0, **options)
    rng = np.random.default_rng(9)
    for k in range(rounds):
        decision = agent.decide(probability=False)
        if k % 7:
            agent.reward(decision.id, rng.normal())
    return agent


def restored(agent: bl.Agent) -> bl.Agent:
    return bl.Agent.from_json(agent.to_json(), clock=lambda: 0.0)


def choices(agent: bl.Agent, rounds: int) -> list[str]:
    rng = np.random.default_rng(3)
    made = []
    for _ in range(rounds):
        made.append(agent.pull())
        agent.update(made[-1], rng.normal())
    return made


@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case.id)
def test_a_restored_agent_goes_on_bit_for_bit(case: Any) -> None:
    agent = worked(case.policy)
    copy = restored(agent)
    assert copy.to_json() == agent.to_json()
    rounds = 2000 if isinstance(case.policy.rule, IndexRule) else 300
    assert choices(copy, rounds) == choices(agent, rounds)
    assert copy.to_json() == agent.to_json()


def test_ten_thousand_choices_of_the_recommended_policy() -> None:
    agent = worked(bl.AdaptiveReBoot())
    assert choices(restored(agent), 10_000) == choices(agent, 10_000)


@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.StudentThompson(), bl.UCB1()], ids=str)
def test_a_discounting_agent_goes_on_bit_for_bit(policy: Any) -> None:
    agent = worked(policy, discount=40.0)
    for _ in range(5):
        copy = restored(agent)
        assert choices(copy, 301) == choices(agent, 301)
        assert copy.to_json() == agent.to_json()


def test_very_many_arms_go_on_bit_for_bit() -> None:
    arms = [str(k) for k in range(700)]
    agent = worked(bl.AdaptiveReBoot(), arms, rounds=3000)
    choices(agent, 500)
    copy = restored(agent)
    assert choices(copy, 2000) == choices(agent, 2000)
    assert copy.to_json() == agent.to_json()


def test_everything_is_included() -> None:
    agent = worked(
        bl.AdaptiveReBoot(), {"blue": {"hex": "#00f"}, "green": None, "red": [1]}, discount=90.0, max_open=50
    )
    agent.pause_arm("green")
    agent.remove_arm("red")
    copy = restored(agent)
    assert copy.arms == {"blue": {"hex": "#00f"}, "green": None}
    assert copy.paused == ["green"]
    assert copy.open_decisions == agent.open_decisions
    assert copy.discount == 90.0
    assert copy.seed == 5
    assert repr(copy) == repr(agent)
    with pytest.raises(ValueError, match="again=True"):
        copy.add_arm("red")


def test_the_order_of_keys_and_spaces_do_not_matter() -> None:
    agent = worked(bl.AdaptiveReBoot())
    shuffled = json.dumps(json.loads(agent.to_json()), sort_keys=True, indent=3)
    assert bl.Agent.from_json(shuffled).to_json() == agent.to_json()


def test_a_policy_of_ones_own_is_found_if_named() -> None:
    class Mine(bl.ReBoot):
        pass

    agent = worked(Mine(sigma_a=2.0))
    with pytest.raises(ValueError, match="policy 'Mine' is unknown"):
        bl.Agent.from_json(agent.to_json())
    assert bl.Agent.from_json(agent.to_json(), policies=[Mine]).policy == Mine(sigma_a=2.0)


DOCUMENT = worked(bl.AdaptiveReBoot()).to_json()


@pytest.mark.parametrize("length", [0, 1, 10, 500, len(DOCUMENT) // 2, len(DOCUMENT) - 1])
def test_a_truncated_document_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="cut short"):
        bl.Agent.from_json(DOCUMENT[:length])


def tampered(path: str, value: Any) -> str:
    """The document with one field changed, or removed if the value is ``...``, checksum made to match."""
    body = json.loads(DOCUMENT)
    body.pop("checksum")
    *inner, last = path.split("/")
    target = body
    for key in inner:
        target = target[int(key)] if isinstance(target, list) else target[key]
    if value is ...:
        del target[int(last) if isinstance(target, list) else last]
    else:
        target[int(last) if isinstance(target, list) else last] = value
    return json.dumps({**body, "checksum": checksum(body) if _finite(value) else ""})


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or abs(value) < float("inf")


NAN = float("nan")


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        ("version", 2, "its version is 2, and this library reads version 1"),
        ("version", ..., "its version is None"),
        ("format", "other", "not a bootleader agent"),
        ("policy/name", "Mystery", "'Mystery' is unknown"),
        ("policy/parameters", {"ratio": -1.0}, "does not accept its parameters"),
        ("policy/parameters", {"rat": 1.0}, "does not accept its parameters"),
        ("policy/parameters", [], "must be an object"),
        ("seed", "xyz", "16 hexadecimal digits"),
        ("maximize", 1, "true or false"),
        ("discount", 0.5, "at least 1"),
        ("rounds", -1, "whole number"),
        ("rounds", 3, "later than"),
        ("streams/noise", 12, "16 hexadecimal digits"),
        ("streams/spare", ..., "lacks 'spare'"),
        ("arms", {}, "must be a list"),
        ("arms/0", ..., "."),
        ("arms/0/name", "green", "occurs twice"),
        ("arms/0/count", -3.0, "'count' of arm 'blue' must be a finite number of at least 0, got -3.0"),
        ("arms/0/count", NAN, "NaN"),
        ("arms/0/count", "7", "must be a number"),
        ("arms/0/count", True, "must be a number"),
        ("arms/0/count", 3.5, "count of 3.5"),
        ("arms/0/count", 1e9, "has a count of"),
        ("arms/0/rewards", -1, "whole number"),
        ("arms/0/rss", -1.0, "at least 0"),
        ("arms/0/rss", float("inf"), "Infinity"),
        ("arms/0/anchor", 1e200, "at most 1e\\+150"),
        ("arms/0/drift", None, "must be a number"),
        ("arms/0/noise_sd", 0.0, "above 0"),
        ("arms/0/active", "yes", "true or false"),
        ("arms/0/last", 10**9, "later than the last"),
        ("arms/0/extra", 1, "'extra' that version 1 does not know"),
        ("arms/0/rss", ..., "lacks 'rss'"),
        ("open", [0], "open are not those"),
        ("open", [99], "by number"),
        ("open", [0, 0], "each once"),
        ("removed", ["blue"], "both present and removed"),
        ("removed", "x", "list of distinct strings"),
        ("index/variance", -1.0, "at least 0"),
        ("index/pooled_at", 10**6, "pooled in round"),
        ("index/level", [["0x1p0"], 3], "level"),
        ("index/level", 7, "level"),
        ("decisions/open/0/1", "pink", "arm 'pink' that is not there"),
        ("decisions/open/0", [1], "lists of 4"),
        ("decisions/settled/0/1", 1e300, "at most"),
        ("decisions/settled/0", ["x", 1.0, 0.0, 1], "true or false"),
        ("decisions/settled/0", ["x", 1.0], "lists of 4"),
        ("decisions/limit", 0, "at least 1"),
        ("decisions/limit", 1, "more than its limit"),
        ("decisions/issued", -1, "whole number"),
        ("decisions", ..., "lacks 'decisions'"),
        ("surplus", 1, "'surplus' that version 1 does not know"),
    ],
    ids=str,
)
def test_a_tampered_document_is_refused(path: str, value: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match) as caught:
        bl.Agent.from_json(tampered(path, value))
    assert str(caught.value).startswith("the document is refused: ")


def test_a_change_that_makes_sense_is_caught_by_the_checksum() -> None:
    body = json.loads(DOCUMENT)
    body["arms"][0]["drift"] *= 1.5
    with pytest.raises(ValueError, match="checksum does not match"):
        bl.Agent.from_json(json.dumps(body))


@pytest.mark.parametrize(
    ("text", "match"), [("[]", "no JSON object"), ('{"a": 1, "a": 2}', "twice"), ("{}", "not a boot")]
)
def test_what_is_no_document_is_refused(text: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        bl.Agent.from_json(text)
    with pytest.raises(TypeError, match="document must be the text"):
        bl.Agent.from_json(7)  # type: ignore[arg-type]
