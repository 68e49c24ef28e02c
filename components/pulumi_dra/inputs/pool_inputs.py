"""Common inputs of all clouds' GPU pools: node counts, name, labels, and taints."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NotRequired, TypedDict

import pulumi
from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds import (
    DISK_GIB,
    HUGE_PAGES,
    LABEL_VALUE,
    MOST_HUGE_PAGES,
    Cloud,
    NodeOrigin,
    huge_pages_fault,
    label_key_fault,
    label_value_fault,
    limits_fault,
    taints_fault,
)
from dra_planner.model import Taint
from pulumi_dra.inputs.reader import InputReader

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Counts(Struct, frozen=True):
    """A pool's node counts in all zones, and whether an autoscaler changes the count within the
    limits.
    """

    min: int
    desired: int
    max: int
    autoscaled: bool

    def within(self, present: int) -> int:
        """Return the count within the limits that is nearest to the current count."""
        return min(max(present, self.min), self.max)


def check_purchase(read: InputReader, cloud: Cloud, machine: Machine | None, capacity: str) -> None:
    """Reject a capacity type that isn't available for this machine type. Warn if plans assume
    on-demand for it.
    """
    if machine is None or not (fault := cloud.purchase_fault(machine, capacity)):
        return
    if capacity == "on-demand":
        pulumi.warn(f"{fault}, so {cloud.title} would reject the nodes")
    else:
        read.refuse("capacity", str(fault))


def read_counts(read: InputReader, cloud: Cloud) -> Counts:
    """Return `min_nodes`, `desired_nodes`, `max_nodes`, and `autoscaled`. The counts must be in
    ascending order.
    """
    limit = cloud.nodes_of_a_pool[-1]
    most = read.whole("max_nodes", least=1, most=limit)
    least = read.whole("min_nodes", 0, most=limit)
    desired = read.whole("desired_nodes", least, most=limit)
    if problem := limits_fault(least, most):
        read.refuse("min_nodes", problem)
    elif not least <= desired <= most:
        read.refuse(
            "desired_nodes", f"{desired} isn't between min_nodes ({least}) and max_nodes ({most})"
        )
    return Counts(least, desired, most, read.flag("autoscaled", False))


def read_pool_name(read: InputReader, component_name: str) -> str:
    """Return the value of the pool's label, by default the component's name, which clouds may not
    accept.
    """
    if not read.has("pool_name") and not re.fullmatch(LABEL_VALUE, component_name):
        read.refuse(
            "pool_name",
            f"is missing, and the component's name (\"{component_name}\") isn't a valid label value",
        )
    return read.text(
        "pool_name", component_name, pattern=LABEL_VALUE, meaning="the value of a label"
    )


def read_max_pods(read: InputReader, cloud: Cloud) -> int | None:
    """Return `max_pods`, or None if it's unset."""
    allowed = cloud.pods_of_a_node
    return (
        read.whole("max_pods", least=allowed[0], most=allowed[-1]) if read.has("max_pods") else None
    )


NO_HUGE_PAGES: Mapping[str, int] = MappingProxyType({})


def read_huge_pages(read: InputReader, machine: Machine | None) -> Mapping[str, int]:
    """Return the number of huge pages by size ("2Mi", "1Gi"), empty if none are requested."""
    keys = {f"huge_pages_{size.lower()}": size for size in HUGE_PAGES}
    counts = {
        size: read.whole(key, least=1, most=MOST_HUGE_PAGES)
        for key, size in keys.items()
        if read.has(key)
    }
    if counts and (fault := huge_pages_fault(counts, machine)):
        read.refuse(next(key for key, size in keys.items() if size in counts), fault)
    return counts


class KubeletPolicies(Struct, frozen=True, kw_only=True):
    """Kubelet's CPU and topology policies. "" if unset, which means "none"."""

    cpu_manager: str = ""
    topology_manager: str = ""

    @property
    def is_set(self) -> bool:
        return bool(self.cpu_manager or self.topology_manager)


DEFAULT_POLICIES = KubeletPolicies()
NOT_PLANNED = ("restricted", "single-numa-node")


def read_kubelet_policies(read: InputReader) -> KubeletPolicies:
    """Return `cpu_manager_policy` and `topology_manager_policy`, and record errors in `read`.

    Policies with which kubelet rejects scheduled pods aren't supported, because plans don't model
    NUMA nodes.
    """
    cpus = (
        read.choice("cpu_manager_policy", ("none", "static"), "none")
        if read.has("cpu_manager_policy")
        else ""
    )
    topology = read.text("topology_manager_policy", "")
    if topology in NOT_PLANNED:
        read.refuse(
            "topology_manager_policy",
            f"with {topology}, the kubelet might reject pods that the plan places, because "
            "the plan doesn't model NUMA nodes; use best-effort",
        )
    elif topology not in ("", "none", "best-effort"):
        read.refuse("topology_manager_policy", f'must be none or best-effort, not "{topology}"')
    if topology == "best-effort" and cpus != "static":
        read.refuse(
            "topology_manager_policy",
            "best-effort has no effect without cpu_manager_policy: static",
        )
    return KubeletPolicies(cpu_manager=cpus, topology_manager=topology)


def read_disk_gib(read: InputReader, cloud: Cloud) -> int:
    """Return `disk_gib`, by default the size that plans assume."""
    return read.whole("disk_gib", DISK_GIB, least=cloud.disk_gib[0], most=cloud.disk_gib[-1])


class NodeTaint(TypedDict):
    """A taint on a pool's nodes."""

    key: str
    """Key, for example example.com/team."""
    value: NotRequired[str]
    """Value. Default: none."""
    effect: NotRequired[str]
    """NoSchedule (default), PreferNoSchedule, or NoExecute."""


def cloud_effect(taint: Taint) -> str:
    """Return a taint's effect in the form of the clouds' APIs: NO_SCHEDULE."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", taint.effect).upper()


def read_taints(read: InputReader, cloud: Cloud, nodes: NodeOrigin) -> list[Taint]:
    """Return a pool's taints: this project's taint and the user's."""
    taints = list(cloud.taints(nodes))
    for index, block in enumerate(read.blocks("taints")):
        inner = read.inside(f"taints[{index}]", block, NodeTaint)
        effect: Any = inner.choice("effect", EFFECTS, "NoSchedule")
        taint = Taint(
            inner.text("key", check=label_key_fault),
            inner.text("value", "", check=label_value_fault),
            effect,
        )
        if fault := cloud.taint_fault(taint.key):
            inner.refuse("key", fault)
        taints.append(taint)
        if not fault and (fault := taints_fault((each.key, each.effect) for each in taints)):
            inner.refuse("key", fault)
    return taints


def read_labels(read: InputReader, cloud: Cloud, nodes: NodeOrigin) -> dict[str, pulumi.Input[str]]:
    """Return a pool's labels: the user's and this project's, which can't be changed."""
    labels = read.labels("labels")
    for key, value in labels.items():
        if fault := label_key_fault(key) or cloud.label_fault(
            key, value if isinstance(value, str) else None
        ):
            read.refuse(f"labels.{key}", str(fault))
        if isinstance(value, str) and (fault := label_value_fault(value)):
            read.refuse(f"labels.{key}", fault)
    return {**labels, **{label.key: label.value for label in cloud.labels(nodes)}}
