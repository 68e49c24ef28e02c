# Two commands do everything on a fresh machine with Python 3.11+, git and make: `make demo` and `make test`.
PYTHON ?= python3
STACK ?= eks-dev
VENV := .venv/bin
# Tests that start real programs, or search for long, take seconds each, so they have a target of their own.
JOURNEYS := engine or control_plane or programs or long or recipe

# Images often forbid Python to keep what it compiled. Then each of the many interpreters that a run of the engine starts would
# compile Pulumi's SDKs again, which takes longer than all else that it does.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

help: ## say what there is
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what is missing (uv, the environment) into per-user caches
	@$(PYTHON) sandbox/bootstrap.py

tools: setup ## build what is missing of the engine's tools (Pulumi CLI)
	@$(VENV)/python -m dra_sandbox tools

planes: setup ## build what is missing of the control plane that tests run (etcd, Kubernetes 1.36)
	@$(VENV)/python -m dra_sandbox tools --kubernetes 1.36

demo: setup ## plan, build, judge and destroy a stack on simulated clouds (STACK=name, of stacks/)
	@$(VENV)/python -m dra_sandbox demo --stack $(STACK)

test: setup ## run the tests, except those of `make journeys`
	@$(VENV)/python -m pytest -n 2 --dist loadfile -q -m "not ($(JOURNEYS))"

journeys: tools planes ## run the tests with the Pulumi engine, Kubernetes, and other programs, and the recipes of CONTRIBUTING.md (long)
	@$(VENV)/python -m pytest -n 2 --dist loadfile -q -m "$(JOURNEYS)"

fast: setup ## lint, types and tests of the planner alone: seconds
	@$(VENV)/ruff check planner tests/planner
	@$(VENV)/mypy -p dra_planner
	@$(VENV)/python -m pytest -n 2 -q tests/planner

coverage: setup ## measure the coverage of tests (TESTS=folder; tests/planner by default) into build/coverage
	@$(VENV)/coverage erase
	@$(VENV)/coverage run -m pytest -q $(or $(TESTS),tests/planner)
	@$(VENV)/coverage combine -q
	@$(VENV)/coverage html -q --directory build/coverage
	@$(VENV)/coverage report --format total

news: setup ## show the next section of the changelog, from changelog.d
	@$(VENV)/towncrier build --draft --version next

lint: setup ## style, format, and who may import whom
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check --quiet . || (echo "files are not formatted: run ruff format and commit" >&2; exit 1)
	@$(VENV)/lint-imports --no-logo

types: setup ## mypy strict for the planner, rules and command; pyright strict for the SDK-heavy packages
	@$(VENV)/mypy
	@$(VENV)/pyright --warnings

docs: setup ## regenerate every generated page
	@$(VENV)/python docs/generate.py

site: setup ## build the site of the documentation into build/site
	@$(VENV)/sphinx-build -W --keep-going -q -b html docs build/site
	@echo "build/site/index.html"

publishing: setup ## write the release notes, the krew plugin, and the SchemaStore entries into build/release (REPOSITORY=URL)
	@$(VENV)/python docs/publishing.py --notes --home $(REPOSITORY) --to build/release

dist: setup ## build wheel and source archive into dist/
	@rm -rf dist
	@$(VENV)/python -m hatchling build --directory dist

tables: setup ## make the CEL parser's tables again, after a change of its grammar
	@$(VENV)/python -m dra_planner.cel.syntax.grammar

docs-check: docs site ## fail when a generated page was not fresh, or the site does not build
	@git diff --exit-code --stat -- docs components || \
		(echo "generated pages are stale: run make docs and commit" >&2; exit 1)

check: lint types docs-check journeys test ## what CI runs

conformance: setup ## run upstream Kubernetes' own code on the same cases, of one minor version with MINOR=36 (long)
	@$(VENV)/python conformance/run.py $(if $(SAMPLE),--sample) $(if $(MINOR),--minor $(MINOR))

referee: setup ## compare sizing and placing with searches that try everything, COUNT random fleets of each family (long)
	@$(VENV)/python tests/planner/sizing/test_against_referee.py $(or $(COUNT),2000)
	@PLACINGS=200 $(VENV)/python -m pytest -q tests/planner/portfolio/test_placing.py

bench: setup ## speed, as ratios within one run
	@for file in tests/bench/bench_*.py; do echo "== $$file"; $(VENV)/python $$file || exit 1; done

.PHONY: help setup tools planes demo test journeys fast coverage news lint types docs site dist tables docs-check check conformance referee bench
