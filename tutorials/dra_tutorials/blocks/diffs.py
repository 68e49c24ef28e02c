"""What a diff of a page makes of a file: its added lines and those that stay, each where it
stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_planner.documents.yaml_reader import Fault, read_yaml

_SIGNS: Final = (" ", "+", "-", "\\")
_HEADS: Final = ("diff ", "index ", "--- ", "+++ ", "new file mode ", "deleted file mode ")


def after_diff(lines: Sequence[str]) -> list[str]:
    """Return the lines as they are when the diff is applied; those that go, and those of its head,
    are empty.

    All are empty where that is no YAML, or where the diff is of parts of a file (`@@`): what stands
    between them is not known. Lines that stay may lack their sign, as pages write them; what is
    added then stands where it can be read.
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
