"""The plain Python loop: the oracle of every kernel, and where a user's own Python policy plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bootleader._core.moments import welford
from bootleader._core.parameters import RewardParameters
from bootleader._core.reference_player import player_of
from bootleader._core.rng import Stream
from bootleader.policies import Policy
from bootleader.simulation._work_stealing import Stopped, WorkStealing

if TYPE_CHECKING:
    from bootleader.simulation._blocks import Block, Runs

USER_RANDOMNESS = 6  # spawn key of the generator that a user's policy is given


@runtime_checkable
class PythonPolicy(Protocol):
    """What a user's own Python policy must have."""

    def start(self, arms: int, rng: np.random.Generator) -> None:
        """Begin a new run with this many arms; forget everything."""

    def pull(self) -> int:
        """The arm to pull now, from 0 to arms - 1."""

    def update(self, arm: int, reward: float) -> None:
        """Learn the reward of a pull."""


class LibraryPolicy:
    """A policy of the library as a :class:`PythonPolicy`, played in plain Python on the run's own streams."""

    def __init__(self, policy: Policy, noise_sd: Any, seed: int, run: int, horizon: int) -> None:
        self._policy, self._noise_sd, self._seed, self._run, self._horizon = policy, noise_sd, seed, run, horizon

    def start(self, arms: int, rng: np.random.Generator) -> None:
        known = np.broadcast_to(np.ravel(self._policy.known_sd(arms, self._noise_sd)), arms)
        noise_sd = [float(sd) for sd in known]
        self._player = player_of(self._policy.rule, arms, noise_sd, self._seed, self._run, self._horizon)

    def pull(self) -> int:
        return self._player.choose()

    def update(self, arm: int, reward: float) -> None:
        self._player.learn(arm, reward)


class Recorder:
    """Records one run of a block at its checkpoints."""

    def __init__(self, block: Block, runs: Runs, run: int) -> None:
        self._gap, self._trajectory, self._run = runs.gap[:, run], runs.trajectory, run
        self._checkpoints, self._mark = block.checkpoints, 0
        self._moments = [(0.0, 0.0, 0.0, 0.0)] * block.bandit.arms
        self._regret = 0.0

    def add(self, arm: int, reward: float, pulls: int) -> None:
        """Take a reward into account, after which there were so many pulls."""
        self._moments[arm] = welford(*self._moments[arm], reward)
        self._regret += self._gap[arm]
        if pulls == self._checkpoints[self._mark]:
            self._record()
            self._mark += 1

    def _record(self) -> None:
        place, recorded = (self._mark, self._run), self._trajectory
        pulled = [k for k, moments in enumerate(self._moments) if moments[0] > 0.0]
        means = {k: self._moments[k][1] + self._moments[k][2] for k in pulled}
        recommended = max(pulled, key=means.__getitem__)
        recorded.regret[place] = self._regret
        recorded.reward[place] = sum(self._moments[k][0] * means[k] for k in pulled)
        recorded.best_pulls[place] = sum(self._moments[k][0] for k in pulled if self._gap[k] == 0.0)
        recorded.simple_regret[place] = self._gap[recommended]
        recorded.recommended[place] = recommended


def play_python(policy: Any, block: Block, runs: Runs, threads: WorkStealing | None = None) -> npt.NDArray[np.int64]:
    """Play every run of a block in plain Python; fill in its trajectory and return the pulls (arm x run)."""
    arms = block.bandit.arms
    pulls = np.zeros((arms, block.runs), np.int64)
    for place in range(block.runs):
        run = block.first_run + place
        player = policy
        if isinstance(policy, Policy):
            player = LibraryPolicy(policy, runs.parameters.sd[:, place], block.seed, run, block.rounds)
        pays, recorder = reward_source(block, runs, place), Recorder(block, runs, place)
        player.start(arms, np.random.default_rng([block.seed, run, USER_RANDOMNESS]))
        for played in range(block.rounds):
            if threads is not None and threads.stopping:
                raise Stopped
            arm = player.pull()
            if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
                raise ValueError(f"{policy!r}.pull() must return an arm from 0 to {arms - 1}, got {arm!r}")
            reward = pays(arm, played)
            player.update(arm, reward)
            pulls[arm, place] += 1
            recorder.add(int(arm), reward, played + 1)
    return pulls


def reward_source(block: Block, runs: Runs, run: int) -> Any:
    """The rewards of one run: call with an arm and the pulls so far, get the arm's next reward."""
    stride = int(runs.streams.stride[run])
    streams = [Stream([int(state)], 0, stride) for state in runs.streams.rewards[:, run]]
    columns = [[float(x) for x in column[:, run]] for column in runs.parameters[:3]]
    table = runs.parameters.table

    def pay(arm: int, pulls: int) -> float:
        first, second, third = (column[arm] for column in columns)
        return float(block.bandit.draw(RewardParameters(first, second, third, table, pulls), streams[arm]))

    return pay
