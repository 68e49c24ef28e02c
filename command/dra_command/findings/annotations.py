"""Workflow commands that GitHub Actions shows as annotations."""

from __future__ import annotations

from dra_command.findings.repository_paths import repository_path
from dra_command.pens.visible_text import visible
from dra_planner.errors import Diagnostic

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def annotation(each: Diagnostic, fleet_file: str = "") -> str:
    """Return the workflow command for one finding. A finding without a file belongs to the fleet
    file.
    """
    properties = {"title": each.code}
    if file := each.place.file or fleet_file:  # GitHub doesn't show annotations without a file
        properties["file"] = repository_path(file)
    if each.place.line:
        properties["line"] = str(each.place.line)
    listed = ",".join(
        f"{name}={_escape(visible(value), ':,')}" for name, value in sorted(properties.items())
    )
    path = f"{each.place.path}: " if each.place.path else ""
    lines = [visible(f"{path}{each.message}"), *([visible(each.fix)] if each.fix else [])]
    return f"::{_COMMANDS[each.severity]} {listed}::{_escape(chr(10).join(lines))}"


def _escape(text: str, more: str = "") -> str:
    """Escape text in the way that the runner unescapes it
    (actions/toolkit:packages/core/src/command.ts).
    """
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
