"""What a policy is made of: the rule that says how an arm's index is drawn, as data over scalar functions.

The reference player, the compiled kernels and the agent all play the same rule. The scalar functions take NamedTuples,
which cost nothing when compiled; in Python any object with the same attributes will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from bootleader._core.validation import real, whole

UNKNOWN_SD: Final = 1.0  # the noise sd given to laws that do not use it


class ArmStatistics(NamedTuple):
    """What a law may know of one arm."""

    count: Any  # number of rewards
    mean: Any
    rss: Any  # sum of squared deviations from the mean
    noise_sd: Any  # known standard deviation of the rewards, for the policies that are given one
    fourth: Any = 0.0  # sum of the deviations' fourth powers; 0 unless the rule asks for it


class SharedStatistics(NamedTuple):
    """What a law may know beside its arm."""

    variance: Any  # pooled over the arms, renewed from time to time; 0 unless the rule asks for it
    # Rewards so far, of all arms; with a half-life those remembered, a float. Both only if the rule asks for laws that
    # are renewed every round.
    pulls: Any
    arms: Any  # number of arms
    horizon: Any  # number of rounds; infinite where it is not known
    kurtosis: Any = 0.0  # pooled over the arms, renewed with the variance; 0 unless the rule asks for fourth moments


class ArmHistory(NamedTuple):
    """An arm's rewards, ``values[start:start + count]``, stored as differences from the first one, the ``anchor``."""

    values: Any
    start: Any
    count: Any
    anchor: Any
    drift: Any  # mean of the differences
    rss: Any
    lowest: Any  # smallest difference
    highest: Any  # largest difference
    at_lowest: Any = 0.0  # number of rewards with the smallest, and
    at_highest: Any = 0.0  # with the largest difference


def history_of(values: list[float], count: float, anchor: float, drift: float, rss: float) -> ArmHistory:
    """An arm's history from a list of its differences from the first reward."""
    lowest, highest = min(values), max(values)
    return ArmHistory(
        values, 0, int(count), anchor, drift, rss, lowest, highest, values.count(lowest), values.count(highest)
    )


class Contest(NamedTuple):
    """What an index has to beat.

    An index below ``best`` cannot lead and need not be computed: -inf will do. An index above it need not be computed
    either if it is the last one: inf will do.
    """

    best: Any
    is_last: Any


IndexLaw = Callable[..., tuple[float, float, float]]
Resample = Callable[..., float]


class Noise(IntEnum):
    """What multiplies an index law's scale. The law's third number, ``shape``, selects the member of the family.

    Attributes
    ----------
    NONE
        Nothing: the index is the location.
    NORMAL
        A standard normal variable.
    STUDENT
        A Student variable with ``shape`` degrees of freedom; standard normal if ``shape`` is infinite.
    FAIR_COINS
        The number of heads in ``shape`` tosses of a fair coin.
    OPTIMISM
        sqrt(2 log t), the same for every arm, with t the pulls so far; with a half-life, those remembered.

    Examples
    --------
    >>> from bootleader import ReBoot
    >>> ReBoot(sigma_a=1.5).rule.noise is Noise.NORMAL
    True
    """

    NONE = 0
    NORMAL = 1
    STUDENT = 2
    FAIR_COINS = 3
    OPTIMISM = 4


# Number of arms from which the leader is found without drawing every index (:mod:`bootleader._core.leader_tree`): about
# where both ways cost the same (`python -m benchmarks large_k`). Student variables are expensive, but arms with many
# rewards no longer need them, so it depends on the rounds too: at 192 arms drawing all takes 2.3 times as long in the
# first 1,000 rounds and 0.9 times in 20,000. Constants, so that no result depends on the machine; the same for the
# simulator and the agent, so that they agree.
CROSSOVER: Final = {Noise.NONE: 512, Noise.NORMAL: 512, Noise.STUDENT: 192}


def _check_functions(rule: Any, *names: str) -> None:
    """Raise unless a rule has functions of these names, a tuple of parameters and a number of initial pulls."""
    for name in names:
        if not callable(getattr(rule, name)):
            advice = ", such as `lambda arms, rounds: 2 * arms`" if name == "memory" else ""
            raise TypeError(f"{name} must be a function{advice}, got {getattr(rule, name)!r}")
    if not isinstance(rule.params, tuple):
        raise TypeError(f"params must be a tuple of numbers, such as (1.5,), got {rule.params!r}")
    whole("initial_pulls", rule.initial_pulls, 0)


@dataclass(frozen=True)
class IndexRule:
    """Index = location + scale * noise.

    ``law(params, arm, shared) -> (location, scale, shape)`` with an :class:`ArmStatistics` and a
    :class:`SharedStatistics` is the whole policy.

    Parameters
    ----------
    law : callable
        The index law, in plain arithmetic and ``math``: the same function runs in Python and compiled.
    noise : Noise
        What multiplies the scale.
    params : tuple of float
        The policy's parameters, as the law reads them.
    initial_pulls : int
        Every arm is pulled this often before indices count.
    pooled : bool
        Whether the law reads the pooled variance.
    fourth_moment : bool
        Whether the law reads fourth moments: the arm's own, and the pooled kurtosis.
    every_round : bool
        Whether the laws of all arms change in every round, because they read the pulls so far.
    grows : bool
        Whether an index never falls while only the pulls so far grow. Rules without noise that are renewed every round
        are then simulated faster: most indices are bounded instead of computed.
    epsilon : float
        Probability of a uniformly random arm instead.
    half_life : float
        Rewards after which a reward counts half as much; infinite for one that does not fade. The pulls so far that a
        law reads are then the remembered ones, a float: each counts as much as its reward.

    Raises
    ------
    TypeError
        If ``law`` is not a function, ``noise`` not a :class:`Noise`, ``params`` not a tuple or ``initial_pulls`` not a
        whole number.
    ValueError
        If ``initial_pulls`` is below 0, or ``epsilon`` is not from 0 to 1.

    Examples
    --------
    >>> def law(params, arm, shared):
    ...     return arm.mean, params[0] / arm.count**0.5, float("inf")
    >>> rule = IndexRule(law, Noise.NORMAL, params=(2.0,))
    >>> rule.law(rule.params, ArmStatistics(count=4, mean=7.0, rss=0.0, noise_sd=1.0), None)
    (7.0, 1.0, inf)
    """

    law: IndexLaw
    noise: Noise
    params: tuple[float, ...] = (0.0,)
    initial_pulls: int = 1
    pooled: bool = False
    fourth_moment: bool = False
    every_round: bool = False
    grows: bool = False
    epsilon: float = 0.0
    half_life: float = math.inf

    def __post_init__(self) -> None:
        """Check what was given."""
        _check_functions(self, "law")
        if not isinstance(self.noise, Noise):
            raise TypeError(
                f"noise must be one of {', '.join(map(str, Noise.__members__))} of Noise, got {self.noise!r}"
            )
        real("epsilon", self.epsilon, "a number from 0 to 1", low=0.0, open_low=False, high=1.0)

    @property
    def reads_rounds(self) -> bool:
        """Whether indices depend on the number of rounds so far."""
        return self.every_round or self.noise == Noise.OPTIMISM

    @property
    def uses_bounds(self) -> bool:
        """Whether most indices can be bounded instead of computed; not where counts fade: indices then fall."""
        constant = self.noise == Noise.NONE and self.epsilon == 0.0 and self.half_life == math.inf
        return self.every_round and self.grows and constant

    def uses_leader_tree(self, arms: int) -> bool:
        """Tell whether the leader among so many arms is found without drawing every index.

        Parameters
        ----------
        arms : int
            Number of arms.

        Returns
        -------
        bool
            True from a number of arms on that depends on the noise.
        """
        constant = not self.every_round and self.half_life == math.inf
        return constant and self.noise in CROSSOVER and arms >= CROSSOVER[self.noise]


@dataclass(frozen=True)
class HistoryRule:
    """Index = a resampled mean of the arm's whole history.

    ``resample(params, history, contest, stream)`` with an :class:`ArmHistory` and a :class:`Contest` returns the index.

    Parameters
    ----------
    resample : callable
        The index of an arm, in plain arithmetic and ``math``.
    params : tuple of float
        The policy's parameters, as ``resample`` reads them.
    initial_pulls : int
        Every arm is pulled this often before indices count.

    Raises
    ------
    TypeError
        If ``resample`` is not a function, ``params`` is not a tuple or ``initial_pulls`` is not a whole number.
    ValueError
        If ``initial_pulls`` is below 0.

    Examples
    --------
    >>> from bootleader import Giro
    >>> isinstance(Giro(a=1).rule, HistoryRule), Giro(a=1).rule.params
    (True, (1.0,))
    """

    resample: Resample
    params: tuple[float, ...]
    initial_pulls: int = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        _check_functions(self, "resample")


class ArmsView(NamedTuple):
    """What a :class:`ChoiceRule` sees of all arms; arrays with one entry for each arm."""

    count: Any
    mean: Any
    rss: Any
    noise_sd: Any
    rewards: Any  # with a history, arm k's rewards are rewards[start[k]], rewards[start[k] + 1], ... , and
    sums: Any  # sums[start[k] + j] is the sum of its first j + 1
    start: Any


def no_memory(arms: int, rounds: int) -> int:
    """The size of an empty memory."""
    return 0


def learn_nothing(params: Any, arms: Any, memory: Any, shared: Any, arm: Any, reward: Any, stream: Any) -> None:
    """Learn nothing beside the arms' statistics."""


def largest_mean(params: Any, arms: Any, memory: Any, shared: Any) -> Any:
    """The arm with the largest mean; the first of several."""
    recommended, largest = 0, -math.inf
    for k in range(shared.arms):
        if arms.count[k] > 0.0 and arms.mean[k] > largest:
            recommended, largest = k, arms.mean[k]
    return recommended


@dataclass(frozen=True)
class ChoiceRule:
    """The most general compiled rule: it sees all arms at once and has a memory of its own.

    ``choose(params, arms, memory, shared, stream)`` returns the number of the arm to pull, with an :class:`ArmsView`,
    an array of floats, a :class:`SharedStatistics` and a random stream. ``learn(params, arms, memory, shared, arm,
    reward, stream)`` is called after every reward, when the arms' statistics contain it. Both may write to ``memory``
    and to nothing else; it is zero at the start of a run. An agent plays the rule if it keeps no history and its memory
    does not grow with the rounds. The numbers of the first arm are then the first ones, those of the second follow, and
    what belongs to no arm is at the end: arms come and go.

    Parameters
    ----------
    choose : callable
        The number of the arm to pull.
    learn : callable
        Called after every reward.
    memory : callable
        The number of floats in the memory, for so many arms and rounds.
    params : tuple of float
        The policy's parameters, as ``choose`` and ``learn`` read them.
    initial_pulls : int
        Every arm is pulled this often before ``choose`` is asked.
    history : bool
        Whether the arms' rewards are kept.
    recommend : callable
        ``recommend(params, arms, memory, shared)`` returns the number of the arm that the rule takes for the best; by
        default the one with the largest mean. It changes nothing.

    Raises
    ------
    TypeError
        If ``choose``, ``learn``, ``memory`` or ``recommend`` is not a function, ``params`` is not a tuple or
        ``initial_pulls`` is not a whole number.
    ValueError
        If ``initial_pulls`` is below 0.

    Examples
    --------
    >>> def choose(params, arms, memory, shared, stream):
    ...     return int(shared.pulls) % int(shared.arms)
    >>> ChoiceRule(choose).initial_pulls
    1
    """

    choose: Callable[..., Any]
    learn: Callable[..., None] = learn_nothing
    memory: Callable[[int, int], int] = no_memory
    params: tuple[float, ...] = (0.0,)
    initial_pulls: int = 1
    history: bool = False
    recommend: Callable[..., Any] = largest_mean

    def __post_init__(self) -> None:
        """Check what was given."""
        _check_functions(self, "choose", "learn", "memory", "recommend")

    def memory_size(self, arms: int, rounds: int) -> int:
        """Return the number of floats in the memory.

        Parameters
        ----------
        arms, rounds : int
            Number of arms and of rounds.

        Returns
        -------
        int
            What ``memory`` returns.

        Raises
        ------
        TypeError, ValueError
            If that is not a whole number of at least 0.
        """
        return whole("what memory(arms, rounds) returns", self.memory(arms, rounds), 0)

    @property
    def functions(self) -> tuple[Callable[..., Any], ...]:
        """``choose``, ``learn`` and ``recommend``."""
        return self.choose, self.learn, self.recommend

    def uses_leader_tree(self, arms: int) -> bool:
        """Tell that no leader tree is used: the rule chooses by itself.

        Parameters
        ----------
        arms : int
            Number of arms.

        Returns
        -------
        bool
            False.
        """
        return False


Rule = IndexRule | HistoryRule | ChoiceRule
