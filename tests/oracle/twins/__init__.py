"""A file for each policy or bandit: its naive twin, and ``CASES`` with the row that puts both before every test.

Files are discovered: a new one needs no edit elsewhere. Older twins are in ``naive.py`` and ``naive_bandits.py``, with
their rows in ``cases.py``.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from tests.oracle.case_types import BanditCase, PolicyCase


def discovered() -> list[PolicyCase | BanditCase]:
    """The rows of all files in this folder, in the order of their names."""
    names = sorted(module.name for module in iter_modules(__path__))
    return [case for name in names for case in import_module(f"{__name__}.{name}").CASES]
