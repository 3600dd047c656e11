# ruff: noqa: NPY002  (numba compiles the legacy generators only)
"""Off-policy evaluation on adaptive logs whose truth is known: bias, coverage at several looks, refusals.

``python -m tests.inference.off_policy_coverage --runs 400`` prints the table of docs/answers.md. The log is
AdaptiveReBoot's: every 20 rounds its indices are drawn 400 times, the shares, mixed with the floor, are the
probabilities, and arms are drawn with these. So the logged probabilities are exact, and they are 0 for some arms
where there is no floor.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np

import bootleader as bl
from bootleader._core.disk_cache import kernel
from tests.inference.peeking import ADAPTIVE, choose, learn
from tests.inference.rewards import BERNOULLI, GAUSS, LOGNORMAL, draw

RENEWED, DRAWS = 20, 400
LOOKS = (500, 1_000, 2_000, 4_000)


@dataclass(frozen=True)
class World:
    """Arms of one family."""

    name: str
    family: int
    first: tuple[float, ...]
    second: tuple[float, ...]
    means: tuple[float, ...]
    bounds: tuple[float, float] | None = None


LOGS = tuple(math.log(m) - 0.5 for m in (1.0, 1.1, 1.2, 1.5))
WORLDS = [
    World("Gaussian", GAUSS, (0.0, 0.1, 0.2, 0.4), (1.0,) * 4, (0.0, 0.1, 0.2, 0.4)),
    World("Bernoulli", BERNOULLI, (0.05, 0.06, 0.08, 0.12), (0.0,) * 4, (0.05, 0.06, 0.08, 0.12), (0.0, 1.0)),
    World("lognormal", LOGNORMAL, LOGS, (1.0,) * 4, (1.0, 1.1, 1.2, 1.5)),
]
TARGETS = {
    "the best arm": np.array([0.0, 0.0, 0.0, 1.0]),
    "the worst arm": np.array([1.0, 0.0, 0.0, 0.0]),
    "even shares": np.full(4, 0.25),
}


@kernel
def play(seed, family, first, second, rounds, floor, arm, reward, probability):
    """Write a log."""
    np.random.seed(seed)
    arms = len(first)
    n, mean, rss, third, fourth = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms)
    pool, shares = np.zeros(3), np.full(arms, 1.0 / arms)
    for t in range(rounds):
        if t >= 2 * arms * RENEWED and t % RENEWED == 0 and n.min() >= 2.0:
            shares[:] = 0.0
            for _ in range(DRAWS):
                shares[choose(ADAPTIVE, t, n, mean, rss, fourth, pool)] += 1.0 / DRAWS
            shares[:] = floor + (1.0 - arms * floor) * shares
        u, a = np.random.random(), 0
        while u >= shares[a] and a < arms - 1:
            u -= shares[a]
            a += 1
        y = draw(family, first[a], second[a], 0.0)
        learn(a, y, n, mean, rss, third, fourth)
        arm[t], reward[t], probability[t] = a, y, shares[a]


def measured(world: World, target: np.ndarray, floor: float, runs: int) -> dict[str, np.ndarray]:
    """For each estimator and run: error at the end, looks that excluded the truth, whether the last had an answer."""
    truth = float(target @ np.array(world.means))
    names = ("DR", "SNIPS", "IPS")
    found = {name: np.zeros((runs, 3)) for name in names}
    rounds = LOOKS[-1]
    arm, reward, probability = np.empty(rounds, np.intp), np.empty(rounds), np.empty(rounds)
    bounds = {} if world.bounds is None else {"low": world.bounds[0], "high": world.bounds[1]}
    for r in range(runs):
        play(32_452_843 * r % 2**31, world.family, world.first, world.second, rounds, floor, arm, reward, probability)
        for look in LOOKS:
            log = {"arm": arm[:look], "reward": reward[:look], "probability": probability[:look]}
            shares = np.broadcast_to(target, (look, 4))
            answer = bl.evaluate(log, shares, arms=range(4), **bounds)
            for name in names:
                estimate = answer[name]
                found[name][r, 0] = estimate.value - truth
                is_told = not answer.refusal or estimate.method.startswith("betting")
                found[name][r, 1] += is_told and not estimate.low <= truth <= estimate.high
                found[name][r, 2] = is_told
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", default="", help="rows whose name contains one of these, with semicolons between")
    given = parser.parse_args()
    print(f"{given.runs} runs, looks after {LOOKS} rounds: bias (standard error), wrong at any look, answered")
    for world in WORLDS:
        for title, target in TARGETS.items():
            for floor in (0.05, 0.0):
                name_of_row = f"{world.name} | {title} | floor {floor:g}"
                if not any(word in name_of_row for word in given.only.split(";")):
                    continue
                parts = []
                for name, table in measured(world, target, floor, given.runs).items():
                    bias, error = table[:, 0].mean(), table[:, 0].std() / math.sqrt(given.runs)
                    wrong, told = 100 * (table[:, 1] > 0).mean(), 100 * table[:, 2].mean()
                    parts.append(f"{name} {bias:+.4f} ({error:.4f}), {wrong:.1f} %, {told:.0f} %")
                print(f"{name_of_row} | {' | '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
