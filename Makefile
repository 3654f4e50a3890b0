PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WHOLE := $(VENV)/.whole

.PHONY: demo test test-all check bench format clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

$(WHOLE): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,cluster]'
	touch $(WHOLE)

demo: $(READY)
	$(BIN)/paste-proxy demo

test: $(READY)
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: $(WHOLE)
	$(BIN)/python -m pytest -n auto

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_rooms.py

bench: $(READY)
	$(BIN)/paste-proxy bench overhead
	$(BIN)/paste-proxy bench replay

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
