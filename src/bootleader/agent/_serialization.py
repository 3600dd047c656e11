"""The agent as a JSON document, and back. Nothing in a document is believed before it is checked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from bootleader.agent._decisions import Pending, Settled
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._initial_pulls import OpenArms
from bootleader.agent._large_k import Level
from bootleader.agent._learner import ArmState, HistoryLearner, Learner
from bootleader.agent._normal_buffer import NormalBuffer
from bootleader.agent._schema import Fields, refuse
from bootleader.agent._validation import LARGEST_REWARD
from bootleader.policies import POLICIES, Policy

if TYPE_CHECKING:
    from bootleader.agent.agent import Agent

FORMAT: Final = "bootleader agent"
VERSION: Final = 1


def written(agent: Agent) -> str:
    """The document of an agent."""
    learner, ledger = agent._learner, agent._ledger
    body = {
        "format": FORMAT,
        "version": VERSION,
        "policy": {"name": type(agent.policy).__name__, "parameters": _plain(agent.policy.parameters)},
        "seed": f"{agent.seed:016x}",
        "maximize": agent.maximize,
        "discount": agent.discount,
        "rounds": learner.rounds,
        "streams": {"noise": f"{learner.normals.state:016x}", "spare": f"{learner.spare.states[0]:016x}"},
        "arms": [
            {"name": name, "metadata": agent._metadata[name], **_arm(learner, slot)}
            for slot, name in enumerate(agent._names)
        ],
        "open": learner.open.slots,
        "removed": list(agent._removed),
        "index": _index_state(learner),
        "decisions": {
            "limit": ledger.limit,
            "age": ledger.age,
            "issued": ledger.issued,
            "open": [[key, *pending] for key, pending in ledger.open.items()],
            "settled": [[key, *settled] for key, settled in ledger.settled.items()],
        },
    }
    return json.dumps({**body, "checksum": checksum(body)}, allow_nan=False)


def checksum(body: dict[str, Any]) -> str:
    """A digest of a document's contents, whatever the order of its keys and the spaces between them."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters without the one number that JSON lacks."""
    return {
        name: "infinity" if value == math.inf else list(value) if isinstance(value, tuple) else value
        for name, value in parameters.items()
    }


def _arm(learner: Learner, slot: int) -> dict[str, Any]:
    arm = learner.arms[slot]
    state: dict[str, Any] = {
        "active": arm.active,
        "count": arm.count,
        "anchor": arm.anchor,
        "drift": arm.drift,
        "rss": arm.rss,
        "rewards": arm.rewards,
        "last": arm.last,
        "noise_sd": arm.noise_sd,
    }
    if isinstance(learner, HistoryLearner):
        state["history"] = arm.history
    return state


def _index_state(learner: Learner) -> dict[str, Any]:
    state: dict[str, Any] = {"stale": learner.stale}
    if isinstance(learner, IndexLearner):
        state |= {"variance": learner.variance, "pooled_at": learner.pooled_at}
        level = learner.level
        state["level"] = None if level is None else [[x.hex() for x in level.level], level.excess]
    return state


def read(
    agent_type: type[Any], document: Any, extra_policies: Sequence[type[Policy]], clock: Callable[[], float]
) -> Any:
    """The agent of a document, or ``ValueError``."""
    if not isinstance(document, str | bytes):
        raise TypeError(f"document must be the text that to_json() returned, got {type(document).__name__}")
    body = _parsed(document)
    if "format" not in body or body["format"] != FORMAT:
        raise refuse(f"it is not a {FORMAT}")
    if body.get("version") != VERSION:
        raise refuse(f"its version is {body.get('version')!r}, and this library reads version {VERSION}")
    digest = body.pop("checksum", None)
    fields = Fields(body, "the document")
    agent = _agent_of(agent_type, fields, extra_policies, clock)
    fields.done()
    if digest != checksum(body):
        raise refuse("its checksum does not match its contents, so it was changed after it was written")
    return agent


def _parsed(document: str | bytes) -> dict[str, Any]:
    def no_constants(name: str) -> Any:
        raise refuse(f"it holds {name}, which is no number")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise refuse("a key occurs twice")
        return dict(pairs)

    try:
        body = json.loads(document, parse_constant=no_constants, object_pairs_hook=unique)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refuse(f"it is cut short or no JSON ({error})") from None
    if not isinstance(body, dict):
        raise refuse("it is no JSON object")
    return body


def _agent_of(agent_type: type[Any], fields: Fields, extra: Sequence[type[Policy]], clock: Callable[[], float]) -> Any:
    fields.text("format"), fields.whole("version")
    decisions = fields.inner("decisions")
    agent = agent_type(
        _policy(fields.inner("policy"), extra),
        [],
        seed=fields.word("seed"),
        maximize=fields.boolean("maximize"),
        discount=None if fields.absent("discount") else fields.real("discount", at_least=1.0),
        max_open=decisions.whole("limit", at_least=1),
        max_age=decisions.real("age", above=0.0),
        clock=clock,
    )
    learner: Learner = agent._learner
    learner.rounds = fields.whole("rounds")
    _read_arms(agent, fields)
    _read_opening(learner, fields)
    streams = fields.inner("streams")
    learner.normals = NormalBuffer(streams.word("noise"), learner.spare.stride)
    learner.spare.states[0] = streams.word("spare")
    streams.done()
    agent._removed = dict.fromkeys(fields.texts("removed"))
    if clash := set(agent._removed) & set(agent._names):
        raise refuse(f"arm {min(clash)!r} is both present and removed")
    _read_decisions(agent, decisions)
    _read_index(learner, fields.inner("index"))
    return agent


def _policy(fields: Fields, extra: Sequence[type[Policy]]) -> Policy:
    kinds: dict[str, type[Policy]] = {kind.__name__: kind for kind in (*map(type, POLICIES), *extra)}
    name = fields.text("name")
    if name not in kinds:
        raise refuse(f"its policy {name!r} is unknown; give the class in policies=")
    given = fields.value("parameters")
    fields.done()
    if not isinstance(given, dict):
        raise refuse(f"the policy's parameters must be an object, got {given!r}")
    parameters = {
        key: math.inf if value == "infinity" else tuple(value) if isinstance(value, list) else value
        for key, value in given.items()
    }
    usual = {field.name: field.default for field in dataclasses.fields(kinds[name])}
    try:
        # What is as usual goes unsaid, for the policy to print as it is mostly written.
        unusual = {key: value for key, value in parameters.items() if key not in usual or value != usual[key]}
        return kinds[name](**unusual)
    except (TypeError, ValueError) as error:
        raise refuse(f"its policy {name} does not accept its parameters: {error}") from None


def _read_arms(agent: Any, fields: Fields) -> None:
    learner: Learner = agent._learner
    for item in fields.items("arms"):
        name = item.text("name")
        if not name or name in agent._slots:
            raise refuse(f"arm {name!r} is nameless or occurs twice")
        item.where = f"arm {name!r}"
        metadata = item.value("metadata")
        arm = ArmState(
            count=item.real("count", at_least=0.0),
            anchor=item.real("anchor", at_least=-LARGEST_REWARD, at_most=LARGEST_REWARD),
            drift=item.real("drift", at_least=-2.0 * LARGEST_REWARD, at_most=2.0 * LARGEST_REWARD),
            rss=item.real("rss", at_least=0.0),
            rewards=item.whole("rewards"),
            last=item.whole("last"),
            active=item.boolean("active"),
            noise_sd=item.real("noise_sd", above=0.0),
            history=item.reals("history") if isinstance(learner, HistoryLearner) else [],
        )
        item.done()
        _check_arm(agent, name, arm)
        agent._take_in(name, metadata, arm)
    learner.prepare(len(learner.arms))
    if agent.discount is None and sum(arm.rewards for arm in learner.arms) > learner.rounds:
        raise refuse("its arms have more rewards than there were rounds")


def _check_arm(agent: Any, name: str, arm: ArmState) -> None:
    """What holds of every arm that learnt its moments from rewards."""
    few = (arm.count == 0.0 and (arm.anchor, arm.drift, arm.rss) != (0.0, 0.0, 0.0)) or (
        arm.count == 1.0 and arm.rewards == 1 and (arm.drift != 0.0 or arm.rss != 0.0)
    )
    if few:
        raise refuse(f"arm {name!r} has moments that {arm.rewards} rewards cannot have")
    if arm.count > arm.rewards or (agent.discount is None and arm.count != arm.rewards):
        raise refuse(f"arm {name!r} has a count of {arm.count!r} from {arm.rewards} rewards")
    if arm.last > agent._learner.rounds:
        raise refuse(f"arm {name!r} was rewarded in round {arm.last}, later than the last, {agent._learner.rounds}")
    if isinstance(agent._learner, HistoryLearner) and len(arm.history) != arm.rewards:
        raise refuse(f"arm {name!r} has a history of {len(arm.history)} from {arm.rewards} rewards")


def _read_opening(learner: Learner, fields: Fields) -> None:
    """The order of the open arms; which arms are open is checked once the open decisions are known."""
    order = fields.value("open")
    valid = isinstance(order, list) and all(type(k) is int and 0 <= k < len(learner.arms) for k in order)
    if not valid or len(set(order)) < len(order):
        raise refuse(f"open must list arms by number, each once, got {order!r}")
    learner.open = OpenArms(order)


def _read_decisions(agent: Any, fields: Fields) -> None:
    ledger, learner = agent._ledger, agent._learner
    ledger.issued = fields.whole("issued")
    for row in fields.rows("open", length=4):
        key, arm, live = row.text("0"), row.text("1"), row.boolean("3")
        if (arm not in agent._slots) if live else (arm not in agent._removed and arm not in agent._slots):
            raise refuse(f"decision {key!r} is for an arm {arm!r} that is not there")
        ledger.open[key] = Pending(arm, row.real("2"), live)
        if live:
            learner.arms[agent._slots[arm]].in_flight += 1
    for row in fields.rows("settled", length=4):
        value = row.real("1", at_least=-LARGEST_REWARD, at_most=LARGEST_REWARD)
        ledger.settled[row.text("0")] = Settled(value, row.real("2"), row.boolean("3"))
    fields.done()
    both = set(ledger.open) & set(ledger.settled)
    if both or len(ledger.open) > ledger.limit or len(ledger.settled) > ledger.limit:
        raise refuse("its decisions are more than its limit, or both open and settled")
    opening = learner.rule.initial_pulls
    wanted = {k for k, arm in enumerate(learner.arms) if arm.active and arm.count + arm.in_flight < opening}
    if wanted != set(learner.open.slots):
        raise refuse("the arms that it calls open are not those that lack rewards")


def _read_index(learner: Learner, fields: Fields) -> None:
    stale = fields.boolean("stale")
    if isinstance(learner, IndexLearner):
        learner.variance = fields.real("variance", at_least=0.0)
        learner.pooled_at = fields.whole("pooled_at")
        if learner.pooled_at > learner.rounds:
            raise refuse(f"its variance was pooled in round {learner.pooled_at}, later than {learner.rounds}")
        level = _level(fields.value("level"))
        if not stale:
            learner.resume(level)
        if not stale and (learner.level is None) != (level is None):
            raise refuse("'level' of index does not go with the number of its arms")
    elif not stale:
        learner.settle()
    fields.done()
    learner.stale = stale


def _level(given: Any) -> Level | None:
    if given is None:
        return None
    try:
        level, excess = given
        return Level([float.fromhex(x) for x in level], operator.index(excess))
    except (TypeError, ValueError):
        raise refuse(
            f"'level' of index must be a list of hexadecimal numbers and a whole number, got {given!r}"
        ) from None
