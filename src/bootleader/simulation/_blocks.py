"""A block: some consecutive runs of one policy, played to the end and reduced to what is kept of them."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader._core.parameters import ArmParameters
from bootleader._core.rules import HistoryRule, IndexRule
from bootleader.bandits import Bandit
from bootleader.bandits.base import filled
from bootleader.policies import Policy
from bootleader.simulation import _kernels
from bootleader.simulation._python_loop import play_python
from bootleader.simulation._work_stealing import NEVER, InterruptFlag, WorkStealing

if TYPE_CHECKING:
    from bootleader._core.kernels.run_setup import Streams
    from bootleader._core.kernels.trajectory import Trajectory

Floats = npt.NDArray[np.float64]

GROUP = 32  # runs whose curves are summed together, so that sums do not depend on how wide blocks are
FEWEST_LANES = 8  # in a part of a block: two vectors
WORTH_DIVIDING = 300_000  # index draws that a block must have left: about a millisecond
# What is kept over time, in this order: each as a mean and a sum of squares over runs.
QUANTITIES = ("regret", "reward", "best_arm_share", "simple_regret", "best_arm_recommended")


@dataclass(frozen=True)
class Block:
    """Everything that is needed to play a block anywhere: small, and picklable."""

    policy: Any
    bandit: Bandit
    seed: int
    first_run: int
    runs: int
    rounds: int
    checkpoints: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """The mean over some consecutive runs, and the sum of squared deviations from it (quantity x checkpoint)."""

    runs: int
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, curves: Floats) -> Group:
        """Of curves (quantity x checkpoint x run)."""
        mean = curves.mean(axis=2)
        return cls(curves.shape[2], mean, ((curves - mean[:, :, None]) ** 2).sum(axis=2))


@dataclass(frozen=True)
class BlockResult:
    """What is kept of a block."""

    runs: int
    groups: list[Group]
    final: Floats
    pulls: npt.NDArray[np.int64]
    pulls_by_rank: npt.NDArray[np.int64]
    seconds: float


@dataclass(frozen=True)
class Runs:
    """The runs of a block, laid out for a kernel."""

    parameters: ArmParameters
    gap: Floats
    streams: Streams
    trajectory: Trajectory = field(repr=False)

    @classmethod
    def of(cls, block: Block) -> Runs:
        """Draw the arms and set up the streams of a block."""
        from bootleader._core.kernels.run_setup import run_setup
        from bootleader._core.kernels.trajectory import new_trajectory

        bandit = block.bandit
        streams, uniforms = run_setup(block.seed, block.first_run, block.runs, bandit.arms, bandit.uniforms)
        parameters = bandit.parameters_from(uniforms)
        return cls(
            parameters=parameters,
            gap=parameters.mean.max(axis=0) - parameters.mean,
            streams=streams,
            trajectory=new_trajectory(len(block.checkpoints), block.runs),
        )

    def curves(self, checkpoints: npt.NDArray[np.int64]) -> Floats:
        """The quantities that are kept (quantity x checkpoint x run)."""
        recorded = self.trajectory
        return np.stack(
            [
                recorded.regret,
                recorded.reward,
                recorded.best_pulls / checkpoints[:, None],
                recorded.simple_regret,
                recorded.simple_regret == 0.0,
            ]
        )


def uses_leader_tree(policy: Any, arms: int) -> bool:
    """Whether runs of this policy with so many arms are played by the kernel for very many arms."""
    return isinstance(policy, Policy) and isinstance(policy.rule, IndexRule) and policy.rule.uses_leader_tree(arms)


def play_block(block: Block, threads: WorkStealing | None = None) -> BlockResult:
    """Play a block to the end (or raise ``Stopped``), whichever kind of policy it holds."""
    runs = Runs.of(block)
    pulls, seconds = play_runs(block, runs, threads or WorkStealing())
    curves = runs.curves(block.checkpoints)
    order = np.argsort(runs.gap, axis=0, kind="stable")  # arms of each run, the best first
    return BlockResult(
        runs=block.runs,
        groups=[Group.of(curves[:, :, first : first + GROUP].copy()) for first in range(0, block.runs, GROUP)],
        final=runs.trajectory.regret[-1].copy(),
        pulls=pulls.sum(axis=1),
        pulls_by_rank=np.take_along_axis(pulls, order, axis=0).sum(axis=1),
        seconds=seconds,
    )


Played = tuple[npt.NDArray[np.int64], float]  # pulls (arm x run), processor seconds


def play_runs(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    """Play the runs of a block, which must not have begun, and fill in their trajectory."""
    if not isinstance(block.policy, Policy):
        started = time.thread_time()
        pulls = play_python(_copied(block.policy), block, runs, threads)
        return pulls, time.thread_time() - started
    if isinstance(block.policy.rule, HistoryRule):
        return _play_history(block.policy.rule, block, runs, threads)
    if uses_leader_tree(block.policy, block.bandit.arms):
        return _play_large_k(block.policy, block.policy.rule, block, runs, threads)
    return _play_lockstep(block.policy, block.policy.rule, block, runs, threads)


def _copied(policy: Any) -> Any:
    """A user's policy for this block alone."""
    try:
        return copy.deepcopy(policy)
    except TypeError as error:
        raise TypeError(
            f"{policy!r} cannot be copied, and every block of runs needs a copy of its own ({error}); make locks, "
            "files and the like in start()"
        ) from error


def _known_sd(policy: Policy, runs: Runs) -> Floats:
    """Each arm's noise sd in each run, as the policy knows it."""
    return filled(runs.gap.shape, policy.known_sd(len(runs.gap), runs.parameters.sd))


def _play_lockstep(policy: Policy, rule: IndexRule, block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.lockstep import new_lanes

    kernel, plan = _kernels.lockstep(rule, block.bandit, block.rounds)
    noise_sd = _known_sd(policy, runs)
    lanes = new_lanes(runs.parameters, runs.streams, noise_sd, runs.gap, runs.trajectory, rule.fourth_moment)
    kernel(plan, *lanes, block.checkpoints, NEVER, 0, 0)  # compiles, which is not timed
    seconds = _play_lanes(kernel, plan, lanes, block, threads, 0)
    return np.asarray(lanes.state.pulls, np.int64), seconds


def _play_lanes(kernel: Any, plan: Any, lanes: Any, block: Block, threads: WorkStealing, start: int) -> float:
    """Play runs in lock step from a round to the end; an idle thread takes half of them."""
    arms, count = lanes.state.gap.shape

    def left(played: int) -> int:
        draws = (block.rounds - played) * int(arms * count)
        return draws if draws >= WORTH_DIVIDING and count >= 2 * FEWEST_LANES else 0

    def go_on(interrupt: InterruptFlag) -> int:
        return int(kernel(plan, *lanes, block.checkpoints, interrupt, start, block.rounds))

    played, seconds, assigned = _timed(threads, go_on, left(start))
    if not assigned:
        return seconds
    if left(played) == 0:
        threads.decline()
        return seconds + _play_lanes(kernel, plan, lanes, block, threads, played)
    middle = count // 8 * 4  # a whole number of vectors
    here, there = lanes.part(0, middle), lanes.part(middle, count)
    half = threads.split_off(_play_lanes, kernel, plan, there, block, threads, played)
    seconds += _play_lanes(kernel, plan, here, block, threads, played) + float(threads.result_of(half))
    lanes.put_back(0, here)
    lanes.put_back(middle, there)
    return seconds


def _play_large_k(policy: Policy, rule: IndexRule, block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.large_k import new_state

    kernel, plan = _kernels.large_k(rule, block.bandit, block.rounds)
    noise_sd = _known_sd(policy, runs)

    def state_of(run: int) -> Any:
        return new_state(noise_sd[:, run].copy(), runs.gap[:, run].copy(), rule.fourth_moment)

    return _play_one_by_one(kernel, plan, state_of, block, runs, threads, range(block.runs))


def _play_history(rule: HistoryRule, block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.history import new_state, values_size

    kernel, plan = _kernels.history(rule, block.bandit)

    def state_of(run: int) -> Any:
        return new_state(np.empty(values_size(block.bandit.arms, block.rounds)), runs.gap[:, run].copy())

    return _play_one_by_one(kernel, plan, state_of, block, runs, threads, range(block.runs))


def _play_one_by_one(
    kernel: Any, plan: Any, state_of: Any, block: Block, runs: Runs, threads: WorkStealing, wanted: range
) -> Played:
    """Play some runs of a block one after the other; an idle thread takes the later ones."""
    pulls, seconds, half = np.zeros((block.bandit.arms, block.runs), np.int64), 0.0, None
    while wanted:
        run, wanted = wanted[0], wanted[1:]
        state = state_of(run)
        arguments = (plan, runs.parameters, runs.streams, state, runs.trajectory, block.checkpoints, run)
        kernel(*arguments, NEVER, 0, 0)  # compiles, which is not timed
        played = 0
        while played < block.rounds:

            def go_on(interrupt: InterruptFlag, arguments: Any = arguments, start: int = played) -> int:
                return int(kernel(*arguments, interrupt, start, block.rounds))

            played, taken, assigned = _timed(threads, go_on, left=len(wanted) * block.rounds * block.bandit.arms)
            seconds += taken
            if assigned:
                apart = replace(runs, streams=runs.streams.copied())  # two cores write to no cache line in common
                half = threads.split_off(_play_one_by_one, kernel, plan, state_of, block, apart, threads, wanted)
                wanted = range(0)
        pulls[:, run] = state.pulls
    if half is not None:
        other_pulls, other_seconds = threads.result_of(half)
        pulls, seconds = pulls + other_pulls, seconds + other_seconds
    return pulls, seconds


def _timed(threads: WorkStealing, go_on: Callable[[InterruptFlag], int], left: float) -> tuple[int, float, bool]:
    """Play until the end or an interrupt: rounds played, processor seconds, whether an idle thread was assigned."""
    flag = threads.register(left)
    began = time.thread_time()
    played = go_on(flag)
    seconds = time.thread_time() - began
    return played, seconds, threads.unregister(flag)


def play_blocks(blocks: list[Block], threads: WorkStealing | None = None) -> list[BlockResult]:
    """Play some blocks one after the other: a task, wherever the executor runs it."""
    threads = threads or WorkStealing()
    with threads.task():
        return [play_block(block, threads) for block in blocks]
