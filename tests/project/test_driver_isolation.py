"""Names that drivers publish are only in `drivers/`, its tables, and the folders of the
components.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from dra_planner.drivers import every_driver

PROJECT = Path(__file__).parents[2]
CODE = ("planner", "policies", "command", "components", "sandbox", "tutorials", "__main__.py")
OF_A_DRIVER = (
    "planner/dra_planner/drivers/",
    *(f"components/pulumi_dra/dra/{each.name}/" for each in every_driver()),
)
EXAMPLES = {
    # manifests that the page about older APIs shows
    "planner/dra_planner/manifests/rewriting/replacement_examples.py",
    "command/dra_command/init/starter_files.py",  # the first manifests of a new project
}
"""Files with whole manifests as text, for people to start from or to read."""
DOMAINS = (*(domain for each in every_driver() for domain in each.domains), "mig.nvidia.com")
WORD = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(DOMAINS, key=len, reverse=True)))})(?![\w-])"
)


def literals(tree: ast.AST) -> list[tuple[int, str]]:
    """Return each text of a module with its line, including parts of f-strings, but no
    docstrings.
    """
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in statements
    ]


def test_no_module_names_a_slice_driver() -> None:
    found: list[str] = []
    for place in CODE:
        path = PROJECT / place
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            name = str(file.relative_to(PROJECT))
            if name.startswith(OF_A_DRIVER) or name in EXAMPLES:
                continue
            named = literals(ast.parse(file.read_text(encoding="utf-8")))
            found += [f"{name}:{line}: {text[:80]!r}" for line, text in named if WORD.search(text)]
    assert found == []


def test_every_exception_is_needed() -> None:
    for name in EXAMPLES:
        assert any(
            WORD.search(text)
            for _, text in literals(ast.parse((PROJECT / name).read_text(encoding="utf-8")))
        )


def test_search_finds_driver_names_in_code_only() -> None:
    sample = (
        'def f(x):\n    """On gpu.nvidia.com."""\n    return x == "gpu.nvidia.com/uuid" or '
        'f"a {x} dra.net"\n'
    )
    assert [text for _, text in literals(ast.parse(sample)) if WORD.search(text)] == [
        "gpu.nvidia.com/uuid",
        " dra.net",
    ]
