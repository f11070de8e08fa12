# Two commands are enough: `make book` and `make test`. Both first make .venv, the project's own environment.
# Every path is relative, so the folder may have spaces in its name.

PY := .venv/bin/python
READY := .venv/ready.stamp
OLDEST := _build/oldest
REMOVE := rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
# Tests at a time. Many wait for kernels and programs: four keep two cores busy.
WORKERS := 4
# Pages and options of `make audit`, a part of a path for each: make audit AUDIT="--strict ledger".
AUDIT :=
# What `make lab` opens, and options for JupyterLab.
NOTEBOOKS := notebooks
LAB :=
# What students handed in, and options of `make grade`: make grade DIR=submissions GRADE="--seconds 30".
DIR :=
GRADE :=

# A design or a simulation is many small products: one thread each, and processes side by side.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# Workers and kernels start by the dozen: what one of them has compiled, the next one reads.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help book quick test check prose oldest browser audit lab refresh lock student grade slides bench bench-quick advice mutants clean

help:  ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## */make \1|/p' Makefile | awk -F '|' '{printf "  %-18s %s\n", $$1, $$2}'

book: $(READY)  ## execute the notebooks and build the book in _build/html
	@$(PY) -m speedbook build

quick: $(READY)  ## run the tests for every save: all that start no kernel and no program, in a minute
	@$(PY) -m pytest -n 2 --dist worksteal -m "not slow"

test: $(READY)  ## run the tests, and every notebook against its committed outputs
	@$(PY) -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder --nbval

check: $(READY)  ## ruff, mypy, the import rules and make prose, then make test
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-logo --no-cache
	@$(PY) -m tools.prose
	@$(MAKE) --no-print-directory test

prose: $(READY)  ## spelling, style and our own list of words, in pages, notebooks, docstrings, help and errors
	@$(PY) -m tools.prose

oldest: $(OLDEST)/ready.stamp  ## test the library with the oldest numpy, scipy and pandas that it allows
	@$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -m "not slow" tests/speedlib speedlib

browser: $(READY)  ## open the built book in Chromium and look for faults (after make book)
	@$(PY) -m pytest -n 2 --dist worksteal -m browser tests/browser

audit: $(READY)  ## measure the form of the built book, page by page: accessibility, weight, pictures, lines (after make book)
	@$(PY) -m tools.audit $(AUDIT)

lab: $(READY)  ## open the notebooks in JupyterLab (or a folder of copies: make lab NOTEBOOKS=runs)
	@if [ "$$(id -u)" = 0 ] && [ -z "$(findstring --allow-root,$(LAB))" ]; then \
	  echo "make: JupyterLab does not run as root: who reaches its port could do all that root may. Start it as" \
	    "another user or, in a container that nobody else reaches, with: make lab LAB=--allow-root" >&2; exit 1; fi
	@$(PY) -m jupyterlab $(LAB) "$(NOTEBOOKS)"

refresh: $(READY)  ## rewrite the committed notebooks and the ledger from fresh runs
	@$(PY) -m speedbook build --refresh

lock: $(READY)  ## renew requirements.txt after a change in a pyproject.toml (all versions: make lock UPGRADE=1)
	@$(PY) -m uv pip compile pyproject.toml speedbook/pyproject.toml --quiet --all-extras --universal \
	  --fork-strategy fewest --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  $(if $(UPGRADE),--upgrade) --output-file requirements.txt
	@$(PY) -m uv pip compile --group speedbook/pyproject.toml:student --constraint requirements.txt --quiet --universal \
	  --fork-strategy fewest --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  --output-file tools/course/requirements.txt

student: $(READY)  ## pack the hand-ins for students, with what they install, into _build/class
	@$(PY) -m tools.course student

# The folder's name may have blanks.
grade: $(READY)  ## grade what students handed in, in DIR: make grade DIR=folder (runs their code here)
	@$(PY) -m tools.course grade $(GRADE) "$(DIR)"

slides: $(READY)  ## make slides of the lectures that need no network, in _build/class
	@$(PY) -m tools.course.slides

bench: $(READY)  ## race the solvers against others and store the results (about a quarter of an hour)
	@$(PY) -m benchmarks

bench-quick: $(READY)  ## the same at small sizes; nothing is stored
	@$(PY) -m benchmarks --quick

advice: $(READY)  ## measure anew what speedlib.advise answers from (some minutes)
	@$(PY) tools/measure-advice

mutants: $(READY)  ## put faults into speedlib on purpose and store which check turns red (about a quarter of an hour)
	@$(PY) -m tools.mutants

clean:  ## remove what was built (the environment in .venv stays)
	@if test -f _build/lock && $(PY) -c "" 2>/dev/null; then $(PY) -m speedbook.run.lock $(REMOVE); else $(REMOVE); fi

# The environment: made anew when the lock changes, the book's project installed again when its pyproject.toml does. Each
# stamp is a copy of its file: where that is the same, a newer date, as a copy or a container may have, makes nothing
# anew and need not be written.
.venv/lock.stamp: requirements.txt
	@cmp -s $< $@ || sh tools/make-venv "$(PYTHON)"
	@touch $@ 2>/dev/null || :

# The lowest versions that pyproject.toml names, and the locked ones of what the tests need besides. There are no
# files of pandas that old for Python 3.13.
$(OLDEST)/ready.stamp: pyproject.toml $(READY)
	@python=$$(sh tools/find-python python3.11 python3.12) && "$$python" -m venv --clear --without-pip $(OLDEST)
	@$(PY) -m uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct \
	  --requirements pyproject.toml --extra simulation --extra tables
	@$(PY) -m uv pip install --quiet --python $(OLDEST)/bin/python \
	  $$(grep -oE '^(hypothesis|ipython|matplotlib|nbformat|pytest|pytest-xdist|seaborn)==[^ ]+' requirements.txt)
	@touch $@

$(READY): .venv/lock.stamp speedbook/pyproject.toml
	@cmp -s speedbook/pyproject.toml $@ || sh tools/install-book $(PY)
	@touch $@ 2>/dev/null || :
