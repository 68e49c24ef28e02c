"""The line of requirements.txt that installs this package for all stacks of a project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dra_command.command_line.installation import with_extras

_OURS: Final = re.compile(
    r"(?P<name>pulumi[-_.]dra|\S*pulumi_dra-\S+?\.whl)(?:\s*\[(?P<extras>[^\]]*)\])?"
    r"(?P<source>|[\s=@<>~!;].*)",
    re.IGNORECASE,
)


def installs_this_package(text: str) -> bool:
    """Return whether a line of a requirements file installs this package."""
    return any(map(_OURS.fullmatch, text.splitlines()))


def add_requirement(text: str, source: str, extras: Iterable[str], *, replaces: bool) -> str:
    """Return requirements that install this package with extras. If a line already installs this
    package, it gets the extras that it lacks and, with `replaces`, the new source, because pip
    rejects two sources of one package.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = _OURS.fullmatch(line)
        if found is None:
            continue
        listed = [each.strip() for each in (found["extras"] or "").split(",") if each.strip()]
        wanted = list(dict.fromkeys((*listed, *extras)))
        if replaces:
            lines[number] = with_extras(source, wanted)
        elif wanted != listed:
            lines[number] = f"{found['name']}[{','.join(wanted)}]{found['source']}"
        break
    else:
        lines.append(with_extras(source, list(extras)))
    return "".join(f"{line}\n" for line in lines)
