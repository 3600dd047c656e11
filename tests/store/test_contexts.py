"""Experiments with contexts, on every backend."""

from __future__ import annotations

import random
import time

import numpy as np
import pandas as pd
import pytest

import bootleader as bl
from bootleader import Receipt
from bootleader.store._events import Kind
from tests.store.test_experiment import reason_of

PAGES = ["short", "long", "video"]
FEATURES = bl.Features(device=["mobile", "desktop"], visits=float, member=bool)
POLICIES = [bl.AdaptiveLinReBoot(), bl.LinUCB(), bl.LinThompson(noise_sd=1.0), bl.LinReBoot(sd_weights=0.5)]


def visitor(rng: random.Random) -> dict[str, object]:
    device = rng.choice(["mobile", "desktop"])
    return {"device": device, "visits": rng.gauss(3.0, 1.0), "member": rng.random() < 0.3}


def revenue(arm: str, context: dict[str, object], rng: random.Random) -> float:
    liked = {"mobile": "short", "desktop": "long"}[str(context["device"])]
    return (arm == liked) + 0.1 * float(context["visits"]) + rng.gauss(0.0, 0.5)


def shop(store, policy=None, **options):
    options = {"features": FEATURES, "seed": 3, **options}
    return store.create("page", policy or bl.AdaptiveLinReBoot(), PAGES, **options)


def play(page, visits: int, seed: int = 1, late: float = 0.0) -> list[str]:
    """Visits with rewards; the decisions that still wait for theirs."""
    rng, waiting = random.Random(seed), []
    for number in range(visits):
        context = visitor(rng)
        decision = page.decide(context=context, unit=f"u{number}")
        reward = revenue(decision.arm, context, rng)
        if rng.random() < late:
            waiting.append(decision.id)
        else:
            page.reward(decision.id, reward, event=f"{seed}-{number}")
    return waiting


def state_of(page, **options) -> bytes:
    return page._writer.fresh_replica(**options).state.to_bytes()


# Decide and reward ----------------------------------------------------------------------------------------------------


def test_a_shop_with_contexts(store, store_url):
    page = shop(store, traffic=bl.Traffic(floor=0.02, holdout=0.1, control="short"))
    waiting = play(page, 60, late=0.1)
    with bl.Store(store_url) as other:
        theirs = other.open("page")
        assert theirs.features == FEATURES
        context = {"device": "desktop", "visits": 2, "member": False}
        decision = theirs.decide("v-1", context=context)
        assert theirs.audit(decision.id).agrees
        assert decision.probability == theirs.probabilities(context)[decision.arm] or decision.holdout
        assert page.reward(decision.id, 1.5) == Receipt.COUNTED
        assert page.reward(decision.id, 1.5) == Receipt.REPEATED
        assert page._writer.replica().state.to_bytes() == theirs._writer.replica().state.to_bytes()
    page.amend(waiting[0], 2.0, event="a")
    page.add(waiting[0], -1.0, event="b")
    page.withdraw(waiting[0], event="c")
    assert str(page.reward_many([(waiting[1], 1.0), (waiting[2], 2.0)])).startswith("2 rewards counted")
    log = page.log()
    assert log["context.device"].isin(["mobile", "desktop"]).all()
    assert log["context.visits"].dtype == float
    assert log["context.member"].dtype == bool
    check = page.check()
    assert check, str(check)
    assert check.audited == 61


def test_withdrawn_rewards_leave_no_trace(memory):
    page = shop(memory)
    play(page, 40)
    context = {"device": "mobile", "visits": 0.1, "member": True}
    before = page.probabilities(context)
    table = page.summary()
    extra = page.decide(context={"device": "desktop", "visits": 1e-5, "member": True}, arm="long", probability=1.0)
    page.reward(extra.id, 1e9)
    assert dict(page.probabilities(context)) != dict(before)
    page.withdraw(extra.id)
    page.amend(extra.id, 1e-9)
    page.withdraw(extra.id)
    same = page.summary()
    assert (same["coefficient"] == table["coefficient"]).all()
    assert (same["standard_error"] == table["standard_error"]).all()


@pytest.mark.parametrize("half_life", [None, 20.0], ids=["forever", "fading"])
@pytest.mark.parametrize("of_arms", [False, True], ids=["visitors", "arms"])
def test_the_order_of_events_does_not_matter(memory, half_life, of_arms):
    """Replicas that apply the events in another order are equal bit for bit, and choose alike."""
    features = bl.Features(price=float, kind=["a", "b"], of_arms=of_arms)
    page = memory.create("page", bl.AdaptiveLinReBoot(), PAGES, features=features, half_life=half_life, seed=3)
    rng = random.Random(5)
    ids = []
    for number in range(50):
        one = {arm: {"price": rng.gauss(0, 1), "kind": rng.choice("ab")} for arm in PAGES}
        ids.append(page.decide(context=one if of_arms else one["short"]).id)
        if number % 2:
            page.reward(rng.choice(ids), rng.gauss(1e6, 1.0)) if number < 3 else page.add(
                rng.choice(ids), rng.gauss(0, 1)
            )
        if number % 7 == 6:
            page.amend(ids[number // 2], rng.gauss(0, 1))
    rows = page._writer.backend.news(page._writer.found.id, "0").rows
    wanted = state_of(page)
    chains: dict[str, list] = {}
    for row in rows:
        chains.setdefault(row[2], []).append(row)
    for _ in range(3):
        state = type(page._writer.replica().state)(page._writer.settings)
        state.apply(chains["#experiment"])
        left = [list(chain) for key, chain in chains.items() if key != "#experiment"]
        while left:
            chain = rng.choice(left)
            state.apply([chain.pop(0)])
            left = [chain for chain in left if chain]
        assert state.to_bytes() == wanted
        again = type(state).from_bytes(wanted, page._writer.settings)
        assert again.to_bytes() == wanted
    assert page.check(), str(page.check())


@pytest.mark.parametrize("maximize", [True, False], ids=["gains", "costs"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_models_are_those_of_an_agent(memory, policy, maximize):
    """The same rewards give the coefficients, the predictions and the probabilities of an agent."""
    page = shop(memory, policy, maximize=maximize)
    agent = bl.Agent(policy, PAGES, features=FEATURES, seed=3, maximize=maximize)
    rng = random.Random(2)
    for number in range(64):
        context, arm = visitor(rng), PAGES[number % 3]
        reward = revenue(arm, context, rng)
        agent.update(arm, reward, context)
        page.reward(page.decide(context=context, arm=arm, probability=1.0).id, reward)
    agent._learner.commit(_refreshed(agent))
    context = {"device": "mobile", "visits": 2.5, "member": True}
    mine, its = page.summary(), agent.summary()
    for column in ("coefficient", "standard_error", "residual_sd", "pulls", "share"):
        np.testing.assert_allclose(mine[column], its[column], rtol=1e-9, atol=1e-9)
    mine, its = page.summary(context), agent.summary(context)
    np.testing.assert_allclose(mine["predicted"], its["predicted"], rtol=1e-9)
    np.testing.assert_allclose(mine["probability"], its["probability"], atol=1e-3)


def _refreshed(agent):
    """An agent's laws as of now: it renews them only now and then."""
    from bootleader.agent._pending_changes import Draft

    learner = agent._learner
    draft = Draft(learner)
    learner._refresh(draft, range(len(learner.arms)))
    learner._renew(draft)
    return draft.stores()


def test_features_of_arms(store):
    features = bl.Features(size=["small", "large"], price=float, of_arms=True)
    for name, policy in (("one", bl.LinThompson(noise_sd=0.5)), ("two", bl.AdaptiveLinReBoot())):
        offers = store.create(name, policy, ["a", "b"], features=features, seed=1)
        rng = random.Random(1)
        for _ in range(12):
            today = {arm: {"size": rng.choice(["small", "large"]), "price": rng.uniform(5, 20)} for arm in "ab"}
            decision = offers.decide(context=today)
            offers.reward(decision.id, today[decision.arm]["price"] / 10.0 + rng.gauss(0, 0.1))
        assert offers.check(), str(offers.check())
        assert offers.summary().index[0] == ("all arms", "intercept")
        assert offers.log()["context.price"].iloc[-1] == today[decision.arm]["price"]
        with pytest.raises(ValueError, match="the context lacks the features of arm 'b'"):
            offers.decide(context={"a": today["a"]})
        assert reason_of(offers.decide, context={**today, "c": today["a"]}) == "unknown"
        offers.remove_arm("b")
        assert offers.decide(context=today).arm == "a"  # b was removed while a worker still names it


# What is refused ------------------------------------------------------------------------------------------------------


def test_contexts_that_are_refused_change_nothing(store):
    page = shop(store)
    good = {"device": "mobile", "visits": 3.0, "member": False}
    before = page.check().events
    for wrong, said in [
        (None, "the experiment has features"),
        (7, "context must be a mapping"),
        ({**good, "device": "tablet"}, "feature 'device' must be one of 'mobile', 'desktop', got 'tablet'"),
        ({"device": "mobile", "visits": 3.0}, "the context lacks the feature 'member'"),
        ({**good, "colour": "red"}, "unknown feature 'colour'"),
        ({**good, "visits": float("nan")}, "feature 'visits' must be a finite number"),
        ({**good, "visits": "many"}, "feature 'visits' must be a finite number"),
        ({**good, "member": "yes"}, "feature 'member' must be True or False"),
    ]:
        for options in ({}, {"arm": "short", "probability": 1.0}):
            with pytest.raises((TypeError, ValueError), match=said):
                page.decide(context=wrong, **options)
        with pytest.raises((TypeError, ValueError), match=said):
            page.probabilities(wrong)
    with pytest.raises(TypeError, match=r"give the context by its name, decide\(context="):
        page.decide(good)
    with pytest.raises(TypeError, match="learns from rewards with their contexts"):
        page.learn_summary("short", 10, 1.0, 1.0)
    with pytest.raises(ValueError, match="compared in a context"):
        page.verdict()
    assert page.check().events == before
    plain = store.create("plain", bl.UCB1(), PAGES)
    for call in (plain.decide, plain.probabilities, plain.summary):
        with pytest.raises(TypeError, match="has no features, so it takes no context"):
            call(context=good)
    with pytest.raises(TypeError, match="needs contexts: give features="):
        store.create("none", bl.AdaptiveLinReBoot(), PAGES)
    with pytest.raises(TypeError, match="sees no contexts"):
        store.create("none", bl.UCB1(), PAGES, features=FEATURES)
    with pytest.raises(TypeError, match="features must be Features"):
        store.create("none", bl.AdaptiveLinReBoot(), PAGES, features={"visits": float})


def test_the_commands(store, store_url, run_cli, tmp_path):
    page = shop(store)
    waiting = play(page, 15, late=0.2)
    here = ("--store", store_url)
    assert run_cli("store", "list", *here)[1] == "page\n"
    shown = run_cli("store", "show", "page", *here)[1]
    assert "coefficient" in shown
    assert "device=desktop" in shown
    lines = run_cli("store", "log", "page", *here)[1].splitlines()
    assert lines[0].endswith("origin,context.device,context.visits,context.member")
    assert "context" in run_cli("store", "log", "page", "--events", *here)[1].splitlines()[0]
    assert run_cli("store", "audit", waiting[0], "--experiment", "page", *here)[0] == 0
    rewards = tmp_path / "rewards.csv"
    rewards.write_text("decision,reward\n" + "".join(f"{visit},1.5\n" for visit in waiting))
    assert run_cli("store", "reward", str(rewards), "--experiment", "page", *here)[0] == 0
    assert page.log()["reward"].notna().all()
    document = tmp_path / "page.json"
    assert run_cli("store", "export", "page", "--out", str(document), *here)[0] == 0
    assert bl.Agent.from_json(document.read_text()).features == FEATURES
    assert run_cli("store", "check", "page", *here)[0] == 0


# Over time ------------------------------------------------------------------------------------------------------------


def test_arms_and_categories_come_and_go(store, store_url):
    page = shop(store, half_life=50.0, traffic=bl.Traffic(floor=0.01, sticky=True))
    waiting = play(page, 20, late=0.2)
    page.add_arm("poster")
    page.pause_arm("video")
    with bl.Store(store_url) as other:
        theirs = other.open("page")
        theirs.decide("early", context={"device": "mobile", "visits": 1, "member": False})
        page.add_category("device", "tablet")
        decision = theirs.decide("late", context={"device": "tablet", "visits": 1, "member": True})
        assert theirs.reward(decision.id, 3.0) == Receipt.COUNTED
        assert theirs.reward(waiting[0], 1.0) == Receipt.COUNTED
    with pytest.raises(ValueError, match="has the category 'tablet' already"):
        page.add_category("device", "tablet")
    play(page, 10, seed=2)
    page.remove_arm("long")
    page.resume_arm("video")
    play(page, 5, seed=3)
    assert ("poster", "device=tablet") in page.summary().index
    assert page.shares("device").index.tolist() == ["mobile", "desktop", "tablet"]
    assert page.check(), str(page.check())
    assert state_of(page, use_snapshots=False) == page._writer.replica().state.to_bytes()


def test_snapshots_and_folds(store):
    page = shop(store)
    play(page, 20, late=0.2)
    page._writer.replica().save_snapshot()
    play(page, 10, seed=2)
    assert state_of(page) == state_of(page, use_snapshots=False)
    assert page.check().snapshots == 1
    assert page.check(), str(page.check())
    context = {"device": "mobile", "visits": 3.0, "member": False}
    before, table = page.probabilities(context), page.summary()
    assert page.fold(time.time() + 60.0) > 30
    assert dict(page.probabilities(context)) == dict(before)
    pd.testing.assert_frame_equal(page.summary(), table, check_exact=True)
    decision = page.decide(context=context)
    assert page.audit(decision.id).agrees
    assert page.check(), str(page.check())


def test_a_damaged_context_is_named(store):
    page = shop(store)
    play(page, 3)
    damage = "UPDATE bootleader_events SET context = replace(context, '[', '[ ') WHERE kind = 1 AND version = 0"
    store._backend.write(lambda execute: execute(damage, ()))
    assert not page.check()
    assert "is damaged" in str(page.check())
    assert reason_of(page._writer.fresh_replica) == "damaged"


# Agents ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maximize", [True, False], ids=["gains", "costs"])
@pytest.mark.parametrize("half_life", [None, 30.0], ids=["forever", "fading"])
@pytest.mark.parametrize("of_arms", [False, True], ids=["visitors", "arms"])
def test_an_agent_moves_in_and_out(memory, maximize, half_life, of_arms):
    features = bl.Features(price=float, kind=["a", "b"], of_arms=of_arms)
    agent = bl.Agent(
        bl.AdaptiveLinReBoot(), PAGES, features=features, seed=4, maximize=maximize, half_life=half_life
    )  # fmt: skip
    rng = random.Random(7)

    def context():
        one = {arm: {"price": rng.gauss(100, 1), "kind": rng.choice("ab")} for arm in PAGES}
        return one if of_arms else one["short"]

    for _ in range(40):
        decision = agent.decide(context())
        agent.reward(decision.id, rng.gauss(1e3, 1.0))
    waiting = agent.decide(context())
    page = memory.import_agent("page", agent)
    asked = context()
    np.testing.assert_allclose(page.summary()["coefficient"], agent.summary()["coefficient"], rtol=0.05, atol=0.3)
    mine, its = page.summary(asked)["predicted"], agent.summary(asked)["predicted"]
    np.testing.assert_allclose(mine, its, rtol=1e-3)
    assert page.reward(waiting.id, 1e3) == Receipt.COUNTED
    for _ in range(5):
        page.reward(page.decide(context=context()).id, 1e3)
    left = page.decide(context=context())
    assert page.check(), str(page.check())
    back = bl.Agent.from_json(page.export().to_json())
    np.testing.assert_allclose(back.summary()["coefficient"], page.summary()["coefficient"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(back.summary(asked)["predicted"], page.summary(asked)["predicted"], rtol=1e-12)
    if not of_arms:  # exact probabilities
        found = [back.probabilities(asked)[arm] for arm in PAGES]
        np.testing.assert_allclose(found, page.summary(asked)["probability"], atol=1e-9)
    assert back.reward(left.id, 1e3) == Receipt.COUNTED
    back.update("short", 1e3, asked["short"] if of_arms else asked)


def test_events_carry_the_context_and_the_prediction(memory):
    page = shop(memory)
    play(page, 12)
    events = [event for event in page._writer.backend.events(page._writer.found.id) if event.kind != Kind.CHANGE]
    by_kind = {kind: [event.context for event in events if event.kind == kind] for kind in (Kind.DECISION, Kind.REWARD)}
    assert by_kind[Kind.DECISION] == by_kind[Kind.REWARD]
    assert by_kind[Kind.DECISION][0].startswith("[null, 1.0, [")  # no prediction yet
    assert not by_kind[Kind.DECISION][-1].startswith("[null")
