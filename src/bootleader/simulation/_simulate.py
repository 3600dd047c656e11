"""``simulate``: play policies on the same runs of a bandit."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bootleader._core.compilation_events import on_compilation
from bootleader._core.rules import Rule
from bootleader._core.validation import one_of, seed_of, whole
from bootleader.bandits import Bandit, ContextualBandit
from bootleader.policies import ContextualPolicy, Policy
from bootleader.simulation._contextual_runs import has_contexts, validate_pair
from bootleader.simulation._delay import delay_from
from bootleader.simulation._python_loop import PythonBandit, PythonPolicy
from bootleader.simulation._task_schedule import Gathered, Job, play
from bootleader.simulation.result import Simulation

LONGEST = 2**62  # rounds
LAST_RUN = 2**62  # number of a first run


class RunOptions(NamedTuple):
    """What :func:`simulate` was asked to play, before it is validated."""

    rounds: Any
    runs: Any
    seed: Any = 0
    checkpoints: Any = 200
    delay: Any = None
    keep: Any = None
    compiled: Any = True
    device: Any = "cpu"
    first_run: Any = 0


def simulate(
    policies: Any,
    bandit: Any,
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    checkpoints: int | Sequence[int] | Literal["log"] = 200,
    delay: Any = None,
    keep: Literal["curves"] | None = None,
    compiled: bool = True,
    first_run: int = 0,
    device: Literal["cpu", "cuda"] = "cpu",
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | Callable[[int], object] = False,
) -> Simulation:
    """Play every policy on the same runs of a bandit.

    Run r has the same arms, and the n-th pull of arm k pays the same reward, under every policy. Results depend on
    the seed alone: not on the executor, the number of cores, the number of runs or the other policies in the call.

    Parameters
    ----------
    policies : policy, list of policies, or dict of name to policy
        Policies of the library or of your own: subclasses of :class:`Policy` are compiled; objects with
        ``start(arms, rng)``, ``pull()`` and ``update(arm, reward)`` are played in plain Python. Bandits with contexts
        take subclasses of :class:`ContextualPolicy`, or objects with ``start(arms, dimension, rng)``,
        ``pull(features)`` and ``update(arm, features, reward)``.
    bandit : Bandit or ContextualBandit
        A bandit of the library or of your own: subclasses of :class:`Bandit` or :class:`ContextualBandit` are compiled;
        an object with ``arms``, ``means(t)`` and ``pay(arm, t, rng)``, for contexts also ``dimension`` and
        ``features(t)``, is played in plain Python.
    rounds : int
        Length of a run.
    runs : int
        How many runs.
    seed : int
        Any whole number from 0 to 2**64 - 1.
    checkpoints : int, sequence of int, or "log"
        The rounds at which curves are kept: how many, evenly spaced; which ones; or evenly spaced on the log scale.
        The last round is always one of them.
    delay : int, GeometricDelay, or sequence of int, optional
        How many rounds late rewards arrive: a number, a distribution, or observed delays to draw from.
    keep : "curves", optional
        Keep every run's regret and recommended arm at every checkpoint, in ``Simulation.curves`` and
        ``Simulation.recommended``.
    compiled : bool
        False plays everything in plain Python: slow, with the same results.
    first_run : int
        Number of the first run: ``simulate(..., runs=100) + simulate(..., runs=900, first_run=100)`` are the runs of
        ``simulate(..., runs=1000)``.
    device : {"cpu", "cuda"}
        "cuda" plays on an NVIDIA GPU, with the same results: of this process, or of each worker of ``executor``. What
        it cannot play (policies with a history or a memory, very many arms, late or changing rewards, plain Python) is
        played on the CPU in the same call; ``Simulation.devices`` says what. It needs ``bootleader[cuda]``.
    n_jobs : int, optional
        Number of threads; by default one for each core.
    executor : concurrent.futures.Executor, optional
        Where blocks of runs are played instead; by default on the cores of this machine.
    progress : bool or callable
        Show a progress bar with the time left; or what to call with the number of runs that have just ended.

    Returns
    -------
    Simulation
        Regret over time, final regret of every run, pulls, and more.

    Raises
    ------
    TypeError
        If a policy or the bandit cannot be played, or cannot be compiled; the message says what to do.
    ValueError
        If an argument is out of its range, or a policy cannot take the rewards of the bandit.
    RuntimeError
        If ``device`` is "cuda" and there is no GPU, driver or CUDA library; the message says what to install.

    Examples
    --------
    >>> from bootleader import GaussianBandit, ReBoot, simulate
    >>> sim = simulate(ReBoot(sigma_a=1.5), GaussianBandit([1.0, 0.0]), rounds=100, runs=8, seed=1)
    >>> sim.final_regret.shape
    (1, 8)
    """
    named = named_policies(policies)
    options = RunOptions(rounds, runs, seed, checkpoints, delay, keep, compiled, device, first_run)
    job = job_of(tuple(named.values()), bandit, options)
    validate_execution(executor, n_jobs, job.device)
    with progress_callback(progress, job.runs * len(named)) as report:
        (gathered,) = play([job], executor, n_jobs, report)
    return simulation_of(tuple(named), job, gathered)


def job_of(policies: tuple[Any, ...], bandit: Any, options: RunOptions) -> Job:
    """A validated job."""
    if isinstance(bandit, type):
        raise TypeError(f"bandit must be an object, such as {bandit.__name__}(...), got the class {bandit.__name__}")
    if not isinstance(bandit, Bandit | ContextualBandit | PythonBandit):
        raise TypeError(
            "bandit must be one of the library's, such as GaussianBandit(means=[1, 0]), or have arms, means(t) and "
            f"pay(arm, t, rng); got {bandit!r}"
        )
    arms = whole("the bandit's number of arms", bandit.arms, 2)
    rounds = whole("rounds", options.rounds, 1, LONGEST, "from 1 to 2**62")
    if rounds < arms:
        raise ValueError(f"rounds must be at least the number of arms, {arms}, got {rounds}")
    for policy in policies:
        validate_pair(policy, bandit)
        if isinstance(policy, Policy | ContextualPolicy):
            _validate_policy(policy, bandit, arms)
    if options.delay is not None and has_contexts(bandit):
        raise ValueError(f"delay must be None for a bandit with contexts, got {options.delay!r}")
    if options.keep is not None:
        one_of("keep", options.keep, ("curves",))
    return Job(
        policies=policies,
        bandit=bandit,
        rounds=rounds,
        runs=whole("runs", options.runs, 1),
        seed=seed_of(options.seed),
        checkpoints=checkpoint_rounds(rounds, options.checkpoints),
        compiled=bool(options.compiled),
        delay=delay_from(options.delay),
        keep_curves=options.keep is not None,
        first_run=whole("first_run", options.first_run, 0, LAST_RUN, "from 0 to 2**62"),
        device=one_of("device", options.device, ("cpu", "cuda")),
    )


def _validate_policy(policy: Policy | ContextualPolicy, bandit: Any, arms: int) -> None:
    if isinstance(policy, Policy) and not isinstance(policy.rule, Rule):
        raise TypeError(
            f"the rule of {policy!r} must be an IndexRule, a HistoryRule or a ChoiceRule, got {policy.rule!r:.200}; "
            "`@property` stands above `def rule(self)`"
        )
    known = isinstance(bandit, Bandit | ContextualBandit)
    policy.known_sd(arms, np.ones((arms, 1) if isinstance(bandit, Bandit) else arms) if known else None)
    if isinstance(bandit, Bandit | ContextualBandit):
        (low, high), (least, most) = policy.reward_range, bandit.reward_range
        if least < low or most > high:
            raise ValueError(
                f"{policy!r} takes rewards from {low:g} to {high:g}, and those of {bandit!r:.200} range from {least:g} "
                f"to {most:g}"
            )


def validate_execution(executor: Any, n_jobs: Any, device: str = "cpu") -> None:
    """Raise unless ``executor``, ``n_jobs`` and ``device`` say where to play."""
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(f"executor must be a concurrent.futures.Executor or None, got {executor!r}")
    if n_jobs is not None:
        whole("n_jobs", n_jobs, 1)
        if executor is not None:
            raise ValueError("give n_jobs, a number of threads, or executor, not both")
    if device == "cuda" and (executor is None or isinstance(executor, ThreadPoolExecutor)):
        from bootleader._core.cuda.device import require

        require()


def simulation_of(names: tuple[str, ...], job: Job, gathered: Sequence[Gathered]) -> Simulation:
    """What is kept of a finished job."""
    return Simulation(
        policies=names,
        rounds=job.checkpoints,
        over_time=np.array([[g.mean, g.standard_error] for g in gathered]).transpose(0, 2, 1, 3),
        final_regret=np.array([g.final for g in gathered]),
        pulls=np.array([g.pulls / job.runs for g in gathered]),
        pulls_by_rank=np.array([g.pulls_by_rank / job.runs for g in gathered]),
        recommended_by_rank=np.array([g.recommended_by_rank / job.runs for g in gathered]),
        seconds=np.array([g.seconds for g in gathered]),
        bandit=job.bandit,
        seed=job.seed,
        first_run=job.first_run,
        curves=np.array([g.curves for g in gathered]) if job.keep_curves else None,
        recommended=np.array([g.recommended for g in gathered]) if job.keep_curves else None,
        delay=job.delay,
        devices=job.devices,
    )


def named_policies(policies: Any) -> dict[str, Any]:
    """Policies by name, whichever way they were given."""
    if isinstance(policies, Mapping):
        pairs = [(str(name), policy) for name, policy in policies.items()]
    else:
        listed = list(policies) if isinstance(policies, Sequence) and not isinstance(policies, str) else [policies]
        pairs = [("", policy) for policy in listed]
    if not pairs:
        raise ValueError("policies must hold at least one policy, got none")
    named: dict[str, Any] = {}
    for given, candidate in pairs:
        policy = _playable(candidate)
        name = given or str(getattr(policy, "name", type(policy).__name__))
        if name in named:
            raise ValueError(f"policy names must differ, got {name!r} twice; give a dict of name to policy")
        named[name] = policy
    return named


def _playable(candidate: Any) -> Any:
    if isinstance(candidate, type):
        candidate = candidate(**_parameters_of(candidate))
    if isinstance(candidate, Policy | ContextualPolicy | PythonPolicy):
        return candidate
    raise TypeError(
        "a policy must be one of the library's, such as ReBoot(sigma_a=1.5), or have the methods start(arms, rng), "
        f"pull() and update(arm, reward); got {candidate!r}"
    )


def _parameters_of(kind: type) -> dict[str, Any]:
    """No parameters, if the class needs none; otherwise an error that says which one is missing."""
    parameters = inspect.signature(kind).parameters.values()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    needed = [p.name for p in named if p.default is p.empty]
    if needed:
        example = ", ".join(f"{name}=1.5" for name in needed)
        raise TypeError(
            f"{kind.__name__} is a class and needs {', '.join(needed)}: write {kind.__name__}({example}), or another "
            "value"
        )
    return {}


def checkpoint_rounds(rounds: int, checkpoints: Any) -> npt.NDArray[np.int64]:
    """The rounds at which curves are kept; the last is the horizon.

    Examples
    --------
    >>> checkpoint_rounds(1000, 4), checkpoint_rounds(1000, [10, 100])
    (array([ 250,  500,  750, 1000]), array([  10,  100, 1000]))
    """
    if isinstance(checkpoints, str):
        if checkpoints != "log":
            raise ValueError(f'checkpoints must be a number, a list of rounds, or "log", got {checkpoints!r}')
        spaced = {round(math.exp(x)) for x in np.linspace(0.0, math.log(rounds), 200)}
        return np.array(sorted(spaced | {rounds}), np.int64)
    if isinstance(checkpoints, Sequence | np.ndarray):
        wanted = {
            whole("checkpoints", mark, 1, rounds, f"from 1 to the number of rounds, {rounds}") for mark in checkpoints
        }
        return np.array(sorted(wanted | {rounds}), np.int64)
    count = min(whole("checkpoints", checkpoints, 1), rounds)
    return np.array([rounds * (mark + 1) // count for mark in range(count)], np.int64)


@contextmanager
def progress_callback(progress: bool | Callable[[int], object], total: int) -> Iterator[Callable[[int], object]]:
    """Yield the progress callback."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda runs: None
    else:
        from tqdm.auto import tqdm

        with (
            tqdm(total=total, unit="run", desc="simulate") as bar,
            on_compilation(lambda: bar.set_description_str("compiling, once")),
        ):

            def update(runs: int) -> None:
                bar.set_description_str("simulate", refresh=False)
                bar.update(runs)

            yield update
