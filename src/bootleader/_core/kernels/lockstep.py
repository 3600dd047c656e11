"""The kernel for index rules: many runs in lock step, arms outermost.

Each step below runs over the lanes (one lane, one run) so that the samplers of :mod:`bootleader._core.kernels.vector_sampling` and
the comparison vectorise; only ties and what the samplers leave over are settled lane by lane. The order in which a lane
reads its streams is :class:`bootleader._core.reference_player.IndexPlayer`'s, so the results are the same bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bootleader.bandits import DRAWS, Arms
from bootleader.bandits.families import gaussian_draw
from bootleader._core.numba_bridge import LAWS, fingerprint, inline, inner, kernel, named, switch
from bootleader._core.moments import welford
from bootleader._core.reference_player import POOLING_GROWTH
from bootleader.policies import Noise
from bootleader._core.sampling import accepted_normal, rejected, settle_normal
from bootleader._core.kernels.vector_sampling import draw_normals, studentise_lanes, toss_coins
from bootleader._core.kernels.run_setup import Streams
from bootleader._core.rng import below, mix64, uniform

NONE, NORMAL, STUDENT, FAIR_COINS, OPTIMISM = (int(noise) for noise in Noise)
GAUSSIAN = DRAWS.index(gaussian_draw)

COUNT, ANCHOR, DRIFT, RSS = range(4)  # places in a moments record


def learner(law: Any) -> Any:
    """One policy's step after a round: the pulled arms' moments, their index laws, and the regret."""
    scalar = inner(law)

    @inner
    @named(f"learn_{law.__module__}")
    def learn(arm, reward, theta, moments, noise_sd, variance, location, scale, shape, gap, regret):
        for lane in range(arm.shape[0]):
            k = arm[lane]
            record = moments[k, lane]
            count, anchor, drift, rss = welford(record[COUNT], record[ANCHOR], record[DRIFT], record[RSS], reward[lane])
            record[COUNT], record[ANCHOR], record[DRIFT], record[RSS] = count, anchor, drift, rss
            location[k, lane], scale[k, lane], shape[k, lane] = scalar(
                theta, noise_sd[k, lane], count, anchor + drift, rss, variance[lane]
            )
            regret[lane] += gap[k, lane]

    return learn


learn = switch("learn", [learner(law) for law in LAWS])
law_of = switch("law", [inner(law) for law in LAWS])
draw_of = switch("draw", [inner(draw) for draw in DRAWS])


class Plan(NamedTuple):
    """A rule and a reward family as numbers."""

    law: int
    noise: int
    theta: Any
    opening: int
    pooled: bool
    epsilon: float
    draw: int


class Table(NamedTuple):
    """The arms' moments and index laws (arm x lane), and what a lane keeps beside them.

    ``moments[k, lane]`` is (count, anchor, drift, RSS): they are read and written together, so they lie together.
    """

    moments: Any
    location: Any
    scale: Any
    shape: Any
    noise_sd: Any
    gap: Any
    open_arms: Any
    open_left: Any
    variance: Any
    pooled_at: Any
    regret: Any

    @property
    def pulls(self) -> Any:
        """Of each arm, in all lanes together."""
        return self.moments[:, :, COUNT].sum(axis=1)


def new_table(noise_sd: Any, gap: Any) -> Table:
    """The lanes at their start."""
    arms, lanes = gap.shape
    return Table(
        moments=np.zeros((arms, lanes, 4)),
        **{name: np.zeros((arms, lanes)) for name in ("location", "scale", "shape")},
        noise_sd=noise_sd,
        gap=gap,
        open_arms=np.repeat(np.arange(arms)[:, None], lanes, axis=1),
        open_left=np.full(lanes, arms),
        variance=np.zeros(lanes),
        pooled_at=np.zeros(1, np.int64),
        regret=np.zeros(lanes),
    )


class Scratch(NamedTuple):
    """Room for one round: an arm's words, the noise (arm x lane), each lane's leader with its index, and reward."""

    words: Any
    noise: Any
    best: Any
    arm: Any
    reward: Any


def new_scratch(arms: int, lanes: int) -> Scratch:
    """Room for the rounds of a block."""
    return Scratch(
        words=np.zeros(lanes, np.uint64),
        noise=np.zeros((arms, lanes)),
        best=np.zeros(lanes),
        arm=np.zeros(lanes, np.uint64),
        reward=np.zeros(lanes),
    )


class Lanes(NamedTuple):
    """Runs in lock step, between two rounds; their arrays are (arm x lane), or of lanes alone."""

    arms: Arms
    streams: Streams
    table: Table
    scratch: Scratch
    curves: Any

    def part(self, first: int, last: int) -> Lanes:
        """A copy of some of them."""

        def columns(array: Any) -> Any:
            return (array[:, first:last] if array.ndim > 1 else array[first:last]).copy()

        return Lanes(
            arms=Arms(*map(columns, self.arms))._replace(samples=self.arms.samples),
            streams=Streams(*map(columns, self.streams)),
            table=Table(*map(columns, self.table))._replace(pooled_at=self.table.pooled_at.copy()),
            scratch=new_scratch(len(self.table.gap), last - first),
            curves=columns(self.curves),
        )

    def put_back(self, first: int, part: Lanes) -> None:
        """What is kept of a part in the end: its pulls and curves."""
        last = first + part.curves.shape[1]
        self.table.moments[:, first:last] = part.table.moments
        self.curves[:, first:last] = part.curves


def new_lanes(runs: Any, noise_sd: Any) -> Lanes:
    """The runs of a block at their start."""
    scratch = new_scratch(*runs.gap.shape)
    return Lanes(runs.arms, runs.streams, new_table(noise_sd, runs.gap), scratch, runs.curves)


@inline
def draw_noise(kind, pulls, shape, state, gamma, spare, words, noise):
    """One arm's noise in every lane."""
    if kind == NORMAL:
        draw_normals(state, gamma, spare, words, noise)
    elif kind == STUDENT:
        draw_normals(state, gamma, spare, words, noise)
        studentise_lanes(shape, noise, spare, gamma, words)
    elif kind == FAIR_COINS:
        toss_coins(shape, noise, spare, gamma)
    elif kind == OPTIMISM:
        noise[:] = math.sqrt(2.0 * math.log(pulls))


@inline
def challenge(k, location, scale, noise, best, arm):
    """Put arm k before the leader of every lane; returns in how many lanes it drew level."""
    level = 0
    for lane in range(best.shape[0]):
        value = location[k, lane] + scale[k, lane] * noise[k, lane]
        level += value == best[lane]
        arm[lane] = np.uint64(k) if value > best[lane] else arm[lane]
        best[lane] = value if value > best[lane] else best[lane]
    return level


@inline
def challenge_twice(k, location, scale, noise, best, arm):
    """Arms k and k + 1: the leaders are read and written once for both."""
    level = 0
    challenger, next_challenger = np.uint64(k), np.uint64(k + 1)
    for lane in range(best.shape[0]):
        value = location[k, lane] + scale[k, lane] * noise[k, lane]
        next_value = location[k + 1, lane] + scale[k + 1, lane] * noise[k + 1, lane]
        lead = best[lane]
        leader = arm[lane]
        level += value == lead
        leader = challenger if value > lead else leader
        lead = value if value > lead else lead
        level += next_value == lead
        leader = next_challenger if next_value > lead else leader
        lead = next_value if next_value > lead else lead
        best[lane] = lead
        arm[lane] = leader
    return level


@inner
def break_ties(epsilon, level, streams, table, scratch):
    """Where several arms share the largest index, or epsilon-greedy's coin says so: one of them at random."""
    arms, lanes = scratch.noise.shape
    for lane in range(lanes):
        gamma = streams.gamma[lane]
        anyone = epsilon > 0.0 and uniform(streams.spare, lane, gamma) < epsilon
        tied = arms if anyone else 0
        if level > 0 and not anyone:
            for k in range(arms):
                tied += leads(k, lane, table, scratch)
        if tied > 1:
            left = below(streams.spare, lane, gamma, tied)
            for k in range(arms):
                if anyone or leads(k, lane, table, scratch):
                    if left == 0:
                        scratch.arm[lane] = k
                    left -= 1


@inner
def leads(k, lane, table, scratch):
    """Whether no index is larger than arm k's; it is worked out again, because ties are rarer than stores are dear."""
    return table.location[k, lane] + table.scale[k, lane] * scratch.noise[k, lane] == scratch.best[lane]


@inner
def open_arms(opening, streams, table, scratch):
    """While arms have fewer pulls than the opening asks for: one of them, uniformly at random."""
    for lane in range(scratch.arm.shape[0]):
        spot = below(streams.spare, lane, streams.gamma[lane], table.open_left[lane])
        k = table.open_arms[spot, lane]
        scratch.arm[lane] = k
        if table.moments[k, lane, COUNT] + 1.0 == opening:
            table.open_left[lane] -= 1
            table.open_arms[spot, lane] = table.open_arms[table.open_left[lane], lane]


@inline
def pay(draw, arm, first, second, third, samples, state, gamma, words, reward):
    """Draw the reward of every lane's arm from that arm's own stream."""
    if draw == GAUSSIAN:
        rejections = 0
        for lane in range(arm.shape[0]):
            place = state[arm[lane], lane] + gamma[lane]
            state[arm[lane], lane] = place
            words[lane] = mix64(place)
        for lane in range(arm.shape[0]):
            rejections += rejected(words[lane])
            reward[lane] = accepted_normal(words[lane])
        if rejections > 0:
            for lane in range(arm.shape[0]):
                if rejected(words[lane]):
                    reward[lane] = settle_normal(words[lane], state[arm[lane]], lane, gamma[lane])
        for lane in range(arm.shape[0]):
            reward[lane] = first[arm[lane], lane] + second[arm[lane], lane] * reward[lane]
    else:
        for lane in range(arm.shape[0]):
            k = arm[lane]
            reward[lane] = draw_of(
                draw, first[k, lane], second[k, lane], third[k, lane], samples, state[k], lane, gamma[lane]
            )


@inner
def pool(moments, variance):
    """Renew every lane's pooled variance."""
    for lane in range(variance.shape[0]):
        squares, freedom = 0.0, 0.0
        for k in range(moments.shape[0]):
            squares += moments[k, lane, RSS]
            freedom += max(moments[k, lane, COUNT] - 1.0, 0.0)
        variance[lane] = squares / freedom if freedom > 0.0 else 0.0


@inner
def renew_all(plan, table, pulls):
    """Renew the pooled variance, and with it the laws of all arms."""
    table.pooled_at[0] = pulls
    pool(table.moments, table.variance)
    arms, lanes = table.location.shape
    for k in range(arms):
        for lane in range(lanes):
            record = table.moments[k, lane]
            count, anchor, drift, rss = record[COUNT], record[ANCHOR], record[DRIFT], record[RSS]
            table.location[k, lane], table.scale[k, lane], table.shape[k, lane] = law_of(
                plan.law, plan.theta, table.noise_sd[k, lane], count, anchor + drift, rss, table.variance[lane]
            )


def build_kernel(source: str) -> Any:
    """The kernel, cached on disk under the fingerprint of its sources."""

    @kernel
    def advance(plan, arms, streams, table, scratch, curves, checkpoints, bell, start, stop):
        source  # noqa: B018  (a free variable, and so part of numba's cache key)
        first, second, third, samples = arms.first, arms.second, arms.third, arms.samples
        gamma, noise_state, spare, rewards = streams.gamma, streams.noise, streams.spare, streams.rewards
        moments, noise_sd, variance = table.moments, table.noise_sd, table.variance
        location, scale, shape = table.location, table.scale, table.shape
        gap, regret, pooled_at = table.gap, table.regret, table.pooled_at
        words, noise, best, arm, reward = scratch.words, scratch.noise, scratch.best, scratch.arm, scratch.reward

        opening_rounds = plan.opening * moments.shape[0]
        mark = np.searchsorted(checkpoints, start + 1)
        if start == 0 and opening_rounds == 0:
            renew_all(plan, table, 0)
        for played in range(start, stop):
            if bell[0] != 0:
                return played
            if played < opening_rounds:
                open_arms(plan.opening, streams, table, scratch)
            else:
                level = 0
                best[:] = -math.inf
                for k in range(0, location.shape[0] - 1, 2):
                    draw_noise(plan.noise, played, shape[k], noise_state, gamma, spare, words, noise[k])
                    draw_noise(plan.noise, played, shape[k + 1], noise_state, gamma, spare, words, noise[k + 1])
                    level += challenge_twice(k, location, scale, noise, best, arm)
                if location.shape[0] % 2 == 1:
                    k = location.shape[0] - 1
                    draw_noise(plan.noise, played, shape[k], noise_state, gamma, spare, words, noise[k])
                    level += challenge(k, location, scale, noise, best, arm)
                if level > 0 or plan.epsilon > 0.0:
                    break_ties(plan.epsilon, level, streams, table, scratch)
            pay(plan.draw, arm, first, second, third, samples, rewards, gamma, words, reward)
            learn(
                plan.law, arm, reward, plan.theta, moments, noise_sd, variance, location, scale, shape, gap, regret
            )  # fmt: skip
            pulls = played + 1
            pool_is_old = plan.pooled and POOLING_GROWTH * (pulls - pooled_at[0]) >= pooled_at[0]
            if pulls >= opening_rounds and (pooled_at[0] == 0 or pool_is_old):
                renew_all(plan, table, pulls)
            if pulls == checkpoints[mark]:
                for lane in range(regret.shape[0]):
                    curves[mark, lane] = regret[lane]
                mark += 1
        return stop

    return advance


advance = build_kernel(fingerprint())
