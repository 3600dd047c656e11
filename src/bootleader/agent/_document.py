"""The agent as a JSON document, and back. Nothing is built from a document before all of it is checked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from bootleader._core.printable_text import printable, shown
from bootleader.agent._arm_state import ArmState
from bootleader.agent._contextual_document import (
    checked_features,
    contexts_of,
    index_rule,
    pooled_kurtosis,
    with_models,
)
from bootleader.agent._decisions import Assignment, OpenDecision, RewardedDecision
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._initial_pulls import InitialPulls
from bootleader.agent._large_k import Thresholds
from bootleader.agent._laws import Laws, Pooled
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._memory_learner import MemoryLearner
from bootleader.agent._pending_changes import next_given_up
from bootleader.agent._random_streams import Streams
from bootleader.agent.features import Features
from bootleader.agent.traffic import Traffic
from bootleader.policies import CONTEXTUAL_POLICIES, POLICIES, Policy

if TYPE_CHECKING:
    from bootleader.agent._agent_core import AgentCore
    from bootleader.agent._schema import Document, MomentsRecord


OPEN_FIELDS: Final = 3  # of an open decision that are always written: arm, time, whether the arm is there

# Write ---------------------------------------------------------------------------------------------------------------


def written(agent: AgentCore) -> str:
    """The document of an agent."""
    from bootleader.agent._schema import FORMAT, VERSION

    learner, ledger = agent._learner, agent._ledger
    body = {
        "format": FORMAT,
        "version": VERSION,
        "policy": plain_policy(agent.policy),
        "seed": f"{agent.seed:016x}",
        "maximize": agent.maximize,
        "half_life": agent.half_life,
        "rounds": learner.rounds,
        "streams": {"noise": f"{learner.streams.noise:016x}", "spare": f"{learner.streams.spare.states[0]:016x}"},
        "arms": [
            {"name": name, "metadata": agent._metadata[name], **_arm(learner, slot)}
            for slot, name in enumerate(agent._names)
        ],
        "initial": learner.initial.slots,
        "removed": list(agent._removed),
        "index": _index(learner),
        "decisions": {
            "max_open": ledger.max_open,
            "max_age": ledger.max_age,
            "issued": ledger.issued,
            "open": [[key, *decision[: OPEN_FIELDS + (decision.group > 0)]] for key, decision in ledger.open.items()],
            "rewarded": [[key, *decision] for key, decision in ledger.rewarded.items()],
        },
    }
    if isinstance(learner, MemoryLearner):
        body["memory"] = list(map(float, learner.streams.memory))  # rules write whole numbers to it too
    if agent.traffic is not None:
        body["traffic"] = {
            "rules": agent.traffic.parameters(),
            "stream": f"{agent._traffic_stream.states[0]:016x}",
            "added_later": [name for name, arm in zip(agent._names, learner.arms, strict=True) if arm.added_later],
            "sides": [_side(side) for side in agent._sides],
            "units": [[unit, *kept] for unit, kept in ledger.units.items()],
        }
    if isinstance(learner, LinearLearner):
        body["contexts"] = contexts_of(agent)
    return json.dumps({**body, "checksum": checksum(body)}, allow_nan=False)


def checksum(body: dict[str, Any]) -> str:
    """A digest of a document's contents, whatever the order of its keys and the spaces between them."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def plain_policy(policy: Policy) -> dict[str, Any]:
    """A policy as plain data, without the one number that JSON lacks."""
    parameters = {
        name: "infinity" if value == math.inf else list(value) if isinstance(value, tuple) else value
        for name, value in policy.parameters.items()
    }
    return {"name": type(policy).__name__, "parameters": parameters}


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
    if learner.fourth_moment:
        state |= {"third": arm.third, "fourth": arm.fourth}
    if isinstance(learner, HistoryLearner):
        state["history"] = arm.history
    if arm.awaited:
        state["awaited"] = list(arm.awaited)
    return state


def _side(side: ArmState) -> dict[str, Any]:
    return {
        "rewards": side.rewards, "anchor": side.anchor, "drift": side.drift, "rss": side.rss, "third": side.third,
        "fourth": side.fourth,
    }  # fmt: skip


def _index(learner: Learner) -> dict[str, Any]:
    state: dict[str, Any] = {"stale": learner.stale}
    if isinstance(learner, IndexLearner):
        laws = learner.laws
        state |= {"variance": laws.pooled.variance, "pooled_at": laws.pooled_at, "tree": None}
        if learner.fourth_moment:
            state["kurtosis"] = laws.pooled.kurtosis
        if laws.tree is not None and not learner.stale:
            values, excess = laws.tree.thresholds
            state["tree"] = {"thresholds": [x.hex() for x in values], "excess": excess}
    return state


# Read ----------------------------------------------------------------------------------------------------------------


def read(
    agent_type: type[Any],
    document: str | bytes,
    extra_policies: Sequence[type[Policy]],
    clock: Callable[[], float],
    max_size: int,
) -> Any:
    """The agent of a document, or ``ValueError``."""
    from bootleader.agent._document_checks import check_document
    from bootleader.agent._schema import FORMAT, VERSION, refuse, validated

    if not isinstance(document, str | bytes):
        raise TypeError(f"document must be the text that to_json() returned, got {type(document).__name__}")
    if len(document) > max_size:
        raise refuse(f"it has {len(document):,} characters, more than max_size={max_size:,}")
    body = _parsed(document)
    if body.get("format") != FORMAT:
        raise refuse(f"it is not a {FORMAT}")
    if body.get("version") != VERSION:
        raise refuse(f"its version is {shown(body.get('version'))}, and this library reads version {VERSION}")
    if body.pop("checksum", None) != _checksum_of(body):
        raise refuse("its checksum does not match its contents, so it was changed after it was written")
    checked = validated(body)
    kinds = (*map(type, CONTEXTUAL_POLICIES), *extra_policies)
    policy = policy_of(checked.policy.name, checked.policy.parameters, kinds, len(checked.arms))
    check_document(checked, index_rule(policy.rule, checked), policy.reward_range)
    features, contexts = checked_features(checked, policy.rule)
    return _built(agent_type, checked, policy, clock, features, contexts)


def _parsed(document: str | bytes) -> dict[str, Any]:
    from bootleader.agent._schema import refuse

    def no_constants(name: str) -> Any:
        raise refuse(f"it holds {name}, which is no number")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise refuse("a key occurs twice")
        return found

    try:
        body = json.loads(document, parse_constant=no_constants, object_pairs_hook=unique)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refuse(f"it is cut short or no JSON ({printable(str(error), 100)})") from None
    except ValueError as error:  # a number of more than 4,300 digits, or one of the above
        raise error if str(error).startswith("the document") else refuse(printable(str(error), 100)) from None
    if not isinstance(body, dict):
        raise refuse("it is no JSON object")
    return body


def _checksum_of(body: dict[str, Any]) -> str:
    from bootleader.agent._schema import refuse

    try:
        return checksum(body)
    except (ValueError, RecursionError):
        raise refuse("it holds a number beyond all floats, or is nested too deep") from None


def policy_of(name: str, given: dict[str, Any], extra: Sequence[type[Any]], arms: int = 1) -> Any:
    """The policy that :func:`plain_policy` describes, or ``ValueError``."""
    from bootleader.agent._schema import refuse

    kinds: dict[str, type[Any]] = {kind.__name__: kind for kind in (*map(type, POLICIES), *extra)}
    if name not in kinds:
        raise refuse(f"its policy {shown(name)} is unknown; give the class in policies=")
    parameters = {
        key: math.inf if value == "infinity" else tuple(value) if isinstance(value, list) else value
        for key, value in given.items()
    }
    # Omit parameters that have their default, so that the policy prints as it is mostly written.
    default = {field.name: field.default for field in dataclasses.fields(kinds[name])}
    try:
        policy = kinds[name](**{key: value for key, value in parameters.items() if value != default.get(key, ...)})
        policy.known_sd(max(1, arms), None) if not isinstance(parameters.get("noise_sd"), tuple) else None
        return policy
    except (TypeError, ValueError) as error:
        raise refuse(f"its policy {name} does not accept its parameters: {printable(str(error), 200)}") from None


def _built(
    agent_type: type[Any], document: Document, policy: Any, clock: Callable[[], float], features: Features | None,
    contexts: Sequence[Any],
) -> Any:  # fmt: skip
    """The agent of a checked document."""
    from bootleader.agent._schema import TrafficRecord

    decisions = document.decisions
    agent = agent_type(
        policy,
        [],
        seed=int(document.seed, 16),
        maximize=document.maximize,
        half_life=document.half_life,
        features=features,
        traffic=_traffic(document),
        max_open=decisions.max_open,
        max_age=decisions.max_age,
        clock=clock,
    )
    agent._names = [arm.name for arm in document.arms]
    agent._slots = {name: slot for slot, name in enumerate(agent._names)}
    agent._metadata = {arm.name: arm.metadata for arm in document.arms}
    agent._removed = dict.fromkeys(document.removed)
    ledger = agent._ledger
    ledger.issued = decisions.issued
    ledger.open.update(
        (row.key, OpenDecision(row.arm, row.time, row.live, row.group, context))
        for row, context in zip(decisions.open, contexts, strict=True)
    )
    ledger.rewarded.update((key, RewardedDecision(value, time, ok)) for key, value, time, ok in decisions.rewarded)
    times = [row.time for row in decisions.open] + [row[2] for row in decisions.rewarded]
    if isinstance(traffic := document.traffic, TrafficRecord):
        agent._traffic_stream.states[0] = int(traffic.stream, 16)
        agent._sides[:] = [_moments(side) for side in traffic.sides]
        ledger.units.update((row[0], Assignment(*row[1:])) for row in traffic.units)
        times += [row[2] for row in traffic.units]
    ledger.continue_from(max(times, default=-math.inf))
    _fill(agent._learner, document)
    return agent


def _traffic(document: Document) -> Traffic | None:
    """The rules of traffic, which check themselves; more active arms than a floor allows are refused too."""
    from bootleader.agent._schema import TrafficRecord, refuse

    if not isinstance(document.traffic, TrafficRecord):
        return None
    try:
        traffic = Traffic.from_parameters(document.traffic.rules)
        traffic.check_active(sum(arm.active for arm in document.arms))
    except (TypeError, ValueError) as error:
        raise refuse(f"its rules of traffic are refused: {printable(str(error), 200)}") from None
    return traffic


def _moments(side: MomentsRecord) -> ArmState:
    return ArmState(
        float(side.rewards), side.anchor, side.drift, side.rss, side.third, side.fourth, rewards=side.rewards
    )


def _fill(learner: Learner, document: Document) -> None:
    from bootleader.agent._schema import TrafficRecord

    in_flight = {arm.name: 0 for arm in document.arms}
    for row in document.decisions.open:
        if row.is_learnt:
            in_flight[row.arm] += 1
    added_later = document.traffic.added_later if isinstance(document.traffic, TrafficRecord) else []
    arms = [
        ArmState(
            count=arm.count,
            anchor=arm.anchor,
            drift=arm.drift,
            rss=arm.rss,
            third=arm.third if isinstance(arm.third, float) else 0.0,
            fourth=arm.fourth if isinstance(arm.fourth, float) else 0.0,
            rewards=arm.rewards,
            last=arm.last,
            active=arm.active,
            in_flight=in_flight[arm.name],
            noise_sd=arm.noise_sd,
            history=arm.history if isinstance(arm.history, list) else [],
            awaited=tuple(arm.awaited) if isinstance(arm.awaited, list) else (),
            added_later=arm.name in added_later,
        )
        for arm in document.arms
    ]
    learner.prepare(len(arms))
    arms = with_models(learner, arms, document)
    learner.arms, learner.rounds, learner.give_up_at = arms, document.rounds, next_given_up(arms)
    learner.initial = InitialPulls(document.initial)
    noise, spare = int(document.streams.noise, 16), int(document.streams.spare, 16)
    if isinstance(learner, MemoryLearner) and isinstance(document.memory, list):
        learner.restore(noise, spare, document.memory)
    else:
        learner.streams = Streams(noise, spare, learner.streams.stride)
    learner.stale = document.index.stale
    _fill_laws(learner, document)
    learner.commit([])


def _fill_laws(learner: Learner, document: Document) -> None:
    index = document.index
    if not isinstance(learner, IndexLearner):
        if not index.stale:
            learner.laws = learner.fresh_laws(learner.arms, learner.rounds)
        return
    variance, pooled_at, tree = index.variance, index.pooled_at, index.tree
    assert isinstance(variance, float)  # by check_document
    assert isinstance(pooled_at, int)
    pooled = Pooled(variance, index.kurtosis if isinstance(index.kurtosis, float) else pooled_kurtosis(document))
    if index.stale:
        learner.laws = Laws.none(pooled, pooled_at)
    else:
        thresholds = Thresholds([float.fromhex(x) for x in tree.thresholds], tree.excess) if tree else None
        learner.restore_laws(pooled, pooled_at, thresholds)
