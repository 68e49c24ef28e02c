"""Pools: GPU nodes of one machine type, with their counts, capacity, and kubelet settings, and
quotas.
"""

from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from dra_planner.clouds import (
    DISK_GIB,
    MOST_HUGE_PAGES,
    NODES,
    WHOLE,
    Capacity,
    NodeImage,
    PluginServing,
    label_key_fault,
    label_value_fault,
    limits_fault,
    repetition_fault,
    taints_fault,
)
from dra_planner.documents.models import (
    StrictDocument,
    empty_list,
    empty_mapping,
    nothing_given,
    refused_by,
)
from dra_planner.fleet.plugin_pools import PoolSharing, serving_of
from dra_planner.fleet.pool_schedules import PoolSchedule
from dra_planner.fleet.value_types import DNS_LABEL, Amount, Price, bounds, within
from dra_planner.wording import counted

LabelKey = Annotated[str, refused_by(label_key_fault)]
LabelValue = Annotated[str, refused_by(label_value_fault)]
NodeCount = Annotated[int, within(NODES)]
Unit = Literal["vcpus", "gpus", "nodes", "addresses", "pod-addresses"]
_AMOUNTS = range(10**9 + 1)
_PODS = range(1, 1_000_001)
_SSDS = range(1, 33)
_PAGES = range(1, MOST_HUGE_PAGES + 1)
_LOST_NODES, _LOST_ZONES = range(4), range(2)
CapacityKind = Literal["on-demand", "spot", "flex-start", "queued", "reservation", "capacity-block"]


class Count(StrictDocument):
    """Minimum and maximum number of nodes in a pool. The plan determines the necessary number."""

    min: NodeCount = Field(
        default=0, description="Minimum number of nodes.", json_schema_extra=bounds(NODES)
    )
    max: NodeCount = Field(description="Maximum number of nodes.", json_schema_extra=bounds(NODES))

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if sentence := limits_fault(self.min, self.max):
            raise ValueError(sentence)
        return self

    @property
    def is_fixed(self) -> bool:
        return self.min == self.max


BoughtNodes = Annotated[int, within(range(1, NODES[-1] + 1))]


class Reservation(StrictDocument):
    """A capacity reservation."""

    reservation: str = Field(
        min_length=1, description="ID (EKS) or name (GKE) of a capacity reservation."
    )
    nodes: BoughtNodes | None = Field(
        default=None,
        description="Number of reserved nodes, which all pools with this reservation share. "
        "Default: unknown.",
    )


class CapacityBlock(StrictDocument):
    """An EC2 Capacity Block, identified by its reservation ID."""

    capacity_block: str = Field(min_length=1, description="ID of the reservation, cr-….")
    nodes: BoughtNodes | None = Field(
        default=None,
        description="Number of reserved nodes, which all pools with this reservation share. "
        "Default: unknown.",
    )


class PoolTaint(StrictDocument):
    """An additional taint on a pool's nodes. All GPU nodes also have the
    `nvidia.com/gpu=present:NoSchedule` taint.
    """

    key: LabelKey = Field(description="Key, for example example.com/team.")
    value: LabelValue = Field(default="", description="Value. Can be empty.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        default="NoSchedule", description="Effect on pods that don't tolerate the taint."
    )


class HugePages(StrictDocument):
    """Number of huge pages of each size that nodes reserve at boot."""

    of_2mi: Annotated[int, within(_PAGES)] | None = Field(
        default=None, alias="2Mi", description="Number of 2 MiB pages (hugepages-2Mi)."
    )
    of_1gi: Annotated[int, within(_PAGES)] | None = Field(
        default=None, alias="1Gi", description="Number of 1 GiB pages (hugepages-1Gi)."
    )

    @property
    def counts(self) -> dict[str, int]:
        """The number of pages by size. Sizes without pages are omitted."""
        counts = {"2Mi": self.of_2mi, "1Gi": self.of_1gi}
        return {size: count for size, count in counts.items() if count}


class PoolImage(StrictDocument):
    """A custom image for a pool's nodes."""

    id: str = Field(min_length=1, description="ID of the image, for example ami-0123456789abcdef0.")
    family: str = Field(
        default="",
        description="EKS image on which the custom image is based. Required. The only supported value "
        "is al2023, the image with NVIDIA's driver.",
    )
    driver_root: str = Field(
        default="",
        description="Folder of the NVIDIA driver in the image, for example / in EKS images. If you "
        'omit this key and claims need the pool\'s GPUs, the verdict is "cannot tell".',
    )

    @property
    def facts(self) -> NodeImage:
        """The image in the planner's form."""
        return NodeImage(id=self.id, family=self.family, driver_root=self.driver_root)


class Pool(StrictDocument):
    """A pool of GPU nodes with one machine type."""

    name: str = Field(pattern=DNS_LABEL, max_length=40, description="Name, unique in the fleet.")
    machine: str = Field(min_length=1, description="Machine type (`pulumi-dra catalog machines`).")
    count: Count = Field(
        description="Number of nodes: a minimum and a maximum, or one fixed number."
    )
    zones: Annotated[list[str], refused_by(repetition_fault)] = Field(
        default_factory=empty_list,
        description="Zones for the nodes. Default: all zones in the network.",
    )
    capacity: Literal["on-demand", "spot", "flex-start", "queued"] | Reservation | CapacityBlock = (
        Field(
            default="on-demand",
            description="Capacity type of the nodes. GKE: the Dynamic Workload Scheduler "
            "provides flex-start and queued nodes for up to seven days. Queued nodes start "
            "when a ProvisioningRequest requests them.",
        )
    )
    schedule: PoolSchedule | None = Field(
        default=None,
        exclude_if=lambda schedule: schedule is None,
        description="EKS, without an autoscaler: times at which the pool has the planned number of "
        "nodes. At all other times, the pool has the minimum number of nodes. Default: "
        "always.",
    )
    mig: str = Field(
        default="none",
        description="MIG configuration of each GPU (`pulumi-dra catalog mig`). Default: none.",
    )
    allocation: Literal["dra", "device-plugin"] = Field(
        default="dra",
        exclude_if=lambda allocation: allocation == "dra",
        description="Software that allocates the devices: the DRA driver (for claims), or the "
        "device plugin (for extended resources such as nvidia.com/gpu).",
    )
    mig_strategy: Literal["single", "mixed"] | None = Field(
        default=None,
        exclude_if=lambda strategy: strategy is None,
        description="Resource name of MIG devices, if allocation is device-plugin and mig is "
        "set. single: nvidia.com/gpu. mixed: a separate name for each profile. "
        "Default: mixed, or the only strategy that the cloud supports.",
    )
    sharing: PoolSharing | None = Field(
        default=None,
        exclude_if=lambda sharing: sharing is None,
        description="Settings for sharing each device as multiple units, if allocation is "
        "device-plugin. Default: one unit.",
    )
    price_per_hour: Price | None = Field(
        default=None, description="Price in US dollars per node-hour."
    )
    max_pods: int | None = Field(
        default=None,
        description="Maximum number of pods on a node (kubelet's maxPods). Default: the cloud's "
        "default.",
    )
    reserved: Amount = Field(
        default_factory=nothing_given(Amount),
        description="EKS: resources that the kubelet reserves in addition to the image's own "
        "reservation (systemReserved).",
    )
    disk_gib: int = Field(default=DISK_GIB, description="Size of the boot disk in GiB.")
    local_storage: Literal["none", "raid0", "mount"] = Field(
        default="none",
        exclude_if=lambda use: use == "none",
        description="EKS: strategy for the local NVMe disks. none: no use. raid0: one file "
        "system for containers and ephemeral storage. mount: one file system for "
        "each disk.",
    )
    local_ssds: Annotated[int, within(_SSDS)] | None = Field(
        default=None,
        exclude_if=lambda count: count is None,
        description="GKE, for machine types that allow a choice: number of 375 GiB local SSDs "
        "for ephemeral storage. Default: the SSDs that are part of the machine type.",
    )
    huge_pages: HugePages | None = Field(
        default=None,
        exclude_if=lambda pages: pages is None,
        description="EKS and GKE: huge pages that nodes reserve at boot for pods that request "
        "hugepages-2Mi or hugepages-1Gi. Other pods can't use this memory.",
    )
    image: PoolImage | None = Field(
        default=None,
        exclude_if=lambda image: image is None,
        description="EKS: a custom image. Default: the EKS AL2023 image that includes the NVIDIA driver.",
    )
    labels: dict[LabelKey, LabelValue] = Field(
        default_factory=empty_mapping,
        description="Additional labels for the nodes.",
    )
    taints: list[PoolTaint] = Field(
        default_factory=empty_list,
        description="Additional taints for the nodes.",
    )
    part_of: str = Field(
        default="",
        exclude_if=lambda name: not name,
        description="Name of a group of pools that share one maximum: the largest `count.max` in the "
        "group. A plan with guards sets this key for pools that replace a split pool.",
    )

    @field_validator("count", mode="before")
    @classmethod
    def _fixed(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"min": value, "max": value}
        return value

    @field_validator("taints")
    @classmethod
    def _once(cls, taints: list[PoolTaint]) -> list[PoolTaint]:
        if sentence := taints_fault((taint.key, taint.effect) for taint in taints):
            raise ValueError(sentence)
        return taints

    @model_validator(mode="after")
    def _only_of_plugins(self) -> Self:
        if self.allocation == "dra" and (self.mig_strategy or self.sharing):
            key = "migStrategy" if self.mig_strategy else "sharing"
            raise ValueError(
                f"{key} applies only to pools with allocation: device-plugin; remove {key}, or set "
                "allocation to device-plugin"
            )
        if self.mig_strategy and self.mig in WHOLE:
            raise ValueError(
                "migStrategy applies only to pools with mig; remove migStrategy, or set mig"
            )
        return self

    @property
    def is_dra(self) -> bool:
        """Whether the DRA driver allocates the devices of its nodes."""
        return self.allocation == "dra"

    def plugin_serving(self, usual_strategy: str) -> PluginServing | None:
        """Return how a device plugin serves its devices, or None for DRA pools.

        `usual_strategy` names MIG devices if the pool doesn't set `migStrategy`.
        """
        strategy = "" if self.mig in WHOLE else self.mig_strategy or usual_strategy
        return None if self.is_dra else serving_of(self.sharing, self.mig, strategy)

    @property
    def bought_nodes(self) -> int | None:
        """The number of purchased nodes, if the pool states it.

        It's None if the capacity isn't purchased, or doesn't have a count.
        """
        return None if isinstance(self.capacity, str) else self.capacity.nodes

    @property
    def source(self) -> Capacity:
        """The capacity in the planner's form."""
        match self.capacity:
            case Reservation(reservation=bought):
                return Capacity(kind="reservation", reservation=bought)
            case CapacityBlock(capacity_block=bought):
                return Capacity(kind="capacity-block", reservation=bought)
            case kind:
                return Capacity(kind=kind)

    @property
    def schedule_sentence(self) -> str:
        """The times at which the pool has the planned nodes, and the effect on claims, or "" for a
        pool without a schedule.
        """
        if self.schedule is None:
            return ""
        return (
            f"has its nodes {self.schedule.times}. At other times, it has {counted(self.count.min, 'node')}, "
            "so pods that don't fit stay pending"
        )


class Headroom(StrictDocument):
    """Capacity for additional pods of one workload."""

    kind: str = Field(min_length=1, description="Kind of the workload, for example Deployment.")
    namespace: str = Field(
        default="default", min_length=1, description="Namespace of the workload."
    )
    name: str = Field(min_length=1, description="Name of the workload.")
    pods: Annotated[int, within(_PODS)] = Field(
        description="Number of additional pods that must fit, for each pod template.",
        json_schema_extra=bounds(_PODS),
    )


class Redundancy(StrictDocument):
    """Nodes or zones that can fail at the same time, while all pods fit on the other GPU nodes."""

    nodes: Annotated[int, within(_LOST_NODES)] = Field(
        default=0,
        description="Number of nodes that can fail at the same time.",
        json_schema_extra=bounds(_LOST_NODES),
    )
    zones: Annotated[int, within(_LOST_ZONES)] = Field(
        default=0,
        description="Number of zones that can fail at the same time: 0 or 1.",
        json_schema_extra=bounds(_LOST_ZONES),
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.nodes and self.zones:
            raise ValueError("set either nodes or zones")
        return self

    @property
    def is_requested(self) -> bool:
        return bool(self.nodes or self.zones)


class Quota(StrictDocument):
    """The part of an account quota that this fleet can use: vCPUs, GPUs, nodes, or addresses of
    certain machine types.
    """

    name: str = Field(
        min_length=1,
        max_length=120,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="Quota name, exactly as shown by the cloud.",
    )
    unit: Unit = Field(
        description="Unit to count. `addresses`: IP addresses in the nodes' subnets. "
        "`pod-addresses`: IP addresses in a separate range for pods, if the cloud "
        "has such a range."
    )
    limit: Annotated[int, within(_AMOUNTS)] = Field(
        description="Combined limit for all nodes in this fleet.",
        json_schema_extra=bounds(_AMOUNTS),
    )
    machines: list[Annotated[str, Field(min_length=1)]] = Field(
        default_factory=empty_list,
        description="Machine types to count, where `*` matches any text: p5.*. Default: all.",
    )
    capacity: list[CapacityKind] = Field(
        default_factory=empty_list,
        description="Capacity types to count. Default: all.",
    )

    def counts(self, machine: str, capacity: str) -> bool:
        """Return whether nodes of a machine type with this capacity count against the quota."""
        named = not self.machines or any(fnmatchcase(machine, pattern) for pattern in self.machines)
        return named and (not self.capacity or capacity in self.capacity)
