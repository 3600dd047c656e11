"""The reproduction of the paper: its figures, tables and claims, and the report.

A part is one file in ``parts/``: the cells it needs, and an analysis of their results. To add one, write its file and
add a line to ``PARTS``.
"""

from bootleader.paper._report_part import Part, Size
from bootleader.paper.parts import (
    best_arm,
    bootstrap_weights,
    drift,
    fig1,
    fig2_left,
    fig2_right,
    fig3,
    formula_checks,
    leaderboard,
    linear,
    robustness,
    table1,
    table2,
    tails,
    theorem1,
    unit_free_policies,
)

# In the order of the report.
PARTS: tuple[Part, ...] = (
    fig1.PART,
    fig2_left.PART,
    fig2_right.PART,
    fig3.PART,
    table1.PART,
    table2.PART,
    theorem1.PART,
    bootstrap_weights.PART,
    formula_checks.PART,
    unit_free_policies.PART,
    robustness.PART,
    linear.PART,
    leaderboard.PART,
    drift.PART,
    best_arm.PART,
    tails.PART,
)

__all__ = ["PARTS", "Part", "Size"]
