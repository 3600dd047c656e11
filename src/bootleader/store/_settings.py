"""What an experiment is besides its log: policy, seed, traffic. Written when it is created, and never changed."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from bootleader._core.text import shown
from bootleader._core.validation import positive, seed_of
from bootleader.agent._choice_learner import ChoiceLearner
from bootleader.agent._decisions import DEFAULT_AGE
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._learner_factory import learner_of
from bootleader.agent._memory_learner import MemoryLearner
from bootleader.agent._serialization import plain_policy, policy_of
from bootleader.agent._validation import boolean, half_life_of
from bootleader.agent.traffic import Traffic
from bootleader.policies import Discounted, Policy
from bootleader.store._errors import StoreError

FORMAT: Final = 1


@dataclass(frozen=True)
class Settings:
    """The parameters of :meth:`Store.create`, checked."""

    policy: Policy
    seed: int
    maximize: bool = True
    half_life: float | None = None
    traffic: Traffic | None = None
    max_age: float = DEFAULT_AGE
    probabilities: bool = True

    @classmethod
    def of(
        cls, policy: Any, seed: int | None, maximize: bool, half_life: float | None, traffic: Traffic | None,
        max_age: float, probabilities: bool,
    ) -> Settings:  # fmt: skip
        """Checked settings.

        Raises
        ------
        TypeError, ValueError
            If one of them is not accepted, or no agent could play the policy.
        """
        if not isinstance(policy, Policy):
            raise TypeError(f"policy must be a policy of the library, such as AdaptiveReBoot(), got {shown(policy)}")
        if isinstance(policy, Discounted):
            if half_life is not None:
                raise ValueError(f"give half_life once: {policy!r} has one, got half_life={half_life!r} too")
            half_life, policy = policy.half_life, policy.policy
        if traffic is not None and not isinstance(traffic, Traffic):
            raise TypeError(f"traffic must be a Traffic, got {shown(traffic)}")
        settings = cls(
            policy,
            secrets.randbits(64) if seed is None else seed_of(seed),
            boolean("maximize", maximize),
            None if half_life is None else half_life_of(half_life),
            traffic,
            positive("max_age", max_age),
            boolean("probabilities", probabilities),
        )
        settings.learner()
        if traffic is not None and not settings.probabilities:
            raise ValueError("traffic needs the probabilities of choices: leave out probabilities=False")
        return settings

    def learner(self) -> Learner:
        """A learner of the policy, without arms."""
        learner = learner_of(self.policy, self.seed, self.maximize, self.half_life)
        if isinstance(learner, MemoryLearner):  # its memory depends on the order of rewards, which workers do not share
            raise TypeError(
                f"a store plays policies that remember moments or rewards and nothing else; use an Agent for "
                f"{self.policy!r}"
            )
        return learner

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that the policy takes."""
        learner = self.learner()
        return learner.reward_range if isinstance(learner, ChoiceLearner) else (-math.inf, math.inf)

    @property
    def keeps_history(self) -> bool:
        """Whether the policy reads every reward, not their moments."""
        return isinstance(self.learner(), HistoryLearner)

    def to_json(self) -> str:
        """As a JSON document."""
        traffic = None if self.traffic is None else self.traffic.parameters()
        body = {
            "format": FORMAT, "policy": plain_policy(self.policy), "seed": f"{self.seed:016x}",
            "maximize": self.maximize, "half_life": self.half_life, "traffic": traffic, "max_age": self.max_age,
            "probabilities": self.probabilities,
        }  # fmt: skip
        return json.dumps(body, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, extra: Sequence[type[Policy]]) -> Settings:
        """The settings of a document."""
        try:
            body = json.loads(text)
            number = body["format"]
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"the settings of the experiment are damaged: {shown(error)}", "damaged") from None
        if number != FORMAT:
            raise StoreError(
                f"the settings have format {shown(number)} and this library reads format {FORMAT}: update bootleader",
                "version",
            )
        try:
            traffic = None if body["traffic"] is None else Traffic.from_parameters(body["traffic"])
            policy = policy_of(body["policy"]["name"], body["policy"]["parameters"], extra)
            return cls(
                policy, int(body["seed"], 16), body["maximize"], body["half_life"], traffic, body["max_age"],
                body["probabilities"],
            )  # fmt: skip
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"the settings of the experiment cannot be read: {shown(error)}", "damaged") from None
