"""Record what the library computes, as digests, so that a change of words or layout can be shown to change no number.

``python -m tests.golden.record`` writes ``golden.json``; ``test_golden.py`` compares.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

import bootleader as bl

GOLDEN = Path(__file__).with_name("golden.json")

POLICIES = {
    "reboot": bl.ReBoot(sigma_a=1.5),
    "reboot-rademacher": bl.ReBoot(sigma_a=1.5, weights="rademacher"),
    "reboot-mammen": bl.ReBoot(sigma_a=0.7, weights="mammen"),
    "vanilla": bl.ResidualBootstrap(),
    "vanilla-mammen": bl.ResidualBootstrap(weights="mammen"),
    "leader": bl.FollowTheLeader(),
    "thompson": bl.ThompsonSampling(),
    "thompson-flat": bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=2.0),
    "student": bl.StudentThompson(),
    "adaptive": bl.AdaptiveReBoot(),
    "giro": bl.Giro(a=1),
    "giro-fraction": bl.Giro(a=0.3),
    "phe": bl.PHE(a=2.1),
    "ucb1": bl.UCB1(),
    "epsilon": bl.EpsilonGreedy(0.1),
}
BANDITS = {
    "gaussian": bl.GaussianBandit([1.0, 0.5, 0.0, 0.2, 0.9]),
    "gaussian-drawn": bl.GaussianBandit(bl.Uniform(5, 7, arms=7), sd=bl.LogUniform(0.1, 5)),
    "logistic": bl.LogisticBandit(bl.Uniform(5, 7, arms=4)),
    "student": bl.StudentTBandit([1.0, 0.0, 0.5], df=3.0),
    "exponential": bl.ExponentialBandit(bl.Uniform(5, 7, arms=3), shift=5),
    "bernoulli": bl.BernoulliBandit([0.02, 0.3, 0.5]),
    "revenue": bl.RevenueBandit(bl.Uniform(0.8, 1.2, arms=4)),
    "empirical": bl.EmpiricalBandit([[1.0, 2.0, 5.0], [0.0, 0.0, 9.0]]),
    "affine": bl.AffineBandit(bl.BernoulliBandit([0.2, 0.3]), scale=100.0, shift=-7.0),
}
MANY_ARMS = {
    "reboot-600": (bl.ReBoot(sigma_a=1.5), 600),
    "adaptive-200": (bl.AdaptiveReBoot(), 200),
    "student-200": (bl.StudentThompson(), 200),
    "leader-600": (bl.FollowTheLeader(), 600),
    "epsilon-600": (bl.EpsilonGreedy(0.2), 600),
}


def digest(*arrays):
    """A digest of arrays, bit for bit."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:16]


def simulated(policy, bandit, rounds=400, runs=40):
    """The digest of a simulation."""
    sim = bl.simulate(policy, bandit, rounds=rounds, runs=runs, seed=3, checkpoints=7)
    return digest(sim.rounds, sim.mean_regret, sim.final_regret, sim.pulls)


def numbers_in(document):
    """All numbers of a document, sorted, whatever they are called."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key not in ("checksum", "version", "settled", "rewarded"):
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)
        elif isinstance(value, bool | int | float):
            found.append(float(value).hex())

    walk(json.loads(document))
    return sorted(found)


DRAWN = {f"agent {name}" for name, policy in POLICIES.items() if isinstance(policy.rule, bl.HistoryRule)}
DECIDE_EVERY = 3  # rounds; in the others the agent pulls


def used(policy, until=300, **options):
    """What an agent does in 300 rounds of many kinds of calls: choices, probabilities ``until`` a round, documents."""
    rng = np.random.default_rng(5)
    agent = bl.Agent(policy, ["a", "b", "c", "d"], seed=11, clock=lambda: 1000.0, **options)
    chosen, probabilities, waiting = [], [], []
    for step in range(300):
        if step == 60:
            agent.add_arm("e")
        if step == 90:
            agent.pause_arm("b")
        if step == 120:
            agent.remove_arm("a")
        if step == 150:
            agent.resume_arm("b")
        if step % DECIDE_EVERY == 0:
            decision = agent.decide(probability=step % 9 == 0 and step < until)
            chosen.append(decision.arm)
            if step < until:
                probabilities.append(decision.probability or 0.0)
            waiting.append(decision)
            if step % 6 == 0:
                late = waiting.pop(0)
                agent.reward(late.id, rng.normal(len(late.arm) + ord(late.arm) % 7))
        else:
            arm = agent.pull()
            chosen.append(arm)
            agent.update(arm, rng.normal(ord(arm) % 7))
        if step == 200:
            agent = bl.Agent.from_json(agent.to_json(), clock=lambda: 1000.0)
    return {
        "choices": hashlib.sha256("".join(chosen).encode()).hexdigest()[:16],
        # No digest: NumPy's exp and log differ between processors in the last bit.
        "probabilities": [round(value, 12) for value in probabilities],
        "document": hashlib.sha256("".join(numbers_in(agent.to_json())).encode()).hexdigest()[:16],
    }


def recorded(drawn_until=300):
    """All digests; probabilities that are drawn, each from a thousand choices, until a round."""
    agents = {
        name: used(policy, until=drawn_until if name in DRAWN else 300)
        for name, policy in ((f"agent {name}", policy) for name, policy in POLICIES.items())
    }
    agents |= {f"agent {name} costs": used(POLICIES[name], maximize=False) for name in ("reboot", "adaptive")}
    agents |= {
        f"agent {name} half-life": used(POLICIES[name], half_life=50.0) for name in ("reboot", "adaptive", "ucb1")
    }
    runs = {f"{p} on {b}": simulated(POLICIES[p], BANDITS[b]) for p in POLICIES for b in BANDITS}
    large = {
        name: simulated(policy, bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), rounds=3 * arms, runs=3)
        for name, (policy, arms) in MANY_ARMS.items()
    }
    return {**runs, **large, **agents}


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(recorded(), indent=0) + "\n")
