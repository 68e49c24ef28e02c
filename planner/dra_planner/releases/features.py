"""Differences between Kubernetes versions: feature gates, which a cluster can switch, and fixed
changes.
"""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace


class Gate(Struct, frozen=True):
    """A feature gate by its Kubernetes name.

    `since` is the minor version that introduced it, and `locked` is the first minor version in
    which it can't be switched. With `modelled=False`, only its effect on stored objects is
    implemented here. Source: kubernetes/kubernetes:pkg/features/kube_features.go@v1.37.0.
    """

    name: str
    since: int
    locked: int | None = None
    modelled: bool = True

    def is_known(self, minor: int) -> bool:
        """Return whether the version has this gate."""
        return minor >= self.since

    def is_locked(self, minor: int) -> bool:
        """Return whether the gate is locked to on in the version."""
        return self.locked is not None and minor >= self.locked


class UngatedChange(Struct, frozen=True):
    """A difference without a gate: the behavior if the field is true, and its upstream source."""

    meaning: str
    source: str


_VALIDATION: Final = "kubernetes/kubernetes:pkg/apis/resource/validation/validation.go"
_DECLARED: Final = "kubernetes/kubernetes:pkg/apis/resource/v1/zz_generated.validations.go"
_STRATEGY: Final = "kubernetes/kubernetes:pkg/registry/resource"
_QUOTA: Final = "kubernetes/kubernetes:pkg/quota/v1/evaluator/core/resource_claims.go"
_RESOURCES: Final = "kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources"
_PREEMPTION: Final = (
    "kubernetes/kubernetes:pkg/scheduler/framework/preemption/util.go "
    "(FilterVictimsWithPDBViolation)"
)
_PLUGIN: Final = "kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources"
_ALLOCATOR: Final = "kubernetes/dynamic-resource-allocation:structured/internal"
_API: Final = "kubernetes/api"


class Features(Struct, frozen=True, kw_only=True):
    """The behavior of one Kubernetes version with its default feature gates, or with other values
    (`with_gates`). A field is a `Gate` or a fixed `UngatedChange`. Fields don't have defaults,
    so every version sets each field.
    """

    minor: int
    latest_patch: int
    # API versions that the API server serves although they're off by default
    served: frozenset[str]

    # Gates.
    admin_access: Annotated[bool, Gate("DRAAdminAccess", since=32, locked=36)]
    binding_conditions: Annotated[bool, Gate("DRADeviceBindingConditions", since=34)]
    compatibility_groups: Annotated[
        bool, Gate("DRADeviceCompatibilityGroups", since=37, modelled=False)
    ]
    consumable_capacity: Annotated[bool, Gate("DRAConsumableCapacity", since=34)]
    derived_attributes: Annotated[bool, Gate("DRADerivedAttributes", since=37, modelled=False)]
    device_status: Annotated[bool, Gate("DRAResourceClaimDeviceStatus", since=32, locked=37)]
    device_taint_rules: Annotated[bool, Gate("DRADeviceTaintRules", since=35)]
    device_taints: Annotated[bool, Gate("DRADeviceTaints", since=33)]
    extended_resource: Annotated[bool, Gate("DRAExtendedResource", since=34, locked=37)]
    fractional_capacity_range: Annotated[bool, Gate("DRAFractionalCapacityRange", since=37)]
    list_attributes: Annotated[bool, Gate("DRAListTypeAttributes", since=36)]
    node_allocatable_resources: Annotated[
        bool, Gate("DRANodeAllocatableResources", since=36, modelled=False)
    ]
    optional_node_operations: Annotated[
        bool, Gate("DRAOptionalNodeOperations", since=37, modelled=False)
    ]
    partitionable_devices: Annotated[bool, Gate("DRAPartitionableDevices", since=33)]
    partitionable_devices_type: Annotated[
        bool, Gate("DRAPartitionableDevicesType", since=37, modelled=False)
    ]
    prioritized_list: Annotated[bool, Gate("DRAPrioritizedList", since=33, locked=37)]
    workload_claims: Annotated[bool, Gate("DRAWorkloadResourceClaims", since=36)]

    # API versions and fields that the API server serves and stores.
    resource_kinds: Annotated[frozenset[str], UngatedChange("Kinds in resource.k8s.io/v1", _API)]
    pod_group_versions: Annotated[
        frozenset[str],
        UngatedChange("Versions of scheduling.k8s.io that the API server can serve", _API),
    ]
    counter_sets_apart: Annotated[
        bool,
        UngatedChange(
            "A ResourceSlice contains either counter sets or devices, with separate limits",
            _VALIDATION,
        ),
    ]
    drops_tolerations_and_distinct: Annotated[
        bool,
        UngatedChange(
            "The API server discards tolerations and distinctAttribute if their feature gate is "
            "off",
            _STRATEGY,
        ),
    ]
    stores_no_devices_as_null: Annotated[
        bool,
        UngatedChange(
            "The API server stores an empty list of devices in a ResourceSlice as null", _API
        ),
    ]
    charges_implicit_extended_resources: Annotated[
        bool,
        UngatedChange(
            "Quotas also count the implicit extended resource of each DeviceClass", _QUOTA
        ),
    ]

    # Objects that validation rejects, and the fields in its messages.
    max_device_taints: Annotated[
        int, UngatedChange("Maximum number of taints on a device", _VALIDATION)
    ]
    max_attribute_values: Annotated[
        int | None,
        UngatedChange("Maximum number of attribute values on a device", _VALIDATION),
    ]
    device_taint_effects: Annotated[
        tuple[str, ...], UngatedChange("Effects of device taints", _VALIDATION)
    ]
    declared_validation: Annotated[
        bool,
        UngatedChange(
            "Even if an object as a whole fails validation, the API server still checks the "
            "declarative rules for its fields",
            _DECLARED,
        ),
    ]
    stops_at_whole_faults: Annotated[
        bool,
        UngatedChange(
            "Validation stops at a list that is too long, at a request that sets both exactly "
            "and firstAvailable, and at a missing driver",
            _VALIDATION,
        ),
    ]
    empty_is_invalid: Annotated[
        bool,
        UngatedChange(
            "The API server reports an empty name or attribute as an invalid value instead of a "
            "missing value",
            _VALIDATION,
        ),
    ]
    blames_duplicate_items: Annotated[
        bool,
        UngatedChange(
            "For a duplicate in a list, the API server reports the item instead of the item's "
            "key field",
            _VALIDATION,
        ),
    ]
    blames_maps_for_keys: Annotated[
        bool,
        UngatedChange(
            "For an invalid map key, the API server reports the path of the map, not of the entry",
            _VALIDATION,
        ),
    ]
    lower_case_attribute_domains: Annotated[
        bool,
        UngatedChange("The domain of a constraint's attribute must be lowercase", _DECLARED),
    ]
    checks_both_attributes: Annotated[
        bool,
        UngatedChange(
            "The API server also checks distinctAttribute in constraints with matchAttribute",
            _DECLARED,
        ),
    ]
    checks_prefix_of_class_names: Annotated[
        bool, UngatedChange("The API server validates the generateName of a DeviceClass", _STRATEGY)
    ]
    warns_of_upper_case_drivers: Annotated[
        bool,
        UngatedChange("An uppercase driver name in a ResourceSlice causes a warning", _STRATEGY),
    ]
    blames_default_of_range: Annotated[
        bool,
        UngatedChange(
            "If a default is outside of validRange, the API server reports the error "
            "for the default",
            _VALIDATION,
        ),
    ]
    checks_range_arithmetic: Annotated[
        bool,
        UngatedChange(
            "The allocator rejects amounts if calculations with validRange aren't exact", _ALLOCATOR
        ),
    ]

    # Behavior of the scheduler.
    own_slices_only: Annotated[
        bool,
        UngatedChange(
            "A device pool is complete if all of its slices are visible to the node", _ALLOCATOR
        ),
    ]
    meets_invalid_pools: Annotated[
        bool,
        UngatedChange(
            "The scheduling attempt fails when the allocator reaches the first device of an "
            "invalid pool",
            _ALLOCATOR,
        ),
    ]
    counter_slices_on_every_node: Annotated[
        bool,
        UngatedChange(
            "A ResourceSlice with counter sets is part of the device pool on every node", _ALLOCATOR
        ),
    ]
    own_slices_first: Annotated[
        bool,
        UngatedChange(
            "The allocator lists the node's own slices first, and uses their resourceSliceCount "
            "for the pool",
            _ALLOCATOR,
        ),
    ]
    counter_slices_last: Annotated[
        bool,
        UngatedChange(
            "The allocator lists slices with counter sets after the node's own slices", _ALLOCATOR
        ),
    ]
    walks_slices_by_name: Annotated[
        bool,
        UngatedChange("The allocator searches a pool's slices in order of name", _ALLOCATOR),
    ]
    joins_counter_slices: Annotated[
        bool,
        UngatedChange(
            "Counter sets in slices for other nodes are part of the device pool", _ALLOCATOR
        ),
    ]
    borrows_outcomes_of_all: Annotated[
        bool,
        UngatedChange(
            "A second alternative with allocationMode All reuses the selector results of "
            "the first alternative",
            _ALLOCATOR,
        ),
    ]
    all_without_full_devices: Annotated[
        bool,
        UngatedChange(
            "allocationMode All excludes shared devices without free capacity", _ALLOCATOR
        ),
    ]
    limits_devices_as_counted: Annotated[
        bool,
        UngatedChange("The allocator checks a claim's device limit after each request", _ALLOCATOR),
    ]
    empty_share_is_share: Annotated[
        bool,
        UngatedChange(
            "A device is in use even if its only share doesn't request capacity", _ALLOCATOR
        ),
    ]
    status_needs_shares: Annotated[
        bool,
        UngatedChange(
            "If DRAResourceClaimDeviceStatus is on, the scheduler uses the allocator that "
            "supports shared devices",
            _ALLOCATOR,
        ),
    ]
    names_subrequests: Annotated[
        bool, UngatedChange("Errors about a subrequest contain its name", _ALLOCATOR)
    ]
    names_device_in_errors: Annotated[
        bool, UngatedChange("Run-time errors in a selector contain the device name", _ALLOCATOR)
    ]
    scores_alternatives: Annotated[
        bool,
        UngatedChange("Nodes that allow a more preferred alternative get a higher score", _PLUGIN),
    ]
    scores_balance_change: Annotated[
        bool,
        UngatedChange(
            "A node's score depends on how the pod changes the balance of CPU and memory",
            _RESOURCES,
        ),
    ]
    charges_budgets_in_turn: Annotated[
        bool,
        UngatedChange(
            "During preemption, if one of a pod's disruption budgets is exhausted, the pod "
            "doesn't count against its other budgets",
            _PREEMPTION,
        ),
    ]
    stamps_allocations: Annotated[
        bool, UngatedChange("Allocations contain their creation time", _PLUGIN)
    ]
    needs_allocation_time: Annotated[
        bool,
        UngatedChange(
            "If binding conditions are on, a pod can't share a claim whose allocation lacks an "
            "allocationTimestamp",
            _PLUGIN,
        ),
    ]
    plugin_serves_nothing: Annotated[
        bool,
        UngatedChange(
            "If a device plugin offers 0 units of a resource, pods still request the "
            "resource from the plugin",
            _PLUGIN,
        ),
    ]

    def with_gates(self, **gates: bool) -> "Features":
        """Return this version with some feature gates switched.

        Raises TypeError for a field that isn't a gate.
        """
        wrong = gates.keys() - GATES.keys()
        if wrong:
            raise TypeError(f"no feature gates: {', '.join(sorted(wrong))}")
        changed: dict[str, Any] = dict(gates)
        return replace(self, **changed)

    def with_served(self, served: Iterable[str]) -> "Features":
        """Return this version with an API server that also serves these API versions, such as
        resource.k8s.io/v1beta2.
        """
        return replace(self, served=frozenset(served))

    @property
    def version(self) -> str:
        return f"1.{self.minor}"

    def __hash__(self) -> int:
        """Hash the minor version, gates, and served API versions, because the minor version
        determines the fixed changes.
        """
        return hash(_identity(self))


_Mark = TypeVar("_Mark", Gate, UngatedChange)


def _marked(mark: type[_Mark]) -> Mapping[str, _Mark]:
    return {
        name: note
        for name, kind in Features.__annotations__.items()
        for note in getattr(kind, "__metadata__", ())
        if isinstance(note, mark)
    }


GATES: Final = _marked(Gate)
"""The feature gate of each field of Features."""
CHANGES: Final = _marked(UngatedChange)
"""The fixed change of each field of Features."""
_identity: Final[Any] = attrgetter("minor", "served", *GATES)
