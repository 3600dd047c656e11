"""How a policy becomes a learner: its rule in the agent's inner unit, and what it knows of each arm's noise."""

from __future__ import annotations

import dataclasses

import numpy as np

from bootleader._core.rules import ChoiceRule, IndexRule, Rule
from bootleader._core.validation import positive
from bootleader.agent._choice_learner import ChoiceLearner, remembers_nothing
from bootleader.agent._index_learner import IndexLearner
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._memory_learner import MemoryLearner, needs_history
from bootleader.agent._validation import ANY_REWARD
from bootleader.policies import Policy


def learner_of(policy: Policy, seed: int, maximize: bool, half_life: float | None) -> Learner:
    """A learner without arms.

    Raises
    ------
    TypeError
        If an agent cannot play the policy.
    ValueError
        If it cannot play it without a number of rounds, with a half-life, or on costs.
    """
    learner = _learner_of_rule(policy, _as_played(policy, maximize).rule, seed, half_life)
    learner.reward_range = low, high = policy.reward_range
    if not maximize and (low, high) != ANY_REWARD:
        raise ValueError(
            f"maximize=False does not go with {policy!r}, whose rewards are from {low:g} to {high:g}: report a "
            "reward, such as 1 minus the cost, instead"
        )
    return learner


def _learner_of_rule(policy: Policy, rule: Rule, seed: int, half_life: float | None) -> Learner:
    """A learner of the policy's rule, in the agent's inner unit, if an agent can play it."""
    if policy.reads_horizon:
        raise ValueError(
            f"an agent does not have a number of rounds, which {policy!r} reads: give it {policy.instead_of_horizon}="
        )
    if isinstance(rule, IndexRule):
        return IndexLearner(rule, seed, half_life=half_life)
    if isinstance(rule, ChoiceRule) and needs_history(rule):
        why = "compares every reward of all arms at once" if rule.history else "has a memory that grows with the rounds"
        raise TypeError(
            f"an agent keeps moments, a memory of fixed size, or the rewards of each arm for an index of that arm "
            f"alone, as Giro's, and {policy!r} {why}: simulate it instead"
        )
    if half_life is not None:
        raise ValueError(
            f"half_life needs a policy that computes an index from moments only, and {policy!r} is none: leave it out"
        )
    if isinstance(rule, ChoiceRule):
        return (ChoiceLearner if remembers_nothing(rule) else MemoryLearner)(rule, seed)
    return HistoryLearner(rule, seed)


def keeps_moments(learner: Learner) -> bool:
    """Whether a learner keeps moments only, not every reward."""
    return not isinstance(learner, HistoryLearner)


def _as_played(policy: Policy, maximize: bool) -> Policy:
    """The policy in the agent's inner unit, where more is better: a cost is a negative reward, so is its prior."""
    prior_mean = policy.parameters.get("prior_mean", 0.0)
    return policy if maximize or prior_mean == 0.0 else dataclasses.replace(policy, prior_mean=-prior_mean)  # type: ignore[call-arg]


def known_sds(policy: Policy, arms: int) -> list[float]:
    """Each arm's noise sd as the policy believes it."""
    return [float(sd) for sd in np.broadcast_to(np.ravel(policy.known_sd(arms, None)), arms)]


def sd_of_new_arm(policy: Policy, given: float | None) -> float:
    """The noise sd of an arm that comes later; ``given`` where the policy has one per arm."""
    per_arm = isinstance(policy.parameters.get("noise_sd"), tuple)
    if per_arm != (given is not None):
        raise ValueError(
            f"noise_sd must be given for a new arm of {policy!r}, which has one per arm"
            if per_arm
            else f"noise_sd is for ThompsonSampling with one noise sd per arm; {policy!r} needs none, got {given!r}"
        )
    return known_sds(policy, 1)[0] if given is None else positive("noise_sd", given)
