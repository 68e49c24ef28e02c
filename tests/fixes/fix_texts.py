"""Every text of the code that says what would fix something, found in the sources; {} stands for parts of f-strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("planner", "command", "policies")
POSITIONS = {  # where the fix stands among the arguments of a call
    "Diagnostic": 4, "ConfigFault": 1, "ValueFault": 2, "FlagFault": 3, "Fault": 2, "Remark": 3, "SelectorRefusal": 1,
    "_reject": 2,
}  # fmt: skip
NO_FIXES = {"quantity.py", "plan_html.py", "check_github.py", "arguments.py"}
"""Modules in which a name with "fix" is something else: a suffix, a piece of a page, an argument of argparse."""
TABLES = {"_TEXTS", "_MOVED", "_FIXES", "IGNORED"}
GENERAL = {"Rule"}
"""Rules have a sentence for the page of all rules beside the fix of each finding."""


def fix_texts() -> dict[str, str]:
    """Return every fix text with the file where it stands first."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name in NO_FIXES:
                continue
            for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
                if re.search(r"[A-Za-z]{2}", text):
                    found.setdefault(text, str(path.relative_to(ROOT)))
    return found


def pattern_of(text: str) -> re.Pattern[str]:
    """Return what a fix matches that was made from a text: anything may stand for its parts."""
    return re.compile(".*?".join(re.escape(part) for part in text.split("{}")), re.DOTALL)


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for value in _values(node):
            yield from _leaves(value)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name not in GENERAL:
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "fix")
        at = POSITIONS.get(name)
        if at is not None and len(node.args) > at:
            yield node.args[at]
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield from _assigned(node.target, node.value)
    elif isinstance(node, ast.FunctionDef) and re.search(r"(?<!pre)(?<!suf)fix", node.name):
        yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id in ("fix", "_FIX", "_EXAMPLE"):
        yield value
    elif isinstance(target, ast.Name) and target.id in TABLES:
        if isinstance(value, ast.Dict):
            yield from value.values
        elif isinstance(value, ast.Tuple):
            yield from (row.elts[1] for row in value.elts if isinstance(row, ast.Tuple) and len(row.elts) > 1)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for name, part in zip(target.elts, value.elts, strict=False):
            if isinstance(name, ast.Name) and name.id == "fix":
                yield part


def _leaves(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]
    elif isinstance(node, ast.IfExp):
        yield from _leaves(node.body)
        yield from _leaves(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _leaves(value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
