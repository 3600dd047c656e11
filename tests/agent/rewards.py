"""Rounds with Gaussian rewards."""

from __future__ import annotations

import numpy as np

import bootleader as bl


def fed(agent: bl.Agent, rounds: int, seed: int = 0, scale: float = 1.0, offset: float = 0.0) -> list[str]:
    """Play some rounds with Gaussian rewards, better the later an arm comes; return the choices."""
    rng = np.random.default_rng(seed)
    place = {name: k for k, name in enumerate(agent.arms)}
    choices = []
    for _ in range(rounds):
        choices.append(agent.pull())
        agent.update(choices[-1], scale * (0.4 * place[choices[-1]] + rng.normal()) + offset)
    return choices
