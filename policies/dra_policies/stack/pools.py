"""Node groups of EKS and node pools of GKE → declared pools, with totals over zones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, get_args

from dra_planner import catalog
from dra_planner.errors import PlannerError
from dra_planner.model import Taint
from dra_planner.model.nodes import TaintEffect
from dra_policies.rules.view import POOL_LABEL, Cloud, DeclaredPool
from dra_policies.stack.resource import Resource, source_of
from dra_policies.unknowns import Properties

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
NODE_POOL: Final = "gcp:container/nodePool:NodePool"
GKE_CLUSTER: Final = "gcp:container/cluster:Cluster"
EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"
POOL_TYPES: Final = frozenset({NODE_GROUP, NODE_POOL})

_ZONE: Final = re.compile(r"[a-z]+-[a-z]+[0-9]+-[a-z]")


def declared_pool(resource: Resource, others: Sequence[Resource] = ()) -> DeclaredPool | None:
    """Return the pool that a resource declares, None when it is no pool.

    `others` are the resources it may take properties from: launch template, cluster.
    """
    if resource.type == NODE_GROUP:
        return _node_group(resource, others)
    if resource.type == NODE_POOL:
        return _node_pool(resource, others)
    return None


def _node_group(resource: Resource, others: Sequence[Resource]) -> DeclaredPool:
    props = resource.props
    machine = _eks_machine(resource, others)
    labels = props.mapping("labels")
    return DeclaredPool(
        urn=resource.urn,
        title=resource.title("node group"),
        cloud="eks",
        name=_pool_name(labels),
        machine=machine,
        count_min=props.count("scalingConfig.minSize", 0),
        count_desired=props.count("scalingConfig.desiredSize", 0),
        count_max=props.count("scalingConfig.maxSize", 0),
        labels=labels,
        taints=_taints(props.items("taints")),
        has_gpus=_has_gpus("eks", machine),
        image=props.text("amiType"),
        leaves_desired=resource.ignores("scalingConfig.desiredSize"),
    )


def _eks_machine(resource: Resource, others: Sequence[Resource]) -> str | None:
    """Return the machine type: of the group itself, else of its launch template; None when there are several."""
    types = resource.props.texts("instanceTypes")
    if types is None or len(types) > 1:
        return None
    if types:
        return types[0]
    template = source_of(resource, "launchTemplate", LAUNCH_TEMPLATE, others)
    if template is None:
        template = _template_by_id(resource, others)
    return None if template is None else template.props.text("instanceType") or None


def _template_by_id(resource: Resource, others: Sequence[Resource]) -> Resource | None:
    """Find the launch template by what the group says of it, when both are known."""
    for key in ("id", "name"):
        wanted = resource.props.text(f"launchTemplate.{key}")
        if wanted:
            for other in others:
                if other.type == LAUNCH_TEMPLATE and other.props.text(key) == wanted:
                    return other
    return None


def _node_pool(resource: Resource, others: Sequence[Resource]) -> DeclaredPool:
    props = resource.props
    machine = _gke_machine(props)
    labels = props.mapping("nodeConfig.labels")
    fixed, minimum, desired, maximum = _gke_counts(resource, _zones(resource, others))
    return DeclaredPool(
        urn=resource.urn,
        title=resource.title("node pool"),
        cloud="gke",
        name=_pool_name(labels),
        machine=machine,
        count_min=minimum,
        count_desired=desired,
        count_max=maximum,
        labels=labels,
        taints=_taints(props.items("nodeConfig.taints")),
        has_gpus=_has_gpus("gke", machine),
        leaves_desired=not fixed and (resource.ignores("initialNodeCount") or resource.ignores("nodeCount")),
        is_fixed=fixed,
    )


Counts = tuple[bool, int | None, int | None, int | None]


def _gke_counts(resource: Resource, zones: int | None) -> Counts:
    """Return (fixed, min, desired, max) over all zones: GKE counts nodes per zone except for its total limits."""
    props = resource.props
    scaled = props.has("autoscaling")
    if scaled is None:
        return False, None, None, None
    per_zone = props.count("nodeCount", -1)
    if per_zone == -1:
        per_zone = props.count("initialNodeCount", 1 if not scaled else 0)
    desired = _times(per_zone, zones)
    if not scaled:
        return True, desired, desired, desired
    total = props.count("autoscaling.totalMaxNodeCount", -1)
    if total is None or total >= 0:
        return False, props.count("autoscaling.totalMinNodeCount", 0), desired, total
    low, high = props.count("autoscaling.minNodeCount", 0), props.count("autoscaling.maxNodeCount", 0)
    return False, _times(low, zones), desired, _times(high, zones)


def _times(count: int | None, zones: int | None) -> int | None:
    if count == 0:
        return 0
    return None if count is None or zones is None else count * zones


def _zones(resource: Resource, others: Sequence[Resource]) -> int | None:
    """Return in how many zones the pool's nodes are: its own list, else its cluster's; None when not known."""
    cluster = source_of(resource, "cluster", GKE_CLUSTER, others)
    for props in (resource.props, *([cluster.props] if cluster else [])):
        listed = props.texts("nodeLocations")
        if listed is None:
            return None
        location = props.text("location")
        zonal = bool(location) and _ZONE.fullmatch(location or "") is not None
        if listed:
            here = {location} if zonal and props is not resource.props else set[str | None]()
            return len({*listed, *here})
        if zonal:
            return 1
    return None


def _gke_machine(props: Properties) -> str | None:
    """Return the machine as a fleet names it: GPUs that are attached to it are part of the name."""
    name = props.text("nodeConfig.machineType", "e2-medium")  # GKE's own default
    accelerators = props.items("nodeConfig.guestAccelerators")
    if not name or accelerators is None:
        return None
    if not accelerators or _has_gpus("gke", name):
        return name
    kind, count = accelerators[0].text("type"), accelerators[0].count("count", 1)
    if not kind or count is None:
        return None
    return f"{name}+{kind}" + (f":{count}" if count > 1 else "")


def _has_gpus(cloud: Cloud, machine: str | None) -> bool | None:
    if not machine:
        return None
    try:
        accelerator = catalog.machine(cloud, machine).accelerator
    except PlannerError:
        return None
    return accelerator is not None and accelerator.gpu is not None


def _pool_name(labels: dict[str, str | None] | None) -> str | None:
    return None if labels is None else labels.get(POOL_LABEL, "")


_EFFECTS: Final = {
    "NO_SCHEDULE": "NoSchedule",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
    "NO_EXECUTE": "NoExecute",
}


def _taints(items: tuple[Properties, ...] | None) -> tuple[Taint, ...] | None:
    """Return taints in Kubernetes' words; None when any part of any of them is not known."""
    if items is None:
        return None
    taints: list[Taint] = []
    for item in items:
        key, value, effect = item.text("key"), item.text("value"), item.text("effect")
        if key is None or value is None or effect is None:
            return None
        taints.append(Taint(key, value, _effect(_EFFECTS.get(effect, effect))))
    return tuple(taints)


def _effect(text: str) -> TaintEffect:
    known: dict[str, Any] = {effect: effect for effect in get_args(TaintEffect)}
    effect: TaintEffect = known.get(text, "NoSchedule")
    return effect
