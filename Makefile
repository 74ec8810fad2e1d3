# SPDX-License-Identifier: Apache-2.0
# The project's commands. Each makes what it needs: the venv, the extensions, or a copy of the tree built another way.
PYTHON ?= python3
PY := $(CURDIR)/.venv/bin/python
INSTALLED := .venv/installed
BUILD := setup.py -q build_ext -i
PYTEST := -m pytest -q tests
SIDE_BY_SIDE := -n logical --dist loadfile --no-loadscope-reorder  # a process for each core, one file in one process

# Another build or Python runs in a copy under build/, so that the release build in place stays as it is.
COPY = rm -rf build/$@ && mkdir -p build/$@ && tar cf - --exclude=./build --exclude=./.venv --exclude=./.git \
	--exclude='*.so' . | tar xf - -C build/$@ && cd build/$@ && export PYTHONPATH=.
PRELOAD = $(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so)
SANITIZE_ENV = CODIPY_SANITIZE=1 PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1 LD_PRELOAD="$(PRELOAD)"

.PHONY: help venv build demo test other bench bench-peers study debug sanitize coverage clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' Makefile | expand -t 14

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(PY) -m pip install -q --disable-pip-version-check -U "setuptools>=64" wheel "cython>=3.1" "numpy>=2"
	$(PY) -m pip install -q --disable-pip-version-check --no-build-isolation -e ".[dev,study,scipy]"
	touch $@

venv: $(INSTALLED)  ## make .venv with codipy (editable) and the tools
build: venv  ## rebuild what changed, in place
	$(PY) $(BUILD)
demo: build  ## fit the lynx and hare counts, then compare all strategies on that fit
	$(PY) examples/lynx_hare.py
	.venv/bin/codipy compare examples/lynx_hare.py:misfit
test: build  ## the whole suite
	$(PY) $(PYTEST) $(SIDE_BY_SIDE)
other:  ## the whole suite on another Python, with a venv of its own: make other PYTHON=python3.13
	$(COPY) && $(MAKE) test
bench: build  ## every figure with its target
	$(PY) benchmarks/run.py
bench-peers: build  ## the same work under other packages (downloads them)
	$(PY) -m pip install -q --no-build-isolation -e ".[bench]"
	$(PY) benchmarks/run.py --peers
study: build  ## the studies of docs/studies.md, to build/studies/ and docs/studies/: some ten minutes
	$(PY) benchmarks/studies.py
debug: venv  ## the suite with bounds checks, assertions and line tracing
	$(COPY) && export CODIPY_DEBUG=1 CODIPY_TRACE=1 && $(PY) $(BUILD) && $(PY) $(PYTEST) $(SIDE_BY_SIDE)
sanitize: venv  ## the suite under AddressSanitizer and UndefinedBehaviorSanitizer
	$(COPY) && CODIPY_SANITIZE=1 $(PY) $(BUILD) && $(SANITIZE_ENV) $(PY) $(PYTEST) $(SIDE_BY_SIDE) --capture=sys
coverage: venv  ## the suite with every line counted, Cython's too; fails below the floor in pyproject.toml
	$(COPY) && export CODIPY_TRACE=1 && $(PY) $(BUILD) && $(PY) -m coverage run $(PYTEST) && \
	$(PY) -m coverage report
clean:  ## back to a fresh clone
	rm -rf build dist .venv *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache .coverage* htmlcov
	find codipy -name '*.so' -delete
	find . -name __pycache__ -prune -exec rm -rf {} +
