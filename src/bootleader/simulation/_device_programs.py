"""What a GPU is given to play a block: the kernel, the runs' inputs and their state."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from bootleader._core.rules import IndexRule
from bootleader._core.sampling import EDGES
from bootleader.bandits.base import filled
from bootleader.simulation import _contextual_runs, _kernel_choice
from bootleader.simulation._block_runs import Block


class Program(Protocol):
    """How the runs of a block are played on a GPU."""

    kernel: Any
    threads: int  # in a block of threads
    shared_bytes: int  # of a block of threads
    draws: int  # index draws, or as much work, in a round of a run
    bytes_a_run: int  # of inputs and state

    def inputs(self, first: int, runs: int) -> tuple[Any, ...]:
        """What the runs are made of, on the host."""

    def to_device(self, inputs: tuple[Any, ...], runs: int) -> Any:
        """The same on the GPU, for so many runs."""

    def state(self, runs: int) -> Any:
        """Memory for the state of so many runs."""

    def launch(self, inputs: Any, state: Any, record: Any, first: int, runs: int, start: int, stop: int) -> None:
        """Play the rounds from ``start`` to ``stop``; ``record`` is the trajectory and the checkpoints."""

    def pulls(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Every run's pulls (arm x run), and the gaps by which arms are ranked (arm x run, or arm x 1)."""


def program_of(block: Block, cuda: Any) -> Program:
    """The program for a block."""
    return ContextProgram(block, cuda) if _contextual_runs.has_contexts(block.bandit) else IndexProgram(block, cuda)


class IndexProgram:
    """An index rule on a bandit without contexts."""

    def __init__(self, block: Block, cuda: Any) -> None:
        from bootleader._core.cuda.index_kernel import DevicePlan, kernel_for, layout_for, state_shapes
        from bootleader._core.kernels.moment_rows import rows_for

        rule = _kernel_choice.checked_rule(block.policy, block.bandit)
        assert isinstance(rule, IndexRule)
        self._block, self._cuda, self.draws = block, cuda, block.bandit.arms
        arms = block.bandit.arms
        self._shapes = state_shapes(arms, rows_for(rule.fourth_moment).columns)
        self.kernel = kernel_for(rule.law, block.bandit.draw, arms, rule.noise, rule.every_round, rule.fourth_moment)
        self.threads, _, self.shared_bytes = layout_for(arms)
        self.bytes_a_run = 8 * (sum(map(math.prod, self._shapes.values())) + 6 * arms)
        self._edges = cuda.to_device(EDGES)
        self._plan = DevicePlan(
            params=_kernel_choice.padded(rule.params),
            initial_pulls=rule.initial_pulls,
            pooled=rule.pooled,
            epsilon=float(rule.epsilon),
            horizon=block.rounds,
            seed=np.uint64(block.seed),
            first_run=np.uint64(block.first_run),
        )

    def inputs(self, first: int, runs: int) -> tuple[Any, ...]:
        """Parameters, known sds and gaps of some runs; of one run if they all have the same arms."""
        from bootleader._core.kernels.run_setup import run_setup

        block, bandit = self._block, self._block.bandit
        uniforms = np.empty((0, 1))
        if bandit.uniforms > 0:
            _, uniforms = run_setup(block.seed, block.first_run + first, runs, 0, bandit.uniforms)
        parameters = bandit.parameters_from(uniforms)
        mean = parameters.mean
        noise_sd = filled(mean.shape, block.policy.known_sd(bandit.arms, parameters.sd))
        gap = mean.max(axis=0) - mean
        return parameters.first, parameters.second, parameters.third, parameters.table, noise_sd, gap

    def to_device(self, inputs: tuple[Any, ...], runs: int) -> Any:
        from bootleader._core.cuda.index_kernel import DeviceArms

        on_device: list[Any] = [self._cuda.to_device(np.ascontiguousarray(array)) for array in inputs]
        return DeviceArms(*[*on_device, self._edges])

    def state(self, runs: int) -> Any:
        from bootleader._core.cuda.index_kernel import DeviceState

        kinds, array = {"words": np.uint64, "places": np.int64}, self._cuda.device_array
        shapes = self._shapes.items()
        return DeviceState(**{name: array((*shape, runs), kinds.get(name, np.float64)) for name, shape in shapes})

    def launch(self, inputs: Any, state: Any, record: Any, first: int, runs: int, start: int, stop: int) -> None:
        block = self._block
        plan = self._plan._replace(first_run=np.uint64(block.first_run + first))
        mark = int(np.searchsorted(block.checkpoints, start + 1))
        self.kernel.launch(
            -(-runs // self.threads), self.threads, self.shared_bytes, plan, inputs, state, *record, runs, mark, start,
            stop,
        )  # fmt: skip

    def pulls(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        from bootleader._core.kernels.moment_rows import COUNT

        return state.moments[:, COUNT], inputs.gap


class ContextProgram:
    """A linear rule on a bandit with contexts."""

    def __init__(self, block: Block, cuda: Any) -> None:
        from bootleader._core.cuda import linear_kernel
        from bootleader._core.cuda.stacked_state import stacks_of
        from bootleader._core.kernels.linear_state import new_run

        policy, bandit = block.policy, block.bandit
        self._block, self._cuda = block, cuda
        _contextual_runs.check_functions(policy, bandit)
        functions, self._plan = _contextual_runs.functions_and_plan(policy, bandit, block.rounds, shared=False)
        example = bandit.parameters_of(block.seed, block.first_run)
        self._stacks = stacks_of(new_run(example, np.zeros(bandit.arms), self._plan, plain=False))
        self.kernel = linear_kernel.kernel_for(functions, linear_kernel.flags_of(self._plan), self._stacks.view)
        self.threads, self.shared_bytes = linear_kernel.THREADS, linear_kernel.SHARED_BYTES
        self.draws = bandit.arms * bandit.dimension
        sizes = [start.size for start in self._stacks.starts] + [np.size(part) for part in example]
        self.bytes_a_run = 8 * (sum(sizes) + linear_kernel.FIRST_REWARDS + bandit.arms)
        self._edges = cuda.to_device(EDGES)
        self._starts = tuple(cuda.to_device(start.ravel()) for start in self._stacks.starts)
        self._no_gap = cuda.to_device(np.zeros((bandit.arms, 1)))  # arms are ranked by position, as on the CPU

    def inputs(self, first: int, runs: int) -> tuple[Any, ...]:
        """Features (unless they are drawn in every round), coefficients, noise and tables; the last axis is the run."""
        from bootleader._core.kernels.linear_state import known_noise

        block, bandit = self._block, self._block.bandit
        numbers = range(block.first_run + first, block.first_run + first + (runs if bandit.uniforms > 0 else 1))
        made = []
        for run in numbers:
            of_run = bandit.parameters_of(block.seed, run)
            noise_sd = known_noise(_contextual_runs.known_sd(block.policy, bandit.arms, of_run.sd), self._plan)
            features = np.zeros((1, 1)) if bandit.changing else of_run.features
            made.append((features, of_run.coefficients, of_run.second, of_run.third, of_run.table, noise_sd))
        return tuple(np.stack(arrays, axis=-1) for arrays in zip(*made, strict=True))

    def to_device(self, inputs: tuple[Any, ...], runs: int) -> Any:
        from bootleader._core.cuda.linear_kernel import DeviceContexts

        features, *others = inputs
        if self._plan.changing:
            columns = 1 if self._plan.disjoint else self._block.bandit.arms
            shown = self._cuda.to_device(np.zeros((self._block.bandit.dimension, columns, runs)))
        else:
            shown = self._cuda.to_device(np.ascontiguousarray(features))
        on_device = [self._cuda.to_device(np.ascontiguousarray(array)) for array in others]
        return DeviceContexts(*[shown, *on_device, self._edges])

    def state(self, runs: int) -> Any:
        """States of the streams, and the stacks."""
        from bootleader._core.cuda.linear_kernel import FIRST_REWARDS

        array = self._cuda.device_array
        stacks = tuple(array((*start.shape, runs), start.dtype) for start in self._stacks.starts)
        return array((FIRST_REWARDS + self._block.bandit.arms, runs), np.uint64), stacks

    def launch(self, inputs: Any, state: Any, record: Any, first: int, runs: int, start: int, stop: int) -> None:
        from bootleader._core.cuda.linear_kernel import RunNumbers, fill

        words, stacks = state
        if start == 0:
            fill(stacks, self._starts, runs)
        numbers = RunNumbers(np.uint64(self._block.seed), np.uint64(self._block.first_run + first))
        self.kernel.launch(
            -(-runs // self.threads), self.threads, self.shared_bytes, self._plan, numbers, inputs, words, stacks,
            *record, runs, start, stop,
        )  # fmt: skip

    def pulls(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        stack, place = self._stacks.places["arms.pulls"]
        return state[1][stack][place], self._no_gap
