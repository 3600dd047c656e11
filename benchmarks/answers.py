"""How long an answer takes: from a log of a million rewards, and from running moments."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np
import pandas as pd

import bootleader as bl
from benchmarks.measuring import Measured, Work, processor_seconds
from bootleader.inference import verdict_of_moments
from bootleader.inference._moments import moments_by_arm

ARMS, REWARDS = 10, 1_000_000
LOG_BAR, STATE_BAR = 2.0, 1.0  # seconds, milliseconds
SECTION = f"Answers, {ARMS} arms, {REWARDS:,} rewards (processor time)"


def measure(repeats: int) -> Iterator[Measured]:
    """The figures."""
    rng = np.random.default_rng(0)
    arm = rng.integers(0, ARMS, REWARDS)
    names = [f"arm {k}" for k in range(ARMS)]
    frame = pd.DataFrame(
        {"arm": np.array(names)[arm], "reward": rng.normal(0.01 * arm), "probability": np.full(REWARDS, 1 / ARMS)}
    )
    clicks = frame.assign(reward=(frame["reward"] > 1.0).astype(float))
    plain, bounded = (moments_by_arm(arm, log["reward"].to_numpy(), ARMS) for log in (frame, clicks))
    from_log: dict[str, Work] = {
        "verdict from the log": lambda: bl.verdict(frame),
        "verdict from the log, with bounds": lambda: bl.verdict(clicks, low=0, high=1),
        "verdict from the log, for arms that drift": lambda: bl.verdict(frame, drift=True, floor=1 / ARMS),
        "evaluate: one arm played alone": lambda: bl.evaluate(frame, "arm 3"),
    }
    from_state: dict[str, Work] = {
        "verdict from running moments": lambda: verdict_of_moments(names, plain),
        "verdict from running moments, with bounds": lambda: verdict_of_moments(names, bounded, low=0, high=1),
    }
    for what, work in from_log.items():
        yield Measured(SECTION, what, _median(work, repeats), "s", LOG_BAR, at_most=True)
    for what, work in from_state.items():
        yield Measured(SECTION, what, 1e3 * _median(work, 20 * repeats), "ms", STATE_BAR, at_most=True)


def _median(work: Work, repeats: int) -> float:
    work()
    return statistics.median(processor_seconds(work) for _ in range(repeats))
