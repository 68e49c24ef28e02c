"""Findings on fields of a configuration file: feature gates, API versions, and findings of the
equivalent command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import child
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.command_rows import CommandLine, broken_rows
from dra_planner.manifests.setup.gates_and_versions import FlagFault, gate_faults

_FIELDS: Final = {
    "--node-ami-family": "amiFamily",
    "--kubernetes-version": "kubernetesVersion",
    "--version": "metadata.version",
    "remove --enable-auto-mode": "remove autoModeConfig",
}
"""Options in the fixes of commands, and the equivalent fields."""


def gate_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on the gates in `featureGates`."""
    for name, value in pairs(item.data.get("featureGates")):
        yield from fault_findings(item, place_of(item, "featureGates"), gate_faults(name, value))


def command_findings(
    item: KubernetesObject, place: Place, command: CommandLine
) -> Iterator[Diagnostic]:
    """Yield the findings of the equivalent command, with the names of the file's fields."""
    for severity, code, message, fix in broken_rows(command, ""):
        for option, field in _FIELDS.items():
            fix = (
                fix.replace(option, field)
                if " " in option
                else fix.replace(f"{option} ", f"{field}: ")
            )
        yield Diagnostic(severity, code, f"{item}: {message}", place, fix)


def fault_findings(
    item: KubernetesObject, place: Place, faults: Iterator[FlagFault]
) -> Iterator[Diagnostic]:
    for fault in faults:
        yield Diagnostic(
            fault.severity,
            fault.code,
            f"{item.kind} {item.name}".rstrip() + f": {fault.message}",
            place,
            fault.fix,
        )


def pairs(data: Any) -> Iterator[tuple[str, str]]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield str(name), str(value).lower()


def place_of(item: KubernetesObject, key: str) -> Place:
    return child(item.place, item.data, key) if key in item.data else item.place


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
