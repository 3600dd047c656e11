"""A block: some consecutive runs of one policy, played to the end and reduced to what is kept of them."""

from __future__ import annotations

import copy
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader.bandits import DRAWS, Arms, Bandit
from bootleader.policies import HistoryRule, IndexRule, Policy
from bootleader.simulation.loop import play_python
from bootleader.streams import Purpose, gamma_of, run_key, stream_of

Floats = npt.NDArray[np.float64]

SLICE = 0.1  # seconds between looks at the stop sign, about
ROUNDS_A_LOOK = 20  # rounds of the first slice, until the pace is known: short for blocks of many arms too
GROUP = 32  # runs of a block whose curves are summed together, so that sums do not depend on how wide blocks are
PARAMETERS = 5  # the most that any rule has


class Stopped(Exception):  # noqa: N818  (nothing went wrong: the caller asked for it)
    """A block was told to stop before its end."""


@dataclass(frozen=True)
class Block:
    """Everything that a block needs to be played anywhere: small, and picklable."""

    policy: Any
    bandit: Bandit
    seed: int
    first_run: int
    runs: int
    rounds: int
    checkpoints: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """What is kept of the regret curves (checkpoint x run) of some consecutive runs: their mean and squares."""

    runs: int
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, curves: Floats) -> Group:
        mean = curves.mean(axis=1)
        return cls(curves.shape[1], mean, ((curves - mean[:, None]) ** 2).sum(axis=1))


@dataclass(frozen=True)
class BlockResult:
    """What is kept of a block."""

    runs: int
    groups: list[Group]
    final: Floats
    pulls: npt.NDArray[np.int64]
    seconds: float


@dataclass(frozen=True)
class Runs:
    """The runs of a block, laid out for a kernel: arms and streams (arm x run)."""

    arms: Arms
    gap: Floats
    gamma: npt.NDArray[np.uint64]
    noise: npt.NDArray[np.uint64]
    spare: npt.NDArray[np.uint64]
    rewards: npt.NDArray[np.uint64]
    curves: Floats = field(repr=False)

    @classmethod
    def of(cls, block: Block) -> Runs:
        """Draw the arms and start the streams of a block."""
        runs = np.arange(block.first_run, block.first_run + block.runs, dtype=np.uint64)
        key = run_key(block.seed, runs)
        arms = block.bandit.arms_of(block.seed, runs)
        index = np.arange(block.bandit.arms, dtype=np.uint64)[:, None]
        return cls(
            arms=arms,
            gap=arms.mean.max(axis=0) - arms.mean,
            gamma=gamma_of(key),
            noise=stream_of(key, int(Purpose.NOISE), 0),
            spare=stream_of(key, int(Purpose.SPARE), 0),
            rewards=stream_of(key, int(Purpose.REWARDS), index),
            curves=np.zeros((len(block.checkpoints), block.runs)),
        )


def finds_leader_by_tournament(policy: Any, arms: int) -> bool:
    """Whether runs of this policy with so many arms are played by the kernel for many arms."""
    return isinstance(policy, Policy) and isinstance(policy.rule, IndexRule) and policy.rule.is_crowded(arms)


def play_block(block: Block, stop: threading.Event | None = None) -> BlockResult:
    """Play a block to the end (or raise ``Stopped``), whichever kind of policy it holds."""
    runs = Runs.of(block)
    if not isinstance(block.policy, Policy):
        started = time.thread_time()
        pulls = play_python(_copied(block.policy), block, runs, stop)
        seconds = time.thread_time() - started
    elif not isinstance(block.policy.rule, IndexRule):
        pulls, seconds = _play_history(block.policy.rule, block, runs, stop)
    elif finds_leader_by_tournament(block.policy, block.bandit.arms):
        pulls, seconds = _play_tournament(block.policy, block.policy.rule, block, runs, stop)
    else:
        pulls, seconds = _play_lockstep(block.policy, block.policy.rule, block, runs, stop)
    return BlockResult(
        runs=block.runs,
        groups=[Group.of(runs.curves[:, first : first + GROUP].copy()) for first in range(0, block.runs, GROUP)],
        final=runs.curves[-1].copy(),
        pulls=pulls,
        seconds=seconds,
    )


def _copied(policy: Any) -> Any:
    """A user's policy for this block alone."""
    try:
        return copy.deepcopy(policy)
    except TypeError as error:
        raise TypeError(
            f"{policy!r} cannot be copied, and every block of runs needs a copy of its own ({error}); make locks, "
            "files and the like in start()"
        ) from error


def _in_slices(rounds: int, stop: threading.Event | None, advance: Any) -> float:
    """Call ``advance(start, end)`` over all rounds, in slices short enough to be stopped between.

    Returns the processor seconds that took; no rounds come first, so that compiling the kernel does not count.
    """
    advance(0, 0)
    first = time.thread_time()
    start, size = 0, ROUNDS_A_LOOK
    while start < rounds:
        if stop is not None and stop.is_set():
            raise Stopped
        end = min(rounds, start + size)
        began = time.perf_counter()
        advance(start, end)
        pace = (time.perf_counter() - began) / (end - start)
        start, size = end, max(1, min(8 * size, int(SLICE / max(pace, 1e-9))))
    return time.thread_time() - first


def _padded(theta: tuple[float, ...]) -> tuple[float, ...]:
    """Parameters as a tuple of one length, so that one compiled kernel takes them all."""
    return theta + (0.0,) * (PARAMETERS - len(theta))


def _index_plan(rule: IndexRule, bandit: Bandit) -> Any:
    from bootleader.compilation import LAWS
    from bootleader.simulation.lockstep import Plan

    return Plan(
        LAWS.index(rule.law), int(rule.noise), _padded(rule.theta), rule.opening, rule.pooled, rule.epsilon,
        DRAWS.index(bandit.draw),
    )  # fmt: skip


def _known_sd(policy: Policy, runs: Runs) -> Floats:
    """Each arm's noise sd in each run, as the policy believes it."""
    arms, lanes = runs.gap.shape
    return np.broadcast_to(policy.known_sd(arms, runs.arms.sd), (arms, lanes)).astype(float)


def _play_lockstep(
    policy: Policy, rule: IndexRule, block: Block, runs: Runs, stop: threading.Event | None
) -> tuple[npt.NDArray[np.int64], float]:
    from bootleader.simulation import lockstep

    plan = _index_plan(rule, block.bandit)
    streams = lockstep.Streams(runs.gamma, runs.noise, runs.spare, runs.rewards)
    table = lockstep.new_table(_known_sd(policy, runs), runs.gap)
    scratch = lockstep.new_scratch(*runs.gap.shape)

    def advance(start: int, end: int) -> None:
        lockstep.advance(plan, runs.arms, streams, table, scratch, block.checkpoints, runs.curves, start, end)

    seconds = _in_slices(block.rounds, stop, advance)
    return np.asarray(table.moments[:, :, lockstep.COUNT].sum(axis=1), np.int64), seconds


def _play_tournament(
    policy: Policy, rule: IndexRule, block: Block, runs: Runs, stop: threading.Event | None
) -> tuple[npt.NDArray[np.int64], float]:
    from bootleader.simulation import tournament

    plan = _index_plan(rule, block.bandit)
    streams = tournament.Streams(runs.gamma, runs.noise, runs.spare, runs.rewards)
    noise_sd = _known_sd(policy, runs)
    pulls, seconds = np.zeros(block.bandit.arms, np.int64), 0.0
    for lane in range(block.runs):
        table = tournament.new_table(noise_sd[:, lane].copy(), runs.gap[:, lane].copy())

        def advance(start: int, end: int, lane: int = lane, table: Any = table) -> None:
            tournament.advance(plan, runs.arms, streams, table, block.checkpoints, runs.curves, lane, start, end)

        seconds += _in_slices(block.rounds, stop, advance)
        pulls += np.asarray(table.moments[:, tournament.COUNT], np.int64)
    return pulls, seconds


def _play_history(
    rule: HistoryRule, block: Block, runs: Runs, stop: threading.Event | None
) -> tuple[npt.NDArray[np.int64], float]:
    from bootleader.compilation import RESAMPLERS
    from bootleader.simulation import resampling

    plan = resampling.HistoryPlan(
        RESAMPLERS.index(rule.resample), _padded(rule.theta), rule.opening, DRAWS.index(block.bandit.draw)
    )
    streams = resampling.Streams(runs.gamma, runs.noise, runs.spare, runs.rewards)
    arena = np.empty(resampling.arena_size(block.bandit.arms, block.rounds))
    pulls, seconds = np.zeros(block.bandit.arms, np.int64), 0.0
    for lane in range(block.runs):
        table = resampling.new_table(arena, runs.gap)

        def advance(start: int, end: int, lane: int = lane, table: Any = table) -> None:
            resampling.advance(plan, runs.arms, streams, table, block.checkpoints, runs.curves, lane, start, end)

        seconds += _in_slices(block.rounds, stop, advance)
        pulls += np.asarray(table.count, np.int64)
    return pulls, seconds


def play_blocks(blocks: list[Block], stop: threading.Event | None = None) -> list[BlockResult]:
    """Play some blocks one after the other: a task, wherever the executor runs it."""
    return [play_block(block, stop) for block in blocks]
