"""Descriptions of clusters in which any value is of an unexpected type end in a fleet or a
FleetError.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import yaml

from cluster_descriptions import AKS, CLUSTER_API, EKS, EKSCTL, GKE, KARPENTER, plan
from dra_planner.errors import PlannerError
from dra_planner.fleet_sources import ImportedFleet, read_imported_fleet
from odd_values import places, with_odd_values

TEXTS = {"eksctl": EKSCTL, "Karpenter": KARPENTER, "Cluster API": CLUSTER_API}
DESCRIPTIONS: dict[str, list[Any]] = {
    "Terraform, EKS": [plan(EKS, {"aws": {"region": "us-east-1"}})],
    "Terraform, GKE": [plan(GKE)],
    "Terraform, AKS": [plan(AKS)],
    "Terraform variables, EKS": [
        {
            "name": "c",
            "region": "us-east-1",
            "eks_managed_node_groups": {"a": {"instance_types": ["p5.48xlarge"]}},
        }
    ],
    "Terraform variables, AKS": [
        {
            "cluster_name": "c",
            "location": "eastus",
            "node_pools": {"a": {"vm_size": "Standard_NC24ads_A100_v4"}},
        }
    ],
    **{name: list(yaml.safe_load_all(textwrap.dedent(text))) for name, text in TEXTS.items()},
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_odd_value_causes_no_exception(name: str) -> None:
    for place in places(DESCRIPTIONS[name]):
        for documents in with_odd_values(DESCRIPTIONS[name], place):
            try:
                read = read_imported_fleet(documents, file="odd.json", kubernetes="1.35")
            except PlannerError:
                continue
            assert read is None or isinstance(read, ImportedFleet)


def test_name_that_is_not_text_causes_no_exception() -> None:
    groups = {1: {"instance_types": ["p5.48xlarge"]}, None: {"instance_types": ["g6.2xlarge"]}}
    found = read_imported_fleet(
        [{"name": "c", "region": "us-east-1", "eks_managed_node_groups": groups}],
        file="odd.yaml",
        kubernetes="1.35",
    )
    assert found is not None
    assert len(found.fleet.pools) == 2
