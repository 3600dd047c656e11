"""The contract of policies and bandits, as checks for classes of your own."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import ArmParameters
from bootleader._core.rules import ChoiceRule, HistoryRule, IndexRule
from bootleader.bandits import AffineBandit, Bandit, BernoulliBandit, ContextualBandit, GaussianBandit, LinearBandit
from bootleader.policies import CoefficientRule, ContextualPolicy, LinearRule, Policy, ReBoot
from bootleader.simulation._python_loop import PythonBandit, PythonPolicy
from bootleader.simulation._simulate import simulate

ROUNDS, RUNS, SEED = 200, 4, 2020
UNITS = ((1000.0, 0.0), (0.001, 5.0), (3.0, -1e6))  # changes of unit: scale, shift
DRAWS = 20_000
FIRST_REWARDS = 400  # of each arm of a plain Python bandit
FARTHEST = 6.0  # standard errors that a sample mean may be off


def check_policy(policy: Any, bandit: Any = None) -> list[str]:
    """Check that a policy of your own keeps the contract of the library's.

    Parameters
    ----------
    policy : Policy, ContextualPolicy, or object with start, pull and update
        An example of the policy.
    bandit : Bandit or ContextualBandit, optional
        What to play it on; by default Gaussian or Bernoulli rewards, as its ``reward_range`` allows, and three arms
        with two fixed features for a contextual policy.

    Returns
    -------
    list of str
        What was checked.

    Raises
    ------
    AssertionError
        If the contract is broken; the message says what to do.
    TypeError
        If the argument is no policy, or cannot be compiled.

    Examples
    --------
    >>> from bootleader import ReBoot
    >>> check_policy(ReBoot(sigma_a=1.5))[0]
    'parameters cannot be changed'
    """
    _refuse_class(policy, "policy")
    if isinstance(policy, Policy | ContextualPolicy):
        return _check_library_policy(policy, bandit)
    if isinstance(policy, PythonPolicy):
        return _check_python_policy(policy, bandit)
    raise TypeError(f"a policy is a Policy, or has start(arms, rng), pull() and update(arm, reward); got {policy!r}")


def check_bandit(bandit: Any) -> list[str]:
    """Check that a bandit of your own keeps the contract of the library's.

    Parameters
    ----------
    bandit : Bandit, or object with arms, means and pay
        An example of the bandit.

    Returns
    -------
    list of str
        What was checked.

    Raises
    ------
    AssertionError
        If the contract is broken; the message says what to do.
    TypeError
        If the argument is no bandit, or cannot be compiled.

    Examples
    --------
    >>> from bootleader import GaussianBandit
    >>> check_bandit(GaussianBandit([1.0, 0.0]))[-1]
    'the compiled rewards equal the plain ones bit for bit'
    """
    _refuse_class(bandit, "bandit")
    if isinstance(bandit, Bandit):
        return _check_library_bandit(bandit)
    if isinstance(bandit, PythonBandit):
        return _check_python_bandit(bandit)
    raise TypeError(f"a bandit is a Bandit, or has arms, means(t) and pay(arm, t, rng); got {bandit!r}")


def _refuse_class(value: Any, what: str) -> None:
    if isinstance(value, type):
        raise TypeError(f"a {what} is an object, such as {value.__name__}(...), got the class {value.__name__}")


def _check_library_policy(policy: Policy | ContextualPolicy, bandit: Any) -> list[str]:
    kind = type(policy)
    _check_value(policy, "policy")
    rule = policy.rule
    if isinstance(policy, ContextualPolicy):
        fits, accepted = isinstance(rule, LinearRule | CoefficientRule), "a LinearRule or a CoefficientRule"
    else:
        fits, accepted = (
            isinstance(rule, IndexRule | HistoryRule | ChoiceRule),
            "an IndexRule, a HistoryRule or a ChoiceRule",
        )
    _ensure(fits, f"{kind.__name__}.rule must be {accepted}, got {rule!r:.200}")
    _ensure(
        isinstance(rule.params, tuple) and all(type(number) is float for number in rule.params),
        f"the params of {kind.__name__}.rule must be a tuple of floats, got {rule.params!r}: write float(...)",
    )
    _ensure(rule == policy.rule, f"{kind.__name__}.rule must be the same every time: define its functions outside rule")
    bandit = bandit if bandit is not None else _suitable(policy)
    _check_same_bits(policy, bandit, "law or rule")
    done = [
        "parameters cannot be changed",
        "equal parameters make equal policies, and pickle keeps them",
        "the rule is data",
        "compiled play equals plain play bit for bit",
    ]
    if isinstance(policy, Policy) and policy.equivariant:
        _check_equivariance(policy, bandit)
        done.append("rewards aY + b give the same choices")
    return done


def _check_value(value: Any, what: str) -> None:
    """A policy or bandit is an immutable value."""
    kind = type(value)
    advice = f"make {kind.__name__} a @dataclass(frozen=True, repr=False) with its parameters as fields"
    _ensure(dataclasses.is_dataclass(kind), advice)
    for field in dataclasses.fields(value):
        try:
            setattr(value, field.name, getattr(value, field.name))
        except (dataclasses.FrozenInstanceError, AttributeError):
            continue
        raise AssertionError(f"the {what}'s {field.name} can be changed: {advice}")
    try:
        same = pickle.loads(pickle.dumps(value))
    except Exception as error:
        raise AssertionError(
            f"{kind.__name__} cannot be pickled ({error}): define the class, and the functions of its rule, at the top "
            "level of a module, so that other processes find them"
        ) from error
    _ensure(repr(same) == repr(value), f"a pickled {kind.__name__} comes back as {same!r}, not {value!r}")


def _suitable(policy: Policy | ContextualPolicy) -> Bandit | ContextualBandit:
    if isinstance(policy, ContextualPolicy):
        return LinearBandit(((1.0, 0.0), (0.0, 1.0), (0.6, 0.6)), (0.5, 0.3))
    unbounded = policy.reward_range == (-math.inf, math.inf)
    return GaussianBandit((0.5, 0.0, 0.2)) if unbounded else BernoulliBandit((0.5, 0.2, 0.3))


def _check_same_bits(policy: Any, bandit: Any, what: str) -> None:
    size = {"rounds": max(ROUNDS, 3 * bandit.arms), "runs": RUNS, "seed": SEED}
    try:  # plain play comes first: compiled code writes wherever a wrong index points
        plain = simulate(policy, bandit, **size, compiled=False)
    except (IndexError, ArithmeticError, ValueError) as error:
        raise AssertionError(
            f"plain play of {policy!r} on {bandit!r:.100} ends with {type(error).__name__}: {error}. Compiled code "
            "goes on with infinity, NaN or foreign memory instead: let the code keep within its arrays and avoid 0/0"
        ) from error
    compiled = simulate(policy, bandit, **size)
    different = np.flatnonzero((compiled.final_regret != plain.final_regret)[0])
    _ensure(
        different.size == 0 and np.array_equal(compiled.pulls, plain.pulls),
        f"compiled and plain play of {policy!r} on {bandit!r:.100} differ in runs {different.tolist()}: the {what} "
        "must be plain arithmetic and math, without global state, and integers must not overflow 64 bits",
    )


def _check_equivariance(policy: Policy, bandit: Bandit) -> None:
    size = {"rounds": ROUNDS, "runs": RUNS, "seed": SEED}
    plain = simulate(policy, bandit, **size)  # type: ignore[arg-type]
    for scale, shift in UNITS:
        moved = simulate(policy, AffineBandit(bandit, scale, shift), **size)  # type: ignore[arg-type]
        _ensure(
            np.array_equal(moved.pulls, plain.pulls),
            f"{policy!r} says equivariant = True, but chooses otherwise for rewards {scale:g} Y + {shift:g}: let every "
            "term of the law scale with the rewards, or say equivariant = False",
        )


def _check_python_policy(policy: Any, bandit: Any) -> list[str]:
    try:
        copy.deepcopy(policy)
    except Exception as error:
        raise AssertionError(f"{policy!r} cannot be copied ({error}): make locks and files in start()") from error
    bandit = bandit if bandit is not None else GaussianBandit((0.5, 0.0, 0.2))
    first, second = (simulate(policy, bandit, rounds=ROUNDS, runs=RUNS, seed=SEED) for _ in range(2))
    _ensure(
        np.array_equal(first.final_regret, second.final_regret),
        f"{policy!r} plays the same runs differently the second time: forget everything in start(arms, rng), and take "
        "random numbers from that rng alone",
    )
    return ["it can be copied", "it plays", "the same seed gives the same results"]


def _check_python_bandit(bandit: Any) -> list[str]:
    size = {"rounds": max(ROUNDS, bandit.arms), "runs": RUNS, "seed": SEED}
    first, second = (simulate(ReBoot(sigma_a=1.5), bandit, **size) for _ in range(2))
    _ensure(
        np.array_equal(first.mean_reward, second.mean_reward),
        f"{bandit!r} pays the same runs differently the second time: forget everything in start(rng), and take random "
        "numbers from the rng that start and pay are given",
    )
    bandit, rng = copy.deepcopy(bandit), np.random.default_rng(SEED)
    for k in range(min(bandit.arms, 4)):
        errors = []
        for _ in range(FIRST_REWARDS):
            if hasattr(bandit, "start"):
                bandit.start(rng)
            mean = float(bandit.means(0)[k])
            errors.append(float(bandit.pay(k, 0, rng)) - mean)
        off, error = abs(float(np.mean(errors))), float(np.std(errors)) / math.sqrt(FIRST_REWARDS)
        _ensure(
            off <= FARTHEST * error + 1e-9 * abs(mean),
            f"{FIRST_REWARDS} rewards pay({k}, 0, rng) of {bandit!r:.100} are on average {off:.4g} away from "
            f"means(0)[{k}], {off / max(error, 1e-300):.1f} standard errors: regret would be wrong",
        )
    return [
        "means(t) and pay(arm, t, rng) return finite numbers",
        "the same seed gives the same rewards",
        "the first rewards have the stated means",
    ]


def _check_library_bandit(bandit: Bandit) -> list[str]:
    _check_value(bandit, "bandit")
    runs = np.arange(RUNS, dtype=np.uint64)
    parameters = bandit.parameters_of(SEED, runs)
    name = type(bandit).__name__
    _ensure(
        isinstance(parameters, ArmParameters),
        f"{name}.parameters_from must return ArmParameters, got {parameters!r:.200}",
    )
    for field in ("first", "second", "third", "mean", "sd"):
        column = np.asarray(getattr(parameters, field))
        _ensure(
            column.ndim == 2 and column.shape[1] == RUNS and column.dtype == np.float64 and np.isfinite(column).all(),
            f"{name}.parameters_from: {field} must be an array of finite floats, arm x run, got shape {column.shape}",
        )
    _check_moments(bandit)
    _check_same_bits(ReBoot(sigma_a=1.5), bandit, "draw")
    return [
        "parameters cannot be changed, and pickle keeps them",
        "its parameters are arm x run",
        "rewards have the stated mean and stay in the stated range",
        "the compiled rewards equal the plain ones bit for bit",
    ]


def _check_moments(bandit: Bandit) -> None:
    """Sample means within six standard errors of the stated ones, and rewards in the stated range."""
    from bootleader._core.arm_parameters import RewardParameters
    from bootleader._core.rng import Purpose, Stream, run_stride, stream_state

    parameters = bandit.parameters_of(SEED, np.zeros(1, np.uint64))
    low, high = bandit.reward_range
    if bandit.changes(parameters, 0) is not None:
        return
    for k in range(min(bandit.arms, 4)):
        stream = Stream([int(stream_state(SEED, 0, int(Purpose.REWARDS), k))], 0, int(run_stride(SEED, 0)))
        first, second, third = (float(column[k, 0]) for column in parameters[:3])
        arm = RewardParameters(first, second, third, parameters.table, 0)
        rewards = np.array([float(bandit.draw(arm, stream)) for _ in range(DRAWS)])
        mean, sd = float(parameters.mean[k, 0]), float(parameters.sd[k, 0])
        off = abs(rewards.mean() - mean) / max(sd / math.sqrt(DRAWS), 1e-300)
        _ensure(
            off <= FARTHEST or sd == 0.0,
            f"{DRAWS:,} rewards of arm {k} of {bandit!r:.100} have mean {rewards.mean():.6g}, and parameters_from "
            f"states {mean:.6g} with sd {sd:.6g}, {off:.1f} standard errors away: regret would be wrong",
        )
        _ensure(
            low <= rewards.min() and rewards.max() <= high,
            f"rewards of arm {k} of {bandit!r:.100} range from {rewards.min():.6g} to {rewards.max():.6g}, outside its "
            f"reward_range, {low:g} to {high:g}",
        )


def _ensure(holds: Any, message: str) -> None:
    if not holds:
        raise AssertionError(message)
