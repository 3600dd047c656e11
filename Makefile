# Every target sets up what it needs in .venv; PYTHON chooses the interpreter it is made with.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install test slow lint bench reproduce clean

install: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[dask]" --group dev
	touch $@

.venv/ready-bench: .venv/ready
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

test: install
	$(BIN)/python -m pytest -n auto

slow: install
	$(BIN)/python -m pytest -n auto -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# make bench ARGS="small_k --json figures.json"
bench: .venv/ready-bench
	$(BIN)/python -m benchmarks $(ARGS)

reproduce: install
	$(BIN)/bootleader reproduce --out results/

clean:
	rm -rf .venv results .mypy_cache .ruff_cache .import_linter_cache dist
