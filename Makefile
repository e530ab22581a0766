# Each target creates what it needs; no environment has to be active.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(wildcard ordstat/compiled/*.pyx ordstat/compiled/*.pxd ordstat/compiled/*.h) pyproject.toml setup.cfg

# A process a core, each of one thread.
TEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# What `make reproduce` runs: a table of Lin (2008), splits of each data set, and, if not all, which sets.
TABLE ?= 4.2
SPLITS ?= 20
DATASETS ?=
MINUTES ?= 20

.PHONY: demo test test-all lint doctest docs docs-test bench fuzz reproduce clean

demo: .venv/installed
	$(BIN)/python -m ordstat demo

test: .venv/dev
	$(TEST)

test-all: .venv/dev
	$(TEST) -m "not site"

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

doctest: .venv/dev
	$(BIN)/python -m pytest --doctest-modules --doctest-glob="*.md" ordstat README.md

# The site: docs/_build/html/index.html. Every code block is executed; warnings are errors.
# All pages are written each time (-a), as Sphinx drops the search entries of pages that it keeps.
docs: .venv/docs
	$(BIN)/sphinx-build -q -W --keep-going -a -b html -d docs/_build/doctrees docs docs/_build/html

# The built site in a browser.
docs-test: docs .venv/dev
	$(TEST) tests/test_site.py -m site

bench: .venv/bench
	$(BIN)/python -m benchmarks

# Random hostile input for about this long on two cores.
fuzz: .venv/dev
	MINUTES=$(MINUTES) $(TEST) tests/fuzz

reproduce: .venv/bench
	$(BIN)/python -m benchmarks.reproduce $(TABLE) --splits $(SPLITS) $(if $(DATASETS),--datasets $(DATASETS))

# The editable install, made anew when a compiled source or the metadata changes; groups of packages are added without a second build.
# --no-compile: Python compiles what it imports, which is a small part of the packages.
.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: $(SOURCES) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

# The packages of groups in pyproject.toml, without building ordstat again.
GROUPS := import sys, tomllib; groups = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; \
	print(*(package for name in sys.argv[1:] for package in groups[name]))

.venv/dev: .venv/installed
	$(BIN)/python -c '$(GROUPS)' test lint | xargs $(BIN)/python -m pip install --quiet --no-compile
	touch $@

.venv/docs: .venv/installed
	$(BIN)/python -c '$(GROUPS)' docs | xargs $(BIN)/python -m pip install --quiet --no-compile
	touch $@

.venv/bench: .venv/installed
	$(BIN)/python -m pip install --quiet skordinal mord mpmath pyarrow tqdm
	touch $@

clean:
	rm -rf .venv build dist docs/_build *.egg-info ordstat/compiled/*.c ordstat/compiled/*.so
