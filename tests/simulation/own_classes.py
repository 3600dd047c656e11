"""Policies and bandits as a user would write them, in a module of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import bootleader as bl
from bootleader.bandits.base import FamilyBandit, validated_means
from bootleader.random import standard_exponential, uniform


def reboot_law(params: Any, arm: Any, shared: Any) -> Any:
    """The library's ReBoot, written anew."""
    s = arm.count
    return arm.mean, math.sqrt(arm.rss + 2.0 * (s + 2.0) * params[0] * params[0]) / (s + 2.0), math.inf


@dataclass(frozen=True, repr=False)
class OwnReBoot(bl.Policy):
    sigma_a: float = 1.5

    @property
    def rule(self) -> bl.IndexRule:
        return bl.IndexRule(reboot_law, bl.Noise.NORMAL, (float(self.sigma_a),))


def anytime_moss_law(params: Any, arm: Any, shared: Any) -> Any:
    bonus = math.log(max(1.0, shared.pulls / (shared.arms * arm.count)))
    return arm.mean + params[0] * math.sqrt(4.0 / arm.count * bonus), 0.0, 0.0


@dataclass(frozen=True, repr=False)
class OwnMOSS(bl.Policy):
    sd: float = 1.0

    @property
    def rule(self) -> bl.IndexRule:
        return bl.IndexRule(anytime_moss_law, bl.Noise.NONE, (float(self.sd),), every_round=True)


def laplace_draw(arm: Any, stream: Any) -> Any:
    size = arm.second * standard_exponential(stream)
    return arm.first + (size if uniform(stream) < 0.5 else -size)


@dataclass(frozen=True)
class LaplaceBandit(FamilyBandit):
    means: Any
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", validated_means(self.means))

    @property
    def draw(self) -> Any:
        return laplace_draw

    def family_parameters(self, mean: Any, sd: Any) -> tuple[Any, Any, Any, Any]:
        return mean, self.scale, 0.0, math.sqrt(2.0) * self.scale


@dataclass(frozen=True)
class WrongMeans(LaplaceBandit):
    """States a mean that its rewards do not have."""

    def parameters_from(self, uniforms: Any) -> Any:
        parameters = super().parameters_from(uniforms)
        return parameters._replace(mean=parameters.mean + 0.5)


@dataclass(frozen=True, repr=False)
class FalselyEquivariant(OwnReBoot):
    equivariant = True


def uncompilable_law(params: Any, arm: Any, shared: Any) -> Any:
    return arm.median, 0.0, 0.0


@dataclass(frozen=True, repr=False)
class Uncompilable(bl.Policy):
    @property
    def rule(self) -> bl.IndexRule:
        return bl.IndexRule(uncompilable_law, bl.Noise.NONE)


class Trace:
    """A plain Python bandit: two arms whose means cross."""

    arms = 2

    def means(self, t: int) -> list[float]:
        return [1.0, 0.01 * t]

    def pay(self, arm: int, t: int, rng: np.random.Generator) -> float:
        return self.means(t)[arm] + 0.1 * float(rng.standard_normal())


def choose_by_number(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    return int(params[0])


def recommend_by_number(params: Any, arms: Any, memory: Any, shared: Any) -> Any:
    return int(params[1])


@dataclass(frozen=True, repr=False)
class Numbered(bl.Policy):
    """Chooses and recommends arms by their numbers, even if there are none of these numbers."""

    chosen: int
    recommended: int = 0

    @property
    def rule(self) -> bl.ChoiceRule:
        params = (float(self.chosen), float(self.recommended))
        return bl.ChoiceRule(choose_by_number, params=params, recommend=recommend_by_number)


def choose_with_numpy(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    return np.argmax(arms.mean + np.random.randn(len(arms.mean)))  # noqa: NPY002


@dataclass(frozen=True, repr=False)
class DrawsWithNumpy(bl.Policy):
    @property
    def rule(self) -> bl.ChoiceRule:
        return bl.ChoiceRule(choose_with_numpy)


def law_with_numpy(params: Any, arm: Any, shared: Any) -> Any:
    return arm.mean, np.random.normal(), math.inf  # noqa: NPY002


def law_of_a_text(params: Any, arm: Any, shared: Any) -> Any:
    return "the mean", 1.0, math.inf


def law_of_a_list(params: Any, arm: Any, shared: Any) -> Any:
    return [arm.mean, 1.0, math.inf]


def law_beyond_params(params: Any, arm: Any, shared: Any) -> Any:
    return arm.mean, params[3], math.inf


def law_without_number(params: Any, arm: Any, shared: Any) -> Any:
    return math.nan, 1.0, math.inf


@dataclass(frozen=True, repr=False)
class WrongLaw(bl.Policy):
    """A law with a mistake, by its name."""

    law: str

    @property
    def rule(self) -> bl.IndexRule:
        return bl.IndexRule(globals()[self.law], bl.Noise.NORMAL)


def choose_half(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    return 0.5


def choose_beyond_memory(params: Any, arms: Any, memory: Any, shared: Any, stream: Any) -> Any:
    memory[10**6] = 1.0
    return 0


@dataclass(frozen=True, repr=False)
class WrongChoice(bl.Policy):
    """A choice with a mistake, by its name."""

    choose: str

    @property
    def rule(self) -> bl.ChoiceRule:
        return bl.ChoiceRule(globals()[self.choose])


class WrongTrace(Trace):
    """Pays more than its means say."""

    def pay(self, arm: int, t: int, rng: np.random.Generator) -> float:
        return 0.1 + super().pay(arm, t, rng)


class UnseededTrace(Trace):
    """Draws from a generator that is not its run's."""

    def pay(self, arm: int, t: int, rng: np.random.Generator) -> float:
        return super().pay(arm, t, np.random.default_rng())


WIDTHS = np.array([1.0, 0.5])


def law_with_table(params, arm, shared):
    """A law that reads an array of its module."""
    return arm.mean, WIDTHS[1] * params[0], math.inf
