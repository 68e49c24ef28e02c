"""The layout of the packages in `docs/architecture.md`: each folder with the first sentence of its
docstring.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = "docs/architecture.md"
PACKAGES = (
    "planner/dra_planner",
    "policies/dra_policies",
    "command/dra_command",
    "components/pulumi_dra",
    "sandbox/dra_sandbox",
    "tutorials/dra_tutorials",
)
_BEGIN, _END = "<!-- layout: `make docs` writes it -->\n", "<!-- end of layout -->"


def page() -> str:
    """Return the page with the current layout of the packages."""
    before, _, rest = (ROOT / PAGE).read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{layout()}\n{_END}{after}"


def layout() -> str:
    """Return a table per package: its folders, and what they contain."""
    return "\n".join(_table(ROOT / package) for package in PACKAGES)


def _table(package: Path) -> str:
    folders = sorted(path.parent for path in package.glob("*/__init__.py"))
    rows = [f"| `{folder.name}/` | {_first_sentence(folder)} |" for folder in folders]
    title = f"### {package.relative_to(ROOT).as_posix()}"
    return "\n".join([title, "", "| Folder | Contents |", "|---|---|", *rows, ""])


def _first_sentence(folder: Path) -> str:
    module = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    text = " ".join((ast.get_docstring(module) or "").split("\n\n")[0].split())
    sentence = re.match(r".*?[.](?= |$)", text)
    assert sentence, f"{folder}/__init__.py has no docstring"
    return sentence[0].rstrip(".").replace("|", "\\|")
