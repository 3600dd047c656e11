"""The kernel for index rules: many runs in lock step, arms outermost.

Each step below runs over the lanes (one lane, one run) so that the generator, the ziggurat's fast path and the
comparison vectorise; only the rare rejections, ties and young arms are settled lane by lane. The order in which a
lane reads its streams is :class:`bootleader.player.IndexPlayer`'s, so the results are the same bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from bootleader.bandits import DRAWS
from bootleader.bandits.families import gaussian_draw
from bootleader.compilation import LAWS, fingerprint, inner, switch
from bootleader.moments import welford
from bootleader.player import POOLING_GROWTH
from bootleader.policies import Noise
from bootleader.sampling import accepted_normal, fair_binomial, rejected, settle_normal, studentise
from bootleader.streams import below, mix64, next_word, uniform

NONE, NORMAL, STUDENT, FAIR_COINS, OPTIMISM = (int(noise) for noise in Noise)
GAUSSIAN = DRAWS.index(gaussian_draw)

law_of = switch(LAWS)
draw_of = switch(DRAWS)


class Plan(NamedTuple):
    """A rule and a reward family as numbers."""

    law: int
    noise: int
    theta: Any
    opening: int
    pooled: bool
    epsilon: float
    draw: int


class Streams(NamedTuple):
    """Generator states of the lanes; ``rewards`` has one for each arm, arm after arm."""

    gamma: Any
    noise: Any
    spare: Any
    rewards: Any


class Table(NamedTuple):
    """The arms' moments and index laws (arm x lane), and what a lane keeps beside them."""

    count: Any
    anchor: Any
    drift: Any
    rss: Any
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


class Scratch(NamedTuple):
    """Room for one round."""

    words: Any
    values: Any
    best: Any
    ties: Any
    arm: Any
    reward: Any


@inner
def draw_words(state, gamma, words):
    for lane in range(words.shape[0]):
        state[lane] += gamma[lane]
        words[lane] = mix64(state[lane])


@inner
def draw_normals(words, values):
    """Fill in the ziggurat's fast path; return how many lanes it does not serve."""
    unsettled = 0
    for lane in range(words.shape[0]):
        word = words[lane]
        unsettled += rejected(word)
        values[lane] = accepted_normal(word)
    return unsettled


@inner
def settle_normals(words, values, spare, gamma):
    for lane in range(words.shape[0]):
        if rejected(words[lane]):
            values[lane] = settle_normal(words[lane], spare, lane, gamma[lane])


@inner
def studentise_lanes(shape, values, spare, gamma):
    for lane in range(values.shape[0]):
        if shape[lane] != math.inf:
            values[lane] = studentise(values[lane], shape[lane], spare, lane, gamma[lane])


@inner
def place(location, scale, values):
    for lane in range(values.shape[0]):
        values[lane] = location[lane] + scale[lane] * values[lane]


@inner
def place_all(location, scale, noise, values):
    for lane in range(values.shape[0]):
        values[lane] = location[lane] + scale[lane] * noise


@inner
def toss_coins(location, scale, shape, values, spare, gamma):
    for lane in range(values.shape[0]):
        heads = fair_binomial(shape[lane], spare, lane, gamma[lane])
        values[lane] = location[lane] + scale[lane] * heads


@inner
def raise_best(values, best):
    for lane in range(values.shape[0]):
        best[lane] = values[lane] if values[lane] > best[lane] else best[lane]


@inner
def mark_leaders(k, values, best, ties, arm):
    for lane in range(values.shape[0]):
        leads = values[lane] == best[lane]
        arm[lane] = k if leads else arm[lane]
        ties[lane] += 1 if leads else 0


@inner
def draw_indices(plan, streams, table, scratch, pulls):
    values = scratch.values
    for k in range(values.shape[0]):
        if plan.noise == NORMAL or plan.noise == STUDENT:
            draw_words(streams.noise, streams.gamma, scratch.words)
            if draw_normals(scratch.words, values[k]) > 0:
                settle_normals(scratch.words, values[k], streams.spare, streams.gamma)
            if plan.noise == STUDENT:
                studentise_lanes(table.shape[k], values[k], streams.spare, streams.gamma)
            place(table.location[k], table.scale[k], values[k])
        elif plan.noise == FAIR_COINS:
            toss_coins(table.location[k], table.scale[k], table.shape[k], values[k], streams.spare, streams.gamma)
        else:
            noise = math.sqrt(2.0 * math.log(pulls)) if plan.noise == OPTIMISM else 0.0
            place_all(table.location[k], table.scale[k], noise, values[k])


@inner
def follow_leaders(streams, scratch):
    """The arm with the largest index in every lane, ties broken uniformly at random."""
    values, best, ties, arm = scratch.values, scratch.best, scratch.ties, scratch.arm
    arms, lanes = values.shape
    best[:] = values[0]
    for k in range(1, arms):
        raise_best(values[k], best)
    ties[:] = 0
    for k in range(arms):
        mark_leaders(k, values[k], best, ties, arm)
    if ties.sum() > lanes:
        for lane in range(lanes):
            if ties[lane] > 1:
                left = below(streams.spare, lane, streams.gamma[lane], ties[lane])
                k = 0
                while left > 0 or values[k, lane] != best[lane]:
                    left -= values[k, lane] == best[lane]
                    k += 1
                arm[lane] = k


@inner
def explore_at_random(epsilon, streams, scratch):
    """Epsilon-greedy's coin comes before ties are broken, so the lane's leader is chosen only if it falls tails."""
    for lane in range(scratch.arm.shape[0]):
        gamma = streams.gamma[lane]
        if uniform(streams.spare, lane, gamma) < epsilon:
            scratch.values[:, lane] = 0.0


@inner
def open_arms(opening, streams, table, scratch):
    """While arms have fewer pulls than the opening asks for: one of them, uniformly at random."""
    for lane in range(scratch.arm.shape[0]):
        spot = below(streams.spare, lane, streams.gamma[lane], table.open_left[lane])
        k = table.open_arms[lane, spot]
        scratch.arm[lane] = k
        if table.count[k, lane] + 1.0 == opening:
            table.open_left[lane] -= 1
            table.open_arms[lane, spot] = table.open_arms[lane, table.open_left[lane]]


@inner
def pay(draw, arms, streams, scratch):
    """Draw the reward of every lane's arm from that arm's own stream."""
    arm, reward, words = scratch.arm, scratch.reward, scratch.words
    state, gamma = streams.rewards, streams.gamma
    first, second, third, samples = arms.first, arms.second, arms.third, arms.samples
    lanes = arm.shape[0]
    if draw == GAUSSIAN:
        for lane in range(lanes):
            words[lane] = next_word(state, arm[lane] * lanes + lane, gamma[lane])
        if draw_normals(words, reward) > 0:
            for lane in range(lanes):
                if rejected(words[lane]):
                    reward[lane] = settle_normal(words[lane], state, arm[lane] * lanes + lane, gamma[lane])
        for lane in range(lanes):
            k = arm[lane]
            reward[lane] = first[k, lane] + second[k, lane] * reward[lane]
    else:
        for lane in range(lanes):
            k = arm[lane]
            reward[lane] = draw_of(
                draw, first[k, lane], second[k, lane], third[k, lane], samples, state, k * lanes + lane, gamma[lane]
            )


@inner
def learn(table, scratch):
    """Update the moments of the pulled arms, and the regret."""
    arm, reward, regret, gap = scratch.arm, scratch.reward, table.regret, table.gap
    count, anchor, drift, rss = table.count, table.anchor, table.drift, table.rss
    for lane in range(arm.shape[0]):
        k = arm[lane]
        count[k, lane], anchor[k, lane], drift[k, lane], rss[k, lane] = welford(
            count[k, lane], anchor[k, lane], drift[k, lane], rss[k, lane], reward[lane]
        )
        regret[lane] += gap[k, lane]


@inner
def refresh(plan, table, arm):
    """The index laws of one arm a lane, from its moments."""
    law, theta = plan.law, plan.theta
    count, anchor, drift, rss = table.count, table.anchor, table.drift, table.rss
    noise_sd, variance = table.noise_sd, table.variance
    location, scale, shape = table.location, table.scale, table.shape
    for lane in range(arm.shape[0]):
        k = arm[lane]
        location[k, lane], scale[k, lane], shape[k, lane] = law_of(
            law, theta, noise_sd[k, lane], count[k, lane], anchor[k, lane] + drift[k, lane], rss[k, lane],
            variance[lane],
        )  # fmt: skip


@inner
def pool(table):
    """Renew every lane's pooled variance."""
    count, rss = table.count, table.rss
    arms, lanes = count.shape
    for lane in range(lanes):
        squares, freedom = 0.0, 0.0
        for k in range(arms):
            squares += rss[k, lane]
            freedom += max(count[k, lane] - 1.0, 0.0)
        table.variance[lane] = squares / freedom if freedom > 0.0 else 0.0


@inner
def refresh_laws(plan, table, scratch, pulls):
    """Renew the pulled arms' laws; all of them when the pool is renewed or the opening ends."""
    pooled_at = table.pooled_at[0]
    if pooled_at == 0 or (plan.pooled and POOLING_GROWTH * (pulls - pooled_at) >= pooled_at):
        table.pooled_at[0] = pulls
        pool(table)
        arm = np.empty_like(scratch.arm)
        for k in range(table.count.shape[0]):
            arm[:] = k
            refresh(plan, table, arm)
    else:
        refresh(plan, table, scratch.arm)


def build_kernel(source: str) -> Any:
    """The kernel, cached on disk under the fingerprint of its sources."""

    @numba.njit(cache=True, nogil=True, error_model="numpy")
    def advance(plan, arms, streams, table, scratch, checkpoints, curves, start, stop):
        source  # noqa: B018  (a free variable, and so part of numba's cache key)
        opening_rounds = plan.opening * table.count.shape[0]
        mark = np.searchsorted(checkpoints, start + 1)
        if start == 0 and opening_rounds == 0:
            refresh_laws(plan, table, scratch, 0)
        for played in range(start, stop):
            if played < opening_rounds:
                open_arms(plan.opening, streams, table, scratch)
            else:
                draw_indices(plan, streams, table, scratch, played)
                if plan.epsilon > 0.0:
                    explore_at_random(plan.epsilon, streams, scratch)
                follow_leaders(streams, scratch)
            pay(plan.draw, arms, streams, scratch)
            learn(table, scratch)
            if played + 1 >= opening_rounds:
                refresh_laws(plan, table, scratch, played + 1)
            if played + 1 == checkpoints[mark]:
                curves[mark] = table.regret
                mark += 1

    return advance


advance = build_kernel(fingerprint())
