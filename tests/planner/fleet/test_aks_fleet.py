"""Fleets that AKS accepts, and the messages for all others."""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner import catalog
from dra_planner.clouds import NodeOrigin, PoolSettings, cloud, cloud_of_labels, cloud_of_region
from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import Taint
from dra_planner.offers import predict_offers
from dra_planner.releases import features_of

AKS = cloud("aks")
GROUP = (
    "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/capacityReservationGroups/h100"
)


def fleet(*, pool: dict[str, Any] | None = None, **changes: Any) -> Fleet:
    t4 = {"name": "t4", "machine": "Standard_NC4as_T4_v3", "count": {"max": 4}, **(pool or {})}
    return read_fleet(
        {
            "cloud": "aks",
            "region": "eastus",
            "kubernetes": "1.35",
            "systemPool": {"machine": "Standard_D4s_v5"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": [t4],
            **changes,
        }
    )


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a region of another cloud": (
        {"region": "us-east-1"},
        {},
        '"us-east-1" isn\'t a region of AKS',
    ),
    "a zone for a region": (
        {"region": "eastus-1"},
        {},
        '"eastus-1" is a zone; use region "eastus"',
    ),
    "Karpenter": ({"autoscaler": "karpenter"}, {}, "ignores claims"),
    "several subnets": ({"network": {"subnetIds": ["a", "b"]}}, {}, "must contain only one subnet"),
    "a network with a long name": (
        {
            "network": {
                "subnetIds": [
                    f"/subscriptions/s/resourceGroups/r/x/virtualNetworks/{'n' * 64}/subnets/nodes"
                ]
            }
        },
        {},
        "has 64 characters, but AKS allows at most 63 characters for virtualNetworks",
    ),
    "prefixes": ({"network": {"prefixDelegation": True}}, {}, "applies only to EKS"),
    "four zones": ({"network": {"zones": 4}}, {}, "must be between 0 and 3, not 4"),
    "DRANET": (
        {"drivers": {"nvidia": {"version": "25.8.1"}, "dranet": True}},
        {},
        "DRANET isn't supported on AKS, because its devices on AKS aren't documented; set dranet "
        "to false",
    ),
    "reservations of kubelet": (
        {},
        {"reserved": {"cpu": "1"}},
        "AKS doesn't allow custom kubelet reservations",
    ),
    "a zone as the API writes it": (
        {},
        {"zones": ["1"]},
        'doesn\'t include its region; use "eastus-1"',
    ),
    "a zone elsewhere": ({}, {"zones": ["westus2-1"]}, 'zone "westus2-1" isn\'t in region eastus'),
    "a fourth zone": ({}, {"zones": ["eastus-4"]}, '"eastus-4" isn\'t a zone of AKS'),
    "a hyphen": (
        {},
        {"name": "gpu-a"},
        '"gpu-a" isn\'t valid on AKS',
    ),
    "a leading digit": (
        {},
        {"name": "4t"},
        '"4t" isn\'t valid on AKS',
    ),
    "a name that is too long": (
        {},
        {"name": "thirteenchars"},
        "AKS allows at most 12 characters, not 13",
    ),
    "MIG": (
        {},
        {"machine": "Standard_NC24ads_A100_v4", "mig": "all-1g.10gb"},
        "gpuInstanceProfile",
    ),
    "a capacity block": (
        {},
        {"capacity": {"capacityBlock": "cr-1"}},
        "AKS doesn't offer capacity-block",
    ),
    "a reservation by name": (
        {},
        {"capacity": {"reservation": "h100"}},
        "isn't the ID of a capacity reservation group",
    ),
    "a reserved ND": (
        {},
        {"machine": "Standard_ND96isr_H100_v5", "capacity": {"reservation": GROUP}},
        "Azure capacity reservations don't support Standard_",
    ),
    "a reserved H100": (
        {},
        {"machine": "Standard_NC80adis_H100_v5", "capacity": {"reservation": GROUP}},
        "use on-demand or spot",
    ),
    "a label of AKS": (
        {},
        {"labels": {"kubernetes.azure.com/mode": "user"}},
        "AKS rejects labels with the prefix",
    ),
    "a label of Kubernetes": (
        {},
        {"labels": {"kubernetes.io/a": "b"}},
        "AKS rejects labels with the prefix",
    ),
    "a schedule": (
        {},
        {"schedule": {"period": {"start": "2026-12-01T11:30:00Z", "end": "2026-12-02T11:30:00Z"}}},
        "AKS doesn't support scheduled node counts; remove the schedule",
    ),
    "few pods": ({}, {"maxPods": 9}, "must be between 10 and 250, not 9"),
    "a large disk": ({}, {"diskGib": 2049}, "must be between 50 and 2048, not 2049"),
    "a machine of another cloud": ({}, {"machine": "g6.2xlarge"}, "only EKS offers g6.2xlarge"),
    "a region without the machine type": (
        {"region": "westus3"},
        {"machine": "Standard_ND96asr_v4"},
        "isn't available in region",
    ),
}


@pytest.mark.parametrize(("changes", "pool", "sentence"), REFUSED.values(), ids=REFUSED)
def test_settings_that_aks_rejects_are_rejected(
    changes: dict[str, Any], pool: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(FleetError) as refused:
        fleet(pool=pool, **changes)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "pool"),
    [
        ({"network": {"zones": ["eastus-1", "eastus-3"]}}, {"zones": ["eastus-3"]}),
        ({"network": {"zones": 0}}, {}),
        ({"network": {"subnetIds": ["/subscriptions/s/…/subnets/nodes"]}}, {}),
        ({"autoscaler": "cluster-autoscaler"}, {}),
        ({}, {"capacity": {"reservation": GROUP}}),
        ({}, {"machine": "Standard_NC24ads_A100_v4", "capacity": {"reservation": GROUP}}),
        ({}, {"machine": "Standard_ND96isr_H100_v5", "capacity": "spot"}),
        ({}, {"capacity": {"reservation": GROUP.replace("resourceGroups", "resourcegroups")}}),
        (
            {},
            {
                "capacity": "spot",
                "labels": {"node.kubernetes.io/team": "a", "kubelet.kubernetes.io/x": ""},
            },
        ),
        ({}, {"name": "a", "maxPods": 250, "diskGib": 2048}),
    ],
)
def test_settings_that_aks_accepts_are_accepted(
    changes: dict[str, Any], pool: dict[str, Any]
) -> None:
    assert fleet(pool=pool, **changes).cloud == "aks"


def test_nodes_have_the_labels_and_taints_of_pool_and_aks() -> None:
    (offer,) = predict_offers(
        fleet(pool={"capacity": "spot", "zones": ["eastus-2"]}), features_of(35)
    )
    labels = offer.node.meta.labels
    assert {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "t4",
        "kubernetes.azure.com/agentpool": "t4",
        "kubernetes.azure.com/scalesetpriority": "spot",
        "kubernetes.azure.com/accelerator": "nvidia",
        "node.kubernetes.io/instance-type": "Standard_NC4as_T4_v3",
        "topology.kubernetes.io/zone": "eastus-2",
    }.items() <= labels.items()
    assert set(offer.node.taints) == {
        Taint("nvidia.com/gpu", "present", "NoSchedule"),
        Taint("kubernetes.azure.com/scalesetpriority", "spot", "NoSchedule"),
    }
    assert cloud_of_labels(labels) == "aks"


def test_zone_label_is_unknown_for_a_pool_without_zones() -> None:
    """Nodes outside of zones have the number of their fault domain instead."""
    (offer,) = predict_offers(fleet(), features_of(35))
    assert "topology.kubernetes.io/zone" not in offer.node.meta.labels
    assert "topology.kubernetes.io/zone" in offer.unknown_labels


def test_suggested_pool_names_are_valid_on_azure() -> None:
    names = [AKS.pool_name(machine.name) for machine in catalog.machines("aks")]
    assert len(set(names)) == len(names)
    for name in names:
        assert not [fault for key, fault in AKS.pool_faults(settings(name)) if key == "name"]


def settings(name: str) -> PoolSettings:
    return PoolSettings(name=name)


@pytest.mark.parametrize(
    ("region", "name"),
    [
        ("eastus", "aks"),
        ("southcentralus", "aks"),
        ("usgovvirginia", "aks"),
        ("us-east-1", "eks"),
        ("us-east1", "gke"),
    ],
)
def test_region_determines_its_cloud(region: str, name: str) -> None:
    assert cloud_of_region(region) == name


def test_every_region_in_the_tables_is_valid() -> None:
    regions = {region for machine in catalog.machines("aks") for region in machine.regions}
    assert len(regions) > 30
    assert [region for region in regions if AKS.region_fault(region)] == []


def test_retired_machines_are_not_offered() -> None:
    offered = {machine.name: machine.is_offered for machine in catalog.machines("aks")}
    assert not offered["Standard_NC6s_v3"]
    assert offered["Standard_NC4as_T4_v3"]


def test_empty_pool_cannot_scale_from_zero() -> None:
    assert not any(AKS.autoscalers.values())
    assert AKS.added_taints(NodeOrigin(name="a", machine=None)) == ()
