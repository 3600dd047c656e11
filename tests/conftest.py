"""Settings and fixtures of all tests. Plain functions that several packages' tests call are in helpers.py."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # also for the processes that tests start

# The same examples on every machine; `make fuzz` looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=5_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the browser tests on systems whose browsers they do not know how to start."""
    if not sys.platform.startswith("linux"):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="the browser tests run on Linux"))
