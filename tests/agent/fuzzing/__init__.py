"""Fuzzers of the agent: mutated documents, interrupted calls, clocks that jump, extreme states."""
