# One command per step. Needs make and Python 3.11 alone: the rest is set up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
PYTEST := $(BIN)/python -m pytest
# Most tests wait: for processes, for each other's. So three share the time well, on two cores too.
WORKERS ?= 3
# Times a run may exceed its budget before it fails; empty: it says how long it took, no more.
OVERRUN ?=
SLOWEST := --durations=15 --durations-min=3
IN_TIME = -n $(WORKERS) --budget $(1) $(if $(OVERRUN),--overrun $(OVERRUN))

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-fast test-long coverage bench chaos fuzz fuzz-door lint crds up down

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## The virtual environment, with the pinned tools

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

build: $(STAMP) ## The control plane's binaries, into the cache: only what is missing
	$(BIN)/python -m cardquota_dev build

demo: build ## The story of the README, on a real control plane (KEEP=1 leaves it running)
	$(BIN)/python -m cardquota_dev demo $(if $(KEEP),--keep)

test: build ## All tests but the long ones (BUT=FOLDER: but those that ran already)
	$(PYTEST) $(call IN_TIME,480) $(SLOWEST) -m "not long" $(if $(BUT),--ignore=$(BUT))

test-long: build ## The long tests: fail-overs, outages, restarts, rotation, chaos, the demo
	$(PYTEST) $(call IN_TIME,300) $(SLOWEST) -m long

test-fast: $(STAMP) ## The tests that need no control plane
	$(PYTEST) $(call IN_TIME,60) -m "not plane and not disruptive"

coverage: $(STAMP) ## The lines of the domain that its own tests do not reach: none, or it fails
	$(PYTEST) -q tests/unit/quota --cov=cardquota.quota --cov-report=term-missing:skip-covered --cov-fail-under=100

bench: build ## Benchmarks: ratios taken in one run (NAMES="ledger review" for some, WRITE=FILE for a table)
	PYTHONPATH=tests $(BIN)/python -m bench $(NAMES) $(if $(WRITE),--write $(WRITE))

chaos: build ## The proof under faults, about 8 minutes (SECONDS=600 SEED=1; VOLCANO=1; BREAK=no-fence must be found)
	PYTHONPATH=tests $(BIN)/python -m chaos $(if $(VOLCANO),--volcano) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(if $(SHORT),--short) $(if $(BREAK),--break $(BREAK)) $(if $(DIR),--dir $(DIR))

fuzz: $(STAMP) ## Malformed, odd and oversized input for whatever reads it (N=1000000 SEED=1 KEEP=DIR)
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(N),--count $(N)) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep $(KEEP))

fuzz-door: $(STAMP) ## The same for calls of kube-scheduler, with a plain count after each (N=100000 SEED=1)
	PYTHONPATH=tests $(BIN)/python -m fuzz.door $(if $(N),--count $(N)) $(if $(SEED),--seed $(SEED))

lint: $(STAMP) ## Style, types, layers, the numbers of rules, and whether generated files are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m cardquota.api.generate --check
	$(BIN)/python -m cardquota.install.generate --check
	$(BIN)/python -m cardquota_dev.catalogue --check
	$(BIN)/python -m cardquota_dev.rule_book

crds: $(STAMP) ## Write crds/, the generated manifests and docs/messages.md anew
	$(BIN)/python -m cardquota.api.generate
	$(BIN)/python -m cardquota.install.generate
	$(BIN)/python -m cardquota_dev.catalogue

up: build ## A plane with the product, in the background
	$(BIN)/python -m cardquota_dev up --detach

down: $(STAMP) ## Its end
	$(BIN)/python -m cardquota_dev down
