# Every target sets up .venv by itself, and again only when the lock or the project's metadata changed.
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell $(p) -c 'import sys; sys.exit(not (3,11) <= sys.version_info < (3,14))' 2>/dev/null && echo $(p))))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(shell cat requirements.lock pyproject.toml | sha256sum | cut -c1-16)

.PHONY: board test dev bench prove-celery lint lock packs setup clean
.DEFAULT_GOAL := board

board: $(READY)
	@$(BIN)/eval-pipeline run

test: $(READY)
	@$(BIN)/python -m pytest $(TESTS)

dev: $(READY)
	@$(BIN)/eval-pipeline dev

bench: $(READY)
	@$(BIN)/python -m bench

# Celery over a real broker with two workers, one of which is killed in the middle: 2 000 trials.
prove-celery: $(READY)
	@$(BIN)/python -m bench celery

lint: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/eval-pipeline fmt --check
	@$(BIN)/eval-pipeline check

# Documents that may not be committed, as packs: make packs SOURCE=DIR [OUT=packs]; then eval-pipeline run --pack OUT/NAME
OUT ?= packs
packs: $(READY)
	@test -n "$(SOURCE)" || { echo "say where the documents are: make packs SOURCE=DIR" >&2; exit 1; }
	@$(BIN)/python scripts/build_packs.py --source "$(SOURCE)" --out "$(OUT)/public"

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed, and none was found on PATH" >&2; exit 1; }
	@echo "setting up $(VENV) (once; again only when requirements.lock or pyproject.toml changes)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --compile --no-deps --require-hashes --only-binary :all: --requirement requirements.lock
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index --editable .
	@$(BIN)/python -m compileall -q bookkeeping eval_pipeline
	@touch $(READY)

# Needs uv on PATH; only for whoever changes a dependency.
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --quiet --output-file requirements.lock

clean:
	rm -rf $(VENV) .eval-pipeline
