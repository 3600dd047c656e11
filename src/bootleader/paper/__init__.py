"""The paper, reproduced: every figure and table as data, its claims, the report."""
