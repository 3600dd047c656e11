"""The agent with contexts against river's and MABWiser's contextual bandits, and its cost against features and arms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bootleader as bl
from benchmarks.agent import Play, microseconds_a_round, names
from benchmarks.measuring import Measured

ARMS, FEATURES = 10, 20
ROUNDS = 300
EARLY = 15  # rewards of each arm before it is measured
LATE = 400


class Visits:
    """Contexts, as rows and as dicts, and rewards of every arm, linear in them; the same for all libraries."""

    def __init__(self, arms: int, features: int) -> None:
        rng = np.random.default_rng(1)
        self.arms = names(arms)
        self.rows = rng.normal(size=(ROUNDS, features))
        self.labels = [f"x{j}" for j in range(features)]
        self.contexts = [dict(zip(self.labels, row.tolist(), strict=True)) for row in self.rows]
        means = self.rows @ rng.normal(size=(features, arms))
        self.rewards = (means + rng.normal(size=(ROUNDS, arms))).tolist()


def agent_rounds(policy: Any, visits: Visits, known: int) -> Play:
    """Rounds of an agent whose arms have had so many rewards each."""
    features = bl.Features(dict.fromkeys(visits.labels, float))
    agent: Any = bl.Agent(policy, visits.arms, features=features, seed=1)
    for k, arm in enumerate(visits.arms):
        for t in range(known):
            agent.update(arm, visits.rewards[t % ROUNDS][k], visits.contexts[t % ROUNDS])

    def play(rounds: int) -> None:
        for t in range(rounds):
            context = visits.contexts[t]
            arm = agent.pull(context)
            agent.update(arm, visits.rewards[t][int(arm)], context)

    return play


def river_rounds(visits: Visits, known: int) -> Play:
    from river import bandit

    policy = bandit.LinUCBDisjoint(alpha=1.0, seed=1)
    for k, arm in enumerate(visits.arms):
        for t in range(known):
            policy.update(arm, visits.contexts[t % ROUNDS], visits.rewards[t % ROUNDS][k])

    def play(rounds: int) -> None:
        for t in range(rounds):
            arm = policy.pull(visits.arms, context=visits.contexts[t])
            policy.update(arm, visits.contexts[t], visits.rewards[t][int(arm)])

    return play


def mabwiser_rounds(visits: Visits, known: int) -> Play:
    from mabwiser.mab import MAB, LearningPolicy

    policy = MAB(visits.arms, LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0))
    times = [t % ROUNDS for t in range(known)]
    history = [(arm, visits.rewards[t][k], visits.rows[t]) for k, arm in enumerate(visits.arms) for t in times]
    chosen, rewards, rows = zip(*history, strict=True)
    policy.fit(list(chosen), list(rewards), np.array(rows))

    def play(rounds: int) -> None:
        for t in range(rounds):
            row = visits.rows[t : t + 1]
            arm = policy.predict(row)
            policy.partial_fit([arm], [visits.rewards[t][int(arm)]], row)

    return play


def against_other_libraries(repeats: int) -> Iterator[Measured]:
    section = f"One pull and update of an agent with contexts, {ARMS} arms, {FEATURES} features"
    visits = Visits(ARMS, FEATURES)
    policies = (bl.LinUCB(), bl.LinThompson(), bl.AdaptiveLinReBoot())
    river, mabwiser, ucb, thompson, adaptive, early = microseconds_a_round(
        repeats,
        (river_rounds(visits, EARLY), ROUNDS),
        (mabwiser_rounds(visits, EARLY), ROUNDS // 3),
        *((agent_rounds(policy, visits, LATE), ROUNDS) for policy in policies),
        (agent_rounds(bl.LinUCB(), visits, EARLY), ROUNDS),
    )
    yield Measured(section, "river LinUCBDisjoint", river, "us/round")
    yield Measured(section, "MABWiser LinUCB", mabwiser, "us/round")
    yield Measured(section, "Agent(LinUCB())", ucb, "us/round")
    yield Measured(section, "Agent(LinUCB()), times faster than river LinUCBDisjoint", river / ucb, "x", bar=3)
    yield Measured(section, "Agent(LinUCB()), times faster than MABWiser LinUCB", mabwiser / ucb, "x", bar=3)
    yield Measured(section, f"the same from {EARLY} rewards an arm on, than river", river / early, "x", bar=3)
    yield Measured(section, "Agent(LinThompson())", thompson, "us/round")
    yield Measured(section, "Agent(AdaptiveLinReBoot())", adaptive, "us/round")
    yield Measured(section, "Agent(AdaptiveLinReBoot()), times faster than river", river / adaptive, "x", bar=3)


def first_rounds(repeats: int) -> Iterator[Measured]:
    """AdaptiveLinReBoot sets its penalty often while it knows little."""
    section = f"The first {ROUNDS} rounds of an agent with contexts, {ARMS} arms, {FEATURES} features"
    visits = Visits(ARMS, FEATURES)
    for policy in (bl.LinUCB(), bl.AdaptiveLinReBoot()):

        def fresh(rounds: int, policy: Any = policy) -> None:
            agent_rounds(policy, visits, 0)(rounds)

        (found,) = microseconds_a_round(max(3, repeats // 3), (fresh, ROUNDS))
        yield Measured(section, f"{policy}", found, "us/round")


def growth(repeats: int) -> Iterator[Measured]:
    section = "Growth of one pull and update of Agent(LinUCB()) with contexts"
    sizes = [(10, 5), (10, 20), (10, 80), (100, 20)]
    players = [(agent_rounds(bl.LinUCB(), Visits(*size), 20), ROUNDS) for size in sizes]
    for (arms, features), found in zip(sizes, microseconds_a_round(max(3, repeats // 3), *players), strict=True):
        yield Measured(section, f"{arms} arms, {features} features", found, "us/round")


def measure(repeats: int) -> Iterator[Measured]:
    yield from against_other_libraries(repeats)
    yield from first_rounds(repeats)
    yield from growth(repeats)
