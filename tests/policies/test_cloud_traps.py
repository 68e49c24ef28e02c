"""Traps of the clouds with known, unknown, and computed inputs, and facts that need a day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace
from seeded_stacks import base, edited

from dra_policies.configuration.rule_settings import configured_rules
from dra_policies.configuration.schema import Configuration
from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN, Properties

TODAY = date(2026, 11, 26)
BOUGHT = {"capacityReservationTarget": {"capacityReservationId": "cr-0a"}}


def findings_of(stack: Mapping[str, Resource], today: date = TODAY) -> set[tuple[str, str]]:
    judge = Judge(RULES, today=today)
    return {
        (each.rule.id, each.finding.urn.rpartition("::")[2])
        for each in judge.of_stack(list(stack.values()))
    }


def with_outputs(stack: Mapping[str, Resource], name: str, **outputs: Any) -> list[Resource]:
    """Return the stack as after the analysis of its inputs, with the computed properties of the
    provider.
    """
    found = stack[name]
    props = Properties({**found.props.values, **outputs})
    return [replace(each, props=props) if each is found else each for each in stack.values()]


@pytest.mark.parametrize(
    ("today", "is_reported"),
    [(TODAY, True), (date(2026, 8, 1), False), (date.min, False)],
)
def test_end_of_kubernetes_support_is_reported(today: date, is_reported: bool) -> None:
    stack = base("raw-eks")  # Kubernetes 1.34, until 2026-12-02
    assert (("kubernetes-support-ends", "cluster") in findings_of(stack, today)) is is_reported


def test_the_next_minor_version_fixes_an_ending_support() -> None:
    stack = base("raw-eks")
    (found,) = (
        each.finding
        for each in Judge(RULES, today=TODAY).of_stack(list(stack.values()))
        if each.rule.id == "kubernetes-support-ends"
    )
    assert found.fix == "increase version by one minor version at a time"
    assert ("kubernetes-support-ends", "cluster") not in findings_of(
        edited(stack, {"cluster/version": "1.35"})
    )


def test_a_minimum_version_is_not_reported() -> None:
    assert ("kubernetes-support-ends", "cluster") not in findings_of(base("raw-gke"))


@pytest.mark.parametrize("strategy", ["DEFAULT", None], ids=["said", "omitted"])
def test_surge_on_reserved_capacity_is_reported(strategy: str | None) -> None:
    edit = {
        "boot/capacityReservationSpecification": BOUGHT,
        "gpus/updateConfig/updateStrategy": strategy,
    }
    assert ("bought-capacity-unusable", "gpus") in findings_of(edited(base("raw-eks"), edit))


def test_an_unknown_surge_strategy_is_not_reported() -> None:
    edit = {"boot/capacityReservationSpecification": BOUGHT, "gpus/updateConfig": UNKNOWN}
    assert ("bought-capacity-unusable", "gpus") not in findings_of(edited(base("raw-eks"), edit))


def test_a_property_computed_by_the_provider_counts_as_omitted() -> None:
    """instanceTypes is unknown in a preview although the launch template names the machine type."""
    stack = edited(
        base("raw-eks"),
        {
            "gpus/instanceTypes": None,
            "boot/instanceType": "g7.48xlarge",
            "gpus/releaseVersion": "1.34.2-20260901",
        },
    )
    judge = Judge(RULES, today=TODAY)
    early = [each for resource in stack.values() for each in judge.of_resource(resource)]
    found = (
        *early,
        *judge.of_stack(with_outputs(stack, "gpus", instanceTypes=UNKNOWN, nodeGroupName=UNKNOWN)),
    )
    assert "image-fails-on-machine" in {each.rule.id for each in found}


def test_an_unknown_node_count_does_not_hide_an_empty_pool() -> None:
    edit = {
        "gpus/autoscaling/totalMinNodeCount": 0,
        "gpus/initialNodeCount": 0,
        "gpus/nodeConfig/labels/cloud.google.com~1gke-nvidia-gpu-dra-driver": None,
    }
    stack = edited(base("raw-gke"), edit)
    judge = Judge(RULES)
    for resource in stack.values():
        judge.of_resource(resource)
    found = judge.of_stack(with_outputs(stack, "gpus", nodeCount=UNKNOWN))
    assert "pool-never-woken" in {each.rule.id for each in found}


def test_the_driver_must_tolerate_the_taints_that_a_cloud_adds() -> None:
    edit = {"gpus/scaleSetPriority": "Spot", "gpus/upgradeSettings": None}
    assert ("driver-reaches-no-node", "driver") in findings_of(edited(base("raw-aks"), edit))


ARGO = {
    "root": {
        "type": "kubernetes:argoproj.io/v1alpha1:Application",
        "props": {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"},
        "provider": "k8s",
    }
}


@pytest.mark.parametrize(
    ("edit", "is_certain"),
    [
        ({}, True),
        (ARGO, False),  # Argo CD might install it from a repository
        ({"cluster": None}, False),  # the program that creates the cluster might install it
    ],
)
def test_missing_installer_is_an_outage_only_if_the_stack_shows_the_whole_cluster(
    edit: Mapping[str, Any], is_certain: bool
) -> None:
    stack = edited(base("gke-from-zero"), {"installer": None, **edit})
    (found,) = [
        each
        for each in Judge(RULES, today=TODAY).of_stack(list(stack.values()))
        if "doesn't declare an installer" in each.finding.message
    ]
    assert (found.rule.id == "driver-installer-missing") is is_certain
    assert ("might not have the NVIDIA driver" in found.finding.message) is not is_certain


def test_outages_can_be_made_advisory_with_one_setting() -> None:
    outages = {rule.id for rule in RULES if rule.is_outage}
    assert {"driver-root-wrong", "driver-label-not-set", "image-without-driver"} <= outages
    soft = {
        rule.id: rule.level for rule in configured_rules(RULES, Configuration(outages="advisory"))
    }
    assert {soft[each] for each in outages} == {"advisory"}
    kept = configured_rules(
        RULES, Configuration(outages="advisory", rules={"driver-root-wrong": "mandatory"})
    )
    assert {rule.level for rule in kept if rule.id == "driver-root-wrong"} == {"mandatory"}
    assert [rule.level for rule in configured_rules(RULES, Configuration())] == [
        rule.level for rule in RULES
    ]
