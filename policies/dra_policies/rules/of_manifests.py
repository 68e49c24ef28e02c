"""The rules that judge manifests, with pools or without, and the ids of those that judge stacks."""

from __future__ import annotations

from typing import Final

from dra_policies.rules import (
    admin_access_unknown,
    claim_asks_for_too_many_devices,
    claim_cannot_be_judged,
    claim_exceeds_quota,
    claim_fits_no_pool,
    claim_shared_by_replicas,
    claim_without_container,
    class_misspelt,
    class_of_any_driver,
    configuration_ignored,
    constraint_names_no_attribute,
    device_of_another_driver,
    device_plugin_on_dra_node,
    device_requested_twice,
    device_taken_past_claim,
    driver_config_refused,
    exemption_without_effect,
    object_is_refused,
    pod_fits_no_system_pool,
    pod_not_described,
    pool_maximum_too_small,
    request_not_in_claim,
    rule_could_not_run,
    scaling_exceeds_pools,
    selector_cannot_be_checked,
    selector_just_misses_a_gpu,
    selector_reads_what_no_device_has,
    stack_cannot_be_judged,
)
from dra_policies.rules.rule import Rule

COULD_NOT_RUN: Final = rule_could_not_run.RULE
CANNOT_BE_JUDGED: Final = stack_cannot_be_judged.RULE
EXEMPTIONS: Final = exemption_without_effect.RULE

OF_MANIFESTS: Final[tuple[Rule, ...]] = (
    claim_fits_no_pool.RULE,
    pool_maximum_too_small.RULE,
    claim_cannot_be_judged.RULE,
    scaling_exceeds_pools.RULE,
    device_plugin_on_dra_node.RULE,
    object_is_refused.RULE,
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
    device_of_another_driver.RULE,
    pod_not_described.RULE,
    pod_fits_no_system_pool.RULE,
    exemption_without_effect.RULE,
)
"""The rules that judge manifests, with pools or without."""

OF_STACKS: Final = (
    "plan-record-invalid",
    "plan-record-missing",
    "pool-differs-from-plan",
    "driver-quota-too-small",
    "kubernetes-too-old",
    "driver-chart-refuses",
    "driver-cannot-be-installed",
    "driver-not-pinned",
    "driver-key-ignored",
    "driver-root-wrong",
    "driver-installed-twice",
    "driver-release-unknown",
    "driver-release-faulty",
    "driver-differs-from-plan",
    "driver-reaches-no-node",
    "driver-missing",
    "image-without-driver",
    "security-baseline",
    "gpu-taint-not-tolerated",
    "stack-cannot-be-judged",
)
"""The ids of the rules that judge resources of Pulumi alone."""
