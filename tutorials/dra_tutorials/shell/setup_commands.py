"""Find settings that are incompatible with claims in commands that create clusters or nodes, or
that install software.

Each row of the table `command_rows` describes a setting that a command must or must not contain
(docs/tables.md describes the columns). The function that checks values files also checks values of
the NVIDIA driver's chart in commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.clouds import cloud, names
from dra_planner.drivers.nvidia.chart_values import release_faults, value_faults
from dra_planner.manifests.setup.chart_objects import CHART
from dra_planner.manifests.setup.command_rows import CommandLine, RowFinding, broken_rows
from dra_tutorials.shell.command_lines import read_command_lines
from dra_tutorials.shell.helm_options import helm_faults

_SET: Final = "--set|--set-string|--set-json"
_OPERATOR: Final = "gpu-operator"


def findings_of_command(text: str, page: str) -> Iterator[RowFinding]:
    """Yield the settings in a shell command that are incompatible with claims. `page` is the text
    of the whole file.
    """
    for command in read_command_lines(text):
        yield from broken_rows(command, page)
        if command.program == "helm":
            yield from helm_faults(command)
            yield from _driver_chart(command, page)


def _driver_chart(command: CommandLine, page: str) -> Iterator[RowFinding]:
    """Yield the values in a command that the NVIDIA driver's chart rejects or ignores."""
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
            continue  # the file may set this value, and another finding reports disabled GPUs
        code = "value-refused" if fault.is_refused else "value-does-nothing"
        fix = (
            "add --set gpuResourcesEnabledOverride=true" if fault.key == "resources" else fault.fix
        )
        yield "error" if fault.is_refused else "warning", code, fault.message, fix
    namespace = command.values("-n|--namespace")
    if (not namespace or namespace[0] == "default") and not (
        has_file or values.get("allowDefaultNamespace")
    ):
        message = 'the chart can\'t be installed in the "default" namespace'
        yield (
            "error",
            "value-refused",
            message,
            "add --namespace nvidia-dra-driver-gpu --create-namespace",
        )
    if not has_file:
        yield from _driver_root(str(values.get("nvidiaDriverRoot", "/")), page)
        yield from _controller(command, values, page)


def _controller(
    command: CommandLine, values: Mapping[str, object], page: str
) -> Iterator[RowFinding]:
    """Yield a finding if the chart's controller requires a control plane node, but the cloud
    doesn't expose one.

    Source: kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/values.yaml@v25.3.2 to v0.4.1.
    """
    is_old = any(value.lstrip("v").startswith("25.") for value in command.values("--version"))
    needs_one = _at(values, "resources.computeDomains.enabled") is not False and not any(
        key.startswith("controller.affinity")
        for text in command.values(_SET)
        for key in text.split(",")
    )
    if is_old and needs_one and any(_is_made_on(name, page) for name in names()):
        message = (
            "the driver's controller requires a control plane node, but managed clusters don't "
            "expose one, so the controller stays pending"
        )
        fix = (
            "add --set resources.computeDomains.enabled=false, or --set controller.affinity=null "
            "for ComputeDomains"
        )
        yield "warning", "driver-controller-has-no-node", message, fix


def _is_made_on(name: str, page: str) -> bool:
    """Return whether a page contains a command that creates a cluster or nodes in a cloud."""
    begins = (r"\s+".join(begin.split()) for begin in cloud(name).commands)
    return any(re.search(rf"\b{begin}\s", page) for begin in begins)


def _driver_root(root: str, page: str) -> Iterator[RowFinding]:
    """Yield a finding if nvidiaDriverRoot isn't the folder of the NVIDIA driver on the page's
    nodes.
    """
    if _OPERATOR in page and "driver.enabled=false" not in page:
        expected, who = "/run/nvidia/driver", "the GPU Operator installs the driver in"
    elif own := [
        cloud(name)
        for name in names()
        if cloud(name).driver_root != "/" and _is_made_on(name, page)
    ]:
        expected, who = own[0].driver_root, f"on {own[0].title} nodes, the driver is in"
    elif root == "/run/nvidia/driver":
        expected, who = "/", "without the GPU Operator's driver, the nodes' driver is in"
    else:
        return
    if root.rstrip("/") != expected.rstrip("/"):
        message = (
            f"nvidiaDriverRoot is {root}, but {who} {expected}, so the DRA driver's pods wait "
            "forever for the driver"
        )
        fix = (
            "remove nvidiaDriverRoot"
            if expected == "/"
            else f"use --set nvidiaDriverRoot={expected}"
        )
        yield "error", "driver-root-wrong", message, fix


def _values(command: CommandLine) -> dict[str, object]:
    """Return the values that `--set a.b=c,d=e` sets as a tree, in which lists are mappings from
    index to item.
    """
    tree: dict[str, object] = {}
    for text in command.values(_SET):
        for part in re.split(r"(?<!\\),(?=[\w.\[\]-]+=)", text):
            path, equals, value = part.partition("=")
            if equals:
                _put(tree, re.split(r"(?<!\\)\.", path.strip()), value)
    return tree


def _at(tree: Mapping[str, object], path: str) -> object:
    """Return the value at a dotted path, or None if there is no value."""
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
