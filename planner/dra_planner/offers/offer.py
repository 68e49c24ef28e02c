"""The resources and devices of one node, or of each node of a pool."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from dra_planner.catalog.label_owners import GPU_DISCOVERY, label_owner
from dra_planner.model import AllocatedDevice, Amounts, Node, ResourceClaim, ResourceSlice
from dra_planner.offers.requests import pod_requests
from dra_planner.records import equality

if TYPE_CHECKING:  # predicting doesn't need the manifest reader, which takes long to import
    from dra_planner.manifests import BoundPod

Origin = Literal["predicted", "observed"]


@equality(unhashed=("amounts",))
class Deduction(Struct, frozen=True, kw_only=True):
    """A daemon pod's use of every node: CPU in thousandths, memory in bytes, pods.

    `containers` is its number of containers, which affects node scores.
    """

    name: str
    amounts: Amounts
    reason: str
    containers: int = 1


@equality(unhashed=("at_most",))
class Offer(Struct, frozen=True, kw_only=True):
    """A node, or the template of a pool's nodes, with all resources for claims and pods.

    Predicted: `name` is the pool's name, and `node` represents each of `count_min` to `count_max`
    equal nodes. Observed: `name` is the node's name, both counts are 1, and `pods` and `claims`
    already exist.
    """

    name: str
    origin: Origin
    node: Node
    slices: tuple[ResourceSlice, ...]
    count_min: int
    count_max: int
    # the cloud can build only multiples of this number of nodes
    count_multiple: int = 1
    hourly_usd: Decimal | None = None  # USD per node-hour, or None if unknown
    priced_on: str = ""  # date of the price; empty if its source doesn't contain a date
    # allocatable resources without conservative estimates (the maximum)
    at_most: Amounts = {}
    machine: str = ""  # name in the catalog; empty if the snapshot doesn't contain it
    zones: tuple[str, ...] = ()  # possible zones of the nodes; each node is in one of them
    # labels that nodes have or might have, with values that are known only at run time
    unknown_labels: tuple[str, ...] = ()
    # whether GPU feature discovery certainly doesn't label the nodes
    is_undiscovered: bool = False
    deductions: tuple[Deduction, ...] = ()
    # reason why it's unknown whether a node publishes its devices, or ""
    devices_doubt: str = ""
    assumptions: tuple[str, ...] = ()
    pods: tuple[BoundPod, ...] = ()
    # allocated claims with devices of a pool that the node can use
    claims: tuple[ResourceClaim, ...] = ()

    def buildable(self, nodes: int) -> int:
        """Return the lowest node count, at least `nodes`, that the cloud can build."""
        return nodes + -nodes % self.count_multiple

    def is_unknown_label(self, key: str) -> bool:
        """Return whether the value or existence of a label is unknown before the node exists."""
        if key == "kubernetes.io/hostname":
            return key in self.unknown_labels
        if key in self.node.meta.labels:
            return False
        if self.is_undiscovered and (owner := label_owner(key)) and owner.owner == GPU_DISCOVERY:
            return False
        return any(
            key == entry or (entry.endswith("/") and key.startswith(entry))
            for entry in self.unknown_labels
        )

    @property
    def plugin_units(self) -> dict[str, int]:
        """The node's extended resources of device plugins, with their amounts."""
        return {
            name: amount for name, amount in self.node.allocatable.items() if "/" in name and amount
        }

    @property
    def allocated(self) -> tuple[AllocatedDevice, ...]:
        """The devices that claims already hold, in the order of the claims."""
        return tuple(
            device
            for claim in self.claims
            if claim.allocation is not None
            for device in claim.allocation.devices
        )

    @property
    def used(self) -> dict[str, int]:
        """Resources that daemon pods and bound pods use, with one pod slot for each pod."""
        used: dict[str, int] = {}
        bound = (pod_requests(pod.spec) for pod in self.pods)
        for amounts in (*(one.amounts for one in self.deductions), *bound):
            for resource, amount in amounts.items():
                used[resource] = used.get(resource, 0) + amount
        return used

    @property
    def free(self) -> dict[str, int]:
        """The remaining resources for workloads, each at least 0."""
        used = self.used
        return {
            resource: max(0, amount - used.get(resource, 0))
            for resource, amount in self.node.allocatable.items()
        }
