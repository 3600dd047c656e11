"""Agents whose arms have features of their own and share one model."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.policies import CONTEXTUAL_POLICIES
from bootleader.simulation._contextual_runs import LibraryContexts

FEATURES = bl.Features(size=["small", "large"], price=float, of_arms=True)
NAMES = ["a", "b", "c", "d"]
WORLDS = {
    "random": bl.LinearBandit(bl.RandomFeatures(arms=4, dimension=3), sd=0.5),
    "fixed": bl.LinearBandit(np.random.default_rng(1).normal(size=(4, 3)), sd=0.5),
}


@pytest.fixture(params=[one for one in CONTEXTUAL_POLICIES if isinstance(one.rule, bl.LinearRule)], ids=str)
def policy(request: Any) -> Any:
    return request.param


def offers(seed: int) -> Any:
    """Contexts without end."""
    rng = np.random.default_rng(seed)
    while True:
        yield {name: {"size": ("small", "large")[int(rng.integers(2))], "price": float(rng.normal())} for name in NAMES}


def mean(own: Any) -> float:
    return 0.7 * (own["size"] == "large") - 0.5 * own["price"]


def make(policy: Any, **options: Any) -> Any:
    return bl.Agent(policy, NAMES, **{"features": FEATURES, "seed": 4, **options})


def play(agent: Any, rounds: int, seed: int = 1) -> list[str]:
    noise, stream, chosen = np.random.default_rng(seed), offers(seed), []
    for _ in range(rounds):
        offer = next(stream)
        chosen.append(agent.pull(offer))
        agent.update(chosen[-1], mean(offer[chosen[-1]]) + 0.3 * noise.normal(), offer[chosen[-1]])
    return chosen


def contents(agent: Any) -> Any:
    return {key: value for key, value in json.loads(agent.to_json()).items() if key != "checksum"}


@pytest.mark.parametrize("world", WORLDS)
def test_an_agent_makes_the_choices_of_the_simulation_that_has_its_seed(policy: Any, world: str) -> None:
    bandit, rounds = WORLDS[world], 120
    simulation = bl.simulate(policy, bandit, rounds=rounds, runs=1, seed=11, compiled=False)
    features = bl.Features(x=float, y=float, z=float, of_arms=True, intercept=False)
    agent = bl.Agent(policy, NAMES, features=features, seed=11)
    run, pulls = LibraryContexts(bandit, 11, 0), np.zeros(4)
    for played in range(rounds):
        run.step(played)
        rows = zip(NAMES, run.features.tolist(), strict=True)
        decision = agent.decide({name: dict(zip("xyz", row, strict=True)) for name, row in rows}, probability=False)
        arm = NAMES.index(decision.arm)
        agent.reward(decision.id, run.pay(arm, played))
        pulls[arm] += 1
    np.testing.assert_array_equal(simulation.pulls[0], pulls)


def test_probabilities_are_those_of_the_choices(policy: Any) -> None:
    agent = make(policy)
    play(agent, 12)
    offer = next(offers(3))
    chances = agent.probabilities(offer)
    estimated = policy.rule.joint or policy.rule.correlated
    assert chances.method == ("monte carlo" if estimated else "exact")
    assert sum(chances.values()) == pytest.approx(1.0)
    before = contents(agent)
    assert agent.probabilities(offer) == chances
    assert contents(agent) == before  # asking changes nothing
    draws = 3000
    found = [agent.pull(offer) for _ in range(draws)]
    for name, chance in chances.items():
        error = chances.standard_error[name] if estimated else 0.0
        assert abs(found.count(name) / draws - chance) < 4.5 * math.hypot(math.sqrt(0.25 / draws), error)  # level 1e-5
    decision = agent.decide(offer)
    assert (decision.standard_error is not None) == estimated


def test_the_model_is_learnt_across_arms() -> None:
    agent = make(bl.AdaptiveLinReBoot())
    play(agent, 300)
    table = agent.summary()
    assert list(table.index) == [("all arms", "intercept"), ("all arms", "size=large"), ("all arms", "price")]
    np.testing.assert_allclose(table["coefficient"], [0.0, 0.7, -0.5], atol=0.1)
    agent.add_arm("new")
    offer = {**next(offers(2)), "new": {"size": "large", "price": -3.0}}
    assert agent.probabilities(offer)["new"] > 0.9  # nothing of its own was learnt
    assert agent.summary(offer).loc["new", "predicted"] == pytest.approx(2.2, abs=0.3)
    agent.remove_arm("a")
    agent.pause_arm("b")
    offer = {name: own for name, own in offer.items() if name not in ("a", "b")}
    assert agent.pull(offer) in ("c", "d", "new")
    with pytest.raises(ValueError, match="segments"):
        agent.shares("size")


@pytest.mark.parametrize("half_life", [None, 40.0])
@pytest.mark.parametrize("rounds", [1, 70])
def test_a_restored_agent_goes_on_bit_for_bit(policy: Any, rounds: int, half_life: float | None) -> None:
    agent = make(policy, half_life=half_life)
    play(agent, rounds)
    decision = agent.decide(next(offers(7)), probability=False)
    twin: Any = bl.Agent.from_json(agent.to_json())
    assert contents(twin) == contents(agent)
    for one in (agent, twin):
        one.reward(decision.id, 1.0)
    assert play(twin, 60, seed=9) == play(agent, 60, seed=9)
    assert contents(twin)["contexts"] == contents(agent)["contexts"]


def test_a_half_life_forgets() -> None:
    agent = make(bl.LinUCB(), half_life=20.0)
    for k in range(400):
        agent.update("a", 1.0 if k < 300 else -1.0, {"size": "small", "price": 0.0})
    assert agent.summary(next(offers(1)))["predicted"].notna().all()
    assert agent.summary()["coefficient"].iloc[0] < -0.8
    assert agent._learner.model.count < 30.0


def test_merged_agents_know_what_one_agent_would() -> None:
    one, other, both = make(bl.LinThompson()), make(bl.LinThompson(), seed=5), make(bl.LinThompson(), seed=6)
    for k, offer in zip(range(90), offers(8), strict=False):
        name, reward = NAMES[k % 4], float(k % 5)
        (one if k % 3 else other).update(name, reward, offer[name])
        both.update(name, reward, offer[name])
    one.merge(other)
    columns = ["coefficient", "standard_error", "pulls"]
    np.testing.assert_allclose(one.summary()[columns], both.summary()[columns], rtol=1e-9, atol=1e-12)


def test_a_new_category_changes_no_prediction() -> None:
    agent = make(bl.AdaptiveLinReBoot())
    play(agent, 50)
    offer = next(offers(2))
    before = agent.summary(offer)["predicted"]
    agent.add_category("size", "huge")
    np.testing.assert_allclose(agent.summary(offer)["predicted"], before)
    assert agent.pull({**offer, "a": {"size": "huge", "price": 0.0}}) in NAMES


def test_a_bad_context_changes_nothing() -> None:
    agent = make(bl.LinThompson())
    play(agent, 10)
    offer, before = next(offers(1)), contents(agent)
    lacking = {name: own for name, own in offer.items() if name != "c"}
    with pytest.raises(ValueError, match="lacks the features of arm 'c'"):
        agent.pull(lacking)
    with pytest.raises(LookupError, match="'x'"):
        agent.pull({**offer, "x": offer["a"]})
    with pytest.raises(ValueError, match="'price' must be a finite number"):
        agent.decide({**offer, "a": {"size": "small", "price": math.nan}})
    for wrong in (None, [1.0], "a"):
        with pytest.raises(TypeError):
            agent.pull(wrong)
        with pytest.raises(TypeError):
            agent.update("a", 1.0, wrong)
    assert contents(agent) == before
