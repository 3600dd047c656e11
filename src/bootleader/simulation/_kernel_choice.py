"""Which kernel plays a policy on a bandit, and the plan it is given.

The library's own laws share one kernel, and so do its most common reward draws: it is compiled once for all of them.
Laws that ask for fourth moments share another one, and so do laws that are renewed every round, choice rules with and
without a history, and less common draws, so that the rest do not pay for them. A law, a rule or a draw that was written
elsewhere gets a kernel of its own.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.code_fingerprint import code_digest
from bootleader._core.coefficient_rules import CoefficientRule
from bootleader._core.rng import Stream
from bootleader._core.rules import (
    ArmHistory,
    ArmStatistics,
    ArmsView,
    ChoiceRule,
    Contest,
    HistoryRule,
    IndexRule,
    Rule,
    SharedStatistics,
)
from bootleader.bandits import DRAW_GROUPS, DRAWS, Bandit, ContextualBandit
from bootleader.bandits.families.gaussian import gaussian_draw
from bootleader.policies import POLICIES, Policy

PARAMETERS = 5  # tuples of parameters are padded to this length, so that one compiled kernel takes them all


@cache
def _library_laws(every_round: bool, grows: bool, fourth_moment: bool) -> tuple[Any, ...]:
    kind = every_round, grows, fourth_moment
    rules = [policy.rule for policy in POLICIES if isinstance(policy.rule, IndexRule)]
    same_kernel = [rule for rule in rules if (rule.every_round, rule.uses_bounds, rule.fourth_moment) == kind]
    return tuple(dict.fromkeys(rule.law for rule in same_kernel))


def _same_kernel(rule: IndexRule) -> tuple[Any, ...]:
    """The library's laws that share a kernel with those of this rule's kind."""
    return _library_laws(rule.every_round, rule.uses_bounds, rule.fourth_moment)


@cache
def _library_resamplers() -> tuple[Any, ...]:
    return tuple(dict.fromkeys(policy.rule.resample for policy in POLICIES if isinstance(policy.rule, HistoryRule)))


@cache
def _library_choices(history: bool) -> tuple[Any, ...]:
    """The functions of the library's choice rules that keep the rewards, or of those that do not."""
    rules = [policy.rule for policy in POLICIES if isinstance(policy.rule, ChoiceRule)]
    return tuple(dict.fromkeys(rule.functions for rule in rules if rule.history == history))


def simulation_fingerprint(policy: Any, bandit: Any) -> str:
    """A digest of the code that the numbers of a simulation depend on, beside the parameters."""
    if isinstance(bandit, ContextualBandit):
        return _contextual_fingerprint(policy, bandit)
    from bootleader._core.kernels import choose_learn_recommend, history, large_k, lockstep, moment_rows, run_setup
    from bootleader._core.kernels import general as general_kernel

    rule, kind = policy.rule, type(bandit)
    kernel: tuple[Any, ...]
    if isinstance(rule, ChoiceRule) or kind.changes is not Bandit.changes or _fades(rule):
        functions = [getattr(rule, name, None) for name in ("law", "resample", "choose", "learn", "recommend")]
        kernel = (general_kernel.advance_general, choose_learn_recommend.make_parts, *functions)
    elif isinstance(rule, HistoryRule):
        kernel = (history.advance_history, history.choice, rule.resample)
    else:
        module: Any = large_k if rule.uses_leader_tree(bandit.arms) else lockstep
        code = (getattr(module, name) for name in module.KERNEL_CODE)
        kernel = (*code, rule.law, *moment_rows.rows_for(rule.fourth_moment))
    drawn = tuple(getattr(kind, name, None) for name in ("parameters_from", "family_parameters", "rescaled"))
    return _cached_digest(kernel, run_setup.set_up, bandit.draw, drawn, type(policy).known_sd)


def _contextual_fingerprint(policy: Any, bandit: ContextualBandit) -> str:
    from bootleader._core.kernels import linear, linear_draws

    rule = policy.rule
    parts: tuple[Any, ...] = linear.PARTS
    functions: tuple[Any, ...] = ()
    if isinstance(rule, CoefficientRule):
        parts, functions = (*parts, *linear_draws.PARTS), (rule.draw, rule.learn)
    else:
        functions = (rule.law,)
    laws = [getattr(getattr(bandit, name, None), "start", None) for name in ("features", "coefficients")]
    drawn = (type(bandit).parameters_from, *(getattr(start, "__func__", None) for start in laws))
    own = (*functions, bandit.draw, bandit.link, bandit.pay)
    return _cached_digest((linear.advance_linear, *parts), own, drawn, type(policy).known_sd)


_cached_digest = cache(code_digest)  # 30 ms otherwise, for each of the hundreds of cells of a reproduction


def _fades(rule: Rule) -> bool:
    return isinstance(rule, IndexRule) and rule.half_life != math.inf


def _group(function: Any, library: tuple[Any, ...]) -> tuple[Any, ...]:
    """The functions that share a kernel with this one; the function itself comes under its canonical object."""
    from bootleader._core.numba_bridge import canonical

    return library if function in library else (canonical(function),)


def _choice_group(rule: ChoiceRule) -> tuple[Any, ...]:
    """The choice rules that share a kernel with this one."""
    library = _library_choices(rule.history)
    if rule.functions in library:
        return library
    return (tuple(_group(function, ())[0] for function in rule.functions),)


def _draw_group(draws: tuple[Any, ...]) -> tuple[Any, ...]:
    """The library's group that has all these draws; if none has, the draws by themselves."""
    for group in DRAW_GROUPS:
        if all(draw in group for draw in draws):
            return group
    return tuple(_group(draw, ())[0] for draw in draws)


def _place(function: Any, group: tuple[Any, ...]) -> int:
    return group.index(function) if len(group) > 1 else 0


def padded(params: tuple[float, ...]) -> tuple[float, ...]:
    return params + (0.0,) * (PARAMETERS - len(params))


def _law_groups(rule: IndexRule, bandit: Bandit) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    library = _same_kernel(rule)
    return _group(rule.law, library), _draw_group((bandit.draw,))


def _plan(rule: IndexRule, bandit: Bandit, rounds: int) -> Any:
    from bootleader._core.kernels.lockstep_state import Plan

    laws, draws = _law_groups(rule, bandit)
    return Plan(
        law=_place(rule.law, laws),
        noise=int(rule.noise),
        params=padded(rule.params),
        initial_pulls=rule.initial_pulls,
        pooled=rule.pooled,
        epsilon=rule.epsilon,
        draw=_place(bandit.draw, draws),
        normal_rewards=bandit.draw is gaussian_draw,
        horizon=rounds,
    )


def lockstep(policy: Policy, bandit: Bandit, rounds: int) -> tuple[Any, Any]:
    """The lock-step kernel and its plan."""
    from bootleader._core.kernels.lockstep import kernel_for

    rule = checked_rule(policy, bandit)
    assert isinstance(rule, IndexRule)
    laws, draws = _law_groups(rule, bandit)
    noise = rule.noise if len(laws) == 1 else None
    kernel = kernel_for(laws, draws, rule.every_round, rule.uses_bounds, rule.fourth_moment, noise)
    return kernel, _plan(rule, bandit, rounds)


def large_k(policy: Policy, bandit: Bandit, rounds: int) -> tuple[Any, Any]:
    """The kernel for very many arms and its plan."""
    from bootleader._core.kernels.large_k import kernel_for

    rule = checked_rule(policy, bandit)
    assert isinstance(rule, IndexRule)
    return kernel_for(*_law_groups(rule, bandit), rule.fourth_moment), _plan(rule, bandit, rounds)


def history(policy: Policy, bandit: Bandit) -> tuple[Any, Any]:
    """The kernel for history rules and its plan."""
    from bootleader._core.kernels.history import HistoryPlan, kernel_for

    rule = checked_rule(policy, bandit)
    assert isinstance(rule, HistoryRule)
    resamplers, draws = _group(rule.resample, _library_resamplers()), _draw_group((bandit.draw,))
    plan = HistoryPlan(
        _place(rule.resample, resamplers), padded(rule.params), rule.initial_pulls, _place(bandit.draw, draws)
    )
    return kernel_for(resamplers, draws), plan


def draws_of(bandit: Bandit) -> tuple[Any, ...]:
    """The draws that the kernel for a bandit knows; a changing bandit names those of its phases by their numbers."""
    return _draw_group(bandit.draws)


def general(policy: Policy, bandit: Bandit, rounds: int, delayed: bool) -> tuple[Any, Any]:
    """The general kernel and its plan."""
    from bootleader._core.kernels.general import GeneralPlan, kernel_for

    rule = checked_rule(policy, bandit)
    changing = type(bandit).changes is not Bandit.changes
    draws = draws_of(bandit)
    functions: tuple[Any, ...] = ()
    number = 0
    if isinstance(rule, IndexRule):
        functions = _group(rule.law, _same_kernel(rule))
        number = _place(rule.law, functions)
    elif isinstance(rule, HistoryRule):
        functions = _group(rule.resample, _library_resamplers())
        number = _place(rule.resample, functions)
    else:
        functions = _choice_group(rule)
        number = _place(rule.functions, functions)
    plan = GeneralPlan(
        function=number,
        noise=int(getattr(rule, "noise", 0)),
        params=padded(rule.params),
        initial_pulls=rule.initial_pulls,
        arms_needed=bandit.arms if isinstance(rule, ChoiceRule) else 1,
        pooled=getattr(rule, "pooled", False),
        every_round=getattr(rule, "every_round", False),
        epsilon=getattr(rule, "epsilon", 0.0),
        half_life=getattr(rule, "half_life", math.inf),
        draw=_place(bandit.draw, draws),
        horizon=rounds,
    )
    return kernel_for(rule, functions, draws, changing, delayed), plan


def checked_rule(policy: Policy, bandit: Bandit) -> Rule:
    """The policy's rule, after a check that functions written elsewhere can be compiled."""
    from bootleader._core.user_function_checks import check_compiles

    rule = policy.rule
    stream = Stream(np.zeros(1, np.uint64), 0, np.uint64(1))
    shared = SharedStatistics(1.0, 1, 1, 1, 1.0)
    params, array = tuple(map(float, rule.params)), np.zeros(1)  # not padded: a number that is not there is an error
    for draw in bandit.draws:
        if draw not in DRAWS:
            check_compiles(
                draw, (RewardParameters(1.0, 1.0, 1.0, array, 1), stream), f"the reward draw of {bandit!r}", 1
            )
    match rule:
        case IndexRule() if rule.law not in _same_kernel(rule):
            check_compiles(rule.law, (params, ArmStatistics(*(1.0,) * 5), shared), f"the law of {policy!r}", 3)
        case HistoryRule() if rule.resample not in _library_resamplers():
            history = ArmHistory(array, 0, 1, *(1.0,) * 7)
            check_compiles(rule.resample, (params, history, Contest(1.0, False), stream), f"resample of {policy!r}", 1)
        case ChoiceRule() if rule.functions not in _library_choices(rule.history):
            arms = ArmsView(*(array,) * 6, np.zeros(1, np.int64))
            check_compiles(rule.choose, (params, arms, array, shared, stream), f"choose of {policy!r}", 1, True)
            check_compiles(rule.learn, (params, arms, array, shared, 0, 1.0, stream), f"learn of {policy!r}", 0)
            check_compiles(rule.recommend, (params, arms, array, shared), f"recommend of {policy!r}", 1, True)
    return rule
