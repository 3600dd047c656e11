"""More choices than arms before the first reward: fresh and restored agents agree."""

import pytest

import bootleader as bl


@pytest.mark.parametrize("policy", [bl.ReBoot(sigma_a=1.5), bl.AdaptiveReBoot(), bl.ThompsonSampling(), bl.UCB1()])
def test_a_restored_agent_that_knows_no_reward_goes_on(policy):
    agent = bl.Agent(policy, ["a", "b", "c"], seed=0)
    agent.pause_arm("a")
    copy = bl.Agent.from_json(agent.to_json())
    chosen = agent.pull_many(5)
    assert copy.pull_many(5) == chosen
    assert set(chosen) == {"b", "c"}
