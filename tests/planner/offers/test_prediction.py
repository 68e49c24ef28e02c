"""Predicted resources and devices of a fleet's pools."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dra_planner.errors import CatalogError, FleetError
from dra_planner.fleet import read_fleet
from dra_planner.model import Taint
from dra_planner.offers import Offer, predict_offers, predict_system_offer
from dra_planner.releases import features_of

EKS: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
}
GKE = {**EKS, "cloud": "gke", "region": "us-central1", "network": {"zones": ["us-central1-a"]}}
L4 = {"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}}


def offers(document: dict[str, Any], *pools: dict[str, Any]) -> tuple[Offer, ...]:
    fleet = read_fleet({**document, "pools": list(pools)})
    return predict_offers(fleet, features_of(fleet.minor))


def test_pool_offers_its_nodes() -> None:
    (offer,) = offers(EKS, {**L4, "count": {"min": 1, "max": 4}})
    assert (offer.name, offer.origin, offer.machine) == ("l4", "predicted", "g6.2xlarge")
    assert (offer.count_min, offer.count_max) == (1, 4)
    assert offer.node.name == "l4-0"
    assert [each.pool for each in offer.slices] == ["l4-0"]
    assert (offer.hourly_usd, offer.priced_on) == (Decimal("0.9776"), "2026-07-20")


def test_gpu_nodes_have_the_labels_and_taint_of_a_dra_pool() -> None:
    (offer,) = offers(EKS, L4)
    labels = offer.node.meta.labels
    assert labels["nvidia.com/gpu.present"] == labels["nvidia.com/gpu.dra"] == "true"
    assert labels["pulumi-dra/pool"] == "l4"
    assert labels["node.kubernetes.io/instance-type"] == "g6.2xlarge"
    assert labels["eks.amazonaws.com/capacityType"] == "ON_DEMAND"
    assert offer.node.taints == (Taint("nvidia.com/gpu", "present", "NoSchedule"),)


def test_gke_nodes_have_the_labels_for_scaling_from_zero() -> None:
    (offer,) = offers(GKE, {"name": "l4", "machine": "g2-standard-8", "count": 1})
    labels = offer.node.meta.labels
    assert labels["cloud.google.com/gke-accelerator"] == "nvidia-l4"
    assert labels["cloud.google.com/gke-nvidia-gpu-dra-driver"] == "true"
    assert labels["gke-no-default-nvidia-gpu-device-plugin"] == "true"
    assert labels["topology.kubernetes.io/zone"] == "us-central1-a"


def test_arm_nodes_of_gke_have_an_additional_taint() -> None:
    (offer,) = offers(GKE, {"name": "gb200", "machine": "a4x-highgpu-4g", "count": 1})
    assert [str(taint) for taint in offer.node.taints] == [
        "nvidia.com/gpu=present:NoSchedule",
        "kubernetes.io/arch=arm64:NoSchedule",
    ]
    (offer,) = offers(EKS, {"name": "t4g", "machine": "g5g.xlarge", "count": 1})
    assert len(offer.node.taints) == 1


def test_zone_label_is_known_only_for_a_single_zone() -> None:
    one, several = offers(
        EKS,
        {**L4, "zones": ["us-east-1a"]},
        {**L4, "name": "b", "zones": ["us-east-1a", "us-east-1b"]},
    )
    assert one.node.meta.labels["topology.kubernetes.io/zone"] == "us-east-1a"
    assert "topology.kubernetes.io/zone" not in several.node.meta.labels
    assert several.zones == ("us-east-1a", "us-east-1b")
    assert any(
        ": the zones of us-east-1 that offer this machine type are unknown" in sentence
        for sentence in several.assumptions
    )


def test_unpredictable_cloud_labels_are_unknown_not_absent() -> None:
    open_zone, one_zone = offers(EKS, L4, {**L4, "name": "b", "zones": ["us-east-1a"]})
    for key in (
        "eks.amazonaws.com/nodegroup",
        "topology.k8s.aws/zone-id",
        "kubernetes.io/hostname",
    ):
        assert open_zone.is_unknown_label(key)
    assert open_zone.is_unknown_label("topology.kubernetes.io/zone")
    assert not one_zone.is_unknown_label("topology.kubernetes.io/zone")
    for key in ("eks.amazonaws.com/capacityType", "team", "kubernetes.io/arch"):
        assert not open_zone.is_unknown_label(key)


def test_daemon_pods_reduce_free_capacity_but_not_allocatable() -> None:
    (offer,) = offers(EKS, L4)
    assert offer.node.allocatable["cpu"] == 7910
    assert offer.free["cpu"] == 7910 - 50
    assert offer.free["pods"] == offer.node.allocatable["pods"] - len(offer.deductions)
    assert "nvidia-dra-driver-gpu-kubelet-plugin" in [
        deduction.name for deduction in offer.deductions
    ]


def test_free_capacity_never_exceeds_the_machine() -> None:
    (offer,) = offers(EKS, L4)
    assert offer.node.allocatable["memory"] < offer.at_most["memory"] < 32768 << 20
    assert offer.at_most.get("cpu", offer.node.allocatable["cpu"]) == offer.node.allocatable["cpu"]


def test_unknown_facts_are_reported() -> None:
    (offer,) = offers({**EKS, "region": "eu-central-1"}, L4)
    assert offer.hourly_usd is None
    assert any("price in eu-central-1 is unknown" in sentence for sentence in offer.assumptions)
    assert any("kube-proxy" in sentence for sentence in offer.assumptions)


def test_daemon_pods_can_be_set_in_the_fleet() -> None:
    (offer,) = offers(
        {**EKS, "daemonPods": {"aws-node": False, "agent": {"cpu": "500m", "memory": "1Gi"}}}, L4
    )
    names = [deduction.name for deduction in offer.deductions]
    assert "aws-node" not in names
    assert names[-1] == "agent"
    assert offer.free["cpu"] == 7910 - 500


def test_price_of_the_fleet_takes_precedence() -> None:
    (offer,) = offers(EKS, {**L4, "pricePerHour": 0.5})
    assert (offer.hourly_usd, offer.priced_on) == (Decimal("0.5"), "")


def test_spot_price_is_the_highest_of_the_zones() -> None:
    (offer,) = offers(
        EKS, {"name": "h100", "machine": "p5.48xlarge", "count": 1, "capacity": "spot"}
    )
    assert offer.hourly_usd == Decimal("55.04")
    assert any("highest" in sentence for sentence in offer.assumptions)


def test_gpus_can_be_attached_to_n1_machines() -> None:
    (offer,) = offers(
        GKE, {"name": "v100", "machine": "n1-standard-8+nvidia-tesla-v100:2", "count": 1}
    )
    assert offer.node.meta.labels["node.kubernetes.io/instance-type"] == "n1-standard-8"
    assert offer.node.meta.labels["cloud.google.com/gke-accelerator"] == "nvidia-tesla-v100"
    assert len(offer.slices[0].devices) == 2
    assert offer.hourly_usd == Decimal("0.379998") + 2 * Decimal("2.48")


def test_retired_machine_type_is_planned_and_reported() -> None:
    (offer,) = offers(EKS, {"name": "v100", "machine": "p3.2xlarge", "count": 1})
    assert any("might be retired" in sentence for sentence in offer.assumptions)


@pytest.mark.parametrize(
    ("error", "words", "document", "pool"),
    [
        (
            FleetError,
            "g6.2xlarge isn't available in region us-west-1; use one of these regions: us-",
            {**EKS, "region": "us-west-1"},
            L4,
        ),
        (
            FleetError,
            "GKE doesn't support MIG",
            GKE,
            {"name": "h100", "machine": "a3-highgpu-1g", "count": 1, "mig": "all-1g.10gb"},
        ),
        (CatalogError, "addresses for only 58 pods", EKS, {**L4, "maxPods": 100}),
        (
            CatalogError,
            r"use all of the node's memory \(g6.2xlarge\)",
            EKS,
            {**L4, "reserved": {"memory": "64Gi"}},
        ),
    ],
)
def test_invalid_pool_is_reported(
    error: type[Exception], words: str, document: dict[str, Any], pool: dict[str, Any]
) -> None:
    with pytest.raises(error, match=words) as caught:
        offers(document, pool)
    assert "pools[0]" in str(caught.value)


@pytest.mark.parametrize(
    ("document", "machine", "cpu"), [(EKS, "m7i.large", 1930), (GKE, "e2-standard-4", 3920)]
)
def test_system_nodes_run_pods_without_claims(
    document: dict[str, Any], machine: str, cpu: int
) -> None:
    fleet = read_fleet(
        {
            **document,
            "systemPool": {"machine": machine, "count": 3},
            "pools": [{**L4, "machine": GPU[machine]}],
        }
    )
    offer = predict_system_offer(fleet)
    assert offer is not None
    assert (offer.count_min, offer.count_max) == (3, 3)
    assert offer.node.allocatable["cpu"] == cpu
    assert offer.node.taints == ()
    assert offer.slices == ()
    assert offer.node.meta.labels["pulumi-dra/pool"] == "system"
    assert not any("nvidia" in deduction.name for deduction in offer.deductions)


GPU = {"m7i.large": "g6.2xlarge", "e2-standard-4": "g2-standard-4"}


def test_unknown_system_machine_type_has_no_offer() -> None:
    fleet = read_fleet({**EKS, "systemPool": {"machine": "z99.large"}, "pools": [L4]})
    assert predict_system_offer(fleet) is None


def test_all_invalid_pools_are_reported_together() -> None:
    with pytest.raises(CatalogError) as caught:
        offers(EKS, {**L4, "maxPods": 100}, {**L4, "name": "other", "reserved": {"cpu": 99}})
    assert [error.place.path for error in (caught.value, *caught.value.others)] == [
        "pools[0]",
        "pools[1]",
    ]


def test_nodes_use_the_settings_of_their_pool() -> None:
    settings = {
        "maxPods": 30,
        "diskGib": 500,
        "labels": {"team": "a"},
        "taints": [{"key": "team", "value": "a"}],
    }
    plain, (offer,) = offers(EKS, L4)[0], offers(EKS, {**L4, **settings, "reserved": {"cpu": 1}})
    assert offer.node.allocatable["pods"] == 30
    assert plain.node.allocatable["cpu"] - offer.node.allocatable["cpu"] == 1000
    assert (
        offer.node.allocatable["ephemeral-storage"]
        > 2 * plain.node.allocatable["ephemeral-storage"]
    )
    assert offer.node.meta.labels["team"] == "a"
    assert offer.node.taints == (*plain.node.taints, Taint("team", "a", "NoSchedule"))


def test_prefix_delegation_increases_the_pods_per_node() -> None:
    (offer,) = offers({**EKS, "network": {"prefixDelegation": True}}, L4)
    assert offer.node.allocatable["pods"] == 110


@pytest.mark.parametrize(
    ("driver", "drivers", "devices"),
    [
        ("compute-domain.nvidia.com", {"nvidia": {"version": "0.5.0", "computeDomains": True}}, 2),
        ("dra.net", {"nvidia": {"version": "0.5.0"}, "dranet": True}, 32),
        (
            "gpu.nvidia.com",
            {"nvidia": {"version": "0.5.0", "featureGates": {"DynamicMIG": True}}},
            8 * 26,
        ),
        (
            "gpu.nvidia.com",
            {"nvidia": {"version": "0.5.0", "featureGates": {"PassthroughSupport": True}}},
            16,
        ),
    ],
    ids=["ComputeDomains", "EFA", "dynamic MIG", "VFIO"],
)
def test_driver_settings_of_a_fleet_change_the_published_devices(
    driver: str, drivers: dict[str, Any], devices: int
) -> None:
    pool = {"name": "h100", "machine": "p5.48xlarge", "count": 1}
    (offer,) = offers({**EKS, "kubernetes": "1.36", "drivers": drivers}, pool)
    assert sum(len(each.devices) for each in offer.slices if each.driver == driver) == devices


def test_shares_of_a_fleet_are_published() -> None:
    nvidia = {"version": "0.5.0", "featureGates": {"ConsumableShares": True}, "consumableShares": 4}
    (offer,) = offers({**EKS, "kubernetes": "1.36", "drivers": {"nvidia": nvidia}}, L4)
    (device,) = offer.slices[0].devices
    assert str(device.capacity["shares"].value) == "4"


def test_node_with_dranet_has_its_daemon_and_its_label_on_gke() -> None:
    on_eks = offers(
        {**EKS, "drivers": {"nvidia": {"version": "0.5.0"}, "dranet": {"version": "1.0.0"}}}, L4
    )[0]
    dranet = next(each for each in on_eks.deductions if each.name == "aws-dranet")
    assert dranet.amounts == {"cpu": 100, "memory": 50 << 20, "pods": 1}
    h200 = {"name": "h200", "machine": "a3-ultragpu-8g", "count": 1}
    on_gke = offers({**GKE, "drivers": {"nvidia": {"version": "0.5.0"}, "dranet": True}}, h200)[0]
    assert on_gke.node.meta.labels["cloud.google.com/gke-networking-dra-driver"] == "true"
    assert [len(each.devices) for each in on_gke.slices] == [8, 9]


def test_pool_without_a_driver_offers_no_devices_and_a_note() -> None:
    (offer,) = offers(
        {**EKS, "region": "us-east-2"}, {"name": "trn", "machine": "trn2.48xlarge", "count": 1}
    )
    assert offer.slices == ()
    assert any(
        "no driver in this fleet publishes its Trainium2" in sentence
        for sentence in offer.assumptions
    )


def test_dra_nodes_lack_feature_discovery_labels_unless_set_in_the_pool() -> None:
    (offer,) = offers(EKS, {**L4, "labels": {"nvidia.com/gpu.product": "NVIDIA-L4"}})
    assert not offer.is_unknown_label("nvidia.com/gpu.product")
    assert not offer.is_unknown_label("nvidia.com/gpu.dra")
    assert not offer.is_unknown_label("nvidia.com/gpu.memory")
    assert offer.is_unknown_label("nvidia.com/gpu.deploy.driver")
    assert offer.is_unknown_label("feature.node.kubernetes.io/pci-10de.present")
