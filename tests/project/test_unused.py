"""Code in the packages is used by the packages: code that only tests call is dead."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
SHIPPED = (
    "planner",
    "policies",
    "command",
    "components",
    "sandbox",
    "tutorials",
    "docs",
    "conformance",
    "examples",
    "__main__.py",
)
CALLED_BY_NAME = (
    "planner/dra_planner/cel/syntax/builder.py",  # a method per rule of the grammar
    "sandbox/dra_sandbox/clouds/kubernetes/provider.py",  # the methods of Pulumi's protocol
    "sandbox/dra_sandbox/clouds/simulated_cloud.py",
    "sandbox/dra_sandbox/language_host/host.py",
)
SETTINGS_OF_SPHINX = "docs/conf.py"
ENTRIES = {
    "size_pools": "sizing alone, for who has offers and no fleet",
    "requested_to_capacity_ratio": "a profile of the scheduler, for who simulates",
    "predicted_nodes": "nodes to simulate on, for who simulates",
    "retire": "a controller that is deleted while a simulation runs",
    "import_resources": "an operation of the engine",
    "pass_time": "the clock of the simulated clouds, for who lets time pass",
    "refresh": "an operation of the engine",
    "package_schema": "an operation of the engine",
    "check_all": "the rules on a view, for who has one",
    "recorded_minors": "asked by the test that no minor is forgotten",
    "dask_setup": "called by Dask in each worker that it starts",
    "spot_history": "a table of the catalogue that no verdict rests on",
}
CONSTANTS = {
    "TEXT_ON": "the pairs of colours whose contrast is tested",
    "LINES_ON": "the pairs of colours whose contrast is tested",
    "METRICS": "what the alerts may read, which is tested",
}
# methods that a base class calls
OVERRIDES = {
    "ignore_aliases",
    "has_validation",
    "has_remediation",
    "remediate",
    "new_resource",
    "_fill_text",
    "_split_lines",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for place in SHIPPED:
        found = PROJECT / place
        for file in [found] if found.is_file() else sorted(found.rglob("*.py")):
            yield str(file.relative_to(PROJECT)), ast.parse(file.read_text(encoding="utf-8"))


def constants(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a module's constants."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (
            each.id
            for each in targets
            if isinstance(each, ast.Name) and not each.id.startswith("__")
        )


def names_used(tree: ast.AST) -> Iterator[str]:
    """Yield each name that is read, called, or passed; an import alone is not a use."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Load()):
                yield node.id
            case ast.Attribute():
                yield node.attr
            case ast.keyword(arg=str(name)):
                yield name
            case ast.ImportFrom():
                yield from (
                    alias.name for alias in node.names if alias.asname not in (None, alias.name)
                )


def definitions(tree: ast.AST) -> Iterator[str]:
    """Yield functions, methods, and classes, except for special methods and those that a decorator
    registers.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            handed_on = "validator" in decorators or "serializer" in decorators
            if not node.name.startswith("__") and not handed_on:
                yield node.name


def unused(trees: list[tuple[str, ast.Module]]) -> list[str]:
    used = Counter(name for _, tree in trees for name in names_used(tree))
    return [
        f"{path}: {name}"
        for path, tree in trees
        if path not in CALLED_BY_NAME
        for name in [*definitions(tree), *(constants(tree) if path != SETTINGS_OF_SPHINX else ())]
        if not used[name] and name not in OVERRIDES
    ]


def test_all_shipped_code_is_used() -> None:
    found = [
        each
        for each in unused(list(modules()))
        if each.rpartition(" ")[2] not in ENTRIES.keys() | CONSTANTS.keys()
    ]
    assert found == []


def test_search_finds_unused_functions_methods_and_constants() -> None:
    sample = (
        "def used(): pass\ndef dead(): pass\nclass Kept:\n    def method(self): "
        "used()\nKept()\nREAD = 1\nLEFT = READ\n"
    )
    found = ["sample.py: dead", "sample.py: method", "sample.py: LEFT"]
    assert unused([("sample.py", ast.parse(sample))]) == found
