"""The agent a program embeds: decide, learn, save, restore."""

from bootleader.online.agent import Agent
from bootleader.online.decisions import Decision, Receipt
from bootleader.online.probabilities import Probabilities

__all__ = ["Agent", "Decision", "Probabilities", "Receipt"]
