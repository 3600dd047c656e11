"""Samplers over vectors of runs: one variable for each lane (one lane, one run).

The fast path of each sampler runs over all lanes, so that it vectorises. What it rejects is drawn lane by lane by the
scalar sampler of :mod:`bootleader._core.sampling` from the same words, so the variables are the same bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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
MOST = 0.7  # with such a share of the lanes, drawing in all of them is faster than gathering some


class ChosenLanes(NamedTuple):
    """Some of the lanes, gathered: their numbers, and what their Student variables depend on."""

    lane: Any
    shape: Any
    student: Any
    position: Any  # of the spare stream
    stride: Any


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
def studentise_lanes(shape, normals, spare, stride, chosen):
    """Turn the normal of every lane into a Student variable with ``shape`` degrees of freedom (infinite: keep it)."""
    count = 0
    for lane in range(shape.shape[0]):
        count += 1 if shape[lane] != math.inf else 0
    if count > MOST * shape.shape[0]:
        studentise_all(shape, normals, spare, stride, chosen.position)  # whole numbers, free here
    elif count > 0:
        studentise_some(count, shape, normals, spare, stride, chosen)


@inline
def quick_student(shape, normal, position, stride):
    """A Student variable, where its stream is then, and whether quick tests accept its first gamma candidate."""
    half = 0.5 * shape
    first = position + stride
    second = first + stride
    word = mix64(first)
    x = accepted_normal(word)
    root = gamma_root(half, x)
    accepted = accepts_gamma_quickly(half, x, root, unit(mix64(second)))
    student = normal / math.sqrt((half - 1.0 / 3.0) * (root * root * root) / half)
    return student, second, accepted & (half >= 1.0) & (half != math.inf) & (not rejected(word))


@inner
def studentise_all(shape, normals, spare, stride, waits):
    """Draw in all lanes what can be drawn quickly, and then in the others one by one."""
    left = 0
    for lane in range(shape.shape[0]):
        student, position, quick = quick_student(shape[lane], normals[lane], spare[lane], stride[lane])
        normals[lane] = student if quick else normals[lane]
        spare[lane] = position if quick else spare[lane]
        still = (shape[lane] != math.inf) & (not quick)
        waits[lane] = 1 if still else 0
        left += 1 if still else 0
    lane = 0
    while left > 0:
        if waits[lane] == 1:
            normals[lane] = studentise(normals[lane], shape[lane], Stream(spare, lane, stride[lane]))
            left -= 1
        lane += 1


@inner
def studentise_some(count, shape, normals, spare, stride, chosen):
    """The same where only ``count`` lanes have finite degrees of freedom."""
    place = 0
    for lane in range(shape.shape[0]):
        chosen.lane[place] = lane
        place += 1 if shape[lane] != math.inf else 0
    left = studentise_chosen(count, shape, normals, spare, stride, chosen) if count > FEW else count
    for place in range(left):
        lane = chosen.lane[place]
        normals[lane] = studentise(normals[lane], shape[lane], Stream(spare, lane, stride[lane]))


@inner
def studentise_chosen(count, shape, normals, spare, stride, chosen):
    """Draw in the chosen lanes what can be drawn quickly; the others stay chosen, and their number is returned.

    The lanes are gathered first, so that the arithmetic vectorises.
    """
    lanes, shapes, students, positions, strides = chosen
    for place in range(count):
        lane = lanes[place]
        shapes[place] = shape[lane]
        students[place] = normals[lane]
        positions[place] = spare[lane]
        strides[place] = stride[lane]
    for place in range(count):
        students[place], positions[place], quick = quick_student(
            shapes[place], students[place], positions[place], strides[place]
        )
        shapes[place] = shapes[place] if quick else math.inf
    left = 0
    for place in range(count):
        lane = lanes[place]
        lanes[left] = lane
        if shapes[place] == math.inf:
            left += 1
        else:
            normals[lane] = students[place]
            spare[lane] = positions[place]
    return left


@inner
def toss_coins(shape, heads, spare, stride):
    """Heads in ``shape`` tosses of a fair coin, in every lane."""
    for lane in range(heads.shape[0]):
        heads[lane] = fair_binomial(shape[lane], Stream(spare, lane, stride[lane]))
