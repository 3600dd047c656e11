"""Learners for the policies whose index is location + scale * noise: all but the history ones."""

from __future__ import annotations

import math
from dataclasses import replace
from operator import add, mul
from typing import Any, Final

import numpy as np

from bootleader._core.reference_player import POOLING_GROWTH
from bootleader._core.rng import uniform
from bootleader._core.rules import IndexRule, Noise, SharedStatistics
from bootleader._core.sampling import fair_binomial, studentise
from bootleader.agent._large_k import Crowd, Level, compile_kernels, many_laws
from bootleader.agent._learner import ArmState, Learner

Law = tuple[float, float, float]

RENEWALS: Final = 32  # with a discount, how often in a half-life the laws of all arms are renewed


class IndexLearner(Learner):
    """Keeps the index law of every playing arm, and draws a leader.

    With a discount, an arm's count and RSS are halved by every ``half_life`` rounds that pass since its last reward,
    but the count never falls below the opening's number of rewards: what faded further would leave nothing to
    explore with. The mean stays; new rewards weigh more against it the more it has faded.
    """

    rule: IndexRule

    def __init__(self, rule: IndexRule, seed: int, run: int = 0, half_life: float | None = None) -> None:
        super().__init__(rule, seed, run)
        self.half_life = half_life
        self.variance = 0.0  # pooled over the arms at
        self.pooled_at = 0  # this round, when all laws were renewed; they will be again
        self._renew_at = 0.0  # at this one
        self.location: list[float] = []
        self.scale: list[float] = []
        self.shape: list[float] = []
        self._normal = rule.noise in (Noise.NORMAL, Noise.STUDENT) and rule.epsilon == 0.0
        self._young = 0  # playing arms whose noise is a Student's
        self._quick = False  # whether an index takes one normal and nothing else
        self._crowd: Crowd | None = None  # finds the leader where there are very many arms

    def prepare(self, arms: int) -> None:
        if self.rule.uses_leader_tree(arms):
            compile_kernels(self.rule)

    def choose(self) -> int:
        # What nearly every choice is, without a call more than it needs.
        if self._quick and not self.stale and not self.open.slots:
            normals = self.normals
            start = normals.at
            stop = start + len(self.location)
            if stop <= normals.next_rejected:
                normals.at = stop
                indices = list(map(add, self.location, map(mul, self.scale, normals.values[start:stop])))
                best = max(indices)
                if indices.count(best) == 1:
                    return self.playing[indices.index(best)]
                return self.playing[self.first_of(indices)]
        return super().choose()

    def leader(self) -> int:
        rule, spare = self.rule, self.spare
        if rule.epsilon > 0.0 and uniform(spare) < rule.epsilon:
            return self.below(len(self.playing))
        if self._crowd is not None:
            return self._crowd.leader(spare)
        match rule.noise:
            case Noise.NORMAL:
                noise = self.normals.take(len(self.location), spare)
            case Noise.STUDENT:
                noise = [studentise(self.normals.settle(spare), shape, spare) for shape in self.shape]
            case Noise.FAIR_COINS:
                noise = [fair_binomial(shape, spare) for shape in self.shape]
            case _:
                noise = [self.certain_noise()] * len(self.location)
        return self.first_of(list(map(add, self.location, map(mul, self.scale, noise))))

    def certain_noise(self) -> float:
        """What multiplies the scale where nothing is drawn."""
        if self.rule.noise != Noise.OPTIMISM:
            return 0.0
        return math.sqrt(2.0 * math.log(max(1.0, self.remembered_rounds())))

    def remembered_rounds(self) -> float:
        """The number of rounds so far, each discounted by its age."""
        if self.half_life is None:
            return self.rounds
        rate = math.log(2.0) / self.half_life
        return math.expm1(-rate * self.rounds) / math.expm1(-rate)

    def learn(self, slot: int, reward: float) -> None:
        if self.half_life is not None:
            self._fade(self.arms[slot], self.rounds + 1)
        arm = self.take_in(slot, reward)
        if self.stale or not self.playing:  # the next choice will settle everything
            return
        place = self.place[slot]
        if self.rounds >= self._renew_at:
            self.renew()
        elif place >= 0:
            rule = self.rule
            law = rule.law(rule.params, arm, self._shared(self.variance))
            if law[2] != self.shape[place]:
                self._count_young(self.shape[place], law[2])
            self.location[place], self.scale[place], self.shape[place] = law
            if self._crowd is not None:
                self._crowd.set_law(place, *law)

    def _count_young(self, before: float, after: float) -> None:
        """Keep count of the arms with Student noise; with a discount an arm may grow young again."""
        if self.rule.noise == Noise.STUDENT:
            self._young += (after != math.inf) - (before != math.inf)
        self._quick = self._normal and not self._young and self._crowd is None

    def _next_renewal(self) -> float:
        """The round in which the pool is old, or too much has faded; never, if laws know of neither."""
        half_life = math.inf if self.half_life is None else self.half_life
        pool_lasts = self.pooled_at / POOLING_GROWTH if self.rule.pooled else math.inf
        return self.pooled_at + min(pool_lasts, half_life / RENEWALS)

    def settle(self) -> None:
        super().settle()
        self._crowd = None
        self.renew()

    def renew(self) -> None:
        """Pool the variance anew, and with it every law."""
        self.pooled_at = self.rounds
        self.variance = self.pooled_now()
        self.compute_laws()
        if self._crowd is not None:
            self._crowd.renew(self._all_laws())
        elif self._crowded:
            self._crowd = Crowd(self.rule, self._all_laws())
            self._quick = False

    def compute_laws(self) -> None:
        """The laws of all playing arms, from the pooled variance as it is."""
        self._renew_at = self._next_renewal()
        self.location, self.scale, self.shape = self._computed_laws()
        self._young = 0
        if self.rule.noise == Noise.STUDENT:
            self._young = len(self.shape) - self.shape.count(math.inf)
        self._quick = bool(self.playing) and self._normal and not self._young and self._crowd is None

    def _computed_laws(self) -> list[list[float]]:
        arms = [self.arms[slot] for slot in self.playing]
        weights = [self.weight_left(arm, max(self.pooled_at, arm.last)) for arm in arms]
        if not self._crowded:
            laws = [self._law_of(arm, weight, self.variance) for arm, weight in zip(arms, weights, strict=True)]
            return [list(column) for column in zip(*laws, strict=True)] if laws else [[], [], []]
        moments = np.array([[arm.count for arm in arms], [arm.mean for arm in arms], [arm.rss for arm in arms]])
        moments[[0, 2]] *= weights
        noise_sd = np.array([arm.noise_sd for arm in arms])
        return many_laws(self.rule, noise_sd, moments, self._shared(self.variance)).tolist()  # type: ignore[no-any-return]

    def _all_laws(self) -> Any:
        return np.array([self.location, self.scale, self.shape])

    @property
    def _crowded(self) -> bool:
        return self.rule.uses_leader_tree(len(self.playing))

    def laws_now(self) -> tuple[list[int], list[Law]]:
        """The playing arms and their laws as the next choice would have them; changes nothing."""
        if not self.stale:
            return self.playing, list(zip(self.location, self.scale, self.shape, strict=True))
        playing, variance = self.now_playing(), self.pooled_now()
        arms = [self.arms[slot] for slot in playing]
        return playing, [self._law_of(arm, self.weight_left(arm, self.rounds), variance) for arm in arms]

    def _law_of(self, arm: ArmState, weight: float, variance: float) -> Law:
        """An arm's index law when so much is left of its count."""
        faded = arm if weight == 1.0 else replace(arm, count=arm.count * weight, rss=arm.rss * weight)
        return self.rule.law(self.rule.params, faded, self._shared(variance))

    def _shared(self, variance: float) -> SharedStatistics:
        """What laws know beside their arm."""
        return SharedStatistics(variance, self.rounds, len(self.arms), math.inf)

    def pooled_now(self) -> float:
        """Variance pooled over all arms: sum of RSS over sum of (s - 1)."""
        squares, freedom = 0.0, 0.0
        for arm in self.arms:
            weight = self.weight_left(arm, self.rounds)
            squares += arm.rss * weight
            freedom += max(arm.count * weight - 1.0, 0.0)
        return squares / freedom if freedom > 0.0 else 0.0

    def weight_left(self, arm: ArmState, now: int) -> float:
        """What the discount has left by round ``now`` of each unit of an arm's count."""
        if self.half_life is None or arm.count <= self._initial_pulls:
            return 1.0
        return max(math.exp2((arm.last - now) / self.half_life), self._initial_pulls / arm.count)

    def _fade(self, arm: ArmState, now: int) -> None:
        """Bring an arm's moments to round ``now``; a reward of that round then counts in full."""
        weight = self.weight_left(arm, now)
        if weight < 1.0:
            arm.count = max(arm.count * weight, float(self._initial_pulls))
            arm.rss *= weight
        arm.last = now

    def bring_up_to_date(self) -> None:
        if self.half_life is not None:
            for arm in self.arms:
                self._fade(arm, self.rounds)

    def state_now(self, slot: int) -> ArmState:
        arm = super().state_now(slot)
        self._fade(arm, self.rounds)
        return arm

    @property
    def level(self) -> Level | None:
        """What very many arms need beside their laws to go on as before."""
        return None if self._crowd is None or self.stale else self._crowd.level

    def resume(self, level: Level | None) -> None:
        """Make laws and players those that ``variance`` and ``pooled_at`` say, as if they had been kept all along."""
        super().settle()
        self.compute_laws()
        if self._crowded and level is not None:
            self._crowd = Crowd(self.rule, self._all_laws(), level)
            self._quick = False
