"""The plain Python loop: the oracle of every kernel, and where a user's own Python policy plays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.changes_and_delays import Delay, delay_of, next_walk, shift_of, shifted
from bootleader._core.moments import welford
from bootleader._core.reference_player import player_of
from bootleader._core.rng import Purpose, Stream, stream_state
from bootleader.bandits import Bandit
from bootleader.policies import Policy
from bootleader.simulation._work_stealing import Stopped, WorkStealing

if TYPE_CHECKING:
    from bootleader.simulation._block_runs import Block, Runs

USER_RANDOMNESS, BANDIT_RANDOMNESS = 6, 9  # spawn keys of the generators of users' Python policies and bandits


@runtime_checkable
class PythonPolicy(Protocol):
    """What a user's own Python policy must have."""

    def start(self, arms: int, rng: np.random.Generator) -> None:
        """Begin a new run with this many arms; forget everything."""

    def pull(self) -> int:
        """The arm to pull now, from 0 to arms - 1."""

    def update(self, arm: int, reward: float) -> None:
        """Learn the reward of a pull."""


@runtime_checkable
class PythonBandit(Protocol):
    """What a user's own Python bandit must have; ``start(rng)``, if it is there, begins a new run."""

    arms: int

    def means(self, t: int) -> Any:
        """The arms' means after ``t`` rounds."""

    def pay(self, arm: int, t: int, rng: np.random.Generator) -> float:
        """The reward of a pull after ``t`` rounds."""


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

    def recommended(self) -> int:
        """The arm that the policy takes for the best."""
        return self._player.recommended()


class LibraryRewards:
    """The rewards of one run of a library bandit, round by round."""

    def __init__(self, bandit: Bandit, block: Block, runs: Runs, place: int) -> None:
        parameters = runs.parameters
        assert parameters is not None
        stride, run = int(runs.streams.stride[place]), block.first_run + place
        self._streams = [Stream([int(state)], 0, stride) for state in runs.streams.rewards[:, place]]
        self._columns = [[float(x) for x in column[:, place]] for column in parameters[:3]]
        self._means = [float(mean) for mean in parameters.mean[:, place]]
        self._table, self._arms, self._draws = parameters.table, bandit.arms, bandit.draws
        self._changes = bandit.changes(parameters, place)
        self._drift = [
            Stream([int(stream_state(block.seed, run, int(Purpose.DRIFT), k))], 0, stride) for k in range(bandit.arms)
        ]
        self._walk, self._shift, self._phase = [0.0] * bandit.arms, [0.0] * bandit.arms, 0
        self.mean = self._means[: bandit.arms]

    def step(self, played: int) -> None:
        """Bring the arms to the round after ``played`` ones."""
        changes = self._changes
        if changes is None:
            return
        if played >= changes.phase_end[self._phase]:
            self._phase += 1
        for k in range(self._arms):
            if played > 0:
                self._walk[k] = next_walk(changes, self._walk[k], self._drift[k])
            self._shift[k] = shift_of(changes, k, self._walk[k], played)
            self.mean[k] = float(shifted(changes, self._means[self._phase * self._arms + k], self._shift[k]))

    def pay(self, arm: int, played: int) -> float:
        """The reward of a pull."""
        first, second, third = (column[self._phase * self._arms + arm] for column in self._columns)
        draw, table, changes = self._draws[0], self._table, self._changes
        if changes is not None:
            draw = self._draws[int(changes.draw[self._phase])]
            table = table[changes.table_start[self._phase] : changes.table_stop[self._phase]]
            first = float(shifted(changes, first, self._shift[arm]))
        return float(draw(RewardParameters(first, second, third, table, played), self._streams[arm]))


class PythonRewards:
    """The rewards of one run of a user's Python bandit."""

    def __init__(self, bandit: Any, block: Block, place: int) -> None:
        self._bandit, self._arms = bandit, block.bandit.arms
        self._rng = np.random.default_rng([block.seed, block.first_run + place, BANDIT_RANDOMNESS])
        if hasattr(bandit, "start"):
            bandit.start(self._rng)
        self.step(0)

    def step(self, played: int) -> None:
        """Ask for the means of the round after ``played`` ones."""
        self.mean = [float(mean) for mean in self._bandit.means(played)]
        if len(self.mean) != self._arms or not all(map(math.isfinite, self.mean)):
            raise ValueError(
                f"{self._bandit!r}.means({played}) must return {self._arms} finite numbers, got {self.mean!r:.200}"
            )

    def pay(self, arm: int, played: int) -> float:
        """The reward of a pull."""
        paid = self._bandit.pay(arm, played, self._rng)
        try:
            reward = float(paid)
        except (TypeError, ValueError):
            reward = math.nan
        if not math.isfinite(reward):
            raise ValueError(f"{self._bandit!r}.pay({arm}, {played}, rng) must return a finite number, got {paid!r}")
        return reward


class LateRewards:
    """Rewards on their way to the policy."""

    def __init__(self, delay: Delay | None, block: Block, place: int, stride: int) -> None:
        run = block.first_run + place
        self._delay = delay
        self._stream = Stream([int(stream_state(block.seed, run, int(Purpose.DELAY), 0))], 0, stride)
        self._due: dict[int, list[tuple[int, float]]] = {}

    def send(self, arm: int, reward: float, played: int) -> None:
        """Let a reward arrive before a later round: the next one, without a delay."""
        late = 0 if self._delay is None else int(delay_of(self._delay, self._stream))
        self._due.setdefault(played + 1 + late, []).append((arm, reward))

    def arriving(self, played: int) -> list[tuple[int, float]]:
        """The rewards that arrive before the round after ``played`` ones."""
        return self._due.pop(played, [])


class Recorder:
    """Records one run of a block at its checkpoints."""

    def __init__(self, block: Block, runs: Runs, place: int, recommended: Callable[[], int] | None) -> None:
        self._trajectory, self._place, self._recommended = runs.trajectory, place, recommended
        self._checkpoints, self._mark = block.checkpoints, 0
        self._learnt = [(0.0, 0.0, 0.0, 0.0)] * block.bandit.arms
        self._regret = self._reward = self._best_pulls = 0.0

    def learn(self, arm: int, reward: float) -> None:
        """Take a reward into account that the policy learns."""
        self._learnt[arm] = welford(*self._learnt[arm], reward)

    def _largest_mean(self) -> int:
        means = {k: moments[1] + moments[2] for k, moments in enumerate(self._learnt) if moments[0] > 0.0}
        return max(means, key=means.__getitem__, default=0)

    def pulled(self, arm: int, reward: float, mean: list[float]) -> None:
        """Take a pull into account."""
        best = max(mean)
        self._regret += best - mean[arm]
        self._reward += reward
        self._best_pulls += mean[arm] == best

    def checkpoint(self, pulls: int, mean: list[float]) -> None:
        """Record the run, if there is a checkpoint after so many pulls."""
        if pulls != self._checkpoints[self._mark]:
            return
        place, recorded = (self._mark, self._place), self._trajectory
        recommended = (self._recommended or self._largest_mean)()
        recorded.regret[place] = self._regret
        recorded.reward[place] = self._reward
        recorded.best_pulls[place] = self._best_pulls
        recorded.simple_regret[place] = max(mean) - mean[recommended]
        recorded.recommended[place] = recommended
        self._mark += 1


def play_python(
    policy: Any, bandit: Any, block: Block, runs: Runs, threads: WorkStealing | None = None
) -> npt.NDArray[np.int64]:
    """Play every run of a block in plain Python; fill in its trajectory and return the pulls (arm x run)."""
    pulls = np.zeros((block.bandit.arms, block.runs), np.int64)
    for place in range(block.runs):
        _play_run(policy, bandit, block, runs, place, pulls[:, place], threads)
    return pulls


def _play_run(
    policy: Any, bandit: Any, block: Block, runs: Runs, place: int, pulls: Any, threads: WorkStealing | None
) -> None:
    arms, run, stride = block.bandit.arms, block.first_run + place, int(runs.streams.stride[place])
    world = (
        LibraryRewards(bandit, block, runs, place)
        if isinstance(bandit, Bandit)
        else PythonRewards(bandit, block, place)
    )
    runs.gap[:, place] = max(world.mean) - np.array(world.mean)
    player = policy
    if isinstance(policy, Policy):
        true_sd = None if runs.parameters is None else runs.parameters.sd[:arms, place]
        player = LibraryPolicy(policy, true_sd, block.seed, run, block.rounds)
    recommended = player.recommended if isinstance(player, LibraryPolicy) else None
    low, high = policy.reward_range if isinstance(policy, Policy) else (-math.inf, math.inf)
    late, recorder = LateRewards(block.delay, block, place, stride), Recorder(block, runs, place, recommended)
    player.start(arms, np.random.default_rng([block.seed, run, USER_RANDOMNESS]))

    def learn(played: int) -> None:
        for arm, reward in late.arriving(played):
            player.update(arm, reward)
            recorder.learn(arm, reward)

    for played in range(block.rounds):
        if threads is not None and threads.stopping:
            raise Stopped
        if block.delay is not None:
            learn(played)
        world.step(played)
        arm = player.pull()
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
            raise ValueError(f"{policy!r}.pull() must return an arm from 0 to {arms - 1}, got {arm!r}")
        reward = world.pay(int(arm), played)
        if not low <= reward <= high:
            raise ValueError(f"{policy!r} takes rewards from {low:g} to {high:g}, and {bandit!r:.200} paid {reward!r}")
        pulls[arm] += 1
        recorder.pulled(int(arm), reward, world.mean)
        late.send(int(arm), reward, played)
        if block.delay is None:
            learn(played + 1)
        recorder.checkpoint(played + 1, world.mean)
