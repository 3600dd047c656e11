"""Settings and fixtures of all tests. Plain functions that several packages' tests call are in helpers.py."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # also for the processes that tests start

# The same examples on every machine; `make fuzz` looks for new ones.
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=5_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
