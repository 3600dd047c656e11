# Every target sets up what it needs in .venv. PYTHON chooses the interpreter that the environment is made with.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet

# Tests start many interpreters: each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(BIN)/python -m pytest
PARALLEL := -n auto --dist worksteal

.PHONY: install test test-lowest test-gpu slow fuzz coverage lint lint-workflows docs bench reproduce clean

install: .venv/ready

# The package alone: all that the reproduction needs.
.venv/ready-package: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --editable ".[dask]"
	touch $@

.venv/ready: .venv/ready-package
	$(PIP) --group dev --group docs
	.ci/install-chromium
	touch $@

.venv/ready-bench: .venv/ready
	$(PIP) --group bench
	touch $@

test: install
	$(PYTEST) $(PARALLEL)

# A smoke test on exactly the lowest versions that pyproject.toml allows, in an environment of its own.
test-lowest:
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet ".[dask]" --constraint .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet pytest hypothesis --constraint .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pytest tests/test_smoke.py -W default

# Full-size statistics.
slow: install
	$(PYTEST) $(PARALLEL) -m slow

# Bit-equality of the GPU and the CPU at full size, on a machine with an NVIDIA GPU.
test-gpu: install
	$(PIP) --editable ".[cuda]"
	$(PYTEST) -m gpu tests/simulation/test_device_gpu.py

# Property-based tests, with many and new examples.
fuzz: install
	HYPOTHESIS_PROFILE=fuzz $(PYTEST) $(PARALLEL) -m fuzz

# Code that numba compiles is not traced: see [tool.coverage.run] in pyproject.toml.
coverage: install
	$(PYTEST) $(PARALLEL) --cov --cov-report=term --cov-report=html:coverage --cov-report=xml:coverage.xml

lint: install lint-workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_docstrings.py

lint-workflows:
	.ci/actionlint

# A broken link or a missing reference is an error.
docs: install
	$(BIN)/python docs/build.py

# make bench ARGS="small_k --json figures.json"
bench: .venv/ready-bench
	$(BIN)/python -m benchmarks $(ARGS)

reproduce: .venv/ready-package
	$(BIN)/bootleader reproduce --out results/

clean:
	rm -rf .venv .venv-lowest results build site coverage coverage.xml .coverage dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
