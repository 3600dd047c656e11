"""The agent against river's and MABWiser's bandits, and its cost against the number of arms."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import bootleader as bl
from benchmarks.measuring import Measured, processor_seconds

Play = Callable[[int], None]

FEW, MANY = 10, 100_000
ROUNDS = 2_000
RNG = random.Random(1)
REWARDS = [RNG.gauss(0.5, 1.0) for _ in range(ROUNDS)]
ON_THE_WAY = 300  # rounds from the first one in which probabilities are asked for after every reward
KINDS_OF_REWARDS: dict[str, Callable[[random.Random, int], float]] = {
    "Gaussian rewards": lambda rng, arm: rng.gauss(0.1 * arm, 1.0),
    "revenue": lambda rng, arm: rng.lognormvariate(0.0, 1.0) if rng.random() < 0.05 + 0.01 * arm else 0.0,
    "ratings": lambda rng, arm: float(rng.randint(1, 5)),
}


def names(arms: int) -> list[str]:
    return [str(k) for k in range(arms)]


def agent_rounds(policy: bl.AdaptiveReBoot, arms: int) -> Play:
    """Rounds of an agent after its initial pulls: every arm has had fifteen rewards."""
    agent = bl.Agent(policy, names(arms), seed=1)
    rng = random.Random(2)
    for _ in range(15):
        agent.update_many(names(arms), [rng.gauss(0.5, 1.0) for _ in range(arms)])

    def play(rounds: int) -> None:
        for k in range(rounds):
            arm = agent.pull()
            agent.update(arm, REWARDS[k])

    return play


def river_rounds() -> Play:
    from river import bandit

    policy = bandit.UCB(delta=1, seed=1)
    arms = names(FEW)

    def play(rounds: int) -> None:
        for k in range(rounds):
            arm = policy.pull(arms)
            policy.update(arm, REWARDS[k])

    return play


def mabwiser_rounds() -> Play:
    from mabwiser.mab import MAB, LearningPolicy

    policy = MAB(names(FEW), LearningPolicy.UCB1(alpha=1.25))
    policy.fit(names(FEW), [0.5] * FEW)

    def play(rounds: int) -> None:
        for k in range(rounds):
            arm = policy.predict()
            policy.partial_fit([arm], [REWARDS[k]])

    return play


def microseconds_a_round(repeats: int, *players: tuple[Play, int]) -> list[float]:
    """Median processor microseconds of a round, each player warmed up once, then measured alternately."""
    for play, rounds in players:
        play(rounds)
    rows = [
        [processor_seconds(lambda play=play, rounds=rounds: play(rounds)) / rounds * 1e6 for play, rounds in players]  # type: ignore[misc]
        for _ in range(repeats)
    ]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def against_other_libraries(repeats: int) -> Iterator[Measured]:
    section = f"One pull and update of an agent, {FEW} arms"
    river, mabwiser, adaptive, reboot, ucb, student, coins = microseconds_a_round(
        repeats,
        (river_rounds(), ROUNDS),
        (mabwiser_rounds(), ROUNDS // 10),
        *((agent_rounds(policy, FEW), ROUNDS) for policy in _policies()),
    )
    yield Measured(section, "river bandit.UCB", river, "us/round")
    yield Measured(section, "MABWiser UCB1", mabwiser, "us/round")
    yield Measured(section, "Agent(AdaptiveReBoot())", adaptive, "us/round")
    yield Measured(section, "times faster than river bandit.UCB", river / adaptive, "x", bar=1)
    yield Measured(section, "times faster than MABWiser UCB1", mabwiser / adaptive, "x", bar=20)
    yield Measured(section, "Agent(UCB1()), times faster than river bandit.UCB", river / ucb, "x", bar=1)
    yield Measured(section, "Agent(UCB1()), times faster than MABWiser UCB1", mabwiser / ucb, "x", bar=20)
    yield Measured(section, "Agent(ReBoot(sigma_a=1.5))", reboot, "us/round")
    yield Measured(section, "Agent(StudentThompson())", student, "us/round")
    yield Measured(section, "Agent(PHE())", coins, "us/round")


def _policies() -> list[Any]:
    return [bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.UCB1(), bl.StudentThompson(), bl.PHE()]


def fresh_agents(repeats: int) -> Iterator[Measured]:
    """The rounds of an agent from its first on: young arms have Student laws, and laws are renewed often."""
    section = f"One pull and update of a new agent, {FEW} arms"

    def play(rounds: int) -> None:
        agent, rng = bl.Agent(bl.AdaptiveReBoot(), names(FEW), seed=1), random.Random(2)
        for _ in range(rounds):
            arm = agent.pull()
            agent.update(arm, 0.1 * int(arm) + rng.gauss(0.0, 1.0))

    sizes = (200, 1_000, 2_000, 20_000)
    for rounds, found in zip(sizes, microseconds_a_round(repeats, *((play, rounds) for rounds in sizes)), strict=True):
        yield Measured(section, f"AdaptiveReBoot(), the first {rounds:,} rounds", found, "us/round")


def against_number_of_arms(repeats: int) -> Iterator[Measured]:
    section = f"One pull and update of an agent, {MANY:,} arms"
    rounds = 10 * ROUNDS  # many, because the pooled variance is recomputed over all arms now and then
    for policy in (bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5)):
        few, many = microseconds_a_round(
            max(3, repeats // 3), (agent_rounds(policy, FEW), ROUNDS), (_in_slices(agent_rounds(policy, MANY)), rounds)
        )
        yield Measured(section, f"{policy}", many, "us/round")
        yield Measured(section, f"{policy}, against {FEW} arms", many / few, "x", bar=10, at_most=True)


def _in_slices(play: Play) -> Play:
    def repeated(rounds: int) -> None:
        for _ in range(rounds // ROUNDS):
            play(ROUNDS)

    return repeated


def decisions(repeats: int) -> Iterator[Measured]:
    section = f"One decide and reward of an agent, {FEW} arms"
    agent = bl.Agent(bl.AdaptiveReBoot(), names(FEW), seed=1)
    rng = random.Random(2)
    agent.update_many(names(FEW) * 15, [rng.gauss(0.5, 1.0) for _ in range(15 * FEW)])

    def play(probability: bool) -> Play:
        def decide(rounds: int) -> None:
            for k in range(rounds):
                agent.reward(agent.decide(probability=probability).id, REWARDS[k])

        return decide

    with_it, without = microseconds_a_round(repeats, (play(True), ROUNDS // 4), (play(False), ROUNDS // 4))
    yield Measured(section, "with the probability of the choice", with_it, "us/round")
    yield Measured(section, "without", without, "us/round")


def probabilities(repeats: int) -> Iterator[Measured]:
    """The probabilities of a choice, computed anew: young arms have Student laws, old ones normal laws."""
    section = f"The probabilities of a choice, {FEW} arms"
    young = [(bl.StudentThompson(), 2)]  # the widest laws: the most work
    both = [(policy, rewards) for policy in (bl.AdaptiveReBoot(), bl.ThompsonSampling()) for rewards in (3, 100)]
    for policy, rewards in both + young:
        agent = bl.Agent(policy, names(FEW), seed=1)
        rng = random.Random(2)
        agent.update_many(names(FEW) * rewards, [rng.gauss(0.5, 1.0) for _ in range(rewards * FEW)])

        def ask(rounds: int, agent: bl.Agent = agent) -> None:
            for _ in range(rounds):
                agent._learner.changes += 1  # what was computed before does not count
                agent.probabilities()

        (taken,) = microseconds_a_round(repeats, (ask, ROUNDS // 20))
        yield Measured(section, f"{policy}, {rewards} rewards an arm", taken, "us", bar=200, at_most=True)
    for policy in (bl.AdaptiveReBoot(), bl.StudentThompson(), bl.ResidualBootstrap()):
        for kind, draw in KINDS_OF_REWARDS.items():
            median, high = on_the_way(policy, draw, max(1, repeats // 4))
            what = f"{policy}, first {ON_THE_WAY} rounds of {kind}"
            yield Measured(section, f"{what}: median", median, "us", bar=200, at_most=True)
            yield Measured(section, f"{what}: 99 %", high, "us")


def on_the_way(policy: bl.Policy, draw: Callable[[random.Random, int], float], runs: int) -> tuple[float, float]:
    """Median and 99 % quantile of the processor time of ``probabilities()``, in microseconds, over first rounds."""
    taken = []
    for seed in range(runs):
        agent, rng = bl.Agent(policy, names(FEW), seed=seed), random.Random(seed)
        for _ in range(ON_THE_WAY):
            arm = agent.pull()
            agent.update(arm, draw(rng, int(arm)))
            started = time.thread_time()
            agent.probabilities()
            taken.append(time.thread_time() - started)
    return statistics.median(taken) * 1e6, statistics.quantiles(taken, n=100)[-1] * 1e6


ALL = {
    "libraries": against_other_libraries,
    "new": fresh_agents,
    "many_arms": against_number_of_arms,
    "decisions": decisions,
    "probabilities": probabilities,
}
PARTS = tuple(ALL)


def measure(repeats: int, parts: Sequence[str] = PARTS) -> Iterator[Measured]:
    for name in parts:
        yield from ALL[name](repeats)
