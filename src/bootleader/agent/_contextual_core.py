"""What an agent with contexts is made of, without its calls: features, the learner, checked contexts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bootleader._core.linear_rules import LinearRule
from bootleader._core.printable_text import shown
from bootleader.agent._linear_learner import LinearLearner
from bootleader.agent._shared_learner import SharedLearner
from bootleader.agent.agent import Agent
from bootleader.agent.features import Features, Values


def needs_constant(policy: Any, features: Features) -> bool:
    """Whether a 1 is put at the end of the features: the model has no intercept of its own."""
    return features.intercept and not policy.rule.unit_free


def linear_learner(policy: Any, features: Features, seed: int, half_life: float | None) -> LinearLearner:
    """The learner of a contextual policy, without arms."""
    rule = policy.rule
    if not isinstance(rule, LinearRule):
        raise TypeError(f"an agent plays contextual policies whose rule is a LinearRule; simulate {policy!r}")
    kind = SharedLearner if features.of_arms else LinearLearner
    dimension = features.dimension + needs_constant(policy, features)
    return kind(rule, dimension, not features.intercept, seed, half_life)


def checked_context(features: Features, context: Any, who: str) -> Any:
    """The values of a context; with features of arms, those of each arm by its name."""
    if context is None:
        raise TypeError(f"give a context with {', '.join(map(shown, features))}: {who} has features")
    if not features.of_arms:
        return features.checked(context)
    if not isinstance(context, Mapping):
        raise TypeError(f"context must be a mapping of arm to features, got {shown(context)}")
    return {name: features.checked(own) for name, own in context.items()}


class ContextualCore(Agent):
    """Features, and how a context reaches the learner."""

    _learner: LinearLearner
    _seen: Values | None = None  # the context that the learner looks at, if that is known

    def _set_features(self, features: Features | None) -> None:
        if not isinstance(features, Features):
            raise TypeError(f"features must be Features, such as Features(visits=float), got {shown(features)}")
        self.features = features

    def _new_learner(self) -> LinearLearner:
        learner = linear_learner(self.policy, self.features, self.seed, self.half_life)
        self._constant = needs_constant(self.policy, self.features)
        return learner

    # Contexts ------------------------------------------------------------------------------------------------------

    def _checked(self, context: Any) -> Any:
        return checked_context(self.features, context, "the agent")

    def _look_at(self, values: Any) -> None:
        """Let the learner see a checked context."""
        learner = self._learner
        if isinstance(learner, SharedLearner):
            lacking = [self._names[slot] for slot in learner.active() if self._names[slot] not in values]
            if lacking:
                raise ValueError(f"the context lacks the features of arm {shown(lacking[0])}")
            learner.look_at_arms(
                {self._slot(name): self.features.encoded(own, self._constant) for name, own in values.items()}
            )
        else:
            self._recall(values)
        self._context = values

    def _context_of(self, slot: int) -> Any:
        if not self.features.of_arms:
            return self._context
        if self._names[slot] not in self._context:  # a choice made elsewhere, of a paused arm
            raise ValueError(f"the context lacks the features of arm {shown(self._names[slot])}")
        return self._context[self._names[slot]]

    def _of_one_arm(self, context: Any) -> Values:
        """A checked context that a reward belongs to: with features of arms, that of its arm alone."""
        if context is None:
            raise TypeError(f"give a context with {', '.join(map(shown, self.features))}: the agent has features")
        return self.features.checked(context, self._seen)

    def _recall(self, context: Values) -> None:
        if context == self._seen:  # the reward of the choice before it, or the same visitor again
            return
        self._seen = None  # an interruption leaves it so
        self._learner.look_at(self.features.encoded(context, self._constant))
        self._seen = context
