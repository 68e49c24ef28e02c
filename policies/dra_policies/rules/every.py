"""All rules: those that judge manifests, and those that judge resources of Pulumi alone."""

from __future__ import annotations

from typing import Final

from dra_policies.rules import (
    driver_cannot_be_installed,
    driver_chart_refuses,
    driver_differs_from_plan,
    driver_installed_twice,
    driver_key_ignored,
    driver_missing,
    driver_not_pinned,
    driver_quota_too_small,
    driver_reaches_no_node,
    driver_release_faulty,
    driver_release_unknown,
    driver_root_wrong,
    gpu_taint_not_tolerated,
    image_without_driver,
    kubernetes_too_old,
    plan_record_invalid,
    plan_record_missing,
    pool_differs_from_plan,
    security_baseline,
)
from dra_policies.rules.of_manifests import CANNOT_BE_JUDGED, COULD_NOT_RUN, OF_MANIFESTS
from dra_policies.rules.rule import Rule

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
    *OF_MANIFESTS,
    CANNOT_BE_JUDGED,
    COULD_NOT_RUN,
)
ON: Final = tuple(rule for rule in RULES if rule.is_on)
