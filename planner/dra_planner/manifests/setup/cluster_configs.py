"""Configuration of clusters beside manifests, of kind and kubeadm to Kueue; gates and versions that do not work today.

Source: kubernetes-sigs/kind:pkg/apis/config/v1alpha4, kubernetes/kubernetes:cmd/kubeadm/app/apis/kubeadm/v1beta4,
kubernetes-sigs/kueue:pkg/features/kube_features.go@v0.19.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from dra_planner.documents.tree import child
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup import node_pools, scheduler_configs
from dra_planner.manifests.setup.chart_objects import KINDS, chart_findings
from dra_planner.manifests.setup.command_rows import CommandLine, broken_rows
from dra_planner.manifests.setup.flags import (
    FlagFault,
    faults_of_gates,
    faults_of_versions,
    gate_faults,
    version_faults,
)
from dra_planner.manifests.setup.plugin_sharing import sharing_in_config_map
from dra_planner.manifests.workloads.description import Node

KUEUE_CONFIG: Final = ("config.kueue.x-k8s.io", "Configuration")
_FIELDS: Final = {
    "--node-ami-family": "amiFamily",
    "--kubernetes-version": "kubernetesVersion",
    "--version": "metadata.version",
    "leave --enable-auto-mode out": "leave autoModeConfig out",
}
_PATCHED: Final = {"ClusterConfiguration": "kubeadm.k8s.io", "KubeletConfiguration": "kubelet.config.k8s.io"}
_COMPONENTS: Final = ("apiServer", "controllerManager", "scheduler")


def config_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield what of a cluster's configuration no longer works, or never did; nothing for other objects."""
    match (item.group, item.kind):
        case ("kind.x-k8s.io", "Cluster"):
            yield from _mapped(item, item.data.get("featureGates"), "featureGates", gate_faults)
            runtime = item.data.get("runtimeConfig")
            place = _at(item, "runtimeConfig")
            for name, value in _pairs(runtime):
                group, _, version = name.partition("/")
                if group == "resource.k8s.io":
                    yield from _told(item, place, version_faults(version, value))
            yield from _patches(Node(item.data, item.place))
            for _, node in Node(item.data, item.place).at("nodes").members():
                yield from _patches(node)
                command = CommandLine(
                    program="kind", words=("create", "cluster"), options={"--image": (str(node.get("image", "")),)}
                )
                found = _as_command(item, node.place, command)
                yield from found if _speaks_of_devices(item) else (replace(each, severity="warning") for each in found)
        case ("kubelet.config.k8s.io", "KubeletConfiguration"):
            yield from _mapped(item, item.data.get("featureGates"), "featureGates", gate_faults)
        case ("kubeadm.k8s.io", "ClusterConfiguration"):
            for component in _COMPONENTS:
                place = _at(item, component)
                for name, value in _arguments(item.data.get(component)):
                    if name == "feature-gates":
                        yield from _told(item, place, faults_of_gates(value))
                    elif name == "runtime-config":
                        yield from _told(item, place, faults_of_versions(value))
            release = str(item.data.get("kubernetesVersion", ""))
            command = CommandLine(program="kubeadm", words=("init",), options={"--kubernetes-version": (release,)})
            yield from _as_command(item, _at(item, "kubernetesVersion"), command)
        case ("eksctl.io", "ClusterConfig"):
            yield from _eksctl(item)
        case ("nvidia.com", "ClusterPolicy"):
            spec = Node(item.data, item.place).at("spec")
            if spec.get("devicePlugin.enabled", True) is not False:
                message = "the GPU Operator installs NVIDIA's device plugin, which hands out the GPUs of the DRA driver"
                fix = "set spec.devicePlugin.enabled: false"
                at = _at(item, "spec")
                yield Diagnostic("warning", "device-plugin-on-dra-node", f"{item}: {message}", at, fix)
        case ("", "ConfigMap"):
            yield from sharing_in_config_map(item)
            yield from scheduler_configs.in_config_map(item)
        case (scheduler_configs.GROUP, scheduler_configs.KIND):
            yield from scheduler_configs.scheduler_findings(item.data, item.place)
        case ("kubermatic.k8c.io", "KubermaticConfiguration"):
            spec = Node(item.data, item.place).at("spec")
            for name, value in _pairs(spec.get("featureGates")):
                yield from _told(item, spec.place, gate_faults(name, value))
        case pair if pair in node_pools.KINDS:
            yield from node_pools.pool_findings(item)
        case pair if pair in KINDS:
            yield from chart_findings(item)
        case pair if pair == KUEUE_CONFIG:
            yield from _kueue(item)
        case _:
            pass


def _patches(node: Node) -> Iterator[Diagnostic]:
    """Yield what the patches of kubeadm's configuration say that kind is given, each at its own line."""
    for number, text in enumerate(_items(node.get("kubeadmConfigPatches"))):
        place = child(node.at("kubeadmConfigPatches").place, node.get("kubeadmConfigPatches"), number)
        try:
            data = read_yaml(text)[0] if isinstance(text, str) else None
        except Fault:
            continue
        if isinstance(data, Mapping) and data.get("kind") in _PATCHED:
            version = f"{_PATCHED[data['kind']]}/v1"
            for found in config_findings(KubernetesObject(version, str(data["kind"]), data, place)):
                yield replace(found, place=place)


def _speaks_of_devices(item: KubernetesObject) -> bool:
    """Whether a cluster of kind is for claims for certain; one without them may well be of an older Kubernetes."""
    asked = (*_pairs(item.data.get("featureGates")), *_pairs(item.data.get("runtimeConfig")))
    return any(name.startswith(("resource.k8s.io", "DynamicResourceAllocation", "DRA")) for name, _ in asked)


def _eksctl(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield what the same options of eksctl's commands would be told (eksctl-io/eksctl:pkg/apis/eksctl.io/v1alpha5)."""
    root = Node(item.data, item.place)
    options = {"--version": (str(root.get("metadata.version", "")),)}
    if root.get("autoModeConfig.enabled") is True:
        options["--enable-auto-mode"] = ("true",)
    place = _at(item, "metadata")
    yield from _as_command(item, place, CommandLine(program="eksctl", words=("create", "cluster"), options=options))
    for key in ("managedNodeGroups", "nodeGroups"):
        for _, group in root.at(key).members():
            given: dict[str, tuple[str, ...]] = {
                "--install-nvidia-plugin": ("false",)
            }  # no field of the file, but an option of the command
            machines = [group.get("instanceType", ""), *_items(group.get("instanceTypes"))]
            given["--node-type"] = tuple(map(str, machines))
            given["--node-ami-family"] = (str(group.get("amiFamily", "")),)
            command = CommandLine(program="eksctl", words=("create", "nodegroup"), options=given)
            yield from _as_command(item, group.place, command)


def _as_command(item: KubernetesObject, place: Place, command: CommandLine) -> Iterator[Diagnostic]:
    """Yield what the command that says the same would be told, in the words of the file."""
    for severity, code, message, fix in broken_rows(command, ""):
        for option, field in _FIELDS.items():
            fix = fix.replace(option, field) if " " in option else fix.replace(f"{option} ", f"{field}: ")
        yield Diagnostic(severity, code, f"{item}: {message}", place, fix)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _kueue(item: KubernetesObject) -> Iterator[Diagnostic]:
    gates = item.data.get("featureGates")
    renamed = {
        "DynamicResourceAllocation": "KueueDRAIntegration",
        "DRAExtendedResources": "KueueDRAIntegrationExtendedResource",
    }
    for name, _ in _pairs(gates):
        if name in renamed:
            message = f"{item}: Kueue's feature gate {name} is {renamed[name]} since 0.18, and gone in 0.19"
            fix = (
                "leave it out: KueueDRAIntegration is on"
                if name == "DynamicResourceAllocation"
                else f"write {renamed[name]}"
            )
            yield Diagnostic("warning", "gate-renamed", message, _at(item, "featureGates"), fix)


def _mapped(item: KubernetesObject, gates: Any, key: str, judge: Any) -> Iterator[Diagnostic]:
    for name, value in _pairs(gates):
        yield from _told(item, _at(item, key), judge(name, value))


def _told(item: KubernetesObject, place: Place, faults: Iterator[FlagFault]) -> Iterator[Diagnostic]:
    for fault in faults:
        yield Diagnostic(
            fault.severity, fault.code, f"{item.kind} {item.name}".rstrip() + f": {fault.message}", place, fault.fix
        )


def _pairs(data: Any) -> Iterator[tuple[str, str]]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield str(name), str(value).lower()


def _arguments(component: Any) -> Iterator[tuple[str, str]]:
    """Yield extra arguments: a mapping up to v1beta3, a list of names and values from v1beta4 on."""
    given = component.get("extraArgs") if isinstance(component, Mapping) else None
    if isinstance(given, Mapping):
        yield from ((str(name), str(value)) for name, value in given.items())
    for row in given if isinstance(given, list) else ():
        if isinstance(row, Mapping):
            yield str(row.get("name")), str(row.get("value"))


def _at(item: KubernetesObject, key: str) -> Place:
    return child(item.place, item.data, key) if key in item.data else item.place
