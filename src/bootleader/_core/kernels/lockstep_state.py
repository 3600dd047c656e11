"""What runs in lock step hold between two rounds, and their memory for one round: one lane, one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.kernels.aligned_memory import aligned_copies, aligned_zeros
from bootleader._core.kernels.moment_rows import COUNT, rows_for
from bootleader._core.kernels.run_setup import Streams
from bootleader._core.kernels.trajectory import Trajectory
from bootleader._core.kernels.vector_sampling import ChosenLanes


class Plan(NamedTuple):
    """A rule and a reward family as numbers."""

    law: int
    noise: int
    params: Any
    initial_pulls: int
    pooled: bool
    epsilon: float
    draw: int
    normal_rewards: bool  # whether the draw is first + second * normal, which is vectorised
    horizon: int


class State(NamedTuple):
    """The arms' moments and index laws (arm x lane), and what a lane has beside them.

    ``moments[k, lane]`` is a row of :mod:`bootleader._core.kernels.moment_rows`: its numbers are read and written
    together, so they lie together.
    """

    moments: Any
    location: Any
    scale: Any
    shape: Any
    noise_sd: Any
    gap: Any
    initial_arms: Any  # the arms that still need initial pulls, and
    initial_left: Any  # how many they are
    variance: Any
    kurtosis: Any  # empty unless the rule asks for fourth moments
    renewed_at: Any  # pulls at the last renewal of all laws
    regret: Any

    @property
    def pulls(self) -> Any:
        """Pulls of each arm in each lane."""
        return self.moments[:, :, COUNT]


def new_state(noise_sd: Any, gap: Any, fourth_moment: bool) -> State:
    """The lanes before the first round."""
    arms, lanes = shape = gap.shape
    records = (arms, lanes, rows_for(fourth_moment).columns)
    moments, location, scale, index_shape, variance, regret = aligned_zeros(
        records, shape, shape, shape, (lanes,), (lanes,)
    )
    return State(
        moments=moments,
        location=location,
        scale=scale,
        shape=index_shape,
        noise_sd=noise_sd,
        gap=gap,
        initial_arms=np.repeat(np.arange(arms)[:, None], lanes, axis=1),
        initial_left=np.full(lanes, arms),
        variance=variance,
        kurtosis=np.zeros(lanes if fourth_moment else 0),
        renewed_at=np.zeros(1, np.int64),
        regret=regret,
    )


class Scratch(NamedTuple):
    """Memory for one round.

    An arm's words, the noise (arm x lane), each lane's leader with its index, its reward, and the lanes that are
    gathered to draw Student variables.
    """

    words: Any
    noise: Any
    best: Any
    arm: Any
    reward: Any
    chosen: ChosenLanes


def new_scratch(arms: int, lanes: int) -> Scratch:
    """Memory for the rounds of a block."""
    noise, words, best, arm, reward, lane, shape, student, position, stride = aligned_zeros(
        (arms, lanes), *[(lanes,)] * 9
    )
    chosen = ChosenLanes(lane.view(np.int64), shape, student, position.view(np.uint64), stride.view(np.uint64))
    return Scratch(words.view(np.uint64), noise, best, arm.view(np.uint64), reward, chosen)


class Lanes(NamedTuple):
    """Runs in lock step, between two rounds; their arrays are (arm x lane), or of lanes alone."""

    parameters: ArmParameters
    streams: Streams
    state: State
    scratch: Scratch
    trajectory: Trajectory

    def part(self, first: int, last: int) -> Lanes:
        """A copy of some of them."""

        def columns(arrays: Sequence[Any]) -> list[Any]:
            return aligned_copies([a[:, first:last] if a.ndim > 1 else a[first:last] for a in arrays])

        return Lanes(
            parameters=ArmParameters(*columns(self.parameters))._replace(table=self.parameters.table),
            streams=Streams(*columns(self.streams)),
            state=State(*columns(self.state))._replace(renewed_at=self.state.renewed_at.copy()),
            scratch=new_scratch(len(self.state.gap), last - first),
            trajectory=Trajectory(*columns(self.trajectory)),
        )

    def put_back(self, first: int, part: Lanes) -> None:
        """Copy what is kept of a part in the end: its pulls and its trajectory."""
        last = first + part.trajectory.regret.shape[1]
        self.state.moments[:, first:last] = part.state.moments
        for whole, piece in zip(self.trajectory, part.trajectory, strict=True):
            whole[:, first:last] = piece


def new_lanes(
    parameters: ArmParameters, streams: Streams, noise_sd: Any, gap: Any, trajectory: Trajectory, fourth_moment: bool
) -> Lanes:
    """The runs of a block before the first round."""
    return Lanes(parameters, streams, new_state(noise_sd, gap, fourth_moment), new_scratch(*gap.shape), trajectory)
