"""Kueue's objects: queues of workloads, their quotas, and the additions of flavors to pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from dra_planner.model.nodes import Taint
from dra_planner.model.objects import LabelSelector, ObjectKey
from dra_planner.model.pods import Toleration
from dra_planner.quantity import Quantity
from dra_planner.records import equality

OF_A_FLAVOR: Final = "spec.nodeLabels of ResourceFlavor"
"""Origin of a node selector that Kueue adds to pods, before the flavor's name."""


@equality(unhashed=("node_labels",))
class ResourceFlavor(Struct, frozen=True, kw_only=True):
    """Nodes of one kind.

    Pods that use the flavor get its labels as a node selector, and its tolerations.
    """

    name: str
    node_labels: Mapping[str, str] = {}
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""  # the Topology that Kueue uses to choose their nodes


@equality(unhashed=("nominal", "borrowing_limits"))
class FlavorQuota(Struct, frozen=True):
    """The quota of a ClusterQueue for one flavor, by resource, and the amounts that it can borrow
    from its cohort (missing means no limit).
    """

    flavor: str
    nominal: Mapping[str, Quantity]
    borrowing_limits: Mapping[str, Quantity] = {}


class ResourceGroup(Struct, frozen=True):
    """Resources that a ClusterQueue covers together.

    A pod set gets all of them from one of the flavors.
    """

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuota, ...]


class ClusterQueue(Struct, frozen=True, kw_only=True):
    """One ClusterQueue.

    It can use the quota of its `cohort`, and admits only workloads in `namespaces` (None selects no
    namespace). `stop_policy` is empty unless it stops admission.
    """

    name: str
    groups: tuple[ResourceGroup, ...] = ()
    cohort: str = ""
    stop_policy: str = ""
    namespaces: LabelSelector | None = None


@equality(
    unhashed=("local_queues", "stopped", "topologies", "cluster_queues", "flavors", "resources")
)
class QueueSetup(Struct, frozen=True, kw_only=True):
    """All Kueue objects in the manifests.

    `resources` maps DeviceClasses to resources, or is None if Kueue's configuration is missing.
    `uncounted` are the prefixes of resource names that Kueue excludes or replaces.
    """

    # the ClusterQueue of each LocalQueue
    local_queues: Mapping[ObjectKey, str] = {}
    # the stopPolicy of each LocalQueue that stops admission
    stopped: Mapping[ObjectKey, str] = {}
    # the node labels of each Topology, from the widest level to the narrowest
    topologies: Mapping[str, tuple[str, ...]] = {}
    cluster_queues: Mapping[str, ClusterQueue] = {}
    flavors: Mapping[str, ResourceFlavor] = {}
    resources: Mapping[str, str] | None = None
    uncounted: tuple[str, ...] = ()

    def merged(self, other: QueueSetup) -> QueueSetup:
        """Return both setups combined. For objects with the same name, `other` takes precedence."""
        resources = (
            self.resources
            if other.resources is None
            else {**(self.resources or {}), **other.resources}
        )
        return QueueSetup(
            local_queues={**self.local_queues, **other.local_queues},
            stopped={**self.stopped, **other.stopped},
            topologies={**self.topologies, **other.topologies},
            cluster_queues={**self.cluster_queues, **other.cluster_queues},
            flavors={**self.flavors, **other.flavors},
            resources=resources,
            uncounted=(*self.uncounted, *other.uncounted),
        )

    @property
    def is_given(self) -> bool:
        """Whether any queue is defined."""
        return bool(self.local_queues or self.cluster_queues)

    def cluster_queue(self, namespace: str, queue: str) -> ClusterQueue | None:
        """Return the ClusterQueue of a queue in a namespace, or None if one of the two isn't
        defined.
        """
        name = self.local_queues.get(ObjectKey(namespace, queue))
        return None if name is None else self.cluster_queues.get(name)

    def flavors_of(self, queue: ClusterQueue) -> tuple[str, ...]:
        """Return the names of the flavors of a queue, in its order."""
        return tuple(dict.fromkeys(each.flavor for group in queue.groups for each in group.flavors))

    def only_flavor(self, namespace: str, queue: str) -> ResourceFlavor | None:
        """Return the flavor that every pod of a queue gets, or None if there isn't exactly one, or
        if it isn't defined.
        """
        found = self.cluster_queue(namespace, queue)
        names = () if found is None else self.flavors_of(found)
        return self.flavors.get(names[0]) if len(names) == 1 else None
