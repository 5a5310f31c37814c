PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test setup check bench docs clean

demo: setup            ## set up, play games, ingest, judge, report, serve the dashboard until Ctrl-C
	$(BIN)/cotrace demo

test: setup check      ## set up, lint, type-check, check imports and docs, run the tests
	$(BIN)/python -m pytest -n auto --dist loadgroup

setup: .venv/.done     ## set up only

.venv/.done: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

check: setup           ## ruff, mypy --strict, import direction, generated docs up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/make_docs.py --check

bench: setup           ## every benchmark, each figure a ratio to a base in the same run
	$(BIN)/python -m benchmarks

docs: setup            ## write the generated pages of docs/ anew
	$(BIN)/python tools/make_docs.py

clean:
	rm -rf .venv build *.egg-info
