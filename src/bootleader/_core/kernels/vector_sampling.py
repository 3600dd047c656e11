"""Samplers in lock step: one variable in every lane (one lane, one run).

The fast path of each runs over all lanes so that it vectorises; what it cannot settle is drawn lane by lane by the
scalar sampler of :mod:`bootleader._core.sampling`, from the same words, so the variables are the same bit for bit.
"""

from __future__ import annotations

import math

from bootleader._core.numba_bridge import inline, inner
from bootleader._core.sampling import (
    accepted_normal,
    fair_binomial,
    gamma_root,
    rejected,
    settle_normal,
    studentise,
    surely_gamma,
)
from bootleader._core.rng import mix64, unit

LANE_BITS = 16  # below these a sum over the rejected lanes holds their numbers, above them how many: one sum, not two
FEW = 8  # so few lanes are sooner drawn one by one


@inline
def draw_normals(state, gamma, spare, words, normals):
    """One normal in every lane: the ziggurat's fast path in all of them, then the rest."""
    for lane in range(words.shape[0]):
        place = state[lane] + gamma[lane]
        state[lane] = place
        words[lane] = mix64(place)
    rejections = 0
    for lane in range(words.shape[0]):
        rejections += (1 << LANE_BITS) + lane if rejected(words[lane]) else 0
        normals[lane] = accepted_normal(words[lane])
    unsettled = rejections >> LANE_BITS
    lane = rejections & ((1 << LANE_BITS) - 1) if unsettled == 1 else 0  # the usual single one needs no search
    while unsettled > 0:
        if rejected(words[lane]):
            normals[lane] = settle_normal(words[lane], spare, lane, gamma[lane])
            unsettled -= 1
        lane += 1


@inner
def studentise_lanes(shape, normals, spare, gamma, unsettled):
    """Turn a normal in every lane into a Student variable with ``shape`` degrees of freedom (infinite: leave it)."""
    left = 0
    for lane in range(shape.shape[0]):
        unsettled[lane] = 1 if shape[lane] != math.inf else 0
        left += 1 if shape[lane] != math.inf else 0
    if left > FEW:
        left = studentise_easy_lanes(shape, normals, spare, gamma, unsettled)
    lane = 0
    while left > 0:
        if unsettled[lane] == 1:
            normals[lane] = studentise(normals[lane], shape[lane], spare, lane, gamma[lane])
            left -= 1
        lane += 1


@inner
def studentise_easy_lanes(shape, normals, spare, gamma, unsettled):
    """The lanes whose first gamma candidate is accepted by quick tests alone; returns how many are left."""
    left = 0
    for lane in range(shape.shape[0]):
        half = 0.5 * shape[lane]
        first = spare[lane] + gamma[lane]
        second = first + gamma[lane]
        word = mix64(first)
        x = accepted_normal(word)
        root = gamma_root(half, x)
        surely = surely_gamma(half, x, root, unit(mix64(second)))
        easy = surely & (half >= 1.0) & (half != math.inf) & (not rejected(word))
        student = normals[lane] / math.sqrt((half - 1.0 / 3.0) * (root * root * root) / half)
        normals[lane] = student if easy else normals[lane]
        spare[lane] = second if easy else spare[lane]
        open_still = (unsettled[lane] == 1) & (not easy)
        unsettled[lane] = 1 if open_still else 0
        left += 1 if open_still else 0
    return left


@inner
def toss_coins(shape, heads, spare, gamma):
    """Heads in ``shape`` tosses of a fair coin, in every lane."""
    for lane in range(heads.shape[0]):
        heads[lane] = fair_binomial(shape[lane], spare, lane, gamma[lane])
