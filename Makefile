# One command per step. Needs only make and Python 3.11: the rest is installed in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
PYTEST := $(BIN)/python -m pytest
# KUBERNETES=1.33 chooses the control plane's version for every target: make exports it.
# Most tests wait for processes, so three workers use two cores well.
WORKERS ?= 3
# A run fails if it takes more than this many times its budget. Empty: it only prints its time.
OVERRUN ?=
SLOWEST := --durations=15 --durations-min=3
IN_TIME = -n $(WORKERS) --budget $(1) $(if $(OVERRUN),--overrun $(OVERRUN))

# Else each worker and each process under test compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-fast test-long test-versions coverage bench chaos fuzz fuzz-door gpu-check lint docs crds image release up down

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## Create the virtual environment, with the pinned tools

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

build: $(STAMP) ## Build the control plane's binaries that are missing from the cache
	$(BIN)/python -m cardquota_dev build

demo: build ## Run the commands of the README on a real control plane (KEEP=1 leaves it running)
	$(BIN)/python -m cardquota_dev demo $(if $(KEEP),--keep)

test: build ## Run all tests except the long ones
	$(PYTEST) $(call IN_TIME,480) $(SLOWEST) -m "not long"

test-long: $(STAMP) ## Run the long tests: fail-overs, outages, restarts, rotation, a real node, images, Helm, the page in a browser, Prometheus, chaos, the demo
	$(BIN)/python -m cardquota_dev build --node --chart --browser --prometheus
	$(PYTEST) $(call IN_TIME,600) $(SLOWEST) -m long

test-versions: $(STAMP) ## Run the demo and some of the tests on the oldest and newest Kubernetes (WRITE=1 keeps the result)
	$(BIN)/python -m cardquota_dev test-versions --workers $(WORKERS) $(if $(WRITE),--write)

test-fast: $(STAMP) ## Run the tests that need no control plane
	$(PYTEST) $(call IN_TIME,60) -m "not plane and not disruptive and not long"

coverage: $(STAMP) ## Run the tests of the domain, and list lines that they do not reach
	$(PYTEST) -q tests/unit/quota --cov=cardquota.quota --cov-report=term-missing:skip-covered

bench: build ## Run the benchmarks (NAMES="ledger review" for some, WRITE=FILE for the tables)
	PYTHONPATH=tests $(BIN)/python -m bench $(NAMES) $(if $(WRITE),--write $(WRITE))

chaos: build ## Prove the quota under faults, about 8 minutes (SECONDS=600 SEED=1; VOLCANO=1; BREAK=no-fence must be found)
	PYTHONPATH=tests $(BIN)/python -m chaos $(if $(VOLCANO),--volcano) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(if $(SHORT),--short) $(if $(BREAK),--break $(BREAK)) $(if $(DIR),--dir $(DIR))

fuzz: $(STAMP) ## Send malformed and oversized input (N=1000000 SEED=1 KEEP=DIR)
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(N),--count $(N)) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep $(KEEP))

fuzz-door: $(STAMP) ## Send malformed calls to the scheduler extender (N=100000 SEED=1)
	PYTHONPATH=tests $(BIN)/python -m fuzz --door $(if $(N),--count $(N)) $(if $(SEED),--seed $(SEED))

gpu-check: $(STAMP) ## On a machine with an NVIDIA card: compare what the node agent sees with nvidia-smi
	$(BIN)/python -m cardquota_dev.gpu_check

lint: $(STAMP) ## Check style, types, layers, rule numbers, and that generated files are up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m cardquota_dev.version --check
	$(BIN)/python -m cardquota_dev.generate --check
	$(BIN)/python -m cardquota_dev.board --check
	$(BIN)/python -m cardquota_dev.chart --check
	$(BIN)/python -m cardquota_dev.catalogue --check
	$(BIN)/python -m cardquota_dev.reference --check
	$(BIN)/python -m cardquota_dev.rule_book
	$(BIN)/python -m cardquota_dev.image lock --check
	$(BIN)/python -m cardquota_dev journeys

# Not with --quiet: it counts no warnings, so none would be an error.
docs: export NO_MKDOCS_2_WARNING = 1  # the theme's word about a successor
docs: $(STAMP) ## Build the site of docs/ into build/site; a link that leads nowhere is an error
	$(BIN)/python -m mkdocs build

crds: $(STAMP) ## Generate crds/, the generated manifests, board, alerts, templates of the chart and pages of docs/
	$(BIN)/python -m cardquota_dev.version
	$(BIN)/python -m cardquota_dev.generate
	$(BIN)/python -m cardquota_dev.board
	$(BIN)/python -m cardquota_dev.chart
	$(BIN)/python -m cardquota_dev.catalogue
	$(BIN)/python -m cardquota_dev.reference

release: $(STAMP) ## Write wheel, chart, manifests, images, plugin and checksums into dist/ (REGISTRY=example.com/ URL=https://...)
	$(BIN)/python -m cardquota_dev.release $(if $(REGISTRY),--registry $(REGISTRY)) $(if $(URL),--url $(URL))

image: $(STAMP) ## Make the images of the operator and the node agent in build/image, without Docker (TARGET=operator)
	$(BIN)/python -m cardquota_dev.image build $(if $(TARGET),--target $(TARGET))

up: build ## Start a plane with the product, in the background
	$(BIN)/python -m cardquota_dev up --detach

down: $(STAMP) ## End that plane
	$(BIN)/python -m cardquota_dev down
