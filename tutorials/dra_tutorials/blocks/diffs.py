"""The text that results from a diff on a page: added and unchanged lines at their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_planner.documents.yaml_reader import Fault, read_yaml

_SIGNS: Final = (" ", "+", "-", "\\")
_HEADS: Final = ("diff ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ")


def after_diff(lines: Sequence[str]) -> list[str]:
    """Return the lines after applying the diff. Removed lines and header lines become empty.

    All lines are empty if the result isn't valid YAML, or if the diff covers only parts of a file
    (`@@`), because the text between the parts is unknown. On pages, unchanged lines may lack the
    leading space of a diff. In that case, added lines are tried with and without a leading space.
    """
    if any(line.startswith("@@") for line in lines):
        return [""] * len(lines)
    if all(line.startswith((*_SIGNS, *_HEADS)) for line in lines if line.strip()):
        ways = [["" if line.startswith((*_HEADS, "-", "\\")) else line[1:] for line in lines]]
    else:
        ways = [[_without_sign(line, sign) for line in lines] for sign in ("", " ")]
    return next(filter(_is_yaml, ways), [""] * len(lines))


def _without_sign(line: str, instead: str) -> str:
    if line.startswith((*_HEADS, "\\")) or (line.startswith("-") and not line.startswith("---")):
        return ""
    return f"{instead}{line[1:]}" if line.startswith("+") else line


def _is_yaml(lines: Sequence[str]) -> bool:
    try:
        for document in "\n".join(lines).split("\n---"):
            read_yaml(document)
    except Fault:
        return False
    return True
