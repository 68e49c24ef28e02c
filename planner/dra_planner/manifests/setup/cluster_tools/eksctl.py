"""Configuration of eksctl.

Source: eksctl-io/eksctl:pkg/apis/eksctl.io/v1alpha5.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import (
    command_findings,
    items,
    place_of,
)
from dra_planner.manifests.setup.command_rows import CommandLine
from dra_planner.manifests.workloads.kind_description import ObjectPart


def eksctl_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings that the equivalent options of eksctl's commands would cause
    (eksctl-io/eksctl:pkg/apis/eksctl.io/v1alpha5).
    """
    root = ObjectPart(item.data, item.place)
    options = {"--version": (str(root.get("metadata.version", "")),)}
    if root.get("autoModeConfig.enabled") is True:
        options["--enable-auto-mode"] = ("true",)
    place = place_of(item, "metadata")
    yield from command_findings(
        item, place, CommandLine(program="eksctl", words=("create", "cluster"), options=options)
    )
    for key in ("managedNodeGroups", "nodeGroups"):
        for _, group in root.at(key).members():
            given: dict[str, tuple[str, ...]] = {
                "--install-nvidia-plugin": ("false",)
            }  # an option of the command, not a field of the file
            machines = [group.get("instanceType", ""), *items(group.get("instanceTypes"))]
            given["--node-type"] = tuple(map(str, machines))
            given["--node-ami-family"] = (str(group.get("amiFamily", "")),)
            command = CommandLine(program="eksctl", words=("create", "nodegroup"), options=given)
            yield from command_findings(item, group.place, command)
