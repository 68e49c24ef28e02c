"""Find Helm commands that Helm rejects, regardless of the chart.

Source: helm/helm:cmd/helm/{install,upgrade}.go@v3.19.0 (arguments, and which command has
--install).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.errors import Severity
from dra_planner.manifests.setup.command_rows import CommandLine

_PLAIN: Final = re.compile(r"(?!\.+$)[\w./:@-]+")
_MOST: Final = 2  # arguments of install and upgrade: the release and the chart


def helm_faults(command: CommandLine) -> Iterator[tuple[Severity, str, str, str]]:
    """Yield the reasons why Helm rejects a command, each as severity, code, message, and fix."""
    word = command.words[0] if command.words else ""
    option = next((name for name in ("--install", "-i") if name in command.options), "")
    if option and word != "upgrade":
        what = f"`helm {word}`" if word == "install" else "helm"
        fix = (
            f"remove {option}, or use `helm upgrade --install`"
            if word == "install"
            else "use `helm upgrade --install`"
        )
        message = f"{what} doesn't have the option {option}, which only `helm upgrade` has"
        yield "error", "option-unknown", message, fix
    given = command.words[1:]
    if word in ("install", "upgrade") and len(given) > _MOST and all(map(_PLAIN.fullmatch, given)):
        message = (
            f"helm {word} accepts only a release name and a chart, but the command contains "
            f"{len(given)} arguments: {' '.join(given)}"
        )
        yield (
            "error",
            "command-refused",
            message,
            "set the namespace with --namespace, and remove the additional arguments",
        )
