"""Samplers over vectors of runs: one variable for each lane (one lane, one run).

The fast path of each sampler runs over all lanes, so that it vectorises. What it rejects is drawn lane by lane by the
scalar sampler of :mod:`bootleader._core.sampling` from the same words, so the variables are the same bit for bit.
"""

from __future__ import annotations

import math

from bootleader._core.numba_bridge import inline, inner
from bootleader._core.rng import Stream, mix64, unit
from bootleader._core.sampling import (
    accepted_normal,
    accepts_gamma_quickly,
    fair_binomial,
    finish_normal,
    gamma_root,
    rejected,
    studentise,
)

LANE_BITS = 16  # a sum over the rejected lanes holds their numbers below these bits and their count above: one sum
FEW = 8  # with so few lanes, drawing one by one is faster


@inline
def draw_normals(state, stride, spare, words, normals):
    """One normal for every lane: the ziggurat's fast path in all of them, then the rejected ones."""
    for lane in range(words.shape[0]):
        position = state[lane] + stride[lane]
        state[lane] = position
        words[lane] = mix64(position)
    rejections = 0
    for lane in range(words.shape[0]):
        rejections += (1 << LANE_BITS) + lane if rejected(words[lane]) else 0
        normals[lane] = accepted_normal(words[lane])
    left = rejections >> LANE_BITS
    lane = rejections & ((1 << LANE_BITS) - 1) if left == 1 else 0  # a single one, the usual case, needs no search
    while left > 0:
        if rejected(words[lane]):
            normals[lane] = finish_normal(words[lane], Stream(spare, lane, stride[lane]))
            left -= 1
        lane += 1


@inner
def studentise_lanes(shape, normals, spare, stride, undecided):
    """Turn the normal of every lane into a Student variable with ``shape`` degrees of freedom (infinite: keep it)."""
    left = 0
    for lane in range(shape.shape[0]):
        undecided[lane] = 1 if shape[lane] != math.inf else 0
        left += 1 if shape[lane] != math.inf else 0
    if left > FEW:
        left = studentise_quickly(shape, normals, spare, stride, undecided)
    lane = 0
    while left > 0:
        if undecided[lane] == 1:
            normals[lane] = studentise(normals[lane], shape[lane], Stream(spare, lane, stride[lane]))
            left -= 1
        lane += 1


@inner
def studentise_quickly(shape, normals, spare, stride, undecided):
    """The lanes whose first gamma candidate is accepted by quick tests alone; returns how many are left."""
    left = 0
    for lane in range(shape.shape[0]):
        half = 0.5 * shape[lane]
        first = spare[lane] + stride[lane]
        second = first + stride[lane]
        word = mix64(first)
        x = accepted_normal(word)
        root = gamma_root(half, x)
        accepted = accepts_gamma_quickly(half, x, root, unit(mix64(second)))
        quick = accepted & (half >= 1.0) & (half != math.inf) & (not rejected(word))
        student = normals[lane] / math.sqrt((half - 1.0 / 3.0) * (root * root * root) / half)
        normals[lane] = student if quick else normals[lane]
        spare[lane] = second if quick else spare[lane]
        still = (undecided[lane] == 1) & (not quick)
        undecided[lane] = 1 if still else 0
        left += 1 if still else 0
    return left


@inner
def toss_coins(shape, heads, spare, stride):
    """Heads in ``shape`` tosses of a fair coin, in every lane."""
    for lane in range(heads.shape[0]):
        heads[lane] = fair_binomial(shape[lane], Stream(spare, lane, stride[lane]))
