"""Learners for the policies whose index is location + scale * noise: all but the history ones."""

from __future__ import annotations

import math
from operator import add, mul
from typing import Final

from bootleader.online.learner import ArmState, Learner
from bootleader.player import POOLING_GROWTH
from bootleader.policies.base import IndexRule, Noise
from bootleader.sampling import fair_binomial, studentise
from bootleader.streams import uniform

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
        self.pooled_at = 0  # this round, when all laws were renewed
        self.location: list[float] = []
        self.scale: list[float] = []
        self.shape: list[float] = []
        self._normal = rule.noise in (Noise.NORMAL, Noise.STUDENT) and rule.epsilon == 0.0
        self._young = 0  # playing arms whose noise is a Student's
        self._quick = False  # whether an index takes one normal and nothing else

    def leader(self) -> int:
        if not self._quick:
            return self._slow_leader()
        noise = self.normals.take(len(self.location), self.spare)
        indices = list(map(add, self.location, map(mul, self.scale, noise)))
        best = max(indices)
        return indices.index(best) if indices.count(best) == 1 else self.first_of(indices)

    def _slow_leader(self) -> int:
        """The leader where an index takes more than a normal, or something else."""
        rule, spare, gamma = self.rule, self.spare, self.gamma
        if rule.epsilon > 0.0 and uniform(spare, 0, gamma) < rule.epsilon:
            return self.below(len(self.playing))
        match rule.noise:
            case Noise.NORMAL:
                noise = self.normals.take(len(self.location), spare)
            case Noise.STUDENT:
                noise = [studentise(self.normals.settle(spare), shape, spare, 0, gamma) for shape in self.shape]
            case Noise.FAIR_COINS:
                noise = [fair_binomial(shape, spare, 0, gamma) for shape in self.shape]
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
        if self.stale:
            return
        place = self.place[slot]
        if (self.rule.pooled or self.half_life is not None) and self._must_renew():
            self.renew()
        elif place >= 0:
            rule = self.rule
            law = rule.law(rule.theta, arm.noise_sd, arm.count, arm.anchor + arm.drift, arm.rss, self.variance)
            if self._young:
                self._grow_up(self.shape[place], law[2])
            self.location[place], self.scale[place], self.shape[place] = law

    def _grow_up(self, before: float, after: float) -> None:
        """Keep count of the arms with Student noise."""
        self._young += (after != math.inf) - (before != math.inf)
        self._quick = self._normal and not self._young

    def _must_renew(self) -> bool:
        since = self.rounds - self.pooled_at
        if self.half_life is not None and since * RENEWALS >= self.half_life:
            return True
        return self.rule.pooled and POOLING_GROWTH * since >= self.pooled_at

    def settle(self) -> None:
        super().settle()
        self.renew()

    def renew(self) -> None:
        """Pool the variance anew, and with it every law."""
        self.pooled_at = self.rounds
        self.variance = self.pooled_now()
        self.compute_laws()

    def compute_laws(self) -> None:
        """The laws of all playing arms, from the pooled variance as it is."""
        laws = [self.law_of(slot, self.variance, max(self.pooled_at, self.arms[slot].last)) for slot in self.playing]
        self.location, self.scale, self.shape = map(list, zip(*laws, strict=True)) if laws else ([], [], [])
        self._young = 0
        for shape in self.shape if self.rule.noise == Noise.STUDENT else ():
            self._grow_up(math.inf, shape)
        self._quick = self._normal and not self._young

    def laws_now(self) -> tuple[list[int], list[Law]]:
        """The playing arms and their laws as the next choice would have them; changes nothing."""
        if not self.stale:
            return self.playing, list(zip(self.location, self.scale, self.shape, strict=True))
        playing, variance = self.now_playing(), self.pooled_now()
        return playing, [self.law_of(slot, variance, self.rounds) for slot in playing]

    def law_of(self, slot: int, variance: float, now: int) -> Law:
        """An arm's index law at a round."""
        arm = self.arms[slot]
        weight = 1.0 if self.half_life is None else self.weight_left(arm, now)
        return self.rule.law(
            self.rule.theta, arm.noise_sd, arm.count * weight, arm.anchor + arm.drift, arm.rss * weight, variance
        )

    def pooled_now(self) -> float:
        """Variance pooled over all arms: sum of RSS over sum of (s - 1)."""
        squares, freedom = 0.0, 0.0
        for arm in self.arms:
            weight = 1.0 if self.half_life is None else self.weight_left(arm, self.rounds)
            squares += arm.rss * weight
            freedom += max(arm.count * weight - 1.0, 0.0)
        return squares / freedom if freedom > 0.0 else 0.0

    def weight_left(self, arm: ArmState, now: int) -> float:
        """What the discount has left by round ``now`` of each unit of an arm's count."""
        if self.half_life is None or arm.count <= self._opening:
            return 1.0
        return max(0.5 ** ((now - arm.last) / self.half_life), self._opening / arm.count)

    def _fade(self, arm: ArmState, now: int) -> None:
        """Bring an arm's moments to round ``now``; a reward of that round then counts in full."""
        weight = self.weight_left(arm, now)
        if weight < 1.0:
            arm.count = max(arm.count * weight, float(self._opening))
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

    def resume(self) -> None:
        """Make laws and players those that ``variance`` and ``pooled_at`` say, as if they had been kept all along."""
        super().settle()
        self.compute_laws()
