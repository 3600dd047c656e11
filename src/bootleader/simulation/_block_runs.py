"""A block: some consecutive runs of one policy, played to the end and reduced to what is kept of them."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.changes_and_delays import FIXED, Delay, no_changes
from bootleader._core.linear_rules import LinearRule
from bootleader._core.rng import Purpose, run_key, stream_of
from bootleader._core.rules import ChoiceRule, HistoryRule
from bootleader.bandits import Bandit, ContextualBandit
from bootleader.bandits.base import filled
from bootleader.policies import ContextualPolicy, Policy
from bootleader.simulation import _kernel_choice
from bootleader.simulation._contextual_runs import has_contexts, play_contexts
from bootleader.simulation._python_loop import play_python
from bootleader.simulation._work_stealing import NEVER, InterruptFlag, WorkStealing

if TYPE_CHECKING:
    from bootleader._core.kernels.run_setup import Streams
    from bootleader._core.kernels.trajectory import Trajectory

Floats = npt.NDArray[np.float64]
Played = tuple[npt.NDArray[np.int64], float]  # pulls (arm x run), processor seconds

# Runs whose curves are summed together, so that sums do not depend on how wide blocks are:
GROUP = 32  # in lock step
OTHER_GROUP = 2  # one after the other
LARGE_K_ARMS = 192  # with so many arms every run is a group of its own
FEWEST_LANES = 8  # in a part of a block: two vectors
MOST_DEVICE_ARMS = 512  # that a GPU plays
WORTH_DIVIDING = 300_000  # index draws that a block must have left: about a millisecond
# What is kept over time, in this order: each as a mean and a sum of squares over runs.
QUANTITIES = ("regret", "reward", "best_arm_share", "simple_regret", "best_arm_recommended")


@dataclass(frozen=True)
class Block:
    """Everything that is needed to play a block anywhere: small, and picklable."""

    policy: Any
    bandit: Any
    seed: int
    first_run: int
    runs: int
    rounds: int
    checkpoints: npt.NDArray[np.int64]
    compiled: bool = True
    delay: Delay | None = None
    keep_curves: bool = False
    device: str = "cpu"


@dataclass(frozen=True)
class Group:
    """The mean over some consecutive runs, and the sum of squared deviations from it (quantity x checkpoint)."""

    runs: int
    mean: Floats
    squares: Floats


@dataclass(frozen=True)
class BlockResult:
    """What is kept of a block."""

    runs: int
    groups: list[Group]
    final: Floats
    pulls: npt.NDArray[np.int64]
    pulls_by_rank: npt.NDArray[np.int64]
    recommended_by_rank: npt.NDArray[np.int64]  # in how many runs each rank is recommended at the horizon
    seconds: float
    curves: Floats | None  # every run's regret (run x checkpoint), if asked for
    recommended: npt.NDArray[np.int32] | None  # and its recommended arm


@dataclass(frozen=True)
class Runs:
    """The runs of a block, laid out for a kernel; a user's Python bandit has no parameters."""

    parameters: ArmParameters | None
    gap: Floats  # in the first round (arm x run)
    streams: Streams
    trajectory: Trajectory = field(repr=False)

    @classmethod
    def of(cls, block: Block) -> Runs:
        """Draw the arms and set up the streams of a block."""
        from bootleader._core.kernels.run_setup import run_setup
        from bootleader._core.kernels.trajectory import new_trajectory

        bandit = block.bandit
        drawn = bandit.uniforms if isinstance(bandit, Bandit) else 0
        streams, uniforms = run_setup(block.seed, block.first_run, block.runs, bandit.arms, drawn)
        parameters, gap = None, np.zeros((bandit.arms, block.runs))
        if isinstance(bandit, Bandit):
            parameters = bandit.parameters_from(uniforms)
            mean = parameters.mean[: bandit.arms]
            gap = mean.max(axis=0) - mean
        return cls(parameters, gap, streams, new_trajectory(len(block.checkpoints), block.runs))


def play_block(block: Block, threads: WorkStealing | None = None) -> BlockResult:
    """Play a block to the end (or raise ``Stopped``)."""
    if block.device == "cuda" and plays_on_device(block):
        from bootleader.simulation._device_runs import play_block_on_device

        return play_block_on_device(block)
    runs = Runs.of(block)
    pulls, seconds = play_runs(block, runs, threads or WorkStealing())
    order = np.argsort(runs.gap, axis=0, kind="stable")  # arms of each run, the best first
    trajectory = runs.trajectory
    return BlockResult(
        runs=block.runs,
        groups=_groups_of(trajectory, block),
        final=trajectory.regret[-1].copy(),
        pulls=pulls.sum(axis=1),
        pulls_by_rank=np.take_along_axis(pulls, order, axis=0).sum(axis=1),
        recommended_by_rank=(order == trajectory.recommended[-1]).sum(axis=1),
        seconds=seconds,
        curves=trajectory.regret.T.copy() if block.keep_curves else None,
        recommended=trajectory.recommended.T.astype(np.int32) if block.keep_curves else None,
    )


def _groups_of(trajectory: Trajectory, block: Block) -> list[Group]:
    from bootleader._core.kernels.trajectory import reduced

    size = group_size(block)
    mean, squares = reduced(trajectory, block.checkpoints, size)
    sizes = [min(size, block.runs - first) for first in range(0, block.runs, size)]
    return [Group(*group) for group in zip(sizes, mean, squares, strict=True)]


def play_runs(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    """Play the runs of a block, which must not have begun, by the fastest kernel, and fill in their trajectory."""
    return _player_of(block)(block, runs, threads)


def plays_in_python(block: Block) -> bool:
    """Whether a block is played by the plain Python loop."""
    if has_contexts(block.bandit):
        library = isinstance(block.policy, ContextualPolicy) and isinstance(block.bandit, ContextualBandit)
        return not (block.compiled and library)
    return not (block.compiled and isinstance(block.policy, Policy) and isinstance(block.bandit, Bandit))


def _player_of(block: Block) -> Callable[[Block, Runs, WorkStealing], Played]:
    if has_contexts(block.bandit):
        return _play_contexts
    if plays_in_python(block):
        return _play_python
    rule = block.policy.rule
    fades = getattr(rule, "half_life", math.inf) != math.inf
    if isinstance(rule, ChoiceRule) or fades or block.delay is not None or changes_over_time(block.bandit):
        return _play_general
    if isinstance(rule, HistoryRule):
        return _play_history
    return _play_large_k if rule.uses_leader_tree(block.bandit.arms) else _play_lockstep


def plays_in_lockstep(block: Block) -> bool:
    """Whether a block is played by the lock-step kernel."""
    return _player_of(block) is _play_lockstep


def plays_on_device(block: Block) -> bool:
    """Whether a GPU can play a block; the CPU plays the rest."""
    if block.bandit.arms > MOST_DEVICE_ARMS:
        return False
    if has_contexts(block.bandit):
        return not plays_in_python(block) and isinstance(block.policy.rule, LinearRule)
    return plays_in_lockstep(block)


def group_size(block: Block) -> int:
    """Runs whose curves are summed together."""
    if plays_in_lockstep(block):
        return GROUP
    return 1 if block.bandit.arms >= LARGE_K_ARMS else OTHER_GROUP


def changes_over_time(bandit: Bandit) -> bool:
    """Whether a bandit's rewards change over time."""
    return type(bandit).changes is not Bandit.changes


def _play_python(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    started = time.thread_time()
    pulls = play_python(_copied(block.policy), _copied(block.bandit), block, runs, threads)
    return pulls, time.thread_time() - started


def _play_contexts(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    return play_contexts(block, runs, threads, _play_one_by_one, _copied)


def _copied(policy: Any) -> Any:
    """A user's policy or bandit for this block alone."""
    if isinstance(policy, Policy | Bandit | ContextualPolicy):
        return policy
    try:
        return copy.deepcopy(policy)
    except TypeError as error:
        raise TypeError(
            f"{policy!r} cannot be copied, and every block of runs needs a copy of its own ({error}); make locks, "
            "files and the like in start()"
        ) from error


def _known_sd(policy: Policy, runs: Runs) -> Floats:
    """Each arm's noise sd in each run, as the policy knows it."""
    assert runs.parameters is not None
    return filled(runs.gap.shape, policy.known_sd(len(runs.gap), runs.parameters.sd[: len(runs.gap)]))


def _play_lockstep(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.lockstep_state import new_lanes

    assert runs.parameters is not None
    kernel, plan = _kernel_choice.lockstep(block.policy, block.bandit, block.rounds)
    noise_sd, fourth = _known_sd(block.policy, runs), block.policy.rule.fourth_moment
    lanes = new_lanes(runs.parameters, runs.streams, noise_sd, runs.gap, runs.trajectory, fourth)
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


def _play_large_k(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.large_k import new_state

    kernel, plan = _kernel_choice.large_k(block.policy, block.bandit, block.rounds)
    noise_sd = _known_sd(block.policy, runs)

    def arguments_of(run: int, streams: Streams, before: Any) -> tuple[Any, ...]:
        state = new_state(noise_sd[:, run].copy(), runs.gap[:, run].copy(), block.policy.rule.fourth_moment)
        return plan, runs.parameters, streams, state, runs.trajectory, block.checkpoints, run

    return _play_one_by_one(kernel, arguments_of, block, runs.streams, threads, range(block.runs))


def _play_history(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.history import new_state, values_size

    kernel, plan = _kernel_choice.history(block.policy, block.bandit)

    def arguments_of(run: int, streams: Streams, before: Any) -> tuple[Any, ...]:
        values = before[3].values if before else np.empty(values_size(block.bandit.arms, block.rounds))
        state = new_state(values, runs.gap[:, run].copy())
        return plan, runs.parameters, streams, state, runs.trajectory, block.checkpoints, run

    return _play_one_by_one(kernel, arguments_of, block, runs.streams, threads, range(block.runs))


def _play_general(block: Block, runs: Runs, threads: WorkStealing) -> Played:
    from bootleader._core.kernels.general import Environment, new_queue, new_totals, new_world
    from bootleader._core.kernels.run_state import new_history, new_run_state

    bandit, rule, parameters = block.bandit, block.policy.rule, runs.parameters
    assert parameters is not None
    kernel, plan = _kernel_choice.general(block.policy, bandit, block.rounds, block.delay is not None)
    noise_sd = _known_sd(block.policy, runs)
    keeps_history = isinstance(rule, HistoryRule) or (isinstance(rule, ChoiceRule) and rule.history)
    memory = rule.memory_size(bandit.arms, block.rounds) if isinstance(rule, ChoiceRule) else 0
    key = run_key(block.seed, block.first_run + np.arange(block.runs, dtype=np.uint64))
    arms = np.arange(bandit.arms, dtype=np.uint64)[:, None]
    drift_states, delay_state = stream_of(key, int(Purpose.DRIFT), arms), stream_of(key, int(Purpose.DELAY), 0)
    delay = block.delay or Delay(FIXED, 0.0, np.zeros(1))
    known = _kernel_choice.draws_of(bandit)
    numbers = np.array([known.index(draw) if draw in known else k for k, draw in enumerate(bandit.draws)])

    def arguments_of(run: int, streams: Streams, before: Any) -> tuple[Any, ...]:
        history = before[3].history if before else new_history(bandit.arms, block.rounds if keeps_history else 0)
        state = new_run_state(noise_sd[:, run].copy(), rule.initial_pulls, history, memory)
        world = new_world(parameters.mean[:, run], drift_states[:, run].copy(), delay_state[run])
        changes = bandit.changes(parameters, run) or no_changes(bandit.arms)
        changes = changes._replace(draw=numbers[changes.draw])
        queue = new_queue(block.rounds if block.delay is not None else 0)
        environment = Environment(world, changes, delay, queue, new_totals())
        return plan, parameters, streams, state, environment, runs.trajectory, block.checkpoints, run

    return _play_one_by_one(kernel, arguments_of, block, runs.streams, threads, range(block.runs))


def _play_one_by_one(
    kernel: Any, arguments_of: Any, block: Block, streams: Streams, threads: WorkStealing, wanted: range
) -> Played:
    """Play some runs of a block one after the other; an idle thread takes the later ones.

    ``arguments_of`` is given the arguments of the run before, whose large arrays can be used again: new ones would take
    as long as some hundred rounds, because the system hands out memory page by page.
    """
    pulls, seconds, half = np.zeros((block.bandit.arms, block.runs), np.int64), 0.0, None
    arguments: Any = None
    while wanted:
        run, wanted = wanted[0], wanted[1:]
        is_first, arguments = arguments is None, arguments_of(run, streams, arguments)
        if is_first:
            kernel(*arguments, NEVER, 0, 0)  # compiles, which is not timed
        played = 0
        while played < block.rounds:

            def go_on(interrupt: InterruptFlag, arguments: Any = arguments, start: int = played) -> int:
                return int(kernel(*arguments, interrupt, start, block.rounds))

            played, taken, assigned = _timed(threads, go_on, left=len(wanted) * block.rounds * block.bandit.arms)
            if played < 0:
                raise _no_such_arm(block, int(arguments[4].totals.refused[0]))
            seconds += taken
            if assigned:
                apart = streams.copied()  # two cores write to no cache line in common
                half = threads.split_off(_play_one_by_one, kernel, arguments_of, block, apart, threads, wanted)
                wanted = range(0)
        pulls[:, run] = arguments[3].arms.pulls if hasattr(arguments[3], "arms") else arguments[3].pulls
    if half is not None:
        other_pulls, other_seconds = threads.result_of(half)
        pulls, seconds = pulls + other_pulls, seconds + other_seconds
    return pulls, seconds


def _no_such_arm(block: Block, arm: int) -> ValueError:
    """The error of a rule that names an arm that does not exist."""
    return ValueError(
        f"choose and recommend of {block.policy!r} must return a number from 0 to {block.bandit.arms - 1}, got {arm}; "
        "check_policy(policy) plays it in plain Python, where wrong indices are errors too"
    )


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
