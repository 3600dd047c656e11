"""The agent a program embeds: decide, learn, save, restore."""

from bootleader.agent._decisions import Decision, Receipt
from bootleader.agent._probabilities import Probabilities
from bootleader.agent.agent import Agent
from bootleader.agent.contextual_agent import ContextualAgent
from bootleader.agent.features import Features
from bootleader.agent.traffic import Ramp, Traffic

__all__ = ["Agent", "ContextualAgent", "Decision", "Features", "Probabilities", "Ramp", "Receipt", "Traffic"]
