"""The paper's constants and bound."""
