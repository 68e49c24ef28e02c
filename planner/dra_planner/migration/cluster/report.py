"""The report of a running cluster, from a snapshot of its objects."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.documents.plain_values import block, plain, text
from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.cluster.device_users import (
    DeviceUser,
    PodLoss,
    find_device_pods,
    find_losses,
    users_of,
)
from dra_planner.migration.cluster.owners import Owners
from dra_planner.migration.cluster.pools import (
    NodeDevices,
    PoolDevices,
    claimed_devices,
    nodes_with_devices,
    pools_of,
)
from dra_planner.migration.device_plugins import operator_notes, read_plugin_facts
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import ObjectChange, Result
from dra_planner.migration.priorities import priority_notes, priority_of
from dra_planner.migration.target_cluster import Target
from dra_planner.sources import Source

_ALSO_MIGRATED: Final = frozenset({
    "ResourceQuota", "LimitRange", "ClusterQueue", "ResourceFlavor", "Queue", "HorizontalPodAutoscaler",
    "ScaledObject", "PrometheusRule",
})  # fmt: skip


class ClusterReport(Struct, frozen=True, kw_only=True):
    """Facts that affect the migration of a running cluster.

    `changes` are quotas, limits, queues, and metrics that count extended resources. `notes` are
    about the vendor's operator and about priorities.
    """

    pools: tuple[PoolDevices, ...]
    users: tuple[DeviceUser, ...]
    losses: tuple[PodLoss, ...]
    changes: tuple[ObjectChange, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def contested(self) -> tuple[str, ...]:
        """Nodes whose devices two allocators allocate."""
        return tuple(name for pool in self.pools for name in pool.contested)

    @property
    def is_ready(self) -> bool:
        """Whether every workload can move, and no node has two allocators."""
        stuck = any(
            each.outcome is not None and each.outcome.result is Result.CANNOT for each in self.users
        )
        return not stuck and not self.contested


def report_cluster(
    objects: Sequence[KubernetesObject], target: Target, answers: PluginFacts | None = None
) -> ClusterReport:
    """Return the users of devices in a snapshot, their result in the target, and the pods that
    would be lost.
    """
    owners = Owners(objects)
    pods = tuple(find_device_pods(objects, owners))
    nodes = tuple(nodes_with_devices(objects))
    held: dict[str, Counter[str]] = {}
    for pod in pods:
        if not pod.by_claims and pod.node:
            held.setdefault(pod.node, Counter()).update(pod.units)
    configured = [item for item in objects if item.kind != "Node"]
    facts = read_plugin_facts(configured, answers)
    by_name = {item.name: item for item in objects if item.kind == "Node"}
    return ClusterReport(
        pools=pools_of(nodes, held, claimed_devices(objects)),
        users=tuple(users_of(pods, owners, by_name, facts, target)),
        losses=tuple(find_losses(pods, owners, _offered(by_name, nodes))),
        changes=_changes(objects, target, facts),
        notes=(*operator_notes(objects), *priority_notes({priority_of(pod.spec) for pod in pods})),
    )


def classes_served(objects: Sequence[KubernetesObject]) -> dict[str, str]:
    """Return the class that serves each extended resource.

    As in the scheduler, the newest class is used, and ties go to the first name. Source:
    kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/extended/@v1.37.2.
    """
    served: dict[str, KubernetesObject] = {}
    for item in sorted(objects, key=lambda each: each.name):
        name = (
            text(block(item.data, "spec").get("extendedResourceName"))
            if item.kind == "DeviceClass"
            else ""
        )
        if name and (name not in served or _created(item) > _created(served[name])):
            served[name] = item
    return {name: item.name for name, item in served.items()}


def cluster_version(objects: Iterable[KubernetesObject]) -> str:
    """Return the newest minor version of a snapshot's kubelets ("1.36"), or "" if it's unknown."""
    found = set[tuple[int, int]]()
    for item in objects:
        info = block(block(item.data, "status"), "nodeInfo") if item.kind == "Node" else {}
        match = re.match(r"v?(\d+)\.(\d+)", text(info.get("kubeletVersion")))
        if match is not None:
            found.add((int(match[1]), int(match[2])))
    return "{}.{}".format(*max(found)) if found else ""


def _created(item: KubernetesObject) -> str:
    return text(item.metadata.get("creationTimestamp"))


def _offered(
    names: Mapping[str, KubernetesObject], nodes: Sequence[NodeDevices]
) -> dict[str, set[str]]:
    offered = {name: set[str]() for name in names}
    return offered | {node.name: set(node.offered) for node in nodes}


def _changes(
    objects: Sequence[KubernetesObject], target: Target, facts: PluginFacts
) -> tuple[ObjectChange, ...]:
    found = [plain(item.data) for item in objects if item.kind in _ALSO_MIGRATED]
    text = "---\n".join(f"{json.dumps(each)}\n" for each in found)
    return migrate([Source("cluster.json", text)], target, facts).changes if found else ()
