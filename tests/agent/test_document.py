"""Saved and restored: the same agent, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.agent._document import checksum
from bootleader.policies import IndexRule
from tests.helpers import COLOURS, play
from tests.oracle.cases import POLICY_CASES


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


@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case.id)
def test_a_restored_agent_goes_on_bit_for_bit(case: Any) -> None:
    agent = worked(case.policy)
    copy = restored(agent)
    assert copy.to_json() == agent.to_json()
    rounds = 2000 if isinstance(case.policy.rule, IndexRule) else 300
    assert play(copy, rounds) == play(agent, rounds)
    assert copy.to_json() == agent.to_json()


def test_ten_thousand_choices_of_the_recommended_policy() -> None:
    agent = worked(bl.AdaptiveReBoot())
    assert play(restored(agent), 10_000) == play(agent, 10_000)


@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.StudentThompson(), bl.UCB1()], ids=str)
def test_an_agent_with_a_half_life_goes_on_bit_for_bit(policy: Any) -> None:
    agent = worked(policy, half_life=40.0)
    for _ in range(5):
        copy = restored(agent)
        assert play(copy, 301) == play(agent, 301)
        assert copy.to_json() == agent.to_json()


def test_very_many_arms_go_on_bit_for_bit() -> None:
    arms = [str(k) for k in range(700)]
    agent = worked(bl.AdaptiveReBoot(), arms, rounds=3000)
    play(agent, 500)
    copy = restored(agent)
    assert play(copy, 2000) == play(agent, 2000)
    assert copy.to_json() == agent.to_json()


def test_everything_is_included() -> None:
    agent = worked(
        bl.AdaptiveReBoot(), {"blue": {"hex": "#00f"}, "green": None, "red": [1]}, half_life=90.0, max_open=50
    )
    agent.pause_arm("green")
    agent.remove_arm("red")
    copy = restored(agent)
    assert copy.arms == {"blue": {"hex": "#00f"}, "green": None}
    assert copy.paused == ["green"]
    assert copy.open_decisions == agent.open_decisions
    assert copy.half_life == 90.0
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


def tampered(path: str, value: Any, document: str = DOCUMENT) -> str:
    """The document with one field changed, or removed if the value is ``...``, checksum made to match."""
    body = json.loads(document)
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
HUGE = 10**400
DEEP: Any = []
for _ in range(600):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        ("version", 1, "its version is 1, and this library reads version 2"),
        ("version", ..., "its version is None"),
        ("format", "other", "not a bootleader agent"),
        ("policy/name", "Mystery", "'Mystery' is unknown"),
        ("policy/name", 7, "Expected 'str', got 'int' - at 'policy.name'"),
        ("policy/parameters", {"ratio": -1.0}, "does not accept its parameters"),
        ("policy/parameters", {"ratio": HUGE}, "does not accept its parameters"),
        ("policy/parameters", {"rat": 1.0}, "does not accept its parameters"),
        ("policy/parameters", [], "Expected 'object', got 'array'"),
        ("seed", "xyz", "matching regex"),
        ("maximize", 1, "Expected 'bool', got 'int' - at 'maximize'"),
        ("half_life", 0.5, ">= 1.0 - at 'half_life'"),
        ("half_life", HUGE, "out of range - at 'half_life'"),
        ("rounds", -1, "Expected 'int' >= 0 - at 'rounds'"),
        ("rounds", HUGE, "Expected 'int' <= 9007199254740992 - at 'rounds'"),
        ("rounds", 3, "later than|more rewards than"),
        ("streams/noise", 12, "Expected 'str', got 'int'"),
        ("streams/noise", "0123456789abcdef\n", "matching regex"),
        ("streams/spare", ..., "missing required field 'spare'"),
        ("arms", {}, "Expected 'array', got 'object'"),
        ("arms/0", ..., "."),
        ("arms/0/name", "green", "occurs twice"),
        ("arms/0/name", "", "length >= 1"),
        ("arms/0/metadata", DEEP, "nested"),
        ("arms/0/count", -3.0, ">= 0.0 - at 'arms\\[0\\].count'"),
        ("arms/0/count", NAN, "NaN"),
        ("arms/0/count", "7", "Expected 'float', got 'str'"),
        ("arms/0/count", True, "Expected 'float', got 'bool'"),
        ("arms/0/count", 3.5, "count of 3.5"),
        ("arms/0/count", 1e9, "has a count of"),
        ("arms/0/count", 1.7e308, "<= 9007199254740992.0"),
        ("arms/0/count", HUGE, "out of range"),
        ("arms/0/rewards", -1, "Expected 'int' >= 0"),
        ("arms/0/rewards", HUGE, "Expected 'int' <= "),
        ("arms/0/rss", -1.0, ">= 0.0"),
        ("arms/0/rss", float("inf"), "Infinity"),
        ("arms/0/rss", 1.7e308, "<= "),
        ("arms/0/rss", 1e210, "RSS beyond"),
        ("arms/0/anchor", 1e70, "mean beyond any reward of this policy"),
        ("arms/0/anchor", 1e200, "<= 1e\\+100"),
        ("arms/0/drift", None, "Expected 'float', got 'null'"),
        ("arms/0/drift", 1.5e100, "mean beyond any reward"),
        ("arms/0/noise_sd", 0.0, ">= 1e-80"),
        ("arms/0/noise_sd", HUGE, "out of range"),
        ("arms/0/active", "yes", "Expected 'bool'"),
        ("arms/0/last", 10**9, "later than the last"),
        ("arms/0/extra", 1, "unknown field 'extra'"),
        ("arms/0/rss", ..., "missing required field 'rss'"),
        ("arms/0/history", [1.0], "must not have a history"),
        ("arms/0/third", ..., "lacks 'third' and 'fourth'"),
        ("arms/0/third", 1e9, "go with no rewards of its RSS"),
        ("arms/0/fourth", -1.0, ">= 0.0"),
        ("arms/0/fourth", 0.0, "go with no rewards of its RSS"),
        ("arms/0/fourth", 1e9, "go with no rewards of its RSS"),
        ("index/kurtosis", ..., "lacks a kurtosis"),
        ("index/kurtosis", 0.5, "none is below 1"),
        ("initial", [0], "'initial' does not list"),
        ("initial", [99], "'initial' does not list"),
        ("initial", [0, 0], "'initial' does not list"),
        ("initial", [HUGE], "'initial' does not list"),
        ("removed", ["blue"], "both present and removed"),
        ("removed", ["x", "x"], "'x' occurs twice"),
        ("removed", "x", "Expected 'array', got 'str'"),
        ("index/variance", -1.0, ">= 0.0"),
        ("index/variance", 1.7e308, "<= 4e\\+200"),
        ("index/variance", ..., "lacks 'variance'"),
        ("index/pooled_at", 10**6, "pooled in round"),
        ("index/pooled_at", None, "."),
        ("index/tree", {"thresholds": ["0x1.0000000000000p+0"] * 5, "excess": 3}, "does not go with 2 playing arms"),
        ("index/tree", 7, "Expected 'object"),
        ("decisions/open/0/0", "0123456789ab-7\n", "matching regex"),
        ("decisions/open/0/1", "pink", "arm 'pink' that is not there"),
        ("decisions/open/0/2", HUGE, "out of range"),
        ("decisions/open/1/2", -5.0, "not in order of time"),
        ("decisions/open/0", [1], "length 4, got 1"),
        ("decisions/rewarded/0/1", 1e300, "<= 1e\\+100"),
        ("decisions/rewarded/0/3", 1, "Expected 'bool'"),
        ("decisions/rewarded/0", ["x", 1.0], "length 4, got 2"),
        ("decisions/max_open", 0, "Expected 'int' >= 1"),
        ("decisions/max_open", 1, "more than its limit"),
        ("decisions/max_open", HUGE, "Expected 'int'"),
        ("decisions/max_age", HUGE, "out of range"),
        ("decisions/issued", -1, "Expected 'int' >= 0"),
        ("decisions", ..., "missing required field 'decisions'"),
        ("surplus", 1, "unknown field 'surplus'"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_tampered_document_is_refused(path: str, value: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match) as caught:
        bl.Agent.from_json(tampered(path, value))
    assert str(caught.value).startswith("the document is refused: ")
    assert len(str(caught.value)) < 400


def test_a_decision_that_occurs_twice_is_refused() -> None:
    decisions = json.loads(DOCUMENT)["decisions"]
    twice = [decisions["open"][0], *decisions["open"]]
    with pytest.raises(ValueError, match="occurs twice in decisions"):
        bl.Agent.from_json(tampered("decisions/open", twice))
    both = [[decisions["open"][0][0], 1.0, 0.0, True], *decisions["rewarded"]]
    with pytest.raises(ValueError, match="occurs twice in decisions"):
        bl.Agent.from_json(tampered("decisions/rewarded", both))


HISTORY = worked(bl.Giro(), rounds=40).to_json()


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        ("arms/0/history/0", 1e6, "but its history's"),
        ("arms/0/history/0", HUGE, "out of range"),
        ("arms/0/history/0", ..., "a history of"),
        ("arms/0/history", ..., "lacks a history"),
        ("arms/0/drift", 1e3, "history's mean"),
        ("arms/0/rss", 1e3, "but its history's"),
        ("half_life", 10.0, "from moments only"),
        ("index/variance", 1.0, "'stale' alone"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_moments_must_be_those_of_the_history(path: str, value: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        bl.Agent.from_json(tampered(path, value, HISTORY))


def many_arms() -> str:
    agent = bl.Agent(bl.AdaptiveReBoot(), [str(k) for k in range(192)], seed=1)
    for k in range(2):
        agent.update_many([str(k) for k in range(192)], [float(k + j % 5) for j in range(192)])
    agent.pull()
    return agent.to_json()


ONE = (1.0).hex()


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        ("index/tree/thresholds", [(1234.5).hex()] * 6, "length <= 5"),  # went past an array in compiled code
        ("index/tree/thresholds", [ONE] * 4, "length >= 5"),
        ("index/tree/thresholds", ["nan"] * 5, "matching regex"),  # every pull the same arm, then no end of an update
        ("index/tree/thresholds/0", "nan", "matching regex"),
        ("index/tree/thresholds/0", "inf", "matching regex"),
        ("index/tree/thresholds/1", (-1.0).hex(), "thresholds of its tree"),
        ("index/tree/thresholds/2", ONE, "thresholds of its tree"),
        ("index/tree/thresholds/3", ONE, "thresholds of its tree"),
        ("index/tree/thresholds/4", (-1.0).hex(), "thresholds of its tree"),
        ("index/tree/thresholds/0", "0x1.0000000000000p+9999", "beyond all floats"),
        ("index/tree/excess", HUGE, "Expected 'int'"),
        ("index/tree", None, "does not go with 192 playing arms"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_the_thresholds_of_a_tree_are_checked(path: str, value: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        bl.Agent.from_json(tampered(path, value, many_arms()))


def test_the_checksum_is_compared_before_anything_is_read() -> None:
    body = json.loads(many_arms())
    body["index"]["tree"]["thresholds"] = [(1234.5).hex()] * 6
    with pytest.raises(ValueError, match="checksum does not match"):
        bl.Agent.from_json(json.dumps(body))


def test_a_document_may_not_be_too_large() -> None:
    with pytest.raises(ValueError, match="more than max_size=100,000,000") as caught:
        bl.Agent.from_json(" " * 100_000_001)
    assert len(str(caught.value)) < 200
    with pytest.raises(ValueError, match="more than max_size=1,000"):
        bl.Agent.from_json(DOCUMENT, max_size=1000)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format": ' * 5000, '{"rounds": 1' + "0" * 5000 + "}", "\x00", "\ud800"]
)
def test_what_is_hard_to_parse_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the document is refused") as caught:
        bl.Agent.from_json(text)
    assert len(str(caught.value)) < 300


def test_deep_metadata_is_refused_when_it_is_given() -> None:
    agent = worked(bl.AdaptiveReBoot())
    with pytest.raises(ValueError, match="nested at most 64 deep"):
        agent.add_arm("x", DEEP)
    deeper: Any = []
    for _ in range(100_000):
        deeper = [deeper]
    with pytest.raises(ValueError, match="plain JSON data"):
        agent.add_arm("x", deeper)


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
