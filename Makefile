# make demo   install what is missing, compile the example network, run its firmware in an emulator
# make test   install what is missing, check style and types, run the tests
#             EDGEC_DATA_DIR=FOLDER make test: those of public networks, too (docs/data.md)
# make docs   install what is missing, build the documentation site: build/site/index.html
# make pictures   make the pictures of the documents again (needs Chromium): docs/assets
VENV ?= .venv
BIN := $(VENV)/bin
BOARD ?= nucleo
DEMO := build/demo
# More for pytest, such as --durations 20.
PYTEST_OPTIONS ?=
# A thread for each of two processes: more would wait for one another.  The one that is done first
# takes tests of the other; the tests of a file, which share what they build, mostly stay together.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal
# Tests of public networks and data run where their folder is named (docs/data.md).
NO_DATA = $(if $(EDGEC_DATA_DIR),, and not data)
# Generated C (tests/golden) keeps the layout of its templates.
C_FILES = $$(git ls-files "firmware/*.[ch]" "tests/*.[ch]" "benchmarks/*.[ch]" "examples/*.[ch]" ":!tests/golden")

# Compiled modules are kept, also where a machine is set up not to: hundreds of processes load them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test docs pictures lint pytest pytest-slow format setup-demo setup-docs setup-test setup-slow clean

demo: setup-demo
	$(BIN)/edgec compile examples/digits_resnet.onnx --board $(BOARD) --calibration examples/digits_calibration.npz --out $(DEMO)
	$(BIN)/edgec evaluate $(DEMO) --data examples/digits_test.npz --on emulator

test: lint pytest

docs: setup-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: setup-test
	$(BIN)/python tools/pictures.py

setup-demo:
	tools/setup.sh demo $(VENV)

setup-docs:
	tools/setup.sh docs $(VENV)

setup-test:
	tools/setup.sh test $(VENV)

setup-slow:
	tools/setup.sh slow $(VENV)

lint: setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)

pytest: setup-test
	$(PYTEST) -m "not slow and not torch$(NO_DATA)" $(PYTEST_OPTIONS)

pytest-slow: setup-slow
	$(PYTEST) -m "(slow or torch)$(NO_DATA)" $(PYTEST_OPTIONS)

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

clean:
	rm -rf build
