# What a developer does here, each in one word; every target installs first when that is needed.
# PYTHON=python3.12 chooses the interpreter of a new .venv; ARGS="..." is passed on to the command run.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CANDIDATES := python3.11 python3.12 python3.13 python3
OLD_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach p,$(CANDIDATES),$(shell $(p) -c '$(OLD_ENOUGH)' >/dev/null 2>&1 && echo $(p))))
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install browser peers test test-slow interop lint docs train bench clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1|/' \
	  | while IFS='|' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

install: $(STAMP)  ## set up .venv (Python 3.11 or newer) with everything the targets need

# The stamp is older than its inputs exactly when another install is due.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=..." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,evaluation,data,minari,render,table,bench,ray,docs,dev]'
	touch $(STAMP)

browser:  ## install Debian's chromium for the tests of the table's pages (optional; as root)
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q chromium fonts-noto-core; } >/dev/null 2>&1 \
	  || echo "chromium could not be installed here; the tests of the table's pages are skipped" >&2

peers: $(STAMP)  ## install OpenSpiel, to compare against (optional; no wheel for every machine)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[peers]' \
	  || echo "OpenSpiel could not be installed here; what compares against it is skipped" >&2

test: $(STAMP)  ## run the fast tests
	$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile $(ARGS)

test-slow: $(STAMP)  ## run all tests, the slow ones too
	$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile --run-slow $(ARGS)

interop:  ## test with other libraries, each in its own environment (ARGS=torchrl: one)
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) tests/interop/run.py $(ARGS)

lint: $(STAMP)  ## check style (ruff) and types (mypy)
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(STAMP)  ## build the documentation site in build/site; a broken link fails
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/site $(ARGS)
	@echo "open build/site/index.html"

train: $(STAMP)  ## train with the default configurations: a short clone, then self-play
	$(BIN)/spades train configs/train/clone.yaml configs/train/selfplay.yaml $(ARGS)

bench: $(STAMP)  ## measure the environment's speed on this machine
	$(BIN)/spades bench $(ARGS)

clean:  ## remove build outputs and caches (.venv and runs/ stay)
	rm -rf build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf
