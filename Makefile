# Everything sets itself up: `make demo` and `make test` need nothing typed before.
.DEFAULT_GOAL := help
.PHONY: help demo test lint java knime conformance format benchmark clean

VENV := .venv
BIN := $(VENV)/bin
# The first of these that is there and new enough.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

help:  ## Lists the targets.
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## */\t/' | expand -t 12

demo: $(VENV)/run.stamp  ## Runs the example workflow: an agent that uses an MCP server and workflows.
	@$(BIN)/knime-mcp demo

test: $(VENV)/dev.stamp tests/node/node_modules/.stamp  ## Runs every test.
	$(BIN)/pytest -n 2 --dist loadgroup

lint: $(VENV)/dev.stamp  ## Checks format, lint rules, types, room contracts and spelling.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/codespell

java: $(VENV)/dev.stamp tests/node/node_modules/.stamp  ## Builds and tests the Java side, and exchanges tool columns with it.
	@command -v mvn >/dev/null || { echo "Maven and a JDK 17 are needed: install them and try again"; exit 2; }
	$(BIN)/python -m tests.cross_language.write_files java-stub/target/exchange
	mvn --quiet --batch-mode --file java-stub/pom.xml verify
	KNIME_MCP_JAVA=required $(BIN)/pytest -q tests/cross_language

knime: .venv-knime/.stamp $(VENV)/dev.stamp  ## Compares with KNIME's own code: make knime KNIME_PYTHON_SRC=/path
	@test -d "$(KNIME_PYTHON_SRC)" || { echo "Name a checkout of knime/knime-python: make knime KNIME_PYTHON_SRC=/path"; exit 2; }
	KNIME_PYTHON_SRC="$(abspath $(KNIME_PYTHON_SRC))" $(BIN)/pytest -q tests/knime_parity

.venv-knime/.stamp: tests/knime_parity/requirements.txt pyproject.toml | $(VENV)/bin/python
	$(PYTHON) -m venv .venv-knime
	.venv-knime/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< --editable '.[code,models]'
	@touch $@

conformance: $(VENV)/dev.stamp tests/conformance/node_modules/.stamp  ## Runs the official MCP conformance suite against our client.
	$(BIN)/python tests/conformance/run.py

# Node.js 22 comes from npm, too, so any npm will do.
tests/conformance/node_modules/.stamp: tests/conformance/package-lock.json
	@command -v npm >/dev/null || { echo "npm is needed: install Node.js and try again"; exit 2; }
	npm --prefix tests/conformance ci --silent --no-audit --no-fund
	@touch $@

format: $(VENV)/dev.stamp  ## Formats the code and repairs what lint can repair.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: $(VENV)/dev.stamp  ## Prints the figures that the documents name.
	$(BIN)/python benchmarks/tool_column.py
	$(BIN)/python benchmarks/extension_import.py
	$(BIN)/python benchmarks/agent_batch.py

clean:  ## Removes what the other targets made.
	rm -rf $(VENV) .venv-knime out tests/node/node_modules tests/conformance/node_modules java-stub/target .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; install it or name it: make PYTHON=/path/to/python"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/run.stamp

# The reference servers from npm. Without Node.js their tests are skipped and say so.
tests/node/node_modules/.stamp: tests/node/package-lock.json
	@if command -v npm >/dev/null; then npm --prefix tests/node ci --silent --no-audit --no-fund && touch $@; \
	else echo "npm is not installed: the tests against the reference servers will be skipped"; fi
