"""Very many arms are compiled for before the first visitor comes, not while one waits."""

from __future__ import annotations

from tests.helpers import run_python

# What is compiled, as numba has specialised it. Nothing of it may change once the agent is there.
IN_ONE_PROCESS = """
import sys
import bootleader as bl
from bootleader.agent import _large_k

KERNELS = "bootleader.agent._large_k_kernels"

def names(n): return [str(k) for k in range(n)]

def play(agent):
    for k in range(3 * len(agent.arms)):
        agent.update(agent.pull(), float(k % 7))
    bl.Agent.from_json(agent.to_json()).pull()

def ready_at_once(make):
    sys.modules.pop(KERNELS, None)  # its functions are compiled anew,
    _large_k.compile_kernels.cache_clear()  # and for every policy
    agent = make()
    for act in (lambda agent: None, play):
        act(agent)
        compiled = [len(kernel.signatures) for kernel in sys.modules[KERNELS].KERNELS]
        assert compiled == [1] * 5, compiled

def with_arms(policy, arms): return bl.Agent(policy, names(arms), seed=1)

def grown(agent):
    agent.add_arm("last")
    return agent

def merged(agent):
    agent.merge(bl.Agent(agent.policy, names(190) + ["last"]))
    return agent

# Few arms, or a policy that draws nothing, compile nothing.
play(with_arms(bl.AdaptiveReBoot(), 191))
play(with_arms(bl.UCB1(), 600))
assert "numba" not in sys.modules

ready_at_once(lambda: with_arms(bl.AdaptiveReBoot(), 192))
ready_at_once(lambda: with_arms(bl.StudentThompson(), 192))
ready_at_once(lambda: with_arms(bl.ThompsonSampling(), 512))
ready_at_once(lambda: with_arms(bl.FollowTheLeader(), 512))
few = with_arms(bl.AdaptiveReBoot(), 191)
ready_at_once(lambda: grown(few))
few = with_arms(bl.AdaptiveReBoot(), 191)
ready_at_once(lambda: merged(few))
document = with_arms(bl.AdaptiveReBoot(), 192).to_json()
ready_at_once(lambda: bl.Agent.from_json(document))
"""


def test_an_agent_compiles_when_it_is_made_grows_or_is_loaded() -> None:
    run_python(IN_ONE_PROCESS)
