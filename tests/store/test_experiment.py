"""What an experiment does, on every backend."""

from __future__ import annotations

import asyncio
import threading

import pytest

import bootleader as bl
from bootleader import Receipt, StoreError
from bootleader.store._errors import DuplicateKey

ARMS = ["blue", "green", "red"]


def reason_of(call, *args, **options) -> str:
    with pytest.raises(StoreError) as caught:
        call(*args, **options)
    return caught.value.reason


@pytest.fixture
def button(store):
    return store.create("button", bl.AdaptiveReBoot(), ARMS, seed=7)


def test_a_second_process_sees_everything(store, store_url, button):
    first = button.decide(unit="visitor-1")
    with bl.Store(store_url) as other:
        assert other.list() == ["button"]
        theirs = other.open("button")
        assert theirs.reward(first.id, 12.5, event="order-1") == Receipt.COUNTED
        second = theirs.decide()
        assert second.id != first.id
    assert button.reward(second.id, 3.0) == Receipt.COUNTED
    table = button.summary()
    assert table["pulls"].sum() == 2
    assert table["open"].sum() == 0
    log = button.log()
    assert log["reward"].tolist() == [12.5, 3.0]
    assert log["unit"].iloc[0] == "visitor-1"
    assert log["unit"].isna().tolist() == [False, True]
    assert set(log["origin"]) == {"chosen"}
    check = button.check()
    assert check, str(check)
    assert (check.decisions, check.audited, check.events) == (2, 2, 5)


def test_a_reward_counts_once(button):
    first, second, third = (button.decide() for _ in range(3))
    assert button.reward(first.id, 1.0, event="e1") == Receipt.COUNTED
    assert button.reward(first.id, 1.0, event="e1") == Receipt.REPEATED
    assert button.reward(first.id, 1.0) == Receipt.REPEATED
    assert reason_of(button.reward, first.id, 2.0, event="e1") == "conflict"
    assert reason_of(button.reward, first.id, 2.0) == "conflict"
    assert reason_of(button.reward, first.id, 1.0, event="e2") == "conflict"  # an event of its own: add() is meant
    assert reason_of(button.reward, second.id, 1.0, event="e1") == "conflict"  # the id of another decision's event
    assert reason_of(button.amend, first.id, 1.0, event="e1") == "conflict"
    assert button.reward(second.id, 0.0) == Receipt.COUNTED
    assert button.reward(second.id, -0.0) == Receipt.REPEATED
    assert reason_of(button.reward, "made-up", 1.0) == "unknown"
    assert reason_of(button.reward, "#experiment", 1.0) == "unknown"
    assert reason_of(button.withdraw, third.id) == "conflict"
    assert button.summary()["pulls"].sum() == 2
    assert button.check()


def rewards_of(experiment) -> dict[str, float]:
    return dict(zip(experiment.log()["id"], experiment.log()["reward"], strict=True))


def test_rewards_come_in_parts(button):
    decision = button.decide().id
    assert button.reward(decision, 0.0, event="cart") == Receipt.COUNTED
    assert button.add(decision, 45.0, event="purchase") == Receipt.COUNTED
    assert button.add(decision, 45.0, event="purchase") == Receipt.REPEATED
    assert reason_of(button.add, decision, 46.0, event="purchase") == "conflict"
    assert rewards_of(button) == {decision: 45.0}
    assert button.add(decision, -45.0, event="refund") == Receipt.COUNTED
    assert rewards_of(button) == {decision: 0.0}
    assert button.amend(decision, 7.0, event="correction") == Receipt.COUNTED
    assert button.amend(decision, 7.0, event="correction") == Receipt.REPEATED
    assert button.amend(decision, 7.0) == Receipt.REPEATED
    assert button.withdraw(decision, event="fraud") == Receipt.COUNTED
    assert button.summary()["pulls"].sum() == 0
    assert button.summary()["open"].sum() == 1
    assert button.amend(decision, 9.0) == Receipt.COUNTED
    assert button.summary()["mean"].dropna().tolist() == [9.0]
    assert len(button.log(events=True)) == 8
    assert button.check(), str(button.check())


def test_an_amendment_that_overtakes_its_reward_counts(button):
    first, second = button.decide().id, button.decide().id
    button.amend(first, 0.0, event="refund")
    assert button.reward(first, 45.0, event="order") == Receipt.COUNTED
    assert button.reward(first, 45.0, event="order") == Receipt.REPEATED
    button.add(second, 5.0, event="tip")
    button.reward(second, 45.0)
    assert rewards_of(button) == {first: 0.0, second: 50.0}
    assert button.check(), str(button.check())


def test_arms_come_and_go(store, store_url, button):
    theirs = bl.Store(store_url).open("button")
    button.add_arm("gold", {"hex": "#ffd700"})
    assert theirs.arms == {"blue": None, "green": None, "red": None, "gold": {"hex": "#ffd700"}}
    theirs.pause_arm("red")
    assert button.paused == ["red"]
    with pytest.raises(ValueError, match="already paused"):
        button.pause_arm("red")
    button.resume_arm("red")
    decision = button.decide(arm="blue", probability=0.25)
    assert decision.probability == 0.25
    theirs.remove_arm("blue")
    assert set(button.arms) == {"green", "red", "gold"}
    assert button.reward(decision.id, 1.0) == Receipt.ARM_REMOVED
    assert reason_of(button.decide, arm="blue") == "unknown"
    with pytest.raises(ValueError, match="was removed"):
        button.add_arm("blue")
    button.add_arm("blue", again=True)
    assert button.summary().loc["blue", "pulls"] == 0
    with pytest.raises(ValueError, match="already here"):
        theirs.add_arm("gold")
    assert button.audit(decision.id).origin == "recorded"
    assert button.check()


def test_no_arm_is_active(store):
    alone = store.create("alone", bl.UCB1(), ["a"])
    alone.pause_arm("a")
    assert reason_of(alone.decide) == "unknown"
    assert alone.summary()["probability"].tolist() == [0.0]


def test_traffic_is_in_the_logged_probability(store):
    rules = bl.Traffic(floor=0.1, holdout=0.2, control="blue", sticky=True, ramp=bl.Ramp(0.15, 50))
    button = store.create("button", bl.ReBoot(sigma_a=1.5), ARMS, seed=3, traffic=rules)
    for arm, value in (("blue", 0.0), ("green", 50.0), ("red", 0.0)):
        button.learn_summary(arm, 100, value, 1.0)
    decisions = {unit: button.decide(unit=f"u{unit}") for unit in range(40)}
    log = button.log()
    held = log[log["holdout"]]
    assert 0 < len(held) < 20
    assert set(held["arm"]) == {"blue"}
    assert set(held["probability"]) == {1.0}
    chosen = log[~log["holdout"]]
    assert set(chosen["probability"].round(9)) <= {0.1, 0.8}
    again = {unit: button.decide(unit=f"u{unit}") for unit in range(40)}
    for unit, decision in decisions.items():
        assert (again[unit].arm, again[unit].probability) == (decision.arm, decision.probability)
    before = button.summary()["pulls"].sum()
    button.reward(log["id"][int(held.index[0])], 1000.0)
    assert button.summary()["pulls"].sum() == before  # set apart
    button.add_arm("gold")
    assert button.probabilities()["gold"] == pytest.approx(0.15)
    assert sum(button.probabilities().values()) == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(ValueError, match="unit must be given"):
        button.decide()
    with pytest.raises(ValueError, match="control"):
        button.remove_arm("blue")
    button.pause_arm("green")
    moved = next(unit for unit, decision in decisions.items() if decision.arm == "green")
    first = button.decide(unit=f"u{moved}")
    assert first.arm != "green"
    assert button.decide(unit=f"u{moved}").arm == first.arm
    assert button.check(), str(button.check())


@pytest.mark.parametrize("policy", [bl.UCB1(), bl.Giro(), bl.StudentThompson(), bl.PHE()], ids=repr)
def test_other_policies_are_audited_too(memory, policy):
    experiment = memory.create("other", policy, ["a", "b"], seed=1, maximize=not isinstance(policy, bl.UCB1))
    for value in range(12):
        decision = experiment.decide()
        experiment.reward(decision.id, 0.25 if value % 3 else 0.75)
    experiment.amend(decision.id, 0.5)
    assert experiment.check(), str(experiment.check())


def test_costs_and_a_half_life(memory):
    costs = memory.create("costs", bl.AdaptiveReBoot(), ["a", "b"], seed=1, maximize=False, half_life=20)
    for _ in range(60):
        decision = costs.decide()
        costs.reward(decision.id, 1.0 if decision.arm == "a" else 3.0)
    table = costs.summary()
    assert table["mean"].tolist() == [1.0, 3.0]
    assert table["weight"].max() < 31.0
    assert table["share"].idxmax() == "a"
    assert costs.check(), str(costs.check())
    with pytest.raises(ValueError, match="half-life"):
        costs.verdict()


def test_bad_arguments_change_nothing(store, button):
    decision = button.decide().id
    events = len(button.log(events=True))
    for value in (float("nan"), 1e66, "1", None, [1.0]):
        with pytest.raises((TypeError, ValueError)):
            button.reward(decision, value)
    for event in ("", "x" * 201, "a\0b", 3):
        with pytest.raises((TypeError, ValueError)):
            button.reward(decision, 1.0, event=event)
    for options in ({"unit": ""}, {"unit": "a\nb"}, {"probability": 0.5}, {"arm": "blue", "probability": 0.0}):
        with pytest.raises((TypeError, ValueError)):
            button.decide(**options)
    with pytest.raises(TypeError):
        button.reward(7, 1.0)
    assert reason_of(store.create, "button", bl.UCB1(), ["a"]) == "exists"
    assert reason_of(store.open, "other") == "unknown"
    with pytest.raises(TypeError, match="policy"):
        store.create("other", "UCB1", ["a"])
    with pytest.raises(TypeError, match=r"RBSDA\(\) compares every reward of all arms at once"):
        store.create("other", bl.RBSDA(), ["a"])
    with pytest.raises(TypeError, match="a store plays"):
        store.create("other", bl.BetaThompson(), ["a"])
    with pytest.raises(ValueError, match="url"):
        bl.Store("mysql://shop")
    assert len(button.log(events=True)) == events


def test_an_experiment_can_be_removed(store, button):
    decision = button.decide()
    store.remove("button")
    assert store.list() == []
    assert reason_of(button.decide) == "removed"
    assert reason_of(button.reward, decision.id, 1.0) == "removed"
    assert reason_of(store.remove, "button") == "unknown"
    store.create("button", bl.UCB1(), ["a"])
    assert store.open("button").arms == {"a": None}


def test_what_the_bandit_brought(memory):
    rules = bl.Traffic(floor=0.3, holdout=0.5, control="a")
    experiment = memory.create("shop", bl.UCB1(), ["a", "b"], seed=1, traffic=rules)
    for k in range(1_000):
        decision = experiment.decide(unit=f"u{k}")
        experiment.reward(decision.id, float(decision.arm == "b") + 0.1 * (k % 7))
    assert experiment.holdout_verdict().comparisons[0].outcome == "better"


def test_a_warm_start(store):
    button = store.create("button", bl.AdaptiveReBoot(), ARMS)
    for arm, mean in zip(ARMS, (1.0, 2.0, 1.0), strict=True):
        button.learn_summary(arm, 500, mean, 0.5)
    table = button.summary()
    assert table["pulls"].tolist() == [500, 500, 500]
    assert table["standard_error"].tolist() == pytest.approx([0.5 / 500**0.5] * 3)
    assert button.verdict().comparisons[0].outcome == "worse"
    assert button.decide().arm == "green"
    with pytest.raises(ValueError, match="where count is 1"):
        button.learn_summary("blue", 1, 2.0, 1.0)


def test_threads_share_an_experiment(button):
    failed = []

    def work() -> None:
        try:
            for _ in range(8):
                button.reward(button.decide().id, 1.0)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert button.summary()["pulls"].sum() == 32
    assert button.check()


def test_asyncio_is_not_blocked(button):
    async def visits() -> list[bl.Decision]:
        return await asyncio.gather(*(button.adecide() for _ in range(5)))

    assert len({decision.id for decision in asyncio.run(visits())}) == 5


def test_the_answer_to_a_creation_was_lost(store, monkeypatch):
    """The connection broke after the commit, so that the call was made again."""
    backend, create = store._backend, store._backend.create

    def twice(*args):
        create(*args)
        try:
            return create(*args)
        except DuplicateKey:
            raise DuplicateKey(may_be_own=True) from None

    monkeypatch.setattr(backend, "create", twice)
    button = store.create("button", bl.AdaptiveReBoot(), ["a", "b"])
    button.reward(button.decide().id, 1.0)
    assert button.check(), str(button.check())
    monkeypatch.undo()
    assert reason_of(store.create, "button", bl.AdaptiveReBoot(), ["a", "b"]) == "exists"


def test_a_choice_whose_probability_is_not_known(memory):
    """None and False mean the same, as with an agent; True would be no number."""
    button = memory.create("button", bl.UCB1(), ARMS)
    assert button.decide(arm="blue").probability is None
    assert button.decide(arm="blue", probability=False).probability is None
    with pytest.raises(ValueError, match="give the probability"):
        button.decide(arm="blue", probability=True)


def test_a_verdict_names_its_options(memory):
    button = memory.create("button", bl.AdaptiveReBoot(), ARMS)
    with pytest.raises(TypeError, match=r"verdict\(\) got an unexpected keyword argument 'alfa'"):
        button.verdict(alfa=0.1)


def test_a_summary_counts_once(store, button):
    first = button.decide(arm="red")
    assert button.learn_summary("blue", 100, 1.0, 0.5, event="warehouse-1") == Receipt.COUNTED
    assert button.learn_summary("blue", 100, 1.0, 0.5, event="warehouse-1") == Receipt.REPEATED
    assert reason_of(button.learn_summary, "blue", 101, 1.0, 0.5, event="warehouse-1") == "conflict"
    assert reason_of(button.reward, first.id, 1.0, event="warehouse-1") == "conflict"
    with pytest.raises(StoreError, match="was used for a summary"):
        button.reward_many([(first.id, 1.0, "warehouse-1")])
    assert button.reward(first.id, 1.0, event="order-1") == Receipt.COUNTED
    with pytest.raises(StoreError, match="was used for decision"):
        button.learn_summary("blue", 100, 1.0, 0.5, event="order-1")
    with pytest.raises(ValueError, match="event"):
        button.learn_summary("blue", 100, 1.0, 0.5, event="\n")
    assert button.summary()["pulls"].sum() == 101
    button.remove_arm("blue")
    assert button.learn_summary("blue", 100, 1.0, 0.5, event="warehouse-1") == Receipt.REPEATED
    assert reason_of(button.learn_summary, "blue", 100, 1.0, 0.5, event="warehouse-2") == "unknown"
    assert button.check(), str(button.check())


@pytest.mark.parametrize("policy", [bl.UCB1(), bl.KLUCB("gaussian")], ids=repr)
def test_a_reward_that_was_withdrawn_leaves_no_trace(store, policy):
    """Also in policies that read the number of rounds: the choices are those of an experiment without the visit."""
    plain, withdrawn = (store.create(name, policy, ARMS, seed=7) for name in ("plain", "withdrawn"))
    for button in (plain, withdrawn):
        for arm, value in zip(ARMS * 3, range(9), strict=True):
            button.reward(button.decide(arm=arm).id, 0.1 * value)
    before = dict(withdrawn.probabilities())
    for _ in range(40):
        visit = withdrawn.decide(arm="blue").id
        withdrawn.reward(visit, 5.0)
        withdrawn.amend(visit, 6.0)
        withdrawn.withdraw(visit)
    assert dict(withdrawn.probabilities()) == before == dict(plain.probabilities())
    assert withdrawn._writer.replica().state.rounds == 9
    assert withdrawn.check(), str(withdrawn.check())


@pytest.mark.parametrize("half_life", [None, 20.0])
def test_first_rewards_on_their_way_count_with_a_half_life_too(memory, half_life):
    """A reward that has faded is a reward: arm a has one and waits for the other, so it is b's turn."""
    button = memory.create("button", bl.AdaptiveReBoot(), ["a", "b"], seed=1, half_life=half_life)
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1, half_life=half_life)
    for one in (button, agent):
        made = [one.decide(arm=arm, probability=0.5) for arm in "aab"]
        one.reward(made[0].id, 1.0)
        assert dict(one.probabilities()) == {"a": 0.0, "b": 1.0}
    assert dict(button.export().probabilities()) == {"a": 0.0, "b": 1.0}


@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_estimated_probabilities_have_standard_errors(memory, floor):
    """As an agent's: Giro's choices are drawn many times."""
    button = memory.create("button", bl.Giro(), ARMS, seed=1, traffic=bl.Traffic(floor=floor))
    for arm, value in zip(ARMS * 3, range(9), strict=True):
        button.reward(button.decide(arm=arm).id, 0.1 * value)
    button.pause_arm("red")
    found, agent = button.probabilities(), button.export().probabilities()
    assert found.method == agent.method == "monte carlo"
    assert found.standard_error.keys() == set(ARMS)
    assert found.standard_error["red"] == 0.0
    for arm in ("blue", "green"):
        policy, rest = (found[arm] - floor) / (1.0 - 2.0 * floor), 1.0 - 2.0 * floor
        error = rest * (policy * (1.0 - policy) / 1000) ** 0.5
        assert 0.0 < found.standard_error[arm] == pytest.approx(error, rel=0.2)
    assert button.decide().standard_error == pytest.approx(found.standard_error["blue"], rel=0.2)


def test_the_control_of_a_holdout_is_not_paused(memory):
    """As with an agent: units of the holdout would still get it."""
    button = memory.create("button", bl.UCB1(), ARMS, traffic=bl.Traffic(holdout=0.1, control="blue"))
    for call, what in ((button.pause_arm, "paused"), (button.remove_arm, "removed")):
        with pytest.raises(ValueError, match=f"control of the holdout and cannot be {what}"):
            call("blue")
    button.pause_arm("red")


def test_a_summary_does_not_fade_itself(memory):
    """With a half-life, summaries weigh what an agent lets them weigh: they take no rounds."""
    button = memory.create("button", bl.AdaptiveReBoot(), ["a", "b"], seed=1, half_life=50.0)
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1, half_life=50.0)
    for one in (button, agent):
        one.learn_summary("a", count=1200, mean=2.1, sd=0.8)
        one.learn_summary("b", count=5, mean=1.1, sd=0.8)
    assert button.summary()["weight"].tolist() == agent.summary()["weight"].tolist() == [1200.0, 5.0]
    assert button.probabilities()["a"] == pytest.approx(agent.probabilities()["a"], abs=1e-9)
    assert button.check(), str(button.check())
