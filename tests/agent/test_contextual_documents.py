"""The agent with contexts: documents, merging and half-lives."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from tests.agent.contextual_shop import FEATURES, NAMES, VISIT, contents, each_policy, make, play, visits


@each_policy
@pytest.mark.parametrize("half_life", [None, 50.0])
@pytest.mark.parametrize("rounds", [3, 150])
def test_a_restored_agent_goes_on_bit_for_bit(policy: Any, rounds: int, half_life: float | None) -> None:
    agent = make(policy, half_life=half_life)
    play(agent, rounds)
    decision = agent.decide(VISIT, probability=False)
    document = agent.to_json()
    twin = bl.Agent.from_json(document)
    assert isinstance(twin, bl.ContextualAgent)
    assert twin.features == FEATURES
    assert contents(twin) == contents(agent)
    agent.reward(decision.id, 1.0), twin.reward(decision.id, 1.0)
    assert play(twin, 120, seed=9) == play(agent, 120, seed=9)
    assert contents(twin)["contexts"] == contents(agent)["contexts"]
    assert pickle.loads(pickle.dumps(agent)).probabilities(VISIT) == agent.probabilities(VISIT)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("contexts", "features"), [["device", ["mobile"]], ["visits", "number"]]),
        (("contexts", "features"), [["device", "colour"]]),
        (("contexts", "models"), []),
        (("contexts", "open"), []),
        (("contexts", "open", 0), ["tablet", 1.0, True]),
        (("contexts", "models", 0, "coefficients"), [1.0]),
        (("contexts", "models", 0, "root", 0), [1.0]),
        (("contexts", "models", 0, "rss"), -1.0),
        (("contexts", "models", 0, "count"), 1.5),
        (("contexts", "models", 0, "diagonal", 0), 1e9),
        (("contexts", "models", 0, "waiting"), [[0.0]]),
        (("contexts", "intercept"), "yes"),
        (("contexts",), None),
        (("policy",), {"name": "UCB1", "parameters": {"sd": 1.0}}),
    ],
    ids=str,
)
def test_a_document_that_contradicts_itself_is_refused(path: tuple[Any, ...], value: Any) -> None:
    from bootleader.agent._document import checksum

    agent = make(bl.LinUCB())
    play(agent, 30)
    agent.decide(VISIT)
    body = contents(agent)
    *inner, last = path
    place = body
    for key in inner:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    with pytest.raises(ValueError, match="the document is refused"):
        bl.Agent.from_json(json.dumps({**body, "checksum": checksum(body)}))


# Merging, fading ------------------------------------------------------------------------------------------------------


@each_policy
def test_merged_agents_know_what_one_agent_would(policy: Any) -> None:
    one, other, both = make(policy), make(policy, seed=5), make(policy, seed=6)
    rng = np.random.default_rng(2)
    for visit, _ in zip(visits(8), range(150), strict=False):
        arm, reward = NAMES[int(rng.integers(3))], float(rng.normal())
        (one if rng.random() < 0.4 else other).update(arm, reward, visit)
        both.update(arm, reward, visit)
    one.merge(other)
    columns = ["coefficient", "pulls"]
    np.testing.assert_allclose(one.summary()[columns], both.summary()[columns], rtol=0.05, atol=0.02)
    if policy.rule.unit_free:  # its ridge depends on when it was set
        return
    np.testing.assert_allclose(one.summary()[columns], both.summary()[columns], rtol=1e-9, atol=1e-9)


def test_merging_needs_the_same_features() -> None:
    other = bl.Agent(bl.LinUCB(), NAMES, features=bl.Features(visits=float))
    with pytest.raises(ValueError, match="same features"):
        make(bl.LinUCB()).merge(other)


@each_policy
def test_with_a_half_life_the_agent_follows_a_change(policy: Any) -> None:
    shares = {}
    for half_life in (None, 60.0):
        agent = make(policy, half_life=half_life)
        rng, stream = np.random.default_rng(3), visits(3)
        for name in NAMES * 100:  # nobody chooses; the taste changes after 150 rewards
            visit = next(stream)
            best = "short" if agent._learner.rounds < 150 else "long"
            agent.update(name, float(name == best) + 0.1 * rng.normal(), visit)
        shares[half_life] = agent.summary(VISIT)["predicted"]
        assert agent.summary()["weight"].max() <= 100.0
    assert shares[60.0]["long"] > shares[60.0]["short"] + 0.5
    assert abs(shares[None]["long"] - shares[None]["short"]) < 0.4
