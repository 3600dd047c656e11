"""The agent with contexts: choices, late rewards, arms and categories that come and go, answers, threads."""

from __future__ import annotations

import dataclasses
import math
import sys
import threading
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation._contextual_runs import LibraryContexts
from tests.agent.contextual_shop import FEATURES, NAMES, PLAYED, VISIT, contents, each_policy, make, play, visits

# Choices --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [False, True], ids=["pull", "decide"])
@pytest.mark.parametrize("policy", [*PLAYED, "of one's own"], ids=str)
def test_an_agent_makes_the_choices_of_the_simulation_that_has_its_seed(policy: Any, late: bool) -> None:
    policy = Curious() if policy == "of one's own" else policy
    world, rounds = bl.LinearBandit(bl.GaussianContexts(arms=3, dimension=3), sd=0.3), 200
    simulation = bl.simulate(policy, world, rounds=rounds, runs=1, seed=11, compiled=False)  # nothing to compile
    features = bl.Features(a=float, b=float, c=float, intercept=False)
    agent = bl.Agent(policy, ["0", "1", "2"], features=features, seed=11)
    run, pulls, regret = LibraryContexts(world, 11, 0), np.zeros(3), 0.0
    for played in range(rounds):
        run.step(played)
        context = dict(zip("abc", run.features.tolist(), strict=True))
        if late:
            decision = agent.decide(context, probability=False)
            arm = int(decision.arm)
            agent.reward(decision.id, run.pay(arm, played))
        else:
            arm = int(agent.pull(context))
            agent.update(str(arm), run.pay(arm, played), context)
        pulls[arm] += 1
        regret += max(run.mean) - run.mean[arm]
    np.testing.assert_array_equal(simulation.pulls[0], pulls)
    np.testing.assert_allclose(simulation.final_regret[0, 0], regret, rtol=1e-9)


def test_each_segment_gets_its_arm() -> None:
    agent = make(bl.AdaptiveLinReBoot())
    play(agent, 600)
    shares = agent.shares("device")
    assert shares.loc["mobile", "short"] > 0.85
    assert shares.loc["desktop", "long"] > 0.85
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert agent.probabilities({**VISIT, "device": "desktop"})["long"] > 0.99


@each_policy
def test_probabilities_are_those_of_the_choices(policy: Any) -> None:
    agent = make(policy, traffic=bl.Traffic(floor=0.05))
    play(agent, 40)
    chances = agent.probabilities(VISIT)
    assert chances.method == "exact"
    draws = 4000
    found = [agent.pull(VISIT) for _ in range(draws)]
    for name, chance in chances.items():
        assert abs(found.count(name) / draws - chance) < 4.5 * math.sqrt(0.25 / draws)  # five standard errors: 1e-5
    decision = agent.decide(VISIT)
    assert decision.probability == pytest.approx(chances[decision.arm])


def test_many_at_once_are_one_after_the_other() -> None:
    one, many = make(bl.LinThompson()), make(bl.LinThompson())
    stream = visits(3)
    contexts = [next(stream) for _ in range(50)]
    assert many.pull_many(contexts) == [one.pull(context) for context in contexts]
    arms, rewards = [NAMES[k % 3] for k in range(50)], [float(k % 7) for k in range(50)]
    many.update_many(arms, rewards, contexts)
    for arm, reward, context in zip(arms, rewards, contexts, strict=True):
        one.update(arm, reward, context)
    assert many.probabilities(VISIT) == pytest.approx(one.probabilities(VISIT), abs=1e-9)
    before = contents(many)
    with pytest.raises(ValueError, match="visits"):
        many.update_many(["short", "long"], [1.0, 2.0], [VISIT, {**VISIT, "visits": math.nan}])
    with pytest.raises(ValueError, match="equally many"):
        many.update_many(["short"], [1.0], [VISIT, VISIT])
    assert contents(many) == before


# Late rewards ---------------------------------------------------------------------------------------------------------


def test_a_decision_remembers_its_context() -> None:
    late: Any
    late, prompt = make(bl.LinUCB()), make(bl.LinUCB())
    stream = visits(5)
    contexts = [next(stream) for _ in range(20)]
    decisions = [late.decide(context, probability=False) for context in contexts]
    late = bl.Agent.from_json(late.to_json())
    late.add_category("device", "tablet")
    prompt.add_category("device", "tablet")
    for decision, context in reversed(list(zip(decisions, contexts, strict=True))):
        assert late.reward(decision.id, 1.5) is bl.Receipt.COUNTED
        prompt.update(decision.arm, 1.5, context)
    assert late.reward(decisions[3].id, 1.5) is bl.Receipt.REPEATED
    assert late.summary()["coefficient"].equals(prompt.summary()["coefficient"])


def test_recorded_choices_of_others_are_learnt_with_their_context() -> None:
    agent = make(bl.AdaptiveLinReBoot())
    decision = agent.decide(VISIT, arm="long", probability=0.5)
    agent.reward(decision.id, 2.0)
    assert agent.shares("device").loc["mobile", "long"] == 1.0


# Errors change nothing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "context",
    [None, {}, {**VISIT, "device": "tablet"}, {**VISIT, "visits": math.nan}, {**VISIT, "extra": 1}, [1.0]],
    ids=str,
)
def test_a_bad_context_changes_nothing(context: Any) -> None:
    agent = make(bl.AdaptiveLinReBoot())
    play(agent, 20)
    before = contents(agent)
    for call in (
        lambda: agent.pull(context),
        lambda: agent.decide(context),
        lambda: agent.update("short", 1.0, context),
        lambda: agent.probabilities(context),
        lambda: agent.pull_many([VISIT, context]),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    assert contents(agent) == before


def test_what_does_not_go_with_contexts_says_so() -> None:
    agent = make(bl.AdaptiveLinReBoot())
    with pytest.raises(LookupError, match="'x'"):
        agent.update("x", 1.0, VISIT)
    with pytest.raises(ValueError, match="finite"):
        agent.update("short", math.nan, VISIT)
    with pytest.raises(TypeError, match="update_many"):
        agent.learn_summary("short", 10, 0.0, 1.0)
    with pytest.raises(ValueError, match="summary"):
        agent.verdict()
    with pytest.raises(TypeError, match="needs contexts"):
        bl.Agent(bl.LinUCB(), NAMES)
    with pytest.raises(TypeError, match="sees no contexts"):
        bl.Agent(bl.AdaptiveReBoot(), NAMES, features=FEATURES)
    with pytest.raises(TypeError, match="Features"):
        bl.Agent(bl.LinUCB(), NAMES, features={"x": float})  # type: ignore[arg-type]
    plain = bl.Agent(bl.AdaptiveReBoot(), NAMES)
    for call in (lambda: plain.pull(VISIT), lambda: plain.update("short", 1.0, VISIT), lambda: plain.decide(VISIT)):
        with pytest.raises(TypeError, match="no features"):
            call()


# Arms and categories --------------------------------------------------------------------------------------------------


@each_policy
def test_arms_come_and_go(policy: Any) -> None:
    agent = make(policy)
    play(agent, 60)
    agent.add_arm("new")
    agent.pause_arm("video")
    chosen = {agent.pull(VISIT) for _ in range(60)}
    assert "video" not in chosen
    for _ in range(3):
        agent.update("new", 5.0, VISIT)
    agent.remove_arm("long")
    agent.resume_arm("video")
    assert {agent.pull(visit) for visit, _ in zip(visits(2), range(60), strict=False)} <= {"short", "video", "new"}
    assert set(agent.probabilities(VISIT)) == {"short", "video", "new"}


@each_policy
def test_a_new_category_is_learnt(policy: Any) -> None:
    agent = make(policy)
    play(agent, 80)
    before = agent.probabilities(VISIT)
    agent.add_category("device", "tablet")
    assert agent.probabilities(VISIT) == pytest.approx(before, abs=1e-9)
    tablet = {**VISIT, "device": "tablet"}
    for _ in range(30):
        for name in NAMES:
            agent.update(name, 9.0 if name == "video" else 0.0, tablet)
    assert agent.probabilities(tablet)["video"] > 0.9
    assert agent.shares("device").loc["tablet"].tolist() == pytest.approx([1 / 3] * 3)
    with pytest.raises(ValueError, match="already"):
        agent.add_category("device", "tablet")


# Answers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maximize", [True, False])
def test_the_summary_has_coefficients_and_standard_errors(maximize: bool) -> None:
    agent = make(bl.AdaptiveLinReBoot(), maximize=maximize)
    rng, stream = np.random.default_rng(1), visits(1)
    rows, rewards = [], []
    for _ in range(800):
        visit = next(stream)
        rewards.append(5.0 - 2.0 * (visit["device"] == "desktop") + 0.3 * visit["visits"] + 0.5 * rng.normal())
        rows.append([1.0, visit["device"] == "desktop", visit["visits"], visit["member"]])
        agent.update("short", rewards[-1], visit)
    design = np.array(rows, float)
    expected, (rss,), _, _ = np.linalg.lstsq(design, np.array(rewards))
    sd = math.sqrt(rss / (800 - 4))
    errors = sd * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    table = agent.summary().loc["short"]
    assert list(table.index) == ["intercept", "device=desktop", "visits", "member"]
    np.testing.assert_allclose(table["coefficient"], expected, atol=0.02)  # a ridge of one row of 800
    np.testing.assert_allclose(table["standard_error"], errors, rtol=0.01)
    np.testing.assert_allclose(table["residual_sd"], sd, rtol=0.01)
    inside = agent.summary({"device": "desktop", "visits": 2, "member": True}).loc["short"]
    x = np.array([1.0, 1.0, 2.0, 1.0])
    assert inside["predicted"] == pytest.approx(x @ expected, abs=0.02)
    assert inside["standard_error"] == pytest.approx(sd * math.sqrt(x @ np.linalg.inv(design.T @ design) @ x), rel=0.01)
    assert agent.summary()["pulls"].groupby("arm").first().to_dict() == {"long": 0, "short": 800, "video": 0}


def test_shares_and_their_plot(tmp_path: Any) -> None:
    agent = make(bl.AdaptiveLinReBoot())
    for arm, device, member in (("short", "mobile", True), ("short", "mobile", False), ("long", "mobile", False)):
        agent.update(arm, 1.0, {"device": device, "visits": 1, "member": member})
    assert agent.shares("device").loc["mobile"].tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert agent.shares("device").loc["desktop"].isna().all()
    assert agent.shares("member").loc[True].tolist() == [1.0, 0.0, 0.0]
    for wrong in ("visits", "x", None):
        with pytest.raises(ValueError, match="categories or a flag"):
            agent.shares(wrong)
    figure = agent.plot_shares("device", tmp_path / "shares.png")
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == pytest.approx([2 / 3, 0.0, 1 / 3, 0.0, 0.0, 0.0])
    assert (tmp_path / "shares.png").stat().st_size > 1000


def test_threads_lose_no_reward() -> None:
    agent = make(bl.LinThompson())

    def work(seed: int) -> None:
        for visit, _ in zip(visits(seed), range(60), strict=False):
            agent.reward(agent.decide(visit, probability=False).id, 1.0)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(arm.rewards for arm in agent._learner.arms) == 240
    total = sum(arm.model.count for arm in agent._learner.arms)
    assert total == 240


@dataclasses.dataclass(frozen=True, repr=False)
class Greedy(bl.ContextualPolicy):
    """A policy of one's own: the largest prediction."""

    lam: float = 1.0

    @property
    def rule(self) -> bl.LinearRule:
        return bl.LinearRule(lambda params, arm, shared: (arm.location, 0.0, math.inf), bl.Noise.NONE, ridge=self.lam)


def curious(params: Any, arm: Any, shared: Any) -> Any:
    """Reads all that a law may know beside its arm."""
    width = math.sqrt(shared.variance * math.log(shared.pulls + 2.0) / arm.count)
    return arm.location + width, 0.0, math.inf


@dataclasses.dataclass(frozen=True, repr=False)
class Curious(bl.ContextualPolicy):
    """A policy of one's own that reads the variance of all rewards and the number of rounds."""

    @property
    def rule(self) -> bl.LinearRule:
        return bl.LinearRule(curious, bl.Noise.NONE)


@dataclasses.dataclass(frozen=True, repr=False)
class Other(bl.ContextualPolicy):
    """A policy that an agent cannot play."""

    @property
    def rule(self) -> Any:
        return None


def test_policies_of_ones_own() -> None:
    agent = make(Greedy(lam=0.5))
    play(agent, 40)
    twin = bl.Agent.from_json(agent.to_json(), policies=[Greedy])  # type: ignore[list-item]
    assert play(twin, 20, seed=2) == play(agent, 20, seed=2)
    with pytest.raises(ValueError, match="Greedy"):
        bl.Agent.from_json(agent.to_json())
    with pytest.raises(TypeError, match="LinearRule"):
        make(Other())


@pytest.mark.parametrize("place", range(0, 60, 4))
def test_an_interrupted_update_happens_or_does_not(place: int) -> None:
    agent, twin = make(bl.LinUCB()), make(bl.LinUCB())
    for other in (agent, twin):
        play(other, 12)
    lines = 0

    def interrupt(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        if "bootleader" in frame.f_code.co_filename:
            lines += event == "line"
            if lines > place:
                sys.settrace(None)
                raise KeyboardInterrupt
        return interrupt

    before = twin.probabilities(VISIT)
    sys.settrace(interrupt)
    try:
        agent.update("short", 2.0, VISIT)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    twin.update("short", 2.0, VISIT)
    assert agent.probabilities(VISIT) in (before, twin.probabilities(VISIT))
    happened = agent._learner.rounds == 13
    if not happened:
        agent.update("short", 2.0, VISIT)
    assert agent.probabilities(VISIT) == twin.probabilities(VISIT)
    assert play(agent, 20, seed=3) == play(twin, 20, seed=3)
