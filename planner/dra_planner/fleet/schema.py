"""The fleet: one validated document with the cluster, the pools, and the drivers.

In files, keys use camelCase, as in Kubernetes and Pulumi configuration. Unknown keys are errors.
Checks that need tables are in `dra_planner.fleet.checks`.
"""

from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dra_planner import catalog as tables
from dra_planner import clouds
from dra_planner.catalog import Machine
from dra_planner.clouds import (
    SYSTEM_NODES,
    NodeOrigin,
    PluginServing,
    public_network_fault,
    repetition_fault,
)
from dra_planner.documents.models import (
    StrictDocument,
    empty_list,
    empty_mapping,
    nothing_given,
    refused_by,
)
from dra_planner.errors import CatalogError, PlannerError
from dra_planner.fleet.drivers import DevicePluginSettings, Drivers, FleetDeviceClass
from dra_planner.fleet.learned_machines import LearnedMachine
from dra_planner.fleet.limits import shared_limits
from dra_planner.fleet.pools import Headroom, Pool, Quota, Redundancy
from dra_planner.fleet.value_types import DNS_SUBDOMAIN, Amount, bounds, sentence_of, within
from dra_planner.model import SharedLimit
from dra_planner.releases import (
    GATES,
    OPTIONAL_VERSIONS,
    Features,
    features_of,
    optional_version_fault,
    parse_version,
)

Placement = Literal["free", "guided", "exact"]
DaemonName = Annotated[str, StringConstraints(pattern=DNS_SUBDOMAIN, max_length=253)]


class Network(StrictDocument):
    """Network of the nodes: a new network with zones, or existing subnets."""

    zones: int | Annotated[list[str], Field(min_length=1), refused_by(repetition_fault)] = Field(
        default=2, description="Number of zones in a new network, or the names of the zones."
    )
    subnet_ids: list[str] = Field(
        default_factory=empty_list,
        description="IDs of existing private subnets. Some clouds don't support this key.",
    )
    prefix_delegation: bool = Field(
        default=False,
        description="EKS: enable prefix delegation in the VPC CNI, so that more pods fit on a node.",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.subnet_ids and "zones" in self.model_fields_set:
            raise ValueError(
                "set either zones (for a new network) or subnetIds (for an existing network), not "
                "both"
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of the fields, because the serializer only returns a mapping."""
        checked: Any = core_schema  # the validator below, which contains the model
        model = {key: part for key, part in checked["schema"].items() if key != "serialization"}
        return handler({**checked, "schema": model})

    @model_serializer(mode="wrap")
    def _as_given(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Remove the zones that existing subnets determine, because the document couldn't be read
        again with them.
        """
        document: dict[str, Any] = dump(self)
        return (
            {key: value for key, value in document.items() if key != "zones"}
            if self.subnet_ids
            else document
        )


class Endpoint(StrictDocument):
    """Access to the API server from outside the network. Clients inside the network always have
    access.
    """

    public_access_cidrs: list[Annotated[str, refused_by(public_network_fault)]] = Field(
        default_factory=empty_list,
        description="CIDRs of the networks that can reach the public endpoint. Default: no public "
        "endpoint.",
    )


class SystemPool(StrictDocument):
    """Nodes without GPUs, for controllers and add-ons."""

    machine: str = Field(min_length=1, description="Machine type.")
    count: Annotated[int, within(SYSTEM_NODES)] = Field(
        default=2, description="Total number of nodes.", json_schema_extra=bounds(SYSTEM_NODES)
    )


def _kubernetes_version(value: Any) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool):
        raise ValueError(
            f'must be a string, not a number; put "{value}" in quotes, because YAML reads '
            "1.40 as 1.4"
        )
    if isinstance(value, str):
        try:
            parse_version(value)
        except PlannerError as error:
            raise ValueError(sentence_of(error)) from None
    return value


def _known_gates(given: dict[str, bool]) -> dict[str, bool]:
    modelled = {gate.name for gate in GATES.values() if gate.modelled}
    for name in given:
        if name not in modelled:
            near = get_close_matches(name, sorted(modelled), 1, 0.5)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else (f"use one of these feature gates: {', '.join(sorted(modelled))}")
            )
            raise ValueError(f'"{name}" isn\'t a feature gate that affects plans; {hint}')
    return given


def _known_versions(given: dict[str, bool]) -> dict[str, bool]:
    for name in given:
        if name not in OPTIONAL_VERSIONS:
            known = sorted(OPTIONAL_VERSIONS)
            near = get_close_matches(name, known, 1, 0.8)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else f"use one of these API versions: {', '.join(known)}"
            )
            raise ValueError(f'"{name}" isn\'t an API version that plans depend on; {hint}')
    return given


def _one_of_the_clouds(schema: dict[str, Any]) -> None:
    schema["enum"] = list(clouds.names())


def _one_of_the_autoscalers(schema: dict[str, Any]) -> None:
    schema["enum"] = list(
        dict.fromkeys(each for name in clouds.names() for each in clouds.cloud(name).autoscalers)
    )


class Fleet(StrictDocument):
    """A cluster and its pools. The published schema is `docs/schema/fleet.json`."""

    cloud: str = Field(description="Cloud of the cluster.", json_schema_extra=_one_of_the_clouds)
    region: str = Field(min_length=1, description="Region of the cloud.")
    kubernetes: Annotated[str, BeforeValidator(_kubernetes_version)] = Field(
        description='Version of the control plane, in quotes: "1.34".'
    )
    feature_gates: Annotated[dict[str, bool], AfterValidator(_known_gates)] = Field(
        default_factory=empty_mapping,
        exclude_if=lambda gates: not gates,
        description="DRA feature gates that differ from the Kubernetes version's defaults, on the "
        "control plane and on all nodes. Some clouds don't support this key.",
    )
    runtime_config: Annotated[dict[str, bool], AfterValidator(_known_versions)] = Field(
        default_factory=empty_mapping,
        exclude_if=lambda versions: not versions,
        description="API versions that are disabled by default but enabled in this cluster, for "
        "example resource.k8s.io/v1beta2. Set each version to true, as in the API server's "
        "--runtime-config flag. Some clouds don't support this key.",
    )
    autoscaler: str = Field(
        default="none",
        description="Autoscaler that changes node counts after Pulumi creates the pools.",
        json_schema_extra=_one_of_the_autoscalers,
    )
    manifests: Literal["partial", "complete"] = Field(
        default="partial",
        exclude_if=lambda manifests: manifests == "partial",
        description="Contents of the manifests that you pass to plan and check. partial: other "
        "objects can exist in the cluster. complete: the manifests define every object that pods "
        "refer to, except Secrets, other drivers' DeviceClasses, and the objects that Kubernetes "
        "and the cloud create. Pods that refer to other undefined objects don't fit. This key has "
        "no effect with --observed.",
    )
    network: Network = Field(default_factory=nothing_given(Network))
    endpoint: Endpoint = Field(default_factory=nothing_given(Endpoint))
    system_pool: SystemPool
    drivers: Drivers
    device_plugin: DevicePluginSettings | Literal[False] = Field(
        default=False,
        description="Settings for the NVIDIA device plugin on non-DRA nodes, or false to not "
        "install it.",
    )
    device_classes: list[FleetDeviceClass] = Field(
        default_factory=empty_list, description="Additional DeviceClasses."
    )
    daemon_pods: dict[DaemonName, Amount | Literal[False]] = Field(
        default_factory=empty_mapping,
        description="Resource requests of pods that run on every node, by DaemonSet name. "
        "Add DaemonSets, override the catalog's requests, or set a DaemonSet "
        "that isn't installed to false.",
    )
    sizing: Literal["simulated", "packing"] = Field(
        default="simulated",
        description="Numbers of nodes to create. simulated: the numbers that the default scheduler "
        "needs to place all pods in every simulated pod arrival order. packing: the numbers "
        "in the best packing.",
    )
    scheduler_profile: Literal["default", "most-allocated"] = Field(
        default="default",
        description="Node scoring that the simulated scheduler uses. Pulumi doesn't install a "
        "scheduler. default: kube-scheduler's default profile. most-allocated: full nodes first "
        "(MostAllocated). For these scores, use the optimize-utilization autoscaling "
        "profile on GKE, or your own scheduler on EKS.",
    )
    placement: Placement = Field(
        default="free",
        exclude_if=lambda placement: placement == "free",
        description="Guards that a plan can add to make the scheduler follow the plan. free: no "
        "guards. guided: the smallest set of guards found that makes the scheduler follow a "
        "low-cost plan. exact: one steering rule for each workload.",
    )
    quotas: list[Quota] = Field(
        default_factory=empty_list,
        description="Account quotas that the pools share.",
    )
    headroom: list[Headroom] = Field(
        default_factory=empty_list,
        description="Capacity to reserve for additional pods of workloads.",
    )
    redundancy: Redundancy = Field(default_factory=nothing_given(Redundancy))
    catalog: list[LearnedMachine] = Field(
        default_factory=empty_list,
        exclude_if=lambda rows: not rows,
        description="Machine types and drivers that `pulumi-dra catalog add` found on running "
        "nodes. These entries take precedence over the tables in this package.",
    )
    pools: list[Pool] = Field(min_length=1, description="Pools of GPU nodes.")

    @field_validator("cloud")
    @classmethod
    def _supported_cloud(cls, value: str) -> str:
        try:
            return clouds.cloud(value).name
        except PlannerError as error:
            raise ValueError(sentence_of(error)) from None

    @property
    def minor(self) -> int:
        """The Kubernetes minor version: 34 for "1.34"."""
        return parse_version(self.kubernetes)

    @property
    def features(self) -> Features:
        """The cluster's behavior: its version with its feature gates."""
        return self.features_at(self.minor)

    def features_at(self, minor: int) -> Features:
        """Return the cluster's behavior with another version, and with the same feature gates and
        API versions, as far as that version has them.
        """
        switched = {
            field: self.feature_gates[gate.name]
            for field, gate in GATES.items()
            if gate.name in self.feature_gates
            and gate.is_known(minor)
            and not gate.is_locked(minor)
        }
        served = (
            name
            for name, on in self.runtime_config.items()
            if on and not optional_version_fault(name, minor, on=on)
        )
        return features_of(minor).with_gates(**switched).with_served(served)

    @property
    def named_zones(self) -> list[str]:
        """The named zones: the zones of the network, or the pools' zones if the network has only a
        count.
        """
        if not isinstance(self.network.zones, int):
            return list(self.network.zones)
        return sorted({zone for pool in self.pools for zone in pool.zones})

    @property
    def zone_count(self) -> int:
        """The number of zones on GKE of a pool without its own zones: the network's count, but at
        least the named zones.
        """
        wanted = self.network.zones if isinstance(self.network.zones, int) else 0
        return max(wanted, len(self.named_zones))

    def zones_of(self, pool: Pool) -> int:
        """Return the number of zones of a pool's nodes, if the cloud counts nodes per zone."""
        return len(pool.zones) or self.zone_count

    @property
    def is_autoscaled(self) -> bool:
        """Whether an autoscaler changes node counts after the pools are created."""
        return (
            self.autoscaler != "none"
            and self.autoscaler not in clouds.cloud(self.cloud).keep_counts
        )

    def counts_change(self, name: str) -> bool:
        """Return True if an autoscaler, or the cloud on a schedule, changes the pool's node count
        later.
        """
        return self.is_autoscaled or self.pool(name).schedule is not None

    @property
    def limits(self) -> tuple[SharedLimit, ...]:
        """Quotas without the system pool's part, reservations, and maximums that several pools
        share.
        """
        if not self.quotas and all(
            pool.bought_nodes is None and not pool.part_of for pool in self.pools
        ):
            return ()
        return shared_limits(self)

    @property
    def driver_root(self) -> str:
        """The folder of the NVIDIA driver on the nodes, from custom images, or the cloud's
        default.
        """
        roots = (
            pool.image.driver_root for pool in self.pools if pool.image and pool.image.driver_root
        )
        return next(roots, clouds.cloud(self.cloud).driver_root)

    def nodes_of(self, pool: Pool, machine: Machine | None) -> NodeOrigin:
        """Return the facts that determine the labels and taints of a pool's nodes.

        `machine` is None for an unknown machine type.
        """
        return NodeOrigin(
            name=pool.name,
            machine=machine,
            capacity=pool.source.kind,
            network_devices=any(driver.is_network for driver, _ in self.drivers.installed()),
            autoscaler=self.autoscaler,
            plugin=self.plugin_serving(pool),
        )

    def plugin_serving(self, pool: Pool) -> PluginServing | None:
        """Return how a device plugin serves the devices of a pool, or None for DRA pools."""
        return pool.plugin_serving(clouds.cloud(self.cloud).plugin.mig_strategies[0])

    def learned(self, machine: str) -> LearnedMachine | None:
        """Return the entry of a machine type in the fleet's own catalog, or None."""
        return next((row for row in self.catalog if row.machine == machine.partition("+")[0]), None)

    def machine(self, name: str) -> Machine:
        """Return a machine type from the catalog, or a machine type that the fleet has learned.

        Raises CatalogError.
        """
        try:
            return tables.machine(self.cloud, name)
        except CatalogError:
            learned = self.learned(name)
            if learned is None:
                raise
            return learned.machine_type(self.cloud)

    def pool(self, name: str) -> Pool:
        """Return the pool with that name. Raises KeyError."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)

    def document(self) -> dict[str, Any]:
        """Return the fleet as plain data with all defaults. Reading it again gives an equal
        fleet.
        """
        return self.model_dump(mode="json", by_alias=True)
