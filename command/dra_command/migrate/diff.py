"""The changes of a migrated file as a unified diff that `patch -p1` and `git apply` can apply."""

from __future__ import annotations

from difflib import unified_diff as diff_lines

from dra_planner.migration import MigratedFile

_NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(file: MigratedFile) -> str:
    """Return the diff of one file, or "" if the file doesn't change."""
    name = file.source.name.removeprefix("/")
    before, after = (text.splitlines(keepends=True) for text in (file.source.text, file.text))
    old = f"a/{name}" if before else "/dev/null"  # a new file
    lines = diff_lines(before, after, old, f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)
