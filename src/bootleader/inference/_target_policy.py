"""What is accepted as a policy to evaluate, as its probability of each arm in each round of a log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from bootleader._core.rules import HistoryRule, IndexRule
from bootleader._core.validation import seed_of, whole
from bootleader.inference._log_reader import Log
from bootleader.inference._moments import Floats
from bootleader.policies import Policy

DRAWS: Final = 500  # choices from which a replayed policy's probabilities are estimated, at each renewal
RENEWALS: Final = 100  # of a replayed policy over the log, if no batch is given


def table_of(name: str, values: Any, log: Log) -> Floats:
    """An array of round x arm; OBP's third axis, of length 1, is dropped."""
    table = np.asarray(values, np.float64)
    table = table[:, :, 0] if table.ndim == 3 and table.shape[2] == 1 else table
    if table.shape != (log.rounds, len(log.names)):
        raise ValueError(
            f"{name} must have the shape {(log.rounds, len(log.names))} (round x arm), got {np.shape(values)}"
        )
    if not np.isfinite(table).all():
        raise ValueError(f"{name} must hold finite numbers")
    return table


def target_probabilities(log: Log, policy: Any, batch: int | None = None, seed: int = 0) -> Floats:
    """The policy's probability of each arm in each round (round x arm)."""
    arms = len(log.names)
    if isinstance(policy, Policy):
        return replayed(log, policy, whole("batch", batch, 1) if batch is not None else None, seed_of(seed))
    if isinstance(policy, Mapping):
        shares = np.zeros(arms)
        for name, share in policy.items():
            shares[log.number_of(name)] = share
        return _distribution("shares", np.broadcast_to(shares, (log.rounds, arms)))
    if np.ndim(policy) >= 2:
        return _distribution("policy", table_of("policy", policy, log))
    one = np.zeros(arms)
    one[log.number_of(policy.item() if isinstance(policy, np.generic) else policy)] = 1.0
    return np.broadcast_to(one, (log.rounds, arms))


def _distribution(name: str, table: Any) -> Floats:
    if (table < 0.0).any() or np.abs(table.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError(f"{name} must be probabilities that sum to 1")
    return np.asarray(table)


def replayed(log: Log, policy: Policy, batch: int | None, seed: int) -> Floats:
    """A library policy's probabilities as it learns the log batch by batch: shares of 500 choices each time."""
    from bootleader._core.reference_player import player_of

    if not isinstance(policy.rule, IndexRule | HistoryRule):
        raise TypeError(f"a log replays policies whose rule is an IndexRule or a HistoryRule, got {policy!r}")
    arms, rounds = len(log.names), log.rounds
    batch = max(1, -(-rounds // RENEWALS)) if batch is None else batch
    known = np.broadcast_to(np.ravel(policy.known_sd(arms, None)), arms)
    player = player_of(policy.rule, arms, [float(sd) for sd in known], seed, 0)
    table = np.empty((rounds, arms))
    for start in range(0, rounds, batch):
        choices = np.bincount([player.choose() for _ in range(DRAWS)], minlength=arms)
        table[start : start + batch] = choices / DRAWS
        for arm, reward in zip(log.arm[start : start + batch], log.reward[start : start + batch], strict=True):
            player.learn(int(arm), float(reward))
    return table
