"""The fleet: one document that says which cluster, which pools and which drivers, validated.

Keys are camelCase outside, as in Kubernetes and Pulumi configuration; unknown keys are errors. Checks that
need a table ask the catalogue, so a machine or a driver that nobody knows is found here, with the nearest names.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from dra_planner import catalog
from dra_planner.errors import PlannerError
from dra_planner.releases import parse_version

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
Cloud = Literal["eks", "gke"]
Autoscaler = Literal["none", "cluster-autoscaler", "karpenter", "gke"]


def _sentence(error: PlannerError) -> str:
    return f"{error.message}; {error.fix}" if error.fix else error.message


class _Document(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, strict=True, populate_by_name=True
    )


def _as_decimal(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return Decimal(str(value)) if isinstance(value, int | float | str) else value


def _as_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


Price = Annotated[
    Decimal, BeforeValidator(_as_decimal), PlainSerializer(_as_number), Field(gt=0, allow_inf_nan=False)
]


class Network(_Document):
    """Where nodes live: a new network over some zones, or subnets that exist."""

    zones: Annotated[int, Field(ge=1, le=6)] | list[str] = Field(
        default=2, description="How many zones a new network spans, or which ones."
    )
    subnet_ids: list[str] = Field(default_factory=list, description="Existing private subnets (EKS).")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.subnet_ids and "zones" in self.model_fields_set:
            raise ValueError("give either zones (a new network) or subnetIds (an existing one), not both")
        return self


class Endpoint(_Document):
    """Who reaches the API server from outside; it is always reachable from inside."""

    public_access_cidrs: list[str] = Field(
        default_factory=list, description="Networks that may reach the public endpoint; none: no public endpoint."
    )

    @field_validator("public_access_cidrs")
    @classmethod
    def _bounded(cls, cidrs: list[str]) -> list[str]:
        for cidr in cidrs:
            try:
                network = ipaddress.ip_network(cidr)
            except ValueError as error:
                raise ValueError(f'"{cidr}" is no network in CIDR form ({error})') from None
            if network.prefixlen == 0:
                raise ValueError(f'"{cidr}" opens the API server to everyone; name the networks that need it')
        return cidrs


class SystemPool(_Document):
    """Nodes without GPUs, for controllers and add-ons."""

    machine: str = Field(min_length=1, description="Machine type.")
    count: int = Field(default=2, ge=1, le=100, description="Nodes in all.")


class NvidiaDriver(_Document):
    """The NVIDIA DRA driver."""

    version: str = Field(description="Version of the Helm chart.")


class Drivers(_Document):
    """DRA drivers of the cluster, by name."""

    nvidia: NvidiaDriver

    @model_validator(mode="before")
    @classmethod
    def _not_yet(cls, data: Any) -> Any:
        for name in ("dranet", "efa", "tpu", "neuron"):
            if isinstance(data, dict) and name in data:
                raise ValueError(f'driver "{name}" is not supported yet; remove it')
        return data


class DevicePlugin(_Document):
    """NVIDIA's device plugin beside the DRA driver, for nodes that are not DRA nodes."""

    version: str = Field(description="Version of the Helm chart.")


class FleetDeviceClass(_Document):
    """A DeviceClass of the platform's own."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253)
    selectors: list[str] = Field(default_factory=list, description="CEL expressions over one device, ANDed.")
    extended_resource_name: str | None = Field(
        default=None, description="Extended resource that pods may ask for instead of a claim (1.36 and later)."
    )


class Count(_Document):
    """How many nodes a pool may have in all; the plan says how many it needs."""

    min: int = Field(default=0, ge=0)
    max: int = Field(ge=0, le=100_000_000)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is greater than max {self.max}")
        return self

    @property
    def is_fixed(self) -> bool:
        return self.min == self.max


class Reservation(_Document):
    """Capacity bought beforehand."""

    reservation: str = Field(min_length=1)


class CapacityBlock(_Document):
    """An EC2 Capacity Block, by its reservation id."""

    capacity_block: str = Field(min_length=1)


class Pool(_Document):
    """GPU nodes of one machine type that claims are planned on."""

    name: str = Field(pattern=DNS_LABEL, max_length=40)
    machine: str = Field(min_length=1)
    count: Count
    zones: list[str] = Field(default_factory=list, description="Zones to use; none: all of the network's.")
    capacity: Literal["on-demand", "spot"] | Reservation | CapacityBlock = "on-demand"
    mig: str = Field(default="none", description="MIG layout of every GPU, or none.")
    price_per_hour: Price | None = Field(default=None, description="US dollars per node and hour.")

    @field_validator("count", mode="before")
    @classmethod
    def _fixed(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"min": value, "max": value}
        return value


def _kubernetes_version(value: Any) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool):
        raise ValueError(f'must be text, not a number: write "{value}" in quotes (1.40 would read as 1.4)')
    if isinstance(value, str):
        try:
            parse_version(value)
        except PlannerError as error:
            raise ValueError(_sentence(error)) from None
    return value


class Fleet(_Document):
    """A cluster and its pools; see `docs/schema/fleet.json` for the published schema."""

    cloud: Cloud
    region: str = Field(min_length=1)
    kubernetes: Annotated[str, BeforeValidator(_kubernetes_version)]
    autoscaler: Autoscaler = Field(
        default="none", description="Who changes node counts after this program has created the pools."
    )
    network: Network = Field(default_factory=Network)
    endpoint: Endpoint = Field(default_factory=Endpoint)
    system_pool: SystemPool
    drivers: Drivers
    device_plugin: DevicePlugin | Literal[False] = False
    device_classes: list[FleetDeviceClass] = Field(default_factory=list)
    pools: list[Pool] = Field(min_length=1)

    @field_validator("cloud", mode="before")
    @classmethod
    def _supported_cloud(cls, value: Any) -> Any:
        if value == "aks":
            raise ValueError('"aks" is not supported yet; use eks or gke')
        return value

    @property
    def minor(self) -> int:
        """The Kubernetes minor: 34 for "1.34"."""
        return parse_version(self.kubernetes)

    def pool(self, name: str) -> Pool:
        """Return the pool of that name; raises KeyError."""
        for pool in self.pools:
            if pool.name == name:
                return pool
        raise KeyError(name)

    def document(self) -> dict[str, Any]:
        """Return the fleet as plain data with every default filled in; reading it again gives an equal fleet."""
        return self.model_dump(mode="json", by_alias=True)


Location = tuple[str | int, ...]
Fault = tuple[Location, str]


def check_together(fleet: Fleet) -> list[Fault]:
    """Return what is wrong between fields, or unknown to the catalogue: (location, sentence) for each fault."""
    faults: list[Fault] = []
    if fleet.cloud == "eks" and fleet.autoscaler == "gke":
        remedy = "use none, cluster-autoscaler or karpenter"
        faults.append((("autoscaler",), f"an EKS cluster has no gke autoscaler; {remedy}"))
    if fleet.cloud == "gke" and fleet.autoscaler in ("karpenter", "cluster-autoscaler"):
        faults.append((("autoscaler",), f"a GKE cluster is scaled by gke or by none, not by {fleet.autoscaler}"))
    if fleet.cloud == "gke" and fleet.network.subnet_ids:
        faults.append((("network", "subnetIds"), "subnetIds are for EKS; on GKE give zones"))
    driver, plugin = fleet.drivers.nvidia, fleet.device_plugin
    faults.extend(
        _catalog_fault(("drivers", "nvidia", "version"), lambda: catalog.driver_release(driver.version))
    )
    if plugin:
        faults.extend(
            _catalog_fault(("devicePlugin", "version"), lambda: catalog.device_plugin_release(plugin.version))
        )
    if isinstance(fleet.network.zones, list):
        for at, zone in enumerate(fleet.network.zones):
            faults.extend(_zone_fault(fleet, zone, ("network", "zones", at)))
    seen: dict[str, int] = {}
    for index, pool in enumerate(fleet.pools):
        if pool.name == "system":
            faults.append((("pools", index, "name"), 'the name "system" is taken by the pool without GPUs'))
        if pool.name in seen:
            faults.append((("pools", index, "name"), f'the name "{pool.name}" is taken by pools[{seen[pool.name]}]'))
        seen.setdefault(pool.name, index)
        faults.extend(_pool_faults(fleet, index, pool))
    names = [device_class.name for device_class in fleet.device_classes]
    for at, name in enumerate(names):
        if name in names[:at]:
            faults.append((("deviceClasses", at, "name"), f'the name "{name}" is taken by an earlier class'))
    return faults


def _pool_faults(fleet: Fleet, index: int, pool: Pool) -> list[Fault]:
    at: Location = ("pools", index)
    faults: list[Fault] = []
    faults.extend(_catalog_fault((*at, "machine"), lambda: catalog.machine(fleet.cloud, pool.machine)))
    if isinstance(pool.capacity, CapacityBlock) and fleet.cloud != "eks":
        faults.append(((*at, "capacity"), "capacity blocks exist on EKS only; use a reservation"))
    for position, zone in enumerate(pool.zones):
        faults.extend(_zone_fault(fleet, zone, (*at, "zones", position)))
    return faults


def _catalog_fault(at: Location, look_up: Callable[[], object]) -> list[Fault]:
    try:
        look_up()
    except PlannerError as error:
        return [(at, _sentence(error))]
    return []


def _zone_fault(fleet: Fleet, zone: str, at: Location) -> list[Fault]:
    pattern = rf"{re.escape(fleet.region)}{'' if fleet.cloud == 'eks' else '-'}[a-z]"
    if re.fullmatch(pattern, zone):
        return []
    example = f"{fleet.region}a" if fleet.cloud == "eks" else f"{fleet.region}-a"
    return [(at, f'zone "{zone}" is not in region {fleet.region}; write for example "{example}"')]


__all__ = [
    "Autoscaler",
    "CapacityBlock",
    "Cloud",
    "Count",
    "DevicePlugin",
    "Drivers",
    "Endpoint",
    "Fleet",
    "FleetDeviceClass",
    "Network",
    "NvidiaDriver",
    "Pool",
    "Reservation",
    "SystemPool",
    "check_together",
]
