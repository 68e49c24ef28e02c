"""Karpenter's NodePools on EC2 (karpenter.sh/v1, karpenter.k8s.aws/v1): the machine types that each
NodePool can launch.

Source: aws/karpenter-provider-aws:website/content/en/v1.14/concepts/{nodepools,nodeclasses}.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.catalog import Machine, machines, machines_without_accelerators
from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool, kubelet_note
from dra_planner.clouds.foreign.karpenter_limits import (
    limits_in_units,
    nodes_by_limits,
    whole_amount,
)
from dra_planner.clouds.foreign.taints_and_disks import taints
from dra_planner.documents.plain_values import block, blocks, labels, listed, number, text

CLOUD: Final = "eks"
_NODE_CLASSES: Final = "karpenter.k8s.aws"
_EC2: Final = f"{_NODE_CLASSES}/"
_AUTO_MODE: Final = "eks.amazonaws.com"
_TYPE: Final = "node.kubernetes.io/instance-type"
_ZONE: Final = "topology.kubernetes.io/zone"
_CAPACITY: Final = "karpenter.sh/capacity-type"
_TYPE_PARTS: Final = re.compile(r"([a-z]+)(-[0-9]+tb)?([0-9]+).*\.")
"""Splits a machine type in the same way as
aws/karpenter-provider-aws:pkg/providers/instancetype/types.go@v1.14.
"""
_CAPACITIES: Final = {"reserved": "reservation", "spot": "spot", "on-demand": "on-demand"}
"""The values of the capacity type, in the order in which Karpenter prefers them."""
_MOST_MACHINES: Final = 12
"""Maximum number of machine types into which a NodePool is split. A NodePool that allows more
doesn't describe specific pools.
"""


def is_node_pool(item: Mapping[str, Any]) -> bool:
    """Return whether an object is a NodePool of Karpenter."""
    return item.get("kind") == "NodePool" and text(item.get("apiVersion")).startswith(
        "karpenter.sh/"
    )


def read_node_pools(
    items: Sequence[Mapping[str, Any]], only: Collection[str] = ()
) -> ForeignCluster:
    """Return one cluster with a pool for each NodePool among objects.

    Pools use only `machines`, if any are given. The notes describe the decisions that Karpenter
    makes only at run time.
    """
    notes: list[str] = []
    classes = {
        text(block(each, "metadata").get("name")): block(each, "spec")
        for each in items
        if each.get("kind") == "EC2NodeClass"
    }
    pools = [
        _pool(each, classes, notes, only)
        for each in items
        if is_node_pool(each) and _has_readable_nodes(each, notes)
    ]
    zones = [zone for each in pools for zone in each.zones]
    return ForeignCluster(
        name="",
        cloud=CLOUD,
        region=zones[0].rstrip("abcdef") if zones else "",
        autoscaler="karpenter",
        has_single_zones=True,
        pools=tuple(pools),
        notes=tuple(notes),
    )


class _Requirement(Struct, frozen=True):
    key: str
    operator: str
    values: tuple[str, ...]

    def allows(self, value: str | None) -> bool:
        """Return whether a node with this value of the label meets the requirement."""
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Gte" | "Lt" | "Lte":
                return value is not None and _compare(self.operator, value, self.values)
        return True


def _compare(operator: str, value: str, bounds: Sequence[str]) -> bool:
    amount, bound = number(value), number(bounds[0]) if bounds else None
    if amount is None or bound is None:
        return False
    return {
        "Gt": amount > bound,
        "Gte": amount >= bound,
        "Lt": amount < bound,
        "Lte": amount <= bound,
    }[operator]


_LABELS: Final[Mapping[str, Callable[[Machine], str | None]]] = {
    _TYPE: lambda machine: machine.name,
    "kubernetes.io/arch": lambda machine: machine.arch,
    f"{_EC2}instance-family": lambda machine: machine.name.partition(".")[0],
    f"{_EC2}instance-generation": lambda machine: _part_of_type(machine.name, 3),
    f"{_EC2}instance-size": lambda machine: machine.name.partition(".")[2],
    f"{_EC2}instance-category": lambda machine: _part_of_type(machine.name, 1),
    f"{_EC2}instance-cpu": lambda machine: str(machine.vcpus),
    f"{_EC2}instance-memory": lambda machine: str(machine.memory_mib),
    f"{_EC2}instance-gpu-count": lambda machine: (
        str(machine.gpu_count) if machine.gpu_count else None
    ),
    f"{_EC2}instance-gpu-manufacturer": lambda machine: _accelerator(machine, "vendor"),
    f"{_EC2}instance-gpu-name": lambda machine: _accelerator(machine, "model"),
}


def _part_of_type(name: str, part: int) -> str | None:
    """Return the category (1) or generation (3) of a machine type.

    For trn1.2xlarge, these are trn and 1.
    """
    found = _TYPE_PARTS.match(name)
    return None if found is None else found[part]


def _accelerator(machine: Machine, field: str) -> str | None:
    found = machine.accelerator
    return (
        str(getattr(found, field)).lower().replace(" ", "-")
        if found is not None and found.kind == "gpu"
        else None
    )


def _has_readable_nodes(item: Mapping[str, Any], notes: list[str]) -> bool:
    """Return whether a NodePool creates nodes with an EC2NodeClass. Add a note if it doesn't."""
    template = block(block(item, "spec"), "template")
    group = text(block(block(template, "spec"), "nodeClassRef").get("group"))
    if group in ("", _NODE_CLASSES):
        return True
    reason = (
        "its nodes belong to EKS Auto Mode, which doesn't support claims"
        if group == _AUTO_MODE
        else f"the API group of its node class is {group}, but only {_NODE_CLASSES} is supported"
    )
    notes.append(
        f"NodePool {text(block(item, 'metadata').get('name'))} is skipped, because {reason}"
    )
    return False


def _pool(
    item: Mapping[str, Any],
    classes: Mapping[str, Mapping[str, Any]],
    notes: list[str],
    only: Collection[str],
) -> ForeignPool:
    spec = block(item, "spec")
    template = block(spec, "template")
    inner = block(template, "spec")
    name = text(block(item, "metadata").get("name"))
    requirements = [
        _Requirement(
            text(each.get("key")),
            text(each.get("operator")),
            tuple(map(str, listed(each.get("values")))),
        )
        for each in blocks(inner, "requirements")
    ]
    found, before = _machines(requirements), len(notes)
    found = [each for each in found if each in only] or found
    if len(found) > _MOST_MACHINES:
        notes.append(_too_many(name, found))
        found = []
    unread = sorted({each.key for each in requirements} - {*_LABELS, _ZONE, _CAPACITY, *_OTHERS})
    if unread:
        notes.append(f"NodePool {name}: the requirements on {', '.join(unread)} are ignored")
    if not found and len(notes) == before:
        notes.append(f"NodePool {name}: {_no_machine(requirements)}")
    node_class = classes.get(text(block(inner, "nodeClassRef").get("name")), {})
    capacity = _capacity(requirements, node_class, name, notes)
    replicas = number(spec.get("replicas"))
    limit = number(block(spec, "limits").get("nodes"))
    tainted = taints(listed(inner.get("taints")))
    by_limits = {} if replicas is not None else nodes_by_limits(spec, found, notes, name)
    if kubelet := set(block(node_class, "kubelet")) - {"maxPods"}:
        notes.append(kubelet_note(name, kubelet))
    return ForeignPool(
        name=name,
        machines=tuple(each for each in found if by_limits.get(each, 1)) or tuple(found),
        minimum=replicas or 0,
        maximum=max(by_limits.values(), default=limit) if replicas is None else limit or replicas,
        maximums=by_limits,
        limits={} if replicas is not None else limits_in_units(spec),
        zones=_one_zone(requirements, name, notes),
        capacity=capacity,
        reservation=_reservation(node_class),
        labels=labels(block(template, "metadata").get("labels")),
        taints=tainted.known,
        unread_taints=tainted.unread,
        desired=replicas,
        disk_gib=_disk_gib(node_class),
        image=_image(node_class),
        max_pods=number(block(node_class, "kubelet").get("maxPods")),
        local_storage="raid0" if node_class.get("instanceStorePolicy") == "RAID0" else "",
    )


def _disk_gib(node_class: Mapping[str, Any]) -> int | None:
    """Return the size of the root volume in GiB: the only volume, or the volume that is marked as
    root. Returns None if the node class doesn't set a size.
    """
    rows = blocks(node_class, "blockDeviceMappings")
    marked = [each for each in rows if each.get("rootVolume")] or rows
    size = whole_amount(block(marked[0], "ebs").get("volumeSize")) if len(marked) == 1 else None
    return None if size is None else size // 2**30


def _image(node_class: Mapping[str, Any]) -> str:
    """Return the image of a node class, or "" for AL2023.

    For GPU machine types, Karpenter chooses the AL2023 image with the NVIDIA driver.
    """
    terms = [
        f"{key}: {value}"
        for term in blocks(node_class, "amiSelectorTerms")
        for key, value in term.items()
        if not (key == "alias" and text(value).startswith("al2023@"))
    ]
    family = text(node_class.get("amiFamily"))
    return ", ".join(terms) or ("" if family == "AL2023" else family)


def _reservation(node_class: Mapping[str, Any]) -> str:
    """Return the ID of the only capacity reservation that an EC2NodeClass selects.

    Returns "" if it doesn't select exactly one.
    """
    terms = blocks(node_class, "capacityReservationSelectorTerms")
    return text(terms[0].get("id")) if len(terms) == 1 else ""


_OTHERS: Final = frozenset(
    {
        "kubernetes.io/os",
        "karpenter.k8s.aws/instance-hypervisor",
        "karpenter.k8s.aws/capacity-reservation-type",
    }
)


def _machines(requirements: Sequence[_Requirement]) -> list[str]:
    """Return the machine types that meet all machine requirements.

    The result is empty if there are no such requirements.
    """
    relevant = [
        each for each in requirements if each.key in _LABELS and each.key != "kubernetes.io/arch"
    ]
    if not relevant:
        return []
    known: Iterable[Machine] = (*machines(CLOUD), *machines_without_accelerators(CLOUD))
    checked = [each for each in requirements if each.key in _LABELS]
    return [
        each.name for each in known if all(one.allows(_LABELS[one.key](each)) for one in checked)
    ]


def _too_many(name: str, found: Sequence[str]) -> str:
    """Return the note for a NodePool that allows too many machine types."""
    allows = f"NodePool {name} allows {len(found)} machine types"
    if not {each.name for each in machines(CLOUD)}.intersection(found):
        return f"{allows}, but none of them has an accelerator, so the NodePool isn't imported"
    return (
        f"{allows}. Select the planned machine types with `pulumi-dra init --machines`, or in a "
        f"requirement on {_TYPE}"
    )


def _no_machine(requirements: Sequence[_Requirement]) -> str:
    """Return the reason why no machine type matches a NodePool."""
    if any(each.key in _LABELS for each in requirements):
        return "no known machine type meets its requirements"
    return (
        "it doesn't restrict machine types. Select the planned machine types in a requirement on "
        f"{_TYPE}"
    )


def _capacity(
    requirements: Sequence[_Requirement],
    node_class: Mapping[str, Any],
    name: str,
    notes: list[str],
) -> str:
    """Return the capacity to plan with: on demand if it's allowed.

    Karpenter itself prefers reserved and Spot capacity if a requirement allows them, but uses
    neither without a requirement. Reserved capacity also needs a node class that selects
    reservations.
    """
    own = [each for each in requirements if each.key == _CAPACITY]
    allowed = [kind for kind in _CAPACITIES if all(each.allows(kind) for each in own)]
    if not blocks(node_class, "capacityReservationSelectorTerms") and len(allowed) > 1:
        if any(each.operator == "In" and "reserved" in each.values for each in own):
            notes.append(
                f"NodePool {name} allows reserved capacity, but its node class doesn't select a "
                "capacity reservation, so the plan doesn't use one"
            )
        allowed = [kind for kind in allowed if kind != "reserved"]
    if not own or not allowed:
        return "on-demand"
    if "on-demand" in allowed and len(allowed) > 1:
        others = " and ".join(kind for kind in allowed if kind != "on-demand")
        notes.append(
            f"NodePool {name} also allows {others} capacity, but the plan assumes on-demand prices"
        )
    return _CAPACITIES["on-demand" if "on-demand" in allowed else allowed[0]]


def _one_zone(requirements: Sequence[_Requirement], name: str, notes: list[str]) -> tuple[str, ...]:
    """Return one zone to plan in. Karpenter launches each node in the cheapest zone, so node counts
    per zone aren't predictable.
    """
    own = [each for each in requirements if each.key == _ZONE]
    named = next((each.values for each in own if each.operator == "In"), ())
    zones = tuple(zone for zone in named if all(each.allows(zone) for each in own))
    excluded = [zone for each in own if each.operator == "NotIn" for zone in each.values]
    if excluded and not named:
        notes.append(
            f"NodePool {name} doesn't launch nodes in {', '.join(excluded)}. Set the pool's "
            "`zones` to the region's remaining zones"
        )
    if len(zones) > 1:
        notes.append(
            f"NodePool {name} can launch nodes in {len(zones)} zones, so the plan assumes "
            f"{zones[0]}"
        )
    return zones[:1]
