"""ResourceClaims, templates and DeviceClasses of `resource.k8s.io/v1`, after defaulting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.objects import NodeSelector, ObjectMeta
from dra_planner.quantity import Quantity
from dra_planner.records import equality

AllocationMode = Literal["ExactCount", "All"]


@equality(ignored=("place",))
class CelSelector(Struct, frozen=True):
    """A CEL expression over one device, and its place in a file."""

    expression: str
    place: Place = NOWHERE


class DeviceToleration(Struct, frozen=True):
    """The device taints that a request tolerates."""

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


@equality(ignored=("place",), unhashed=("capacity",))
class ExactDeviceRequest(Struct, frozen=True, kw_only=True):
    """One way to satisfy a request: a number of devices of a class that match the selectors."""

    device_class_name: str
    selectors: tuple[CelSelector, ...] = ()
    allocation_mode: AllocationMode = "ExactCount"
    count: int = 1
    admin_access: bool = False
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: Mapping[str, Quantity] = {}
    place: Place = NOWHERE


@equality(ignored=("place",), unhashed=("capacity",))
class DeviceSubRequest(ExactDeviceRequest, frozen=True, kw_only=True):
    """One alternative of `firstAvailable`. Its allocation is recorded as `<request>/<name>`."""

    name: str


@equality(ignored=("place",))
class DeviceRequest(Struct, frozen=True, kw_only=True):
    """A named request. Either `exactly` or `first_available` is set."""

    name: str
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    place: Place = NOWHERE

    @property
    def alternatives(self) -> tuple[ExactDeviceRequest, ...]:
        """The ways to satisfy the request, in order of preference."""
        return self.first_available if self.exactly is None else (self.exactly,)


class DeviceConstraint(Struct, frozen=True, kw_only=True):
    """`matchAttribute` or `distinctAttribute` over the listed requests. An empty list means all
    requests of the claim.
    """

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


@equality(unhashed=("parameters",))
class DeviceConfiguration(Struct, frozen=True, kw_only=True):
    """Opaque parameters for one driver."""

    requests: tuple[str, ...] = ()
    driver: str
    parameters: Mapping[str, Any] = {}


class ClaimSpec(Struct, frozen=True, kw_only=True):
    """The requests of a claim. A claim without requests is valid and allocates nothing."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceConfiguration, ...] = ()


@equality(unhashed=("consumed_capacity",))
class AllocatedDevice(Struct, frozen=True, kw_only=True):
    """One device that is allocated to a claim."""

    request: str  # "<request>" or "<request>/<subrequest>"
    driver: str
    pool: str
    device: str
    admin_access: bool = False
    share_id: str = ""
    consumed_capacity: Mapping[str, Quantity] = {}


class ClaimAllocation(Struct, frozen=True, kw_only=True):
    """The stored result of an allocation."""

    devices: tuple[AllocatedDevice, ...] = ()
    node_selector: NodeSelector | None = None
    has_timestamp: bool = False


class ResourceClaim(Struct, frozen=True, kw_only=True):
    """A claim that exists as a separate object, and that might already be allocated."""

    meta: ObjectMeta
    spec: ClaimSpec
    allocation: ClaimAllocation | None = None
    reserved_for: tuple[str, ...] = ()  # names of the pods that use the claim
    owner_pod: str = ""  # set for claims generated from a template


@equality(unhashed=("claim_labels", "claim_annotations"))
class ResourceClaimTemplate(Struct, frozen=True, kw_only=True):
    """A template with the spec of the claims that are generated for each pod."""

    meta: ObjectMeta
    spec: ClaimSpec
    claim_labels: Mapping[str, str] = {}
    claim_annotations: Mapping[str, str] = {}


class DeviceClass(Struct, frozen=True, kw_only=True):
    """A cluster-scoped, named set of selectors that an administrator provides."""

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
