# Needs Python 3.11 or newer and make; everything else is installed into .venv.
PYTHON  ?= python3
PROFILE ?= quick
DEVICE  ?= auto
JOBS    ?= 2
SHARE   ?= 1
VENV    := .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
PAGES   := $(VENV)/.installed-site

.PHONY: help reproduce test lab site lint clean
.DEFAULT_GOAL := help

help:
	@echo "make reproduce   install, run every notebook, print the scoreboard (PROFILE=quick DEVICE=auto JOBS=2 SHARE=1)"
	@echo "make test        install, lint, run the tests"
	@echo "make lab         JupyterLab on the notebooks"
	@echo "make site        the results as a static site, build/site/html/index.html"
	@echo "make lint        format and fix the sources"
	@echo "make clean       remove build/ and .venv/"

reproduce: $(STAMP)
	$(BIN)/python -m repro run --profile $(PROFILE) --device $(DEVICE) --jobs $(JOBS) --share $(SHARE)

# Compiling sources and assertions anew takes each process of tests 14 s, so they keep their bytecode in any environment.
test: $(STAMP)
	$(BIN)/ruff check . notebooks
	$(BIN)/ruff format --check . notebooks
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lab: $(STAMP)
	@test "$$(id -u)" != 0 -o "$(LAB)" != "" || \
	  { echo "JupyterLab does not start as root: use another user, or make lab LAB=--allow-root"; exit 1; }
	$(BIN)/jupyter lab notebooks $(LAB)

site: $(PAGES)
	$(BIN)/python tools/build_site.py

lint: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build $(VENV)

# The stamp comes last, so an interrupted installation is done again.
$(STAMP): requirements.txt pyproject.toml tools/install_gpu.sh
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	bash tools/install_gpu.sh $(BIN)/python
	touch $@

# What only the site needs; the pins of both files fit each other.
$(PAGES): $(STAMP) requirements-site.txt
	$(BIN)/python -m pip install --quiet -r requirements.txt -r requirements-site.txt
	touch $@
