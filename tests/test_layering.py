"""The import contracts in pyproject.toml hold: a package imports only from packages below it."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parents[1] / "pyproject.toml"


def test_import_contracts_hold() -> None:
    cli = pytest.importorskip("importlinter.cli")
    assert cli.lint_imports(config_filename=str(CONFIGURATION), no_cache=True) == 0
