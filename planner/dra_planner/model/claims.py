"""ResourceClaims, templates and DeviceClasses of `resource.k8s.io/v1`, after defaulting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.objects import NodeSelector, ObjectMeta
from dra_planner.quantity import Quantity

AllocationMode = Literal["ExactCount", "All"]


@dataclass(frozen=True, slots=True)
class CelSelector:
    """A CEL expression over one device, and its place in a file."""

    expression: str
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class DeviceToleration:
    """The device taints that a request tolerates."""

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactDeviceRequest:
    """One way to satisfy a request: a number of devices of a class that match the selectors."""

    device_class_name: str
    selectors: tuple[CelSelector, ...] = ()
    allocation_mode: AllocationMode = "ExactCount"
    count: int = 1
    admin_access: bool = False
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: Mapping[str, Quantity] = field(default_factory=dict, hash=False)
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSubRequest(ExactDeviceRequest):
    """One alternative of `firstAvailable`; its allocation is recorded as `<request>/<name>`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """A named request: either `exactly` or `first_available` is set."""

    name: str
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConstraint:
    """`matchAttribute` or `distinctAttribute` over the listed requests; none listed means all of
    the claim.
    """

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceConfiguration:
    """Opaque parameters for one driver."""

    requests: tuple[str, ...] = ()
    driver: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSpec:
    """The requests of a claim. A claim without requests is valid and allocates nothing."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceConfiguration, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocatedDevice:
    """One device that a claim holds."""

    request: str  # "<request>" or "<request>/<subrequest>"
    driver: str
    pool: str
    device: str
    admin_access: bool = False
    share_id: str = ""
    consumed_capacity: Mapping[str, Quantity] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAllocation:
    """The stored result of an allocation."""

    devices: tuple[AllocatedDevice, ...] = ()
    node_selector: NodeSelector | None = None
    has_timestamp: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaim:
    """A claim that exists as a separate object, possibly allocated already."""

    meta: ObjectMeta
    spec: ClaimSpec
    allocation: ClaimAllocation | None = None
    reserved_for: tuple[str, ...] = ()  # names of consuming pods
    owner_pod: str = ""  # set for claims generated from a template


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceClaimTemplate:
    """The spec of the claims that are generated for each pod."""

    meta: ObjectMeta
    spec: ClaimSpec
    claim_labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    claim_annotations: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClass:
    """A named set of selectors that an administrator offers; cluster-scoped."""

    meta: ObjectMeta
    selectors: tuple[CelSelector, ...] = ()
    config: tuple[DeviceConfiguration, ...] = ()
    extended_resource_name: str | None = None

    @property
    def name(self) -> str:
        return self.meta.name


def generated_claim_name(pod: str, entry: str) -> str:
    """Return the name of the claim generated for an entry of a pod: <pod>-<entry>."""
    return f"{pod}-{entry}"
