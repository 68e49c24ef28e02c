"""Every rule, listed once, in the order in which the pack runs them and the page prints them."""

from __future__ import annotations

from typing import Final

from dra_policies.rules.checking import (
    exemption_without_effect,
    rule_could_not_run,
    stack_cannot_be_judged,
)
from dra_policies.rules.claims import (
    claim_asks_for_too_many_devices,
    claim_cannot_be_judged,
    claim_fits_no_pool,
    claim_shared_by_replicas,
    claim_without_container,
    class_misspelt,
    class_of_any_driver,
    configuration_ignored,
    constraint_names_no_attribute,
    device_of_another_driver,
    request_not_in_claim,
    selector_cannot_be_checked,
    selector_just_misses_a_gpu,
    selector_reads_what_no_device_has,
)
from dra_policies.rules.cluster import (
    auto_nodes_take_no_claims,
    cluster_takes_no_claims,
    kubernetes_too_old,
    node_newer_than_cluster,
    pod_fits_no_system_pool,
    security_baseline,
    system_pool_too_small,
)
from dra_policies.rules.cost import (
    cost_above_ceiling,
    pool_cost_above_ceiling,
)
from dra_policies.rules.drivers import (
    driver_cannot_be_installed,
    driver_chart_refuses,
    driver_config_refused,
    driver_controller_has_no_node,
    driver_gate_refused,
    driver_image_differs,
    driver_installed_twice,
    driver_key_ignored,
    driver_label_not_set,
    driver_missing,
    driver_not_pinned,
    driver_quota_too_small,
    driver_reaches_no_node,
    driver_release_faulty,
    driver_release_unknown,
    driver_root_wrong,
    driver_webhook_without_certificate,
    image_without_driver,
)
from dra_policies.rules.objects import (
    key_in_plain_text,
    object_does_less,
    object_is_refused,
    pod_not_described,
)
from dra_policies.rules.ownership import (
    device_plugin_on_dra_node,
    device_requested_twice,
    device_taken_past_claim,
    extended_resource_served_twice,
    gpus_shared_by_cloud,
    managed_driver_on_dra_node,
    mig_laid_out_twice,
)
from dra_policies.rules.pools import (
    accelerators_differ_from_machine,
    capacity_block_incomplete,
    capacity_kinds_mixed,
    disk_refused_by_machine,
    disk_too_small,
    gpu_taint_not_tolerated,
    image_of_another_architecture,
    karpenter_ignores_claims,
    karpenter_starts_no_node,
    machine_not_offered,
    node_upgrade_cannot_finish,
    placement_cannot_be_met,
    pool_maximum_too_small,
    pool_minimum_above_floor,
    pool_never_woken,
    pool_refused_by_cloud,
    scaling_exceeds_pools,
    spot_without_disruption_budget,
)
from dra_policies.rules.record import (
    class_differs_from_plan,
    driver_differs_from_plan,
    plan_record_invalid,
    plan_record_missing,
    pool_differs_from_plan,
)
from dra_policies.rules.rule import Rule
from dra_policies.rules.tenants import (
    admin_access_unknown,
    claim_exceeds_quota,
    devices_shared_across_tenants,
    quota_counts_no_claims,
    tenant_namespace_privileged,
    tenants_write_driver_objects,
)

RULES: Final[tuple[Rule, ...]] = (
    plan_record_invalid.RULE,
    plan_record_missing.RULE,
    pool_differs_from_plan.RULE,
    driver_quota_too_small.RULE,
    kubernetes_too_old.RULE,
    driver_chart_refuses.RULE,
    driver_cannot_be_installed.RULE,
    driver_not_pinned.RULE,
    driver_key_ignored.RULE,
    driver_root_wrong.RULE,
    driver_installed_twice.RULE,
    driver_release_unknown.RULE,
    driver_release_faulty.RULE,
    driver_differs_from_plan.RULE,
    driver_reaches_no_node.RULE,
    driver_missing.RULE,
    image_without_driver.RULE,
    security_baseline.RULE,
    gpu_taint_not_tolerated.RULE,
    accelerators_differ_from_machine.RULE,
    auto_nodes_take_no_claims.RULE,
    capacity_block_incomplete.RULE,
    capacity_kinds_mixed.RULE,
    class_differs_from_plan.RULE,
    cluster_takes_no_claims.RULE,
    devices_shared_across_tenants.RULE,
    disk_refused_by_machine.RULE,
    disk_too_small.RULE,
    driver_controller_has_no_node.RULE,
    driver_gate_refused.RULE,
    driver_image_differs.RULE,
    driver_label_not_set.RULE,
    driver_webhook_without_certificate.RULE,
    gpus_shared_by_cloud.RULE,
    image_of_another_architecture.RULE,
    karpenter_ignores_claims.RULE,
    karpenter_starts_no_node.RULE,
    key_in_plain_text.RULE,
    machine_not_offered.RULE,
    managed_driver_on_dra_node.RULE,
    mig_laid_out_twice.RULE,
    node_newer_than_cluster.RULE,
    node_upgrade_cannot_finish.RULE,
    placement_cannot_be_met.RULE,
    pool_minimum_above_floor.RULE,
    pool_never_woken.RULE,
    pool_refused_by_cloud.RULE,
    quota_counts_no_claims.RULE,
    spot_without_disruption_budget.RULE,
    system_pool_too_small.RULE,
    tenant_namespace_privileged.RULE,
    tenants_write_driver_objects.RULE,
    claim_fits_no_pool.RULE,
    pool_maximum_too_small.RULE,
    claim_cannot_be_judged.RULE,
    scaling_exceeds_pools.RULE,
    cost_above_ceiling.RULE,
    pool_cost_above_ceiling.RULE,
    device_plugin_on_dra_node.RULE,
    object_is_refused.RULE,
    object_does_less.RULE,
    selector_cannot_be_checked.RULE,
    selector_reads_what_no_device_has.RULE,
    selector_just_misses_a_gpu.RULE,
    claim_asks_for_too_many_devices.RULE,
    claim_exceeds_quota.RULE,
    constraint_names_no_attribute.RULE,
    admin_access_unknown.RULE,
    claim_shared_by_replicas.RULE,
    claim_without_container.RULE,
    class_of_any_driver.RULE,
    configuration_ignored.RULE,
    driver_config_refused.RULE,
    request_not_in_claim.RULE,
    class_misspelt.RULE,
    device_requested_twice.RULE,
    device_taken_past_claim.RULE,
    extended_resource_served_twice.RULE,
    device_of_another_driver.RULE,
    pod_not_described.RULE,
    pod_fits_no_system_pool.RULE,
    exemption_without_effect.RULE,
    stack_cannot_be_judged.RULE,
    rule_could_not_run.RULE,
)

COULD_NOT_RUN: Final = rule_could_not_run.RULE
CANNOT_BE_JUDGED: Final = stack_cannot_be_judged.RULE
EXEMPTIONS: Final = exemption_without_effect.RULE

ON: Final = tuple(rule for rule in RULES if rule.is_on)
"""Rules that run unless a configuration turns them off."""
OF_MANIFESTS: Final = tuple(rule for rule in RULES if rule.needs != "stack" and rule is not COULD_NOT_RUN)
"""Rules that check manifests, with or without pools."""
OF_STACKS: Final = tuple(rule.id for rule in RULES if rule.needs == "stack")
"""Ids of the rules that check only the resources of a Pulumi stack."""
