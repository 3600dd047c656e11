"""A block: some consecutive runs of one policy, played to the end and reduced to what is kept of them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader.bandits import DRAWS, Arms, Bandit
from bootleader.bandits.base import filled
from bootleader.policies import HistoryRule, IndexRule, Policy
from bootleader.simulation._work_stealing import SILENT, Bell, Crew
from bootleader.simulation._python_loop import play_python

if TYPE_CHECKING:
    from bootleader._core.kernels.run_setup import Streams

Floats = npt.NDArray[np.float64]

GROUP = 32  # runs of a block whose curves are summed together, so that sums do not depend on how wide blocks are
PARAMETERS = 5  # the most that any rule has
FEWEST_LANES = 8  # of a part of a block: two vectors
WORTH_CUTTING = 300_000  # index draws that a block has left, at the least: about a millisecond


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
    streams: Streams
    curves: Floats = field(repr=False)

    @classmethod
    def of(cls, block: Block) -> Runs:
        """Draw the arms and start the streams of a block."""
        from bootleader._core.kernels.run_setup import started

        bandit = block.bandit
        streams, uniforms = started(block.seed, block.first_run, block.runs, bandit.arms, bandit.uniforms)
        arms = bandit.arms_from(uniforms)
        return cls(
            arms=arms,
            gap=arms.mean.max(axis=0) - arms.mean,
            streams=streams,
            curves=np.zeros((len(block.checkpoints), block.runs)),
        )


def finds_leader_by_tournament(policy: Any, arms: int) -> bool:
    """Whether runs of this policy with so many arms are played by the kernel for many arms."""
    return isinstance(policy, Policy) and isinstance(policy.rule, IndexRule) and policy.rule.is_crowded(arms)


def play_block(block: Block, crew: Crew | None = None) -> BlockResult:
    """Play a block to the end (or raise ``Stopped``), whichever kind of policy it holds."""
    crew = crew or Crew()
    runs = Runs.of(block)
    if not isinstance(block.policy, Policy):
        started = time.thread_time()
        pulls = play_python(_copied(block.policy), block, runs, crew)
        seconds = time.thread_time() - started
    elif not isinstance(block.policy.rule, IndexRule):
        pulls, seconds = _play_history(block.policy.rule, block, runs, crew)
    elif finds_leader_by_tournament(block.policy, block.bandit.arms):
        pulls, seconds = _play_tournament(block.policy, block.policy.rule, block, runs, crew)
    else:
        pulls, seconds = _play_lockstep(block.policy, block.policy.rule, block, runs, crew)
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


def _padded(theta: tuple[float, ...]) -> tuple[float, ...]:
    """Parameters as a tuple of one length, so that one compiled kernel takes them all."""
    return theta + (0.0,) * (PARAMETERS - len(theta))


def _index_plan(rule: IndexRule, bandit: Bandit) -> Any:
    from bootleader._core.numba_bridge import LAWS
    from bootleader._core.kernels.lockstep import Plan

    return Plan(
        LAWS.index(rule.law), int(rule.noise), _padded(rule.theta), rule.opening, rule.pooled, rule.epsilon,
        DRAWS.index(bandit.draw),
    )  # fmt: skip


def _known_sd(policy: Policy, runs: Runs) -> Floats:
    """Each arm's noise sd in each run, as the policy believes it."""
    return filled(runs.gap.shape, policy.known_sd(len(runs.gap), runs.arms.sd))


def _play_lockstep(
    policy: Policy, rule: IndexRule, block: Block, runs: Runs, crew: Crew
) -> tuple[npt.NDArray[np.int64], float]:
    from bootleader._core.kernels import lockstep

    plan = _index_plan(rule, block.bandit)
    lanes = lockstep.new_lanes(runs, _known_sd(policy, runs))
    lockstep.advance(plan, *lanes, block.checkpoints, SILENT, 0, 0)  # compiles, which is not to count
    seconds = _play_lanes(plan, lanes, block, crew, 0)
    return np.asarray(lanes.table.pulls, np.int64), seconds


def _play_lanes(plan: Any, lanes: Any, block: Block, crew: Crew, start: int) -> float:
    """Play runs in lock step from a round to the end, half of them elsewhere once a thread is free to."""
    from bootleader._core.kernels import lockstep

    arms, count = lanes.table.gap.shape

    def left(played: int) -> int:
        draws = (block.rounds - played) * int(arms * count)
        return draws if draws >= WORTH_CUTTING and count >= 2 * FEWEST_LANES else 0

    def go_on(bell: Bell) -> int:
        return int(lockstep.advance(plan, *lanes, block.checkpoints, bell, start, block.rounds))

    played, seconds, promised = _timed(crew, go_on, left(start))
    if not promised:
        return seconds
    if left(played) == 0:
        crew.decline()
        return seconds + _play_lanes(plan, lanes, block, crew, played)
    middle = count // 8 * 4  # a whole number of vectors
    here, there = lanes.part(0, middle), lanes.part(middle, count)
    half = crew.hand_over(_play_lanes, plan, there, block, crew, played)
    seconds += _play_lanes(plan, here, block, crew, played) + float(crew.result_of(half))
    lanes.put_back(0, here)
    lanes.put_back(middle, there)
    return seconds


def _play_tournament(
    policy: Policy, rule: IndexRule, block: Block, runs: Runs, crew: Crew
) -> tuple[npt.NDArray[np.int64], float]:
    from bootleader._core.kernels import large_k as tournament

    noise_sd = _known_sd(policy, runs)

    def new_table(lane: int) -> Any:
        return tournament.new_table(noise_sd[:, lane].copy(), runs.gap[:, lane].copy())

    return _play_one_by_one(
        tournament.advance, _index_plan(rule, block.bandit), new_table, block, runs, crew, range(block.runs)
    )


def _play_history(rule: HistoryRule, block: Block, runs: Runs, crew: Crew) -> tuple[npt.NDArray[np.int64], float]:
    from bootleader._core.numba_bridge import RESAMPLERS
    from bootleader._core.kernels import history as resampling

    plan = resampling.HistoryPlan(
        RESAMPLERS.index(rule.resample), _padded(rule.theta), rule.opening, DRAWS.index(block.bandit.draw)
    )

    def new_table(lane: int) -> Any:
        arena = np.empty(resampling.arena_size(block.bandit.arms, block.rounds))
        return resampling.new_table(arena, runs.gap[:, lane].copy())

    return _play_one_by_one(resampling.advance, plan, new_table, block, runs, crew, range(block.runs))


def _play_one_by_one(
    advance: Any, plan: Any, new_table: Any, block: Block, runs: Runs, crew: Crew, lanes: range
) -> tuple[npt.NDArray[np.int64], float]:
    """Play some runs of a block one after the other, the later ones elsewhere once a thread is free to."""
    pulls, seconds, half = np.zeros(block.bandit.arms, np.int64), 0.0, None
    while lanes:
        lane, lanes = lanes[0], lanes[1:]
        table = new_table(lane)
        run = (plan, runs.arms, runs.streams, table, runs.curves, block.checkpoints, lane)
        advance(*run, SILENT, 0, 0)  # compiles, which is not to count
        played = 0
        while played < block.rounds:

            def go_on(bell: Bell, run: Any = run, start: int = played) -> int:
                return int(advance(*run, bell, start, block.rounds))

            played, taken, promised = _timed(crew, go_on, left=len(lanes) * block.rounds * block.bandit.arms)
            seconds += taken
            if promised:
                apart = replace(runs, streams=runs.streams.copied())  # two cores write to no line in common
                half = crew.hand_over(_play_one_by_one, advance, plan, new_table, block, apart, crew, lanes)
                lanes = range(0)
        pulls += np.asarray(table.pulls, np.int64)
    if half is not None:
        other_pulls, other_seconds = crew.result_of(half)
        pulls, seconds = pulls + other_pulls, seconds + other_seconds
    return pulls, seconds


def _timed(crew: Crew, go_on: Callable[[Bell], int], left: float) -> tuple[int, float, bool]:
    """Play until the end or the bell: how many rounds are played, the processor seconds, whether a thread is free."""
    bell = crew.listen(left)
    began = time.thread_time()
    played = go_on(bell)
    seconds = time.thread_time() - began
    return played, seconds, crew.leave(bell)


def play_blocks(blocks: list[Block], crew: Crew | None = None) -> list[BlockResult]:
    """Play some blocks one after the other: a task, wherever the executor runs it."""
    crew = crew or Crew()
    with crew.task():
        return [play_block(block, crew) for block in blocks]
