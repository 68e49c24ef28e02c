"""Facts about one cloud are only in its module, its components, and its simulated provider."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from dra_planner.clouds import cloud, names

PROJECT = Path(__file__).parents[2]
CODE = (
    "planner",
    "policies",
    "command",
    "components",
    "sandbox",
    "tutorials",
    "conformance",
    "docs",
    "examples",
    "__main__.py",
)
OF_A_CLOUD = (
    "planner/dra_planner/clouds/",
    "sandbox/dra_sandbox/clouds/",
    *(f"components/pulumi_dra/{name}/" for name in names()),
    *(f"examples/components/{name}.py" for name in names()),
    "conformance/api_values/",  # the tables of the clouds' SDKs
    "conformance/provider_schemas/",  # the schemas of their providers
    "conformance/karpenter/",  # the tables of Karpenter's AWS provider
)
WORD = re.compile(rf"(?<![\w-])({'|'.join(names())})(?![\w-])")


def files() -> Iterator[Path]:
    for place in CODE:
        found = PROJECT / place
        for file in [found] if found.is_file() else sorted(found.rglob("*.py")):
            if not str(file.relative_to(PROJECT)).startswith(OF_A_CLOUD):
                yield file


def literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each text of a module with its line, including parts of f-strings, but no
    docstrings.
    """
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in statements
        ):
            yield node.lineno, node.value


OF_OTHERS = (
    "deploy/eks/dra.rst",  # a file of the Neuron SDK
    "/etc/eks/bootstrap.sh",  # a program of Amazon Linux 2, in boot scripts that users write
    "docs.aws.amazon.com/eks/",  # pages that rules link to
    "configmanagement.gke.io",  # API groups of objects without workload pods
    "configsync.gke.io",
    "gkebackup.gke.io",
    "ha.gke.io",
    "networking.gke.io",
    "gke.io/optimize-utilization-scheduler",  # a scheduler, by its name in pods
)
"""Names that others gave, which say nothing of a cloud here."""


def without(names_of_others: tuple[str, ...], text: str) -> str:
    for name in names_of_others:
        text = text.replace(name, "")
    return text


def test_no_module_names_a_cloud() -> None:
    named = [
        f"{file.relative_to(PROJECT)}:{line}: {text[:80]!r}"
        for file in files()
        for line, text in literals(ast.parse(file.read_text()))
        if WORD.search(without(OF_OTHERS, text))
    ]
    assert named == []


def test_no_module_contains_a_clouds_label_or_resource() -> None:
    clouds = [cloud(name) for name in names()]
    tokens = {token for each in clouds for token in (each.pool.token, each.cluster.token)}
    labels = {each.no_device_plugin_label for each in clouds} - {""}
    found = [
        f"{file.relative_to(PROJECT)}:{line}: {text!r}"
        for file in files()
        for line, text in literals(ast.parse(file.read_text()))
        if text in tokens | labels
    ]
    assert found == []


def test_search_finds_cloud_names_in_code_only() -> None:
    sample = 'def f(x):\n    """On gke."""\n    return x == "gke" or f"a.{x}.eks" or "eks-dev"\n'
    assert [text for _, text in literals(ast.parse(sample)) if WORD.search(text)] == ["gke", ".eks"]


LINES_FOR_AKS = {
    # the list of clouds, and the lazy names for type checkers
    "components/pulumi_dra/__init__.py": 4,
    "components/requirements.txt": 2,
    "tutorials/dra_tutorials/blocks/embedded.py": 2,  # how Microsoft's pages fence shell commands
    "pyproject.toml": 7,
    # Names of other APIs: volume types of Kubernetes, and groups of objects without workload pods.
    "planner/dra_planner/manifests/workloads/known_kinds.py": 2,
    "planner/dra_planner/manifests/validation/pods/volumes.py": 4,
}
"""Lines that a cloud costs outside its folders, tables, tests and documents; docs/decisions/0011
says why.
"""
MADE = "components/pulumi_dra/platform/platform_options.py"


def test_a_cloud_needs_few_lines_in_other_modules() -> None:
    word = re.compile(r"\baks|azure|_aks\b", re.IGNORECASE)
    places = [
        PROJECT / each
        for each in ("planner", "policies", "command", "components", "sandbox", "tutorials")
    ]
    candidates = [
        file
        for place in places
        for file in place.rglob("*")
        if file.suffix in {".py", ".txt", ".yaml"}
    ]
    named: dict[str, int] = {}
    for file in [
        *candidates,
        PROJECT / "__main__.py",
        PROJECT / "pyproject.toml",
        PROJECT / "Makefile",
    ]:
        name = str(file.relative_to(PROJECT))
        lines = (
            file.read_text().splitlines()
            if name != MADE and not name.startswith(OF_A_CLOUD)
            else ()
        )
        if count := sum(bool(word.search(line)) for line in lines):
            named[name] = count
    assert named == LINES_FOR_AKS
