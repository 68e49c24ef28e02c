"""Kueue's objects: which queue a workload waits in, what that queue may use, and what its flavors
add to pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_planner.model.nodes import Taint
from dra_planner.model.objects import ObjectKey
from dra_planner.model.pods import Toleration
from dra_planner.quantity import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceFlavor:
    """Nodes of one kind: the pods that use it get its labels as node selector, and its
    tolerations.
    """

    name: str
    node_labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class FlavorQuota:
    """What a ClusterQueue may use of one flavor, by resource."""

    flavor: str
    nominal: Mapping[str, Quantity] = field(hash=False)


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that a ClusterQueue covers together; a pod set gets all of them from one of the
    flavors.
    """

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuota, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueue:
    """One ClusterQueue; `borrows` if it belongs to a cohort, whose quota it may use."""

    name: str
    groups: tuple[ResourceGroup, ...] = ()
    borrows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSetup:
    """All of Kueue that the manifests declare. `resources` maps DeviceClasses to resources; None if
    not given.
    """

    # → ClusterQueue
    local_queues: Mapping[ObjectKey, str] = field(default_factory=dict, hash=False)
    cluster_queues: Mapping[str, ClusterQueue] = field(default_factory=dict, hash=False)
    flavors: Mapping[str, ResourceFlavor] = field(default_factory=dict, hash=False)
    resources: Mapping[str, str] | None = field(default=None, hash=False)

    def merged(self, other: QueueSetup) -> QueueSetup:
        """Return both setups together; of objects with one name, those of `other` count."""
        resources = (
            self.resources
            if other.resources is None
            else {**(self.resources or {}), **other.resources}
        )
        return QueueSetup(
            local_queues={**self.local_queues, **other.local_queues},
            cluster_queues={**self.cluster_queues, **other.cluster_queues},
            flavors={**self.flavors, **other.flavors},
            resources=resources,
        )

    @property
    def is_given(self) -> bool:
        """Whether any queue is declared."""
        return bool(self.local_queues or self.cluster_queues)

    def cluster_queue(self, namespace: str, queue: str) -> ClusterQueue | None:
        """Return the ClusterQueue behind a queue of a namespace; None if one of the two isn't
        declared.
        """
        name = self.local_queues.get(ObjectKey(namespace, queue))
        return None if name is None else self.cluster_queues.get(name)

    def flavors_of(self, queue: ClusterQueue) -> tuple[str, ...]:
        """Return the names of the flavors of a queue, in its order."""
        return tuple(dict.fromkeys(each.flavor for group in queue.groups for each in group.flavors))

    def only_flavor(self, namespace: str, queue: str) -> ResourceFlavor | None:
        """Return the flavor that every pod of a queue gets; None if there isn't exactly one, or it
        isn't declared.
        """
        found = self.cluster_queue(namespace, queue)
        names = () if found is None else self.flavors_of(found)
        return self.flavors.get(names[0]) if len(names) == 1 else None
