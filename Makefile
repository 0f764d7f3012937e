PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test test-full check format clean

demo: $(VENV)/.run  ## train a skill on the bundled data with the simulated models
	$(BIN)/python -m skillopt_exp dataset=demo model=simulated

test: check  ## the suite, the linter and the type checker
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-full: $(VENV)/.dev  ## what is heavy: wheels, servers, many processes
	$(BIN)/python -m pytest -m slow

check: $(VENV)/.dev  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python found: install Python 3.11 or newer, or set PYTHON=..."; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than 3.11: set PYTHON=... to a newer one"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml $(VENV)/bin/python
	@echo "installing into $(VENV), about a minute ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/bin/python
	@echo "installing into $(VENV), about a minute ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
