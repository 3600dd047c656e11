"""The plain-Python loop: the oracle of every kernel, and the stage for a user's own policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bootleader._core.reference_player import player_of
from bootleader.policies import Policy
from bootleader.simulation._work_stealing import Crew, Stopped

if TYPE_CHECKING:
    from bootleader.simulation._blocks import Block, Runs

USER_RANDOMNESS = 6  # spawn key of the generator that a user's policy is given


@runtime_checkable
class PythonPolicy(Protocol):
    """What a user's own policy has to offer."""

    def start(self, arms: int, rng: np.random.Generator) -> None:
        """Begin a new run with this many arms; forget everything."""

    def pull(self) -> int:
        """The arm to pull now, from 0 to arms - 1."""

    def update(self, arm: int, reward: float) -> None:
        """Take in the reward of a pull."""


class LibraryPolicy:
    """A policy of the library as a :class:`PythonPolicy`, played in plain Python on the run's own streams."""

    def __init__(self, policy: Policy, noise_sd: Any, seed: int, run: int) -> None:
        self._policy, self._noise_sd, self._seed, self._run = policy, noise_sd, seed, run

    def start(self, arms: int, rng: np.random.Generator) -> None:
        known = np.broadcast_to(np.ravel(self._policy.known_sd(arms, self._noise_sd)), arms)
        self._player = player_of(self._policy.rule, arms, [float(sd) for sd in known], self._seed, self._run)

    def pull(self) -> int:
        return self._player.choose()

    def update(self, arm: int, reward: float) -> None:
        self._player.learn(arm, reward)


def play_python(policy: Any, block: Block, runs: Runs, crew: Crew | None = None) -> npt.NDArray[np.int64]:
    """Play every run of a block in plain Python; fill in its curves and return the pulls of each arm."""
    pulls = np.zeros(block.bandit.arms, np.int64)
    for lane in range(block.runs):
        run = block.first_run + lane
        player = policy
        if isinstance(policy, Policy):
            player = LibraryPolicy(policy, runs.arms.sd[:, lane], block.seed, run)
        pays = reward_source(block, runs, lane)
        player.start(block.bandit.arms, np.random.default_rng([block.seed, run, USER_RANDOMNESS]))
        regret, mark = 0.0, 0
        for played in range(1, block.rounds + 1):
            if crew is not None and crew.stopping:
                raise Stopped
            arm = player.pull()
            if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < block.bandit.arms:
                raise ValueError(f"{policy!r}.pull() must return an arm from 0 to {block.bandit.arms - 1}, got {arm!r}")
            player.update(arm, pays(arm))
            pulls[arm] += 1
            regret += runs.gap[arm, lane]
            if played == block.checkpoints[mark]:
                runs.curves[mark, lane] = regret
                mark += 1
    return pulls


def reward_source(block: Block, runs: Runs, lane: int) -> Any:
    """The rewards of one run: call with an arm, get its next reward."""
    states = [[int(state)] for state in runs.streams.rewards[:, lane]]
    gamma = int(runs.streams.gamma[lane])
    columns = [[float(x) for x in column[:, lane]] for column in runs.arms[:3]]

    def pay(arm: int) -> float:
        first, second, third = (column[arm] for column in columns)
        return float(block.bandit.draw(first, second, third, runs.arms.samples, states[arm], 0, gamma))

    return pay
