"""Very many arms are compiled for before the first visitor comes, not while one waits."""

from __future__ import annotations

import pytest

import bootleader as bl
from tests.helpers import run_python

# What is compiled, as numba has specialised it. Nothing of it may change once the agent is there.
PRELUDE = """
import sys
import bootleader as bl

def names(n): return [str(k) for k in range(n)]

def compiled():
    module = sys.modules.get("bootleader.agent._large_k_kernels")
    return [] if module is None else [len(kernel.signatures) for kernel in module.KERNELS]

def play(agent):
    for k in range(3 * len(agent.arms)):
        agent.update(agent.pull(), float(k % 7))
    bl.Agent.from_json(agent.to_json()).pull()
"""
READY = "assert compiled() == [1] * 5, compiled()\n"
UNTOUCHED = "assert 'numba' not in sys.modules\n"


@pytest.mark.parametrize(
    ("policy", "arms"),
    [("AdaptiveReBoot()", 192), ("StudentThompson()", 192), ("ThompsonSampling()", 512), ("FollowTheLeader()", 512)],
)
def test_an_agent_compiles_when_it_is_made(policy: str, arms: int) -> None:
    run_python(PRELUDE + f"agent = bl.Agent(bl.{policy}, names({arms}), seed=1)\n{READY}play(agent)\n{READY}")


@pytest.mark.parametrize(
    "grow", ["agent.add_arm('last')", "agent.merge(bl.Agent(agent.policy, names(190) + ['last']))"]
)
def test_an_agent_compiles_when_it_comes_to_have_so_many_arms(grow: str) -> None:
    run_python(
        PRELUDE
        + f"agent = bl.Agent(bl.AdaptiveReBoot(), names(191), seed=1)\n{UNTOUCHED}{grow}\n{READY}play(agent)\n{READY}"
    )


def test_an_agent_compiles_when_it_is_loaded() -> None:
    document = bl.Agent(bl.AdaptiveReBoot(), [str(k) for k in range(192)], seed=1).to_json()
    run_python(PRELUDE + f"agent = bl.Agent.from_json({document!r})\n{READY}")


def test_few_arms_compile_nothing() -> None:
    run_python(
        PRELUDE
        + f"play(bl.Agent(bl.AdaptiveReBoot(), names(191), seed=1))\n{UNTOUCHED}"
        + f"play(bl.Agent(bl.UCB1(), names(600), seed=1))\n{UNTOUCHED}"
    )
