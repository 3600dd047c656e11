"""The probability that each arm is chosen next."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader._core.rng import GOLDEN, Stream, mix64
from bootleader._core.rules import Noise
from bootleader.agent._choice_learner import ChoiceLearner
from bootleader.agent._choice_rule_probabilities import exact_chances
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._laws import Laws
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._win_probability_lattice import lattice_winning_probabilities
from bootleader.agent._win_probability_student import winning_probabilities
from bootleader.agent._win_probability_trapezoid import few_winning_probabilities

Floats = npt.NDArray[np.float64]

FEW_ARMS: Final = 100
TOLERANCE_FEW: Final = 1e-10
TOLERANCE_MANY: Final = 1e-7
# A history policy's choices are drawn this often; less often once the histories are long, because a draw goes through
# all of them.
MOST_DRAWS: Final = 1000
FEWEST_DRAWS: Final = 100
HISTORY_TO_READ: Final = 200_000


class Probabilities(Mapping[str, float]):
    """Arm by arm, the probability of being chosen next.

    Attributes
    ----------
    method : {"exact", "monte carlo"}
        How the numbers came about.
    standard_error : dict or None
        Of each number, if they are Monte Carlo estimates.

    Examples
    --------
    >>> from bootleader import Agent, FollowTheLeader
    >>> agent = Agent(FollowTheLeader(), ["a", "b"], seed=1)
    >>> agent.update_many(["a", "b"], [1.0, 2.0])
    >>> probabilities = agent.probabilities()
    >>> dict(probabilities), probabilities.method
    ({'a': 0.0, 'b': 1.0}, 'exact')
    """

    def __init__(self, chances: Mapping[str, float], standard_error: Mapping[str, float] | None = None) -> None:
        self._chances = dict(chances)
        self.standard_error = None if standard_error is None else dict(standard_error)
        self.method: Literal["exact", "monte carlo"] = "exact" if standard_error is None else "monte carlo"

    def __getitem__(self, arm: str) -> float:
        return self._chances[arm]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chances)

    def __len__(self) -> int:
        return len(self._chances)

    def __repr__(self) -> str:
        if self.standard_error is None:
            return f"Probabilities({self._chances!r})"
        return f"Probabilities({self._chances!r}, standard_error={self.standard_error!r}, method={self.method!r})"


class Chances(NamedTuple):
    """By slot, the probabilities of a choice, and standard errors if those are estimates."""

    values: list[float]
    errors: list[float] | None

    def named(self, names: Sequence[str]) -> Probabilities:
        """The same by name."""
        errors = None if self.errors is None else dict(zip(names, self.errors, strict=True))
        return Probabilities(dict(zip(names, self.values, strict=True)), errors)


def choice_chances(
    learner: Learner, among: Sequence[int] | None = None, initial: Sequence[int] | None = None
) -> Chances:
    """The probabilities of the learner's next choice; changes nothing.

    Parameters
    ----------
    learner : Learner
        What chooses.
    among : sequence of int, optional
        Active arms, if they are to be the only ones.
    initial : sequence of int, optional
        The arms in their initial pulls, where a draft has changed them.
    """
    slots, chances, errors = _chances(learner, among, learner.initial.slots if initial is None else initial)
    arms = len(learner.arms)
    return Chances(_by_slot(slots, chances, arms), None if errors is None else _by_slot(slots, errors, arms))


def _by_slot(slots: Sequence[int], values: Floats, arms: int) -> list[float]:
    """The values of some arms at their slots, and 0 elsewhere."""
    if len(slots) == arms:  # in their order, or all values are equal
        return values.tolist()  # type: ignore[no-any-return]
    every = np.zeros(arms)
    every[slots] = values
    return every.tolist()


def _chances(
    learner: Learner, among: Sequence[int] | None, initial: Sequence[int]
) -> tuple[Sequence[int], Floats, Floats | None]:
    """The arms that may be chosen, their probabilities, and standard errors if those are estimates."""
    wanted: Container[int] = range(len(learner.arms)) if among is None else set(among)
    if initial and (lacking := initial if among is None else [slot for slot in initial if slot in wanted]):
        return lacking, _uniform(len(lacking)), None
    if (joint := learner.joint_chances(wanted)) is not None:
        return joint
    if isinstance(learner, IndexLearner):
        laws = learner.laws_now() if among is None else learner.laws_now().only(wanted)
        if laws.playing:
            return laws.playing, _index_chances(learner, laws), None
    elif isinstance(learner, HistoryLearner):
        playing = [slot for slot in learner.now_playing(learner.arms) if slot in wanted]
        if playing:
            return playing, *_drawn_chances(learner, playing, _history_draws(learner, playing))
    elif isinstance(learner, ChoiceLearner):
        playing = [slot for slot in learner.now_playing(learner.arms) if slot in wanted]
        if playing:
            exact = exact_chances(learner, playing)
            return (
                (playing, exact, None)
                if exact is not None
                else (playing, *_drawn_chances(learner, playing, MOST_DRAWS))
            )
    waiting = learner.waiting() if among is None else among
    return waiting, _uniform(len(waiting)), None


def _uniform(n: int) -> Floats:
    return np.full(n, 1.0 / n)


def _index_chances(learner: IndexLearner, laws: Laws) -> Floats:
    rule, arms = learner.rule, len(laws.playing)
    match rule.noise:
        case Noise.NORMAL | Noise.STUDENT:
            chances = _winning(
                laws.location, laws.scale, laws.shape if rule.noise == Noise.STUDENT else [math.inf] * arms
            )
        case Noise.FAIR_COINS:
            chances = lattice_winning_probabilities(*np.array([laws.location, laws.scale, laws.shape]))
        case _:
            indices = np.array(laws.location) + np.array(laws.scale) * learner.certain_noise()
            leads = indices == indices.max()
            chances = leads / leads.sum()
    return rule.epsilon / arms + (1.0 - rule.epsilon) * chances if rule.epsilon > 0.0 else chances


def _winning(location: Sequence[float], scale: Sequence[float], df: Sequence[float]) -> Floats:
    """The probability that each normal or Student variable is the largest."""
    if len(location) > FEW_ARMS:
        return winning_probabilities(location, scale, df, TOLERANCE_MANY)
    chances = few_winning_probabilities(location, scale, df)
    return winning_probabilities(location, scale, df, TOLERANCE_FEW) if chances is None else np.array(chances)


def _history_draws(learner: HistoryLearner, playing: Sequence[int]) -> int:
    size = max(1, sum(len(learner.arms[slot].history) for slot in playing))
    return max(min(MOST_DRAWS, FEWEST_DRAWS), min(MOST_DRAWS, HISTORY_TO_READ // size))


def _drawn_chances(
    learner: HistoryLearner | ChoiceLearner, playing: Sequence[int], draws: int
) -> tuple[Floats, Floats]:
    """Draw the choice many times, on a stream of its own, so that asking moves nothing.

    One draw's worth of weight is spread evenly, so that no arm that may be chosen is given the probability zero.
    """
    spare = learner.streams.spare
    stream = Stream([int(mix64(spare.states[0] ^ GOLDEN))], 0, spare.stride)
    wins = np.full(len(playing), 1.0 / len(playing))
    for _ in range(draws):
        if isinstance(learner, ChoiceLearner):
            wins[learner.choice(playing, stream)[0]] += 1.0
        else:
            indices = np.array(learner.indices(playing, stream))
            leads = indices == indices.max()
            wins += leads / leads.sum()
    chances = wins / (draws + 1)
    return chances, np.sqrt(chances * (1.0 - chances) / (draws + 1))
