# Engram. `make` alone lists the targets. Needs only python3 (3.11 or newer); everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest -q
WORKERS ?= 2
# Compiled files are kept: reading 600 modules anew in each process is a third of the fast tests.
unexport PYTHONDONTWRITEBYTECODE

# One order for all compilations, and nothing in the result that names this machine or its index.
COMPILE := CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/python -m piptools compile pyproject.toml --quiet \
	--generate-hashes --allow-unsafe --strip-extras --newline lf \
	--no-emit-trusted-host --no-emit-find-links --no-emit-options --no-emit-index-url

.DEFAULT_GOAL := help
.PHONY: help run demo test test-slow test-postgres lint format bench check docs docs-check lock clean

help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: $(VENV)/.run ## serve the memory over HTTP, on this machine only
	@$(BIN)/engram serve

demo: $(VENV)/.run ## a guided tour of a memory
	@$(BIN)/engram demo

test: $(VENV)/.dev ## the fast tests
	@$(PYTEST) -n $(WORKERS) --dist worksteal -m "not slow"

test-slow: $(VENV)/.dev ## the tests that take seconds each
	@$(PYTEST) -n $(WORKERS) -m slow

# What a store promises and the stories of the engine, kept on a server that comes with the dev packages.
test-postgres: $(VENV)/.dev ## the same promises kept in PostgreSQL
	@$(PYTEST) -n $(WORKERS) --postgres -m "not slow" tests/store tests/engine tests/api tests/recall tests/capture --ignore=tests/store/sqlite
	@$(PYTEST) -n0 --postgres -m slow tests/store/test_postgres.py

lint: $(VENV)/.dev ## rules, layout and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(VENV)/.dev ## lay out the code and mend what can be mended by itself
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

bench: $(VENV)/.run ## how fast this machine remembers and recalls
	@$(BIN)/engram bench speed --sizes 1000,10000

docs: $(VENV)/.dev ## write what is written from the code: docs/reference, AsyncEngram
	@$(BIN)/python scripts/aio.py
	@$(BIN)/python scripts/reference.py

docs-check: $(VENV)/.dev ## is what is written from the code fresh?
	@$(BIN)/python scripts/aio.py --check
	@$(BIN)/python scripts/reference.py --check

check: lint docs-check test-slow test ## everything that must hold before a change goes in

lock: $(VENV)/.dev ## choose the newest versions again and write the lock files
	@$(COMPILE) --upgrade --build-deps-for editable --extra server --output-file requirements.lock
	@$(COMPILE) --upgrade --build-deps-for editable --extra all --extra dev --constraint requirements.lock --output-file requirements-dev.lock

clean: ## remove what the tools made, also .venv
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Engram needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# Installed once per change of the lock: first the locked packages, then this tree, editable.
$(VENV)/.run: requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing into $(VENV): a minute or two, once." >&2
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing into $(VENV): a minute or two, once." >&2
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
