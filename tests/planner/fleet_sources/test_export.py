"""A fleet that is exported to another tool and read again doesn't change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_planner.clouds.foreign.export import EXPORTS, export_cluster, export_losses
from dra_planner.errors import FleetError
from dra_planner.fleet import read_fleet
from dra_planner.fleet_sources import read_imported_fleet
from dra_planner.fleet_sources.description import describe_fleet

FLEETS: dict[str, dict[str, Any]] = {
    "eks": {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.35",
        "systemPool": {"machine": "m7i.large", "count": 3},
        "drivers": {"nvidia": {"version": "25.12.0"}},
        "pools": [
            {
                "name": "l4",
                "machine": "g6.2xlarge",
                "count": {"min": 1, "max": 4},
                "zones": ["us-east-1b"],
                "labels": {"team": "serve"},
                "taints": [{"key": "example.com/team", "value": "serve"}],
            },
            {
                "name": "l40s",
                "machine": "g6e.12xlarge",
                "count": {"min": 0, "max": 2},
                "zones": ["us-east-1b"],
                "capacity": "spot",
            },
        ],
    },
    "gke": {
        "cloud": "gke",
        "region": "us-central1",
        "kubernetes": "1.35",
        "systemPool": {"machine": "e2-standard-4", "count": 2},
        "drivers": {"nvidia": {"version": "25.12.0"}},
        "network": {"zones": ["us-central1-a"]},
        "pools": [
            {
                "name": "l4",
                "machine": "g2-standard-8",
                "count": {"min": 0, "max": 4},
                "zones": ["us-central1-a"],
                "taints": [{"key": "example.com/team", "value": "serve", "effect": "NoExecute"}],
            },
            {
                "name": "t4",
                "machine": "n1-standard-8+nvidia-tesla-t4:2",
                "count": {"min": 1, "max": 1},
                "capacity": "spot",
            },
        ],
    },
    "aks": {
        "cloud": "aks",
        "region": "eastus",
        "kubernetes": "1.35",
        "systemPool": {"machine": "Standard_D4s_v5", "count": 2},
        "drivers": {"nvidia": {"version": "25.12.0"}},
        "pools": [
            {
                "name": "a100",
                "machine": "Standard_NC24ads_A100_v4",
                "count": {"min": 0, "max": 4},
                "labels": {"team": "a"},
            },
            {
                "name": "t4",
                "machine": "Standard_NC64as_T4_v3",
                "count": {"min": 2, "max": 2},
                "capacity": "spot",
            },
        ],
    },
}
WAYS = [(name, tool) for tool, (clouds, _) in EXPORTS.items() for name in clouds]
COMPARED = ("name", "machine", "count", "zones", "capacity", "labels", "taints")


def pools_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    fleet = read_fleet(document).document()
    return [{key: pool[key] for key in COMPARED} for pool in fleet["pools"]]


@pytest.mark.parametrize(("name", "tool"), WAYS)
def test_exported_fleet_is_imported_unchanged(name: str, tool: str) -> None:
    cluster = describe_fleet(read_fleet(FLEETS[name]), "ml", {})
    # as plain data, as in a file
    documents = json.loads(json.dumps(export_cluster(cluster, tool)))
    found = read_imported_fleet(
        documents, file="exported", region=FLEETS[name]["region"], kubernetes="1.35"
    )

    assert found is not None
    again = dict(found.document)
    losses = " ".join(export_losses(cluster, tool))
    whole = FLEETS[name]["pools"]
    expected = [pool for pool in whole if not ("accelerator" in losses and "+" in pool["machine"])]
    if "its zones" in losses:
        again["pools"] = [
            {**pool, "zones": old["zones"]} for pool, old in zip(again["pools"], whole, strict=True)
        ]
    assert pools_of(again) == pools_of({**FLEETS[name], "pools": expected})
    assert again["kubernetes"] == "1.35"
    if tool != "karpenter":  # which doesn't start the nodes that it runs on itself
        assert again["systemPool"] == FLEETS[name]["systemPool"]


def test_planned_nodes_are_the_initial_nodes() -> None:
    cluster = describe_fleet(read_fleet(FLEETS["eks"]), "ml", {"l4": 3})
    pool, *_ = export_cluster(cluster, "karpenter")
    assert (pool["spec"]["replicas"], pool["spec"]["limits"]) == (3, {"nodes": 4})


def test_reserved_capacity_is_selected_by_its_id() -> None:
    document = json.loads(json.dumps(FLEETS["eks"]))
    document["pools"][0]["capacity"] = {"reservation": "cr-0123456789abcdef0"}
    cluster = describe_fleet(read_fleet(document), "ml", {})
    for tool in ("karpenter", "eksctl", "terraform"):
        found = read_imported_fleet(
            export_cluster(cluster, tool), file="x", region="us-east-1", kubernetes="1.35"
        )
        assert found is not None
        assert found.document["pools"][0]["capacity"] == {"reservation": "cr-0123456789abcdef0"}, (
            tool
        )


def test_unsupported_tool_lists_the_supported_ones() -> None:
    cluster = describe_fleet(read_fleet(FLEETS["gke"]), "ml", {})
    with pytest.raises(FleetError, match="karpenter doesn't support node pools on GKE") as raised:
        export_cluster(cluster, "karpenter")
    assert raised.value.fix == "use --to terraform, cluster-api"
    for tool in ("terraform", "cluster-api"):
        assert export_cluster(cluster, tool)


def test_values_without_a_field_in_the_tool_are_reported() -> None:
    document = json.loads(json.dumps(FLEETS["eks"]))
    document["pools"][0] |= {
        "machine": "p4d.24xlarge",
        "mig": "all-1g.5gb",
        "zones": ["us-east-1b"],
    }
    assert list(export_losses(describe_fleet(read_fleet(document), "ml", {}), "terraform")) == [
        "pool l4: its MIG configuration all-1g.5gb isn't exported, because node pools don't have "
        "a field for it",
        "pool l4: its zones (us-east-1b) aren't exported, because node groups set subnets instead",
        "pool l40s: its zones (us-east-1b) aren't exported, because node groups set subnets instead",
    ]
    assert list(
        export_losses(describe_fleet(read_fleet(FLEETS["gke"]), "ml", {}), "cluster-api")
    ) == [
        "pool t4: GCPManagedMachinePool doesn't have a field for its Spot and accelerator",
    ]
