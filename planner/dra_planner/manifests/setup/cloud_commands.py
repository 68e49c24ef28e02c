"""Commands that make clusters and nodes, or install what runs there: what of them does not go with claims.

Each row of the table `command_rows` is one thing that a command should not say, or should: its columns are told in
docs/tables.md. Values of the NVIDIA driver's chart are judged by the function that judges values files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from dra_planner.catalog import machines
from dra_planner.catalog.chart_values import release_faults, value_faults
from dra_planner.catalog.tables import read_table
from dra_planner.clouds import cloud, names
from dra_planner.errors import Severity
from dra_planner.manifests.setup.chart_objects import CHART
from dra_planner.manifests.setup.command_lines import CommandLine, read_command_lines
from dra_planner.manifests.setup.helm_commands import helm_faults
from dra_planner.releases import MINIMUM_MINOR

_MACHINE_OPTIONS: Final = "--node-type|-t|--instance-types|--machine-type|--node-vm-size|-s"
_MINOR: Final = re.compile(r"(?:^|[:v])1\.(\d+)(?:\D|$)")
_SET: Final = "--set|--set-string|--set-json"
_OPERATOR: Final = "gpu-operator"
Told = tuple[Severity, str, str, str]  # severity, code, message, fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table, in the words of its columns."""

    code: str
    severity: Severity
    program: str
    words: str
    nodes: str
    option: str
    wrong: str
    value: str
    when: str
    unless: str
    says: str
    fix: str


def findings_of_command(text: str, page: str) -> Iterator[Told]:
    """Yield what a line of a shell says that does not go with claims; `page` is the whole text it stands in."""
    for command in read_command_lines(text):
        yield from broken_rows(command, page)
        if command.program == "helm":
            yield from helm_faults(command)
            yield from _driver_chart(command, page)


def broken_rows(command: CommandLine, page: str) -> Iterator[Told]:
    """Yield what the rows of the table say of one command."""
    for row in _rows_of(command.program):
        wrong = _JUDGES[row.wrong](row, command) if _is_about(row, command, page) else None
        if wrong is None:
            continue
        severity, says, fix = row.severity, row.says.format(value=wrong), row.fix.format(minimum=f"1.{MINIMUM_MINOR}")
        files = command.values("-f|--values") if row.program == "helm" else ()
        if files:
            severity, says = "note", f"{says}, unless {', '.join(files)} says otherwise"
        yield severity, row.code, says, fix


@cache
def _rows_of(program: str) -> tuple[Row, ...]:
    columns = Row.__annotations__
    rows = ({name: each[name] for name in columns} for each in read_table("command_rows"))
    return tuple(Row(**each) for each in rows if each["program"] == program)  # type: ignore[arg-type]  # severity is one


def _is_about(row: Row, command: CommandLine, page: str) -> bool:
    words = row.words.split()
    return (
        list(command.words[: len(words)]) == words
        and (not row.nodes or _makes_gpu_nodes(command))
        and (not row.when or re.search(row.when, page) is not None)
        and (not row.unless or re.search(row.unless, page) is None)
    )


def _makes_gpu_nodes(command: CommandLine) -> bool:
    """Whether a command makes nodes with GPUs: it attaches some, or names a machine that has them."""
    if any("nvidia" in value for value in command.values("--accelerator")):
        return True
    named = [name for value in command.values(_MACHINE_OPTIONS) for name in re.split(r"[,\s]+", value)]
    return any(name in _gpu_machines() for name in named)


@cache
def _gpu_machines() -> frozenset[str]:
    found = (machine for name in names() for machine in machines(name))
    return frozenset(
        each.name for each in found if each.accelerator is not None and each.accelerator.vendor == "nvidia"
    )


def _is(row: Row, command: CommandLine) -> str | None:
    return next((value for value in command.values(row.option) if value == row.value), None)


def _matches(row: Row, command: CommandLine) -> str | None:
    values = command.values(row.option) if row.option else command.words[len(row.words.split()) :]
    return next((value for value in values if re.fullmatch(row.value, value)), None)


def _differs(row: Row, command: CommandLine) -> str | None:
    values = [value for value in command.values(row.option) if value and "$" not in value and "<" not in value]
    return next((value for value in values if not re.fullmatch(row.value, value)), None)


def _is_set(row: Row, command: CommandLine) -> str | None:
    values = command.values(row.option)
    return values[0] if values and values[0] != "false" else None


def _lacks(row: Row, command: CommandLine) -> str | None:
    values = [part for value in command.values(row.option) for part in re.split(r"[,\s]+", value)]
    return None if row.value in values or any("$" in value for value in values) else ""


def _older(row: Row, command: CommandLine) -> str | None:
    for value in command.values(row.option):
        found = _MINOR.search(value)
        if found is not None and int(found[1]) < MINIMUM_MINOR:
            return f"1.{found[1]}"
    return None


def _chart(row: Row, command: CommandLine) -> str | None:
    wanted = re.compile(rf"(?:^|/){re.escape(row.value)}(?:[:@-].*)?$")
    return next((word for word in command.words[1:] if wanted.search(word)), None)


_JUDGES: Final[dict[str, Callable[[Row, CommandLine], str | None]]] = {
    "is": _is,
    "matches": _matches,
    "differs": _differs,
    "set": _is_set,
    "lacks": _lacks,
    "older": _older,
    "chart": _chart,
    "always": lambda row, command: "",
}


def _driver_chart(command: CommandLine, page: str) -> Iterator[Told]:
    """Yield what the NVIDIA driver's chart refuses or ignores of the values that a command sets."""
    if command.words[:1] not in (("install",), ("upgrade",), ("template",)):
        return
    if not any(CHART.search(word) for word in command.words[1:]):
        return
    values = _values(command)
    has_file = bool(command.values("-f|--values")) or "--reuse-values" in command.options
    without_gpus = _at(values, "resources.gpus.enabled") is False
    releases = (*command.values("--version"), "")
    for fault in (*value_faults(values), *release_faults(releases[0], values.get("featureGates"))):
        if fault.key == "resources" and (has_file or without_gpus):
            continue  # the file may say it; that GPUs are left out is told by itself
        code = "value-refused" if fault.is_refused else "value-does-nothing"
        fix = "add --set gpuResourcesEnabledOverride=true" if fault.key == "resources" else fault.fix
        yield "error" if fault.is_refused else "warning", code, fault.message, fix
    namespace = command.values("-n|--namespace")
    if (not namespace or namespace[0] == "default") and not (has_file or values.get("allowDefaultNamespace")):
        message = "the chart refuses to be installed into the namespace default"
        yield "error", "value-refused", message, "add --namespace nvidia-dra-driver-gpu --create-namespace"
    if not has_file:
        yield from _driver_root(str(values.get("nvidiaDriverRoot", "/")), page)
        yield from _controller(command, values, page)


def _controller(command: CommandLine, values: Mapping[str, object], page: str) -> Iterator[Told]:
    """Yield the controller of charts that require a node of the control plane, on clouds that show none.

    Source: kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/values.yaml@v25.3.2 to v0.4.1.
    """
    is_old = any(value.lstrip("v").startswith("25.") for value in command.values("--version"))
    needs_one = _at(values, "resources.computeDomains.enabled") is not False and not any(
        key.startswith("controller.affinity") for text in command.values(_SET) for key in text.split(",")
    )
    if is_old and needs_one and any(_is_made_on(name, page) for name in names()):
        message = "the driver's controller requires a node of the control plane, and managed clusters show none"
        fix = "add --set resources.computeDomains.enabled=false, or --set controller.affinity=null for ComputeDomains"
        yield "warning", "driver-controller-has-no-node", message, fix


def _is_made_on(name: str, page: str) -> bool:
    """Whether a page has a command that makes a cluster or nodes of a cloud."""
    begins = (r"\s+".join(begin.split()) for begin in cloud(name).commands)
    return any(re.search(rf"\b{begin}\s", page) for begin in begins)


def _driver_root(root: str, page: str) -> Iterator[Told]:
    """Yield a root below which the nodes that the page makes have no NVIDIA driver."""
    if _OPERATOR in page and "driver.enabled=false" not in page:
        expected, who = "/run/nvidia/driver", "the GPU Operator's driver is"
    elif own := [cloud(name) for name in names() if cloud(name).driver_root != "/" and _is_made_on(name, page)]:
        expected, who = own[0].driver_root, f"{own[0].title}'s nodes have the NVIDIA driver"
    elif root == "/run/nvidia/driver":
        expected, who = "/", "without the GPU Operator's driver the nodes have it"
    else:
        return
    if root.rstrip("/") != expected.rstrip("/"):
        message = f"nvidiaDriverRoot is {root}, and {who} below {expected}: the driver's pods wait for it"
        fix = "leave nvidiaDriverRoot out" if expected == "/" else f"write --set nvidiaDriverRoot={expected}"
        yield "error", "driver-root-wrong", message, fix


def _values(command: CommandLine) -> dict[str, object]:
    """Return the values that `--set a.b=c,d=e` sets, as a tree; items of lists as mappings by number."""
    tree: dict[str, object] = {}
    for text in command.values(_SET):
        for part in re.split(r"(?<!\\),(?=[\w.\[\]-]+=)", text):
            path, equals, value = part.partition("=")
            if equals:
                _put(tree, re.split(r"(?<!\\)\.", path.strip()), value)
    return tree


def _at(tree: Mapping[str, object], path: str) -> object:
    """Return what stands at a dotted path, None where nothing does."""
    here: object = tree
    for name in path.split("."):
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def _put(tree: dict[str, object], path: list[str], value: str) -> None:
    *parents, last = path
    for name in parents:
        below = tree.setdefault(name.partition("[")[0], {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[last] = {"true": True, "false": False}.get(value, value)
