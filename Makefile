# Two commands are enough: `make book` and `make test`. Both first make .venv, the project's own environment.
# Every path is relative, so the name of the folder may contain spaces.

PY := .venv/bin/python
READY := .venv/ready.stamp
OLDEST := _build/oldest
REMOVE := rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
# Tests at the same time. Many wait for kernels and programs, so four keep two cores busy.
WORKERS := 4
# Pages and options of `make audit`, a part of a path for each: make audit AUDIT="--strict ledger".
AUDIT :=
# The folder that `make lab` opens, and options for JupyterLab.
NOTEBOOKS := notebooks
LAB :=
# Options of `speedbook live`: make live LIVE=--no-browser.
LIVE :=
# What students handed in, and options of `make grade`: make grade DIR=submissions GRADE="--seconds 30".
DIR :=
GRADE :=

# A design or a simulation is many small products: one thread for each process, and processes in parallel.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# Many workers and kernels start: each one reads what another has compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help book install live quick test check prose oldest browser audit lab refresh full lock student grade slides zip pdf wheel bench bench-quick advice mutants clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## */make \1|/p' Makefile | awk -F '|' '{printf "  %-18s %s\n", $$1, $$2}'

book: $(READY)  ## run the notebooks that changed, and build the book in _build/html
	@$(PY) -m speedbook build

install: $(READY)  ## only install everything into .venv: enough for .venv/bin/speedbook
	@echo "Everything is installed in .venv: $(dir $(PY))speedbook --help lists the commands."

live: book  ## build the book if need be, and open it so its pages can run: make live LIVE="--port 8000 --no-browser"
	@$(PY) -m speedbook live $(LIVE)

quick: $(READY)  ## run the fast tests, which start no kernel and no program: about a minute
	@$(PY) -m pytest -n 2 --dist worksteal -m "not slow"

test: $(READY)  ## run all tests, and compare every notebook with its committed outputs
	@$(PY) -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder --nbval

check: $(READY)  ## run ruff, mypy, the import rules and make prose, then make test
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-logo --no-cache
	@$(PY) -m tools.prose
	@$(MAKE) --no-print-directory test

prose: $(READY)  ## check spelling, style and words in pages, notebooks, docstrings, help and errors
	@$(PY) -m tools.prose

oldest: $(OLDEST)/ready.stamp  ## test the library with the oldest numpy, scipy and pandas that it supports
	@$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal -m "not slow" tests/speedlib speedlib

browser: $(READY)  ## test the built book in Chromium (after make book)
	@$(PY) -m pytest -n 2 --dist worksteal -m browser tests/browser

audit: $(READY)  ## measure accessibility, weight, pictures and lines of the built pages (after make book)
	@$(PY) -m tools.audit $(AUDIT)

lab: $(READY)  ## open the notebooks in JupyterLab (another folder: make lab NOTEBOOKS=runs)
	@if [ "$$(id -u)" = 0 ] && [ -z "$(findstring --allow-root,$(LAB))" ]; then \
	  echo "make: JupyterLab does not run as root, since anyone who reaches its port would have root's rights. Start it as" \
	    "another user or, in a container that nobody else can reach, with: make lab LAB=--allow-root" >&2; exit 1; fi
	@$(PY) -m jupyterlab $(LAB) "$(NOTEBOOKS)"

refresh: $(READY)  ## rewrite the committed notebooks and the ledger from fresh runs
	@$(PY) -m speedbook build --refresh

full: $(READY)  ## run the long setting, notebooks/full.yml (about half an hour; continues after an interrupt), into book/full.json
	@$(PY) -m speedbook build --full

lock: $(READY)  ## update requirements.txt after a change in a pyproject.toml (all versions: make lock UPGRADE=1)
	@$(PY) -m uv pip compile pyproject.toml speedbook/pyproject.toml --quiet --all-extras --universal \
	  --fork-strategy fewest --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  $(if $(UPGRADE),--upgrade) --output-file requirements.txt
	@$(PY) -m uv pip compile --group speedbook/pyproject.toml:student --constraint requirements.txt --quiet --universal \
	  --fork-strategy fewest --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
	  --output-file tools/course/requirements.txt

student: $(READY)  ## pack the hand-ins for students, with what they install, into _build/class
	@$(PY) -m tools.course student

# The folder's name may have blanks.
grade: $(READY)  ## grade what students handed in (runs their code here): make grade DIR=folder GRADE="--seconds 60"
	@$(PY) -m tools.course grade $(GRADE) "$(DIR)"

slides: $(READY)  ## make slides of the lectures that need no network, in _build/class
	@$(PY) -m tools.course.slides

# Both need a built book; the PDF also needs Chromium.
zip: $(READY)  ## put the built book into one archive that opens without a network, in _build/publish
	@$(PY) -m tools.publish zip

pdf: $(READY)  ## make one PDF of the built book, in _build/publish (some minutes)
	@$(PY) -m tools.publish pdf

wheel: $(READY)  ## build the library's wheel, in _build/publish
	@$(PY) -m uv build --wheel --quiet --no-build-isolation --out-dir _build/publish && rm -f _build/publish/.gitignore

bench: $(READY)  ## compare the speed of the solvers with others, and store the results (about 40 minutes)
	@$(PY) -m benchmarks

bench-quick: $(READY)  ## the same comparison at small sizes; nothing is stored
	@$(PY) -m benchmarks --quick

advice: $(READY)  ## measure the table of speedlib.advise again (some minutes)
	@$(PY) tools/measure-advice

mutants: $(READY)  ## put faults into speedlib on purpose, and store which check notices each (over an hour)
	@$(PY) -m tools.mutants

# Marks given by hand cannot be computed again.
clean:  ## remove all that was built (the environment in .venv stays)
	@if [ -d _build/class/grading ] && [ "$(GRADING)" != delete ]; then \
	  echo "make: _build/class/grading holds what you graded and the marks that you gave by hand. Move this folder to" \
	    "another place, or delete it, too: make clean GRADING=delete" >&2; exit 1; fi
	@if test -f _build/lock && $(PY) -c "" 2>/dev/null; then $(PY) -m speedbook.run.lock $(REMOVE); else $(REMOVE); fi

# The environment is made again when the lock changes, and the book's project is installed again when its pyproject.toml
# changes. Each stamp is a copy of its file. If the contents are equal, a newer date, as in a copy or a container, has no
# effect, and the stamp need not be written.
.venv/lock.stamp: requirements.txt
	@cmp -s $< $@ || sh tools/alone $< $@ sh tools/make-venv "$(PYTHON)"
	@touch $@ 2>/dev/null || :

# The lowest versions that pyproject.toml names, and the locked versions of what else the tests need. A pandas that old
# does not exist for Python 3.13.
$(OLDEST)/ready.stamp: pyproject.toml $(READY)
	@python=$$(sh tools/find-python python3.11 python3.12) && "$$python" -m venv --clear --without-pip $(OLDEST)
	@$(PY) -m uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct \
	  --requirements pyproject.toml --extra simulation --extra tables
	@$(PY) -m uv pip install --quiet --python $(OLDEST)/bin/python \
	  $$(grep -oE '^(hypothesis|ipython|matplotlib|nbformat|pytest|pytest-xdist|seaborn)==[^ ]+' requirements.txt)
	@touch $@

$(READY): .venv/lock.stamp speedbook/pyproject.toml
	@cmp -s speedbook/pyproject.toml $@ || sh tools/alone speedbook/pyproject.toml $@ sh tools/install-book $(PY)
	@touch $@ 2>/dev/null || :
