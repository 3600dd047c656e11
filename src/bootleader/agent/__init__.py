"""The agent a program embeds: decide, learn, save, restore."""

from bootleader.agent._decisions import Decision, Receipt
from bootleader.agent._probabilities import Probabilities
from bootleader.agent.agent import Agent
from bootleader.agent.traffic import Ramp, Traffic

__all__ = ["Agent", "Decision", "Probabilities", "Ramp", "Receipt", "Traffic"]
