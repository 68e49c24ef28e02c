"""One record per Kubernetes minor version.

A new version is a new record that sets every field. Gate defaults are the upstream defaults. A
managed control plane can have other defaults, so a plan lists its minor version among its
assumptions. Sources: kubernetes/kubernetes:pkg/features/kube_features.go @v1.34.9, v1.35.4, v1.36.3
and v1.37.0, and the sources in `features.py`, at the same versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from dra_planner.releases.features import Features

_KINDS: Final = frozenset(
    {"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}
)
_TWO_EFFECTS: Final = ("NoSchedule", "NoExecute")
_THREE_EFFECTS: Final = (*_TWO_EFFECTS, "None")

_1_34: Final = Features(
    minor=34,
    latest_patch=9,
    served=frozenset(),
    # Gates.
    admin_access=True,
    binding_conditions=False,
    compatibility_groups=False,
    consumable_capacity=False,
    derived_attributes=False,
    device_status=True,
    device_taint_rules=False,
    device_taints=False,
    extended_resource=False,
    fractional_capacity_range=False,
    list_attributes=False,
    node_allocatable_resources=False,
    optional_node_operations=False,
    partitionable_devices=False,
    partitionable_devices_type=False,
    prioritized_list=True,
    workload_claims=False,
    # API versions and fields that the API server serves and stores.
    resource_kinds=_KINDS,
    pod_group_versions=frozenset(),
    counter_sets_apart=False,
    drops_tolerations_and_distinct=False,
    stores_no_devices_as_null=True,
    charges_implicit_extended_resources=False,
    # Objects that validation rejects, and the fields in its messages.
    max_device_taints=4,
    max_attribute_values=None,
    device_taint_effects=_TWO_EFFECTS,
    declared_validation=False,
    stops_at_whole_faults=False,
    empty_is_invalid=False,
    blames_duplicate_items=False,
    blames_maps_for_keys=False,
    lower_case_attribute_domains=False,
    checks_both_attributes=False,
    checks_prefix_of_class_names=True,
    warns_of_upper_case_drivers=False,
    blames_default_of_range=False,
    checks_range_arithmetic=False,
    # Behavior of the scheduler.
    own_slices_only=True,
    meets_invalid_pools=True,
    counter_slices_on_every_node=False,
    own_slices_first=False,
    counter_slices_last=False,
    walks_slices_by_name=False,
    joins_counter_slices=False,
    borrows_outcomes_of_all=True,
    all_without_full_devices=True,
    limits_devices_as_counted=False,
    empty_share_is_share=False,
    status_needs_shares=True,
    names_subrequests=False,
    names_device_in_errors=False,
    scores_alternatives=False,
    scores_balance_change=False,
    charges_budgets_in_turn=False,
    stamps_allocations=False,
    needs_allocation_time=False,
    plugin_serves_nothing=True,
)

_1_35: Final = Features(
    minor=35,
    latest_patch=7,
    served=frozenset(),
    # Gates.
    admin_access=True,
    binding_conditions=False,
    compatibility_groups=False,
    consumable_capacity=False,
    derived_attributes=False,
    device_status=True,
    device_taint_rules=False,
    device_taints=False,
    extended_resource=False,
    fractional_capacity_range=False,
    list_attributes=False,
    node_allocatable_resources=False,
    optional_node_operations=False,
    partitionable_devices=False,
    partitionable_devices_type=False,
    prioritized_list=True,
    workload_claims=False,
    # API versions and fields that the API server serves and stores.
    resource_kinds=_KINDS,
    pod_group_versions=frozenset({"v1alpha1"}),
    counter_sets_apart=True,
    drops_tolerations_and_distinct=True,
    stores_no_devices_as_null=False,
    charges_implicit_extended_resources=True,
    # Objects that validation rejects, and the fields in its messages.
    max_device_taints=16,
    max_attribute_values=None,
    device_taint_effects=_THREE_EFFECTS,
    declared_validation=False,
    stops_at_whole_faults=True,
    empty_is_invalid=True,
    blames_duplicate_items=True,
    blames_maps_for_keys=False,
    lower_case_attribute_domains=False,
    checks_both_attributes=False,
    checks_prefix_of_class_names=False,
    warns_of_upper_case_drivers=True,
    blames_default_of_range=False,
    checks_range_arithmetic=False,
    # Behavior of the scheduler.
    own_slices_only=False,
    meets_invalid_pools=False,
    counter_slices_on_every_node=True,
    own_slices_first=False,
    counter_slices_last=False,
    walks_slices_by_name=False,
    joins_counter_slices=False,
    borrows_outcomes_of_all=True,
    all_without_full_devices=True,
    limits_devices_as_counted=False,
    empty_share_is_share=False,
    status_needs_shares=False,
    names_subrequests=True,
    names_device_in_errors=False,
    scores_alternatives=True,
    scores_balance_change=False,
    charges_budgets_in_turn=False,
    stamps_allocations=True,
    needs_allocation_time=False,
    plugin_serves_nothing=False,
)

_1_36: Final = Features(
    minor=36,
    latest_patch=3,
    served=frozenset(),
    # Gates.
    admin_access=True,
    binding_conditions=True,
    compatibility_groups=False,
    consumable_capacity=True,
    derived_attributes=False,
    device_status=True,
    device_taint_rules=False,
    device_taints=True,
    extended_resource=True,
    fractional_capacity_range=False,
    list_attributes=False,
    node_allocatable_resources=False,
    optional_node_operations=False,
    partitionable_devices=True,
    partitionable_devices_type=False,
    prioritized_list=True,
    workload_claims=False,
    # API versions and fields that the API server serves and stores.
    resource_kinds=_KINDS,
    pod_group_versions=frozenset({"v1alpha2"}),
    counter_sets_apart=True,
    drops_tolerations_and_distinct=True,
    stores_no_devices_as_null=False,
    charges_implicit_extended_resources=True,
    # Objects that validation rejects, and the fields in its messages.
    max_device_taints=16,
    max_attribute_values=48,
    device_taint_effects=_THREE_EFFECTS,
    declared_validation=False,
    stops_at_whole_faults=True,
    empty_is_invalid=True,
    blames_duplicate_items=True,
    blames_maps_for_keys=True,
    lower_case_attribute_domains=False,
    checks_both_attributes=False,
    checks_prefix_of_class_names=False,
    warns_of_upper_case_drivers=True,
    blames_default_of_range=False,
    checks_range_arithmetic=False,
    # Behavior of the scheduler.
    own_slices_only=False,
    meets_invalid_pools=False,
    counter_slices_on_every_node=True,
    own_slices_first=True,
    counter_slices_last=True,
    walks_slices_by_name=True,
    joins_counter_slices=False,
    borrows_outcomes_of_all=False,
    all_without_full_devices=True,
    limits_devices_as_counted=False,
    empty_share_is_share=False,
    status_needs_shares=False,
    names_subrequests=True,
    names_device_in_errors=False,
    scores_alternatives=True,
    scores_balance_change=True,
    charges_budgets_in_turn=False,
    stamps_allocations=True,
    needs_allocation_time=True,
    plugin_serves_nothing=False,
)

_1_37: Final = Features(
    minor=37,
    latest_patch=2,
    served=frozenset(),
    # Gates.
    admin_access=True,
    binding_conditions=True,
    compatibility_groups=False,
    consumable_capacity=True,
    derived_attributes=False,
    device_status=True,
    device_taint_rules=True,
    device_taints=True,
    extended_resource=True,
    # in servers that don't run together with older ones: --min-compatibility-version=1.37
    fractional_capacity_range=True,
    list_attributes=False,
    node_allocatable_resources=False,
    optional_node_operations=False,
    partitionable_devices=True,
    partitionable_devices_type=False,
    prioritized_list=True,
    workload_claims=False,
    # API versions and fields that the API server serves and stores.
    resource_kinds=_KINDS | {"DeviceTaintRule"},
    pod_group_versions=frozenset({"v1alpha3", "v1beta1"}),
    counter_sets_apart=True,
    drops_tolerations_and_distinct=True,
    stores_no_devices_as_null=False,
    charges_implicit_extended_resources=True,
    # Objects that validation rejects, and the fields in its messages.
    max_device_taints=16,
    max_attribute_values=48,
    device_taint_effects=_THREE_EFFECTS,
    declared_validation=True,
    stops_at_whole_faults=True,
    empty_is_invalid=True,
    blames_duplicate_items=True,
    blames_maps_for_keys=True,
    lower_case_attribute_domains=True,
    checks_both_attributes=True,
    checks_prefix_of_class_names=False,
    warns_of_upper_case_drivers=True,
    blames_default_of_range=True,
    checks_range_arithmetic=True,
    # Behavior of the scheduler.
    own_slices_only=False,
    meets_invalid_pools=False,
    counter_slices_on_every_node=False,
    own_slices_first=True,
    counter_slices_last=False,
    walks_slices_by_name=True,
    joins_counter_slices=True,
    borrows_outcomes_of_all=False,
    all_without_full_devices=False,
    limits_devices_as_counted=True,
    empty_share_is_share=True,
    status_needs_shares=False,
    names_subrequests=True,
    names_device_in_errors=True,
    scores_alternatives=True,
    scores_balance_change=True,
    charges_budgets_in_turn=True,
    stamps_allocations=True,
    needs_allocation_time=False,
    plugin_serves_nothing=False,
)

RELEASES: Final[Mapping[int, Features]] = MappingProxyType(
    {release.minor: release for release in (_1_34, _1_35, _1_36, _1_37)}
)
"""Every supported version by its minor number, oldest first."""

# k8s.io/api@v0.38.0-alpha.2 has the fields and validation tags of resource.k8s.io that v0.37.2
# has. kubernetes/kubernetes@v1.38.0-alpha.0 has the gates, validation, and scheduler plugin of
# v1.37.0.
PREVIEWS: Final[Mapping[int, tuple[str, Features]]] = MappingProxyType(
    {38: ("1.38.0-alpha.2", replace(_1_37, minor=38, latest_patch=0))}
)
"""Minor versions before their release, each with the pre-release that its record describes."""
