"""What an experiment is besides its log: policy, seed, traffic. Written when it is created, and never changed."""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from bootleader._core.printable_text import shown
from bootleader._core.validation import positive, seed_of
from bootleader.agent._contextual_core import linear_learner
from bootleader.agent._decisions import DEFAULT_AGE
from bootleader.agent._document import plain_policy, policy_of
from bootleader.agent._learner import HistoryLearner, Learner
from bootleader.agent._learner_factory import learner_of
from bootleader.agent._memory_learner import MemoryLearner
from bootleader.agent._validation import boolean, half_life_of
from bootleader.agent.agent import wrong_policy
from bootleader.agent.features import Features
from bootleader.agent.traffic import Traffic
from bootleader.policies import CONTEXTUAL_POLICIES, POLICIES, Discounted, Policy
from bootleader.policies.contextual import ContextualPolicy
from bootleader.store._errors import StoreError

FORMAT: Final = 1
WITH_FEATURES: Final = 2  # what a version without contexts does not read


@dataclass(frozen=True)
class Settings:
    """The parameters of :meth:`Store.create`, checked."""

    policy: Any  # Policy or ContextualPolicy
    seed: int
    maximize: bool = True
    half_life: float | None = None
    traffic: Traffic | None = None
    max_age: float = DEFAULT_AGE
    probabilities: bool = True
    features: Features | None = None

    @classmethod
    def of(
        cls, policy: Any, seed: int | None, maximize: bool, half_life: float | None, traffic: Traffic | None,
        max_age: float, probabilities: bool, features: Features | None = None,
    ) -> Settings:  # fmt: skip
        """Checked settings.

        Raises
        ------
        TypeError, ValueError
            If one of them is not accepted, or no agent could play the policy.
        """
        if features is not None and not isinstance(features, Features):
            raise TypeError(f"features must be Features, such as Features(visits=float), got {shown(features)}")
        if not isinstance(policy, Policy if features is None else ContextualPolicy):
            raise wrong_policy(policy)
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
            features,
        )
        settings.learner()
        if traffic is not None and not settings.probabilities:
            raise ValueError("traffic needs the probabilities of choices: leave out probabilities=False")
        return settings

    def learner(self) -> Learner:
        """A learner of the policy, without arms."""
        if self.features is not None:
            return linear_learner(self.policy, self.features, self.seed, self.half_life)
        learner = learner_of(self.policy, self.seed, self.maximize, self.half_life)
        if isinstance(learner, MemoryLearner):  # its memory depends on the order of rewards, which workers do not share
            raise TypeError(
                f"a store plays policies that remember moments or rewards and nothing else; use an Agent for "
                f"{self.policy!r}"
            )
        return learner

    def check_traffic(self, active: Collection[str]) -> None:
        """``ValueError`` if the rules do not fit the active arms."""
        if self.traffic is None:
            return
        self.traffic.check_active(max(1, len(active)))
        if self.traffic.control is not None and self.traffic.control not in active:
            raise ValueError(f"control must be one of the active arms, got {shown(self.traffic.control)}")

    @cached_property
    def reward_range(self) -> tuple[float, float]:
        """The smallest and the largest reward that the policy takes."""
        return self.learner().reward_range

    @property
    def holds_out(self) -> bool:
        """Whether some units always get the control."""
        return self.traffic is not None and self.traffic.holdout > 0.0

    @property
    def control(self) -> str | None:
        """The arm of the holdout."""
        return None if self.traffic is None else self.traffic.control

    @property
    def keeps_history(self) -> bool:
        """Whether the policy reads every reward, not their moments."""
        return isinstance(self.learner(), HistoryLearner)

    def to_json(self) -> str:
        """As a JSON document."""
        traffic = None if self.traffic is None else self.traffic.parameters()
        body: dict[str, Any] = {
            "format": FORMAT if self.features is None else WITH_FEATURES,
            "policy": plain_policy(self.policy), "seed": f"{self.seed:016x}",
            "maximize": self.maximize, "half_life": self.half_life, "traffic": traffic, "max_age": self.max_age,
            "probabilities": self.probabilities,
        }  # fmt: skip
        if self.features is not None:
            body["features"] = [self.features.as_plain(), self.features.intercept, self.features.of_arms]
        return json.dumps({**body, "crc": _checksum(body)}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, extra: Sequence[type[Policy]]) -> Settings:
        """The settings of a document."""
        try:
            body = dict(json.loads(text))
            crc, number = body.pop("crc", None), body["format"]
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"the settings of the experiment are damaged: {shown(error)}", "damaged") from None
        if number not in (FORMAT, WITH_FEATURES):
            raise StoreError(
                f"the settings have format {shown(number)} and this library reads up to {WITH_FEATURES}: update it",
                "version",
            )
        if crc is not None and crc != _checksum(body):
            raise StoreError("the settings of the experiment do not match their checksum: restore them", "damaged")
        kinds = (*map(type, CONTEXTUAL_POLICIES), *extra)
        name = body["policy"].get("name") if isinstance(body.get("policy"), dict) else None
        if isinstance(name, str) and name not in {kind.__name__ for kind in (*map(type, POLICIES), *kinds)}:
            raise ValueError(
                f"{shown(name)} is a policy of your own, or of a newer version of the library: give its class, "
                f"Store(url, policies=[{name}]), or update"
            )
        try:
            traffic = None if body["traffic"] is None else Traffic.from_parameters(body["traffic"])
            policy = policy_of(body["policy"]["name"], body["policy"]["parameters"], kinds)
            features = Features.from_plain(*body["features"]) if number == WITH_FEATURES else None
            return cls.of(
                policy, int(body["seed"], 16), body["maximize"], body["half_life"], traffic, body["max_age"],
                body["probabilities"], features,
            )  # fmt: skip
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(f"the settings of the experiment cannot be read: {shown(error)}", "damaged") from None


def _checksum(body: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, allow_nan=False).encode())
