# On a new machine, `make demo` and `make test` need only Python 3.11 or later, git, and make.
PYTHON ?= python3
STACK ?= eks-dev
VENV := .venv/bin
# Tests that start real programs or run long searches take seconds each, so they have a separate target.
JOURNEYS := engine or control_plane or programs or long or recipe

# Container images often prevent Python from storing bytecode. Then each of the many interpreters in an engine run would compile
# Pulumi's SDKs again, which takes longer than the run itself.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install missing parts (uv and the virtual environment) into per-user caches
	@$(PYTHON) sandbox/bootstrap.py

tools: setup ## build the engine's tools (Pulumi CLI) if they're missing
	@$(VENV)/python -m dra_sandbox tools

planes: setup ## build the control plane for tests (etcd, Kubernetes 1.36) if it's missing
	@$(VENV)/python -m dra_sandbox tools --kubernetes 1.36

demo: setup ## plan, create, check, and destroy a stack on simulated clouds (STACK=NAME, a stack in stacks/)
	@$(VENV)/python -m dra_sandbox demo --stack $(STACK)

test: setup ## run all tests except those of `make journeys`
	@$(VENV)/python -m pytest -n 2 --dist loadfile -q -m "not ($(JOURNEYS))"

journeys: tools planes ## run the tests that start the Pulumi engine, Kubernetes, or other programs, and the recipes in CONTRIBUTING.md (slow)
	@$(VENV)/python -m pytest -n 2 --dist loadfile -q -m "$(JOURNEYS)"

fast: setup ## lint, type-check, and test only the planner (takes seconds)
	@$(VENV)/ruff check planner tests/planner
	@$(VENV)/mypy -p dra_planner
	@$(VENV)/python -m pytest -n 2 -q tests/planner

coverage: setup ## measure test coverage into build/coverage (TESTS=FOLDER, default: tests/planner)
	@$(VENV)/coverage erase
	@$(VENV)/coverage run -m pytest -q $(or $(TESTS),tests/planner)
	@$(VENV)/coverage combine -q
	@$(VENV)/coverage html -q --directory build/coverage
	@$(VENV)/coverage report --format total

news: setup ## print the next changelog section from changelog.d
	@$(VENV)/towncrier build --draft --version next

lint: setup ## check style, format, and import contracts
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check --quiet . || (echo "files are not formatted: run ruff format and commit" >&2; exit 1)
	@$(VENV)/lint-imports --no-logo

types: setup ## run mypy (strict) on the planner, rules, and command, and pyright (strict) on the SDK-heavy packages
	@$(VENV)/mypy
	@$(VENV)/pyright --warnings

docs: setup ## regenerate all generated pages
	@$(VENV)/python docs/generate.py

site: setup ## build the documentation site into build/site
	@$(VENV)/sphinx-build -W --keep-going -q -b html docs build/site
	@echo "build/site/index.html"

publishing: setup ## write release notes, the krew plugin, and the SchemaStore entries into build/release (REPOSITORY=URL)
	@$(VENV)/python docs/publishing.py --notes --home $(REPOSITORY) --to build/release

dist: setup ## build the wheel and the source archive into dist/
	@rm -rf dist
	@$(VENV)/python -m hatchling build --directory dist

tables: setup ## regenerate the CEL parser's tables after a change to its grammar
	@$(VENV)/python -m dra_planner.cel.syntax.grammar

docs-check: docs site ## fail if a generated page is stale or the site doesn't build
	@git diff --exit-code --stat -- docs components || \
		(echo "generated pages are stale: run make docs and commit" >&2; exit 1)

check: lint types docs-check journeys test ## run everything that CI runs

conformance: setup ## run upstream Kubernetes code on the same cases (MINOR=36 for a single minor version; slow)
	@$(VENV)/python conformance/run.py $(if $(SAMPLE),--sample) $(if $(MINOR),--minor $(MINOR))

referee: setup ## compare sizing and placement with exhaustive searches on COUNT random fleets of each family (slow)
	@$(VENV)/python tests/planner/sizing/test_against_referee.py $(or $(COUNT),2000)
	@PLACINGS=200 $(VENV)/python -m pytest -q tests/planner/portfolio/test_placing.py

bench: setup ## measure speed, as ratios within one run
	@for file in tests/bench/bench_*.py; do echo "== $$file"; $(VENV)/python $$file || exit 1; done

.PHONY: help setup tools planes demo test journeys fast coverage news lint types docs site dist tables docs-check check conformance referee bench
