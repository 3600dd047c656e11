"""What an agent promises its program."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.agent._serialization import checksum
from bootleader.policies import POLICIES
from tests.helpers import COLOURS, agent_of, exact_moments, run_python
from tests.oracle.cases import POLICY_CASES


def fed(agent: bl.Agent, rounds: int, seed: int = 0, scale: float = 1.0, offset: float = 0.0) -> list[str]:
    """Play some rounds with Gaussian rewards, better the later an arm comes; return the choices."""
    rng = np.random.default_rng(seed)
    place = {name: k for k, name in enumerate(agent.arms)}
    choices = []
    for _ in range(rounds):
        choices.append(agent.pull())
        agent.update(choices[-1], scale * (0.4 * place[choices[-1]] + rng.normal()) + offset)
    return choices


def test_two_calls_find_the_best_arm() -> None:
    agent = agent_of()
    choices = fed(agent, 1000)
    assert choices[-500:].count("red") > 400
    assert set(choices[:6]) == set(COLOURS)
    assert sorted(choices[:6]) == sorted(COLOURS * 2)


PLAYED = [policy for policy in POLICIES if not isinstance(policy.rule, bl.ChoiceRule)]


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy not in PLAYED], ids=str)
def test_a_policy_that_looks_at_all_arms_at_once_is_for_simulations(policy: Any) -> None:
    with pytest.raises(TypeError, match=r"simulate .* instead"):
        agent_of(policy)
    body = json.loads(agent_of().to_json())
    body.pop("checksum")
    body["policy"] = {"name": type(policy).__name__, "parameters": policy.parameters}
    with pytest.raises(ValueError, match="an agent does not play"):
        bl.Agent.from_json(json.dumps({**body, "checksum": checksum(body)}))


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_every_other_policy_of_the_library_plays(policy: Any) -> None:
    agent = agent_of(policy)
    fed(agent, 60)
    assert agent.summary()["pulls"].sum() == 60


def test_a_seed_fixes_the_choices_and_no_seed_gives_a_fresh_one() -> None:
    assert fed(agent_of(), 100) == fed(agent_of(), 100)
    assert fed(agent_of(), 100) != fed(agent_of(seed=8), 100)
    assert agent_of(seed=None).seed != agent_of(seed=None).seed


def test_costs_are_minimised_and_reported_as_they_came() -> None:
    agent = agent_of(maximize=False)
    choices = fed(agent, 1000, offset=100.0)
    assert choices[-500:].count("blue") > 400
    assert agent.summary().loc["blue", "mean"] == pytest.approx(100.0, abs=0.2)


def test_a_prior_is_of_the_costs_themselves() -> None:
    """Two agents whose rewards and prior are each other's mirror image choose alike."""
    gain = agent_of(bl.ThompsonSampling(prior_mean=-100.0, prior_sd=5.0))
    cost = agent_of(bl.ThompsonSampling(prior_mean=100.0, prior_sd=5.0), maximize=False)
    for k in range(300):
        assert gain.pull() == cost.pull()
        reward = np.cos(k) - 98.0
        gain.update(COLOURS[k % 3], reward)
        cost.update(COLOURS[k % 3], -reward)


@pytest.mark.parametrize("scale", [2.0**40, 2.0**-30])
def test_adaptive_reboot_has_no_unit(scale: float) -> None:
    assert fed(agent_of(), 2000, scale=scale) == fed(agent_of(), 2000)


@pytest.mark.parametrize(("scale", "offset"), [(3.7, 0.0), (1.0, 50.0), (0.01, -7.0), (1234.5, 1e6)])
def test_adaptive_reboot_has_no_zero(scale: float, offset: float) -> None:
    assert fed(agent_of(), 2000, scale=scale, offset=offset) == fed(agent_of(), 2000)


BAD = [
    float("nan"), float("inf"), -float("inf"), 1e200, 10**400, "1", None, [1.0], np.array([1.0]), np.array(1.0), 1j,
    Decimal("NaN"), Decimal("sNaN"), Decimal("1e400"),
]  # fmt: skip


@pytest.mark.parametrize("reward", BAD, ids=str)
@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.Giro()], ids=str)
def test_a_bad_reward_raises_and_changes_nothing(policy: Any, reward: Any) -> None:
    agent = agent_of(policy)
    fed(agent, 20)
    decision = agent.decide()
    before = agent.to_json()
    with pytest.raises((TypeError, ValueError), match="reward must be a finite number"):
        agent.update("blue", reward)
    with pytest.raises((TypeError, ValueError), match="reward must be a finite number"):
        agent.update_many(["blue", "red"], [1.0, reward])
    with pytest.raises((TypeError, ValueError), match="reward must be a finite number"):
        agent.reward(decision.id, reward)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    "reward", [True, np.True_, 1, np.int8(1), np.float32(1), Fraction(1), Decimal("1.00"), np.float64(1)], ids=repr
)
def test_numbers_of_other_types_are_rewards(reward: Any) -> None:
    agent, plain = agent_of(), agent_of()
    agent.update("blue", reward)
    plain.update("blue", 1.0)
    assert agent.to_json() == plain.to_json()


@pytest.mark.parametrize("arm", ["pink", 0, None, ["blue"]], ids=repr)
def test_an_unknown_arm_raises_and_changes_nothing(arm: Any) -> None:
    agent = agent_of()
    before = agent.to_json()
    with pytest.raises(LookupError, match="arm must be one of 'blue', 'green', 'red'"):
        agent.update(arm, 1.0)
    with pytest.raises(LookupError, match="arm must be one of"):
        agent.update_many(["blue", arm], [1.0, 1.0])
    assert agent.to_json() == before


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"arms": "blue"}, "list of distinct strings"),
        ({"arms": ["a", "a"]}, "'a' more than once"),
        ({"arms": ["a", 3]}, "got 3"),
        ({"arms": [""]}, "not empty"),
        ({"arms": {"a": object()}}, "metadata of arm 'a'"),
        ({"arms": {"red"}}, "a set has another order in every process, got {'red'}"),
        ({"arms": frozenset({"red"})}, "a set has another order"),
        ({"seed": -1}, "seed"),
        ({"half_life": 0}, "half_life"),
        ({"half_life": 0.99}, "a number of rounds, of at least 1, got 0.99; a factor of 0.99 .* half-life of 68.97"),
        ({"half_life": 0.3}, "a number of rounds, of at least 1, got 0.3$"),
        ({"maximize": 1}, "maximize"),
        ({"max_open": 0}, "max_open"),
        ({"max_age": -1.0}, "max_age"),
        ({"clock": 5}, "clock must be a function that returns the time in seconds, got 5"),
        ({"policy": "ReBoot"}, "policy must be"),
        ({"policy": bl.ThompsonSampling(noise_sd="oracle")}, "oracle"),
        ({"policy": bl.ThompsonSampling(noise_sd=(1.0, 2.0))}, "3 arms"),
        ({"policy": bl.Giro(), "half_life": 10.0}, "moments only"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_parameters_raise(options: Any, match: str) -> None:
    with pytest.raises((TypeError, ValueError), match=match):
        agent_of(**options)


def test_batches_share_out_the_initial_pulls() -> None:
    agent = agent_of()
    batch = agent.pull_many(6)
    assert sorted(batch) == sorted(COLOURS * 2)
    agent.update_many(batch, np.arange(6.0))
    assert agent.summary()["pulls"].tolist() == [2, 2, 2]
    assert len(agent.pull_many(50)) == 50
    assert agent.pull_many(0) == []


def test_a_batch_of_one_is_a_pull() -> None:
    agent, other = agent_of(), agent_of()
    rng = np.random.default_rng(5)
    for _ in range(200):
        (arm,) = agent.pull_many(1)
        assert arm == other.pull()
        reward = rng.normal()
        agent.update_many([arm], [reward])
        other.update(arm, reward)
    assert agent.to_json() == other.to_json()


def test_arms_come_and_go() -> None:
    agent = agent_of()
    fed(agent, 50)
    agent.add_arm("gold", {"price": 3})
    assert agent.arms["gold"] == {"price": 3}
    for _ in range(2):  # explored as AdaptiveReBoot explores a new arm: twice, at once
        assert agent.pull() == "gold"
        agent.update("gold", 50.0)
    agent.pause_arm("gold")
    assert agent.paused == ["gold"]
    assert "gold" not in agent.pull_many(200)
    assert agent.probabilities()["gold"] == 0.0
    agent.update("gold", 51.0)
    agent.resume_arm("gold")
    assert agent.summary().loc["gold", "pulls"] == 3
    assert "gold" in agent.pull_many(50)
    agent.remove_arm("gold")
    assert "gold" not in agent.arms
    with pytest.raises(LookupError, match="'gold' was removed"):
        agent.update("gold", 1.0)
    with pytest.raises(ValueError, match="again=True"):
        agent.add_arm("gold")
    agent.add_arm("gold", again=True)
    assert agent.pull() == "gold"
    assert agent.summary().loc["gold", "pulls"] == 0


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda agent: agent.add_arm("blue"), "already here"),
        (lambda agent: agent.add_arm(3), "must be a string"),
        (lambda agent: agent.add_arm("x", float("nan")), "plain JSON"),
        (lambda agent: agent.add_arm("x", noise_sd=1.0), "needs none"),
        (lambda agent: agent.pause_arm("x"), "arm must be one of"),
        (lambda agent: agent.resume_arm("blue"), "not paused"),
        (lambda agent: agent.remove_arm("x"), "arm must be one of"),
        (lambda agent: agent.pull_many(-1), "n must be"),
        (lambda agent: agent.decide(probability="no"), "probability must be True or False, got 'no'"),
        (lambda agent: agent.update_many(["blue"], [1.0, 2.0]), "equally many"),
        (lambda agent: agent.update_many("blue", [1.0]), "list of names"),
        (lambda agent: agent.update_many(["blue"], np.ones((1, 1))), "one-dimensional"),
        (lambda agent: agent.merge(agent), "count twice"),
        (lambda agent: agent.merge("x"), "another Agent"),
        (lambda agent: agent.merge(bl.Agent(bl.UCB1(), ["x"])), "same policy"),
    ],
)
def test_bad_calls_raise_and_change_nothing(call: Any, match: str) -> None:
    agent = agent_of()
    fed(agent, 20)
    before = agent.to_json()
    with pytest.raises((TypeError, ValueError, LookupError), match=match):
        call(agent)
    assert agent.to_json() == before


def test_without_an_active_arm_there_is_nothing_to_pull() -> None:
    agent = agent_of(arms=["only"])
    agent.pause_arm("only")
    for call in (agent.pull, agent.decide, agent.probabilities):
        with pytest.raises(RuntimeError, match="no arm is active"):
            call()
    assert agent.summary()["probability"].tolist() == [0.0]
    with pytest.raises(RuntimeError, match="no arm is active"):
        bl.Agent(bl.UCB1(), []).pull()


def test_a_noise_sd_per_arm_is_asked_of_new_arms_too() -> None:
    agent = agent_of(bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=(1.0, 2.0, 3.0)))
    with pytest.raises(ValueError, match="noise_sd must be given"):
        agent.add_arm("x")
    agent.add_arm("x", noise_sd=0.5)
    agent = bl.Agent.from_json(agent.to_json())
    agent.update_many([*COLOURS, "x"], [0.0] * 4)
    chances = agent.probabilities()
    assert chances["red"] > chances["green"] > chances["blue"] > chances["x"]


def test_eight_threads_lose_nothing() -> None:
    agent = agent_of()
    every, threads = 2000, 8

    def work(worker: int) -> None:
        for k in range(every):
            agent.update(agent.pull(), float(worker * every + k))
            decision = agent.decide(probability=k % 100 == 0)
            agent.reward(decision.id, 1.0)

    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    table = agent.summary()
    total = every * threads
    assert table["pulls"].sum() == 2 * total
    assert (table["pulls"] * table["mean"]).sum() == pytest.approx(total * (total - 1) / 2 + total, rel=1e-12)
    assert not agent.open_decisions


def test_importing_and_making_an_agent_compiles_nothing() -> None:
    script = (
        "import sys, bootleader as bl\n"
        "agent = bl.Agent(bl.AdaptiveReBoot(), [str(k) for k in range(100)], seed=1)\n"
        "for _ in range(300): agent.update(agent.pull(), 1.0 * len(agent.pull()))\n"
        "agent.decide(), bl.Agent.from_json(agent.to_json()).pull()\n"
        "print([name for name in ('numba', 'pandas', 'matplotlib') if name in sys.modules])\n"
    )
    assert run_python(script).strip() == "[]"


def test_moments_stay_right_far_from_zero() -> None:
    rng = np.random.default_rng(1)
    rewards = (1e9 + rng.normal(size=20_000)).tolist()
    agent = agent_of(bl.ReBoot(sigma_a=1.5), ["only"])
    agent.update_many(["only"] * len(rewards), rewards)
    _, mean, rss = exact_moments(rewards)
    arm = agent._learner.arms[0]
    assert abs(float(Fraction(arm.anchor) + Fraction(arm.drift) - mean)) < 1e-6
    assert abs(float(Fraction(arm.rss) / rss - 1)) < 1e-6


@pytest.mark.slow
def test_moments_stay_right_over_ten_million_updates() -> None:
    """Exact arithmetic in whole multiples of 2^-22, of which all rewards around 1e9 consist."""
    rng = np.random.default_rng(1)
    agent = agent_of(bl.ReBoot(sigma_a=1.5), ["only"])
    unit, base, count, total, squares = 2**22, 10**9, 0, 0, 0
    for _ in range(100):
        rewards = base + np.round(rng.normal(size=100_000) * unit) / unit
        steps = [int(step) for step in (rewards - base) * unit]
        agent.update_many(["only"] * len(rewards), rewards.tolist())
        count, total, squares = count + len(steps), total + sum(steps), squares + sum(step * step for step in steps)
    mean = Fraction(total, count * unit) + base
    rss = (Fraction(squares) - Fraction(total * total, count)) / unit**2
    arm = agent._learner.arms[0]
    error = abs(float(Fraction(arm.anchor) + Fraction(arm.drift) - mean))
    relative = abs(float(Fraction(arm.rss) / rss - 1))
    print(f"after {count} updates: mean off by {error:.3g} sd, RSS by {relative:.3g}")
    assert count == 10**7
    assert error < 1e-6
    assert relative < 1e-6


@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case.id)
def test_merging_adds_up_in_any_order(case: Any) -> None:
    rng = np.random.default_rng(2)
    parts = []
    for part in range(3):
        agent = agent_of(case.policy, seed=part)
        for k, arm in enumerate(COLOURS):
            rewards = 1e3 + rng.normal(k, 1.0 + k, size=20 + 10 * part)
            agent.update_many([arm] * len(rewards), rewards)
        parts.append(agent.to_json())
    tables = []
    for order in [(0, 1, 2), (2, 1, 0), (1, 2, 0)]:
        agents = [bl.Agent.from_json(parts[k]) for k in order]
        agents[0].merge(agents[1])
        agents[0].merge(agents[2])
        tables.append([agents[0]._learner.state_now(slot) for slot in range(3)])
    for table in tables[1:]:
        for one, other in zip(tables[0], table, strict=True):
            assert one.count == other.count == 90.0
            assert one.mean == pytest.approx(other.mean, rel=1e-12)
            assert one.rss == pytest.approx(other.rss, rel=1e-12)
            assert (one.third, one.fourth) == pytest.approx((other.third, other.fourth), rel=1e-11)
            assert np.allclose(
                sorted(value + one.anchor for value in one.history),
                sorted(value + other.anchor for value in other.history),
                rtol=1e-12,
            )


def test_merging_is_learning_it_all_in_one_place() -> None:
    here, there, whole = agent_of(), agent_of(arms=["red", "gold", "gone"]), agent_of(arms=[*COLOURS, "gold"])
    here.add_arm("gone")
    here.remove_arm("gone")
    there.pause_arm("gold")
    rng = np.random.default_rng(3)
    for agent, arms in [(here, COLOURS), (there, ["red", "gold"])]:
        for arm in arms * 10:
            reward = rng.normal()
            agent.update(arm, reward)
            whole.update(arm, reward)
    there.update("gone", 1.0)
    here.merge(there)
    assert list(here.arms) == [*COLOURS, "gold"]
    assert here.paused == ["gold"]
    np.testing.assert_allclose(
        here.summary()[["pulls", "mean", "standard_error"]], whole.summary()[["pulls", "mean", "standard_error"]]
    )
    for name in here.arms:
        one, other = (agent._learner.state_now(agent._slots[name]) for agent in (here, whole))
        assert (one.third, one.fourth) == pytest.approx((other.third, other.fourth), rel=1e-9)
        assert one.fourth > 0.0
    assert here.pull() in COLOURS


def test_the_summary_and_the_repr_tell_what_there_is() -> None:
    agent = agent_of()
    agent.update_many(["blue", "blue", "green"], [1.0, 3.0, 5.0])
    agent.decide()
    table = agent.summary()
    assert table.loc["blue", ["pulls", "mean", "standard_error", "share"]].tolist() == [2, 2.0, 1.0, 2 / 3]
    assert table["probability"].sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isnan(table.loc["red", "mean"])
    assert table["open"].sum() == 1
    assert repr(agent).splitlines() == [
        "Agent(AdaptiveReBoot(), 3 arms, 3 rewards, 1 open decision)",
        "  blue   2 pulls, mean 2 +- 1",
        "  green  1 pull, mean 5",
        "  red    0 pulls",
    ]


def test_names_that_could_mislead_a_terminal_are_shown_escaped() -> None:
    agent = agent_of(arms=["\x1b[2Jgone", "a\u202eb", "n\nl", "x" * 10_000, "\ud800"])
    shown = repr(agent)
    assert shown.isascii()
    assert "\x1b" not in shown
    assert "\\x1b[2Jgone" in shown
    assert "a\\u202eb" in shown
    assert max(map(len, shown.splitlines())) < 120
    with pytest.raises(LookupError) as caught:
        agent.update("\x1b[31m", 1.0)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 800
    assert repr(bl.Agent.from_json(agent.to_json())) == shown


def test_the_first_decision_imports_nothing() -> None:
    """Under the lock: 66 modules of scipy took 180 to 540 milliseconds."""
    run_python(
        "import sys, bootleader as bl\n"
        "agent = bl.Agent(bl.AdaptiveReBoot(), ['a', 'b'], seed=1)\n"
        "agent.update_many(['a', 'b'] * 4, [1.0, 2.0, 3.0, 5.0] * 2)\n"
        "before = set(sys.modules)\n"
        "agent.decide()\n"
        "assert set(sys.modules) == before, set(sys.modules) - before\n"
    )


def test_every_change_has_a_version_of_its_own() -> None:
    agent = agent_of()
    seen = [agent._learner.version]
    changes = (
        lambda: agent.update("blue", 1.0), lambda: agent.update_many(["red"], [1.0]), lambda: agent.add_arm("gold"),
        lambda: agent.pause_arm("red"), lambda: agent.resume_arm("red"), lambda: agent.remove_arm("blue"),
        lambda: agent.merge(agent_of(arms=["red"])), lambda: agent.reward(agent.decide().id, 1.0),
    )  # fmt: skip
    for change in changes:
        change()
        seen.append(agent._learner.version)
    assert seen == sorted(set(seen))
    for _ in range(3):
        agent.update("gold", 2.0)
        agent.update("red", 1.0)
        agent.update("green", 1.0)
    version, chances = agent._learner.version, agent._chances()
    agent.pull_many(10)
    agent.decide()
    assert agent._learner.version == version  # what is on its way changes no choice any more
    assert agent._chances() is chances
