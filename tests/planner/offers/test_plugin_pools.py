"""Pools whose devices a device plugin manages: the resources that their nodes advertise, and the
pods that run on them.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from dra_planner import catalog
from dra_planner.drivers.nvidia.device_plugin.serving import plugin_configs
from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.offers import Offer, predict_offers
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source

EKS: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "devicePlugin": {"version": "0.20.0"},
}
GKE = {
    **EKS,
    "cloud": "gke",
    "region": "us-central1",
    "network": {"zones": ["us-central1-a"]},
    "devicePlugin": False,
}
L4 = {"name": "l4", "machine": "g6.12xlarge", "count": {"max": 4}, "allocation": "device-plugin"}
A100 = {**L4, "machine": "p4d.24xlarge"}
SLICED = {"strategy": "time-slicing", "replicas": 4}


def fleet_of(document: dict[str, Any], *pools: dict[str, Any]) -> Fleet:
    return read_fleet({**document, "pools": list(pools)})


def offer(document: dict[str, Any], pool: dict[str, Any]) -> Offer:
    fleet = fleet_of(document, pool)
    return predict_offers(fleet, features_of(fleet.minor))[0]


@pytest.mark.parametrize(
    ("pool", "units"),
    [
        (L4, {"nvidia.com/gpu": 4}),
        ({**L4, "sharing": SLICED}, {"nvidia.com/gpu": 16}),
        ({**L4, "sharing": {**SLICED, "rename": True}}, {"nvidia.com/gpu.shared": 16}),
        ({**L4, "sharing": {"strategy": "mps", "replicas": 10}}, {"nvidia.com/gpu": 40}),
        ({**A100, "mig": "all-1g.5gb"}, {"nvidia.com/mig-1g.5gb": 56}),
        ({**A100, "mig": "all-1g.5gb.me"}, {"nvidia.com/mig-1g.5gb.me": 8}),
        ({**A100, "mig": "all-1g.5gb", "migStrategy": "single"}, {"nvidia.com/gpu": 56}),
        ({**A100, "mig": "0-3=all-3g.20gb"}, {"nvidia.com/gpu": 4, "nvidia.com/mig-3g.20gb": 8}),
        ({**A100, "mig": "all-3g.20gb", "sharing": SLICED}, {"nvidia.com/mig-3g.20gb": 64}),
    ],
)
def test_a_node_advertises_what_its_plugin_serves(
    pool: dict[str, Any], units: dict[str, int]
) -> None:
    found = offer(EKS, pool)

    assert found.plugin_units == units
    assert not found.slices


def test_plugin_runs_on_its_nodes_and_the_driver_does_not() -> None:
    plugin, dra = offer(EKS, L4), offer(EKS, {**L4, "allocation": "dra"})

    assert "nvidia.com/gpu.dra" not in plugin.node.meta.labels
    assert plugin.node.meta.labels["nvidia.com/gpu.present"] == "true"
    assert [each.name for each in plugin.deductions if "nvidia" in each.name] == [
        "nvidia-device-plugin"
    ]
    assert dra.node.meta.labels["nvidia.com/gpu.dra"] == "true"
    assert "nvidia-device-plugin" not in [each.name for each in dra.deductions]
    assert not dra.plugin_units


def test_labels_select_the_plugins_configuration_and_mps_daemon() -> None:
    found = offer(EKS, {**L4, "sharing": {"strategy": "mps", "replicas": 10}}).node.meta.labels

    assert found["nvidia.com/device-plugin.config"] == "mps-10"
    assert found["nvidia.com/mps.capable"] == "true"


@pytest.mark.parametrize(
    ("pool", "product", "count"),
    [
        (L4, "NVIDIA-L4", "4"),
        ({**L4, "sharing": SLICED}, "NVIDIA-L4-SHARED", "4"),
        ({**L4, "sharing": {**SLICED, "rename": True}}, "NVIDIA-L4", "4"),
        (
            {**A100, "mig": "all-1g.5gb", "migStrategy": "single"},
            "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
            "56",
        ),
        ({**A100, "mig": "all-1g.5gb"}, "NVIDIA-A100-SXM4-40GB", None),
    ],
)
def test_feature_discovery_labels_nodes_if_installed(
    pool: dict[str, Any], product: str, count: str | None
) -> None:
    with_it = {**EKS, "devicePlugin": {"version": "0.20.0", "featureDiscovery": True}}

    found = offer(with_it, pool).node.meta.labels

    assert (found["nvidia.com/gpu.product"], found.get("nvidia.com/gpu.count")) == (product, count)
    assert offer(EKS, pool).is_unknown_label("nvidia.com/gpu.product")


def test_feature_discovery_does_not_run_on_dra_nodes() -> None:
    """Given a fleet that installs it for the device plugin's nodes, when a pool has DRA nodes."""
    with_it = {**EKS, "devicePlugin": {"version": "0.20.0", "featureDiscovery": True}}

    found = offer(with_it, {"name": "l4", "machine": "g6.2xlarge", "count": 1})

    assert "nvidia.com/gpu.product" not in found.node.meta.labels
    assert not found.is_unknown_label("nvidia.com/gpu.product")


def test_gke_serves_shares_and_partitions_with_its_own_plugin() -> None:
    pool = {
        "name": "a100",
        "machine": "a2-highgpu-1g",
        "count": {"max": 4},
        "allocation": "device-plugin",
    }

    found = offer(GKE, {**pool, "mig": "all-1g.5gb", "sharing": SLICED})

    assert found.plugin_units == {"nvidia.com/gpu": 28}
    labels = {
        key: value
        for key, value in found.node.meta.labels.items()
        if "gke-gpu" in key or "gke-max" in key
    }
    assert labels == {
        "cloud.google.com/gke-gpu": "true",
        "cloud.google.com/gke-gpu-driver-version": "default",
        "cloud.google.com/gke-gpu-partition-size": "1g.5gb",
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "4",
    }
    assert "gke-no-default-nvidia-gpu-device-plugin" not in found.node.meta.labels


@pytest.mark.parametrize(
    ("document", "pool", "message"),
    [
        ({**EKS, "devicePlugin": False}, L4, "set devicePlugin"),
        (
            EKS,
            {**L4, "allocation": "dra", "sharing": SLICED},
            "sharing applies only to pools with allocation: device-plugin",
        ),
        (EKS, {**L4, "migStrategy": "single"}, "migStrategy applies only to pools with mig"),
        (
            EKS,
            {**A100, "mig": "0=all-1g.5gb", "migStrategy": "single"},
            "the same MIG profile on all GPUs",
        ),
        (
            EKS,
            {**A100, "mig": "all-1g.5gb", "sharing": {"strategy": "mps", "replicas": 2}},
            "only whole GPUs",
        ),
        (EKS, {**A100, "mig": "all-9g.5gb"}, "\" isn't a MIG configuration of"),
        (
            GKE,
            {**L4, "machine": "g2-standard-8", "sharing": {**SLICED, "replicas": 64}},
            "at most 48",
        ),
        (
            GKE,
            {**L4, "machine": "g2-standard-8", "sharing": {**SLICED, "rename": True}},
            "remove sharing.rename",
        ),
        (EKS, {**L4, "machine": "inf2.xlarge"}, "only NVIDIA's device plugin"),
    ],
)
def test_pool_that_a_plugin_cannot_serve_is_rejected(
    document: dict[str, Any], pool: dict[str, Any], message: str
) -> None:
    with pytest.raises(FleetError, match=message):
        fleet_of(document, pool)


def test_pool_read_from_its_document_is_equal() -> None:
    fleet = fleet_of(EKS, {**A100, "mig": "all-1g.5gb", "migStrategy": "single", "sharing": SLICED})

    assert read_fleet(fleet.document()) == fleet


def test_the_charts_configurations_name_every_shared_resource() -> None:
    fleet = fleet_of(
        EKS,
        {**L4, "sharing": SLICED},
        {**A100, "name": "mig", "mig": "all-1g.5gb", "sharing": SLICED},
    )
    offers = predict_offers(fleet, features_of(36))
    pools = [
        (each, fleet.plugin_serving(pool)) for each, pool in zip(offers, fleet.pools, strict=True)
    ]
    found = plugin_configs(
        (catalog.machine("eks", each.machine), serving) for each, serving in pools if serving
    )

    assert list(found) == ["whole-gpus", "mig-mixed-time-slicing-4", "time-slicing-4"]
    assert found["mig-mixed-time-slicing-4"]["flags"] == {"migStrategy": "mixed"}
    assert found["mig-mixed-time-slicing-4"]["sharing"]["timeSlicing"]["resources"] == [
        {"name": "nvidia.com/mig-1g.5gb", "replicas": 4}
    ]


POD = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
      containers: [{{name: c, image: i, resources: {{limits: {{"{resource}": {count}}}}}}}]
"""
CLAIMING = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: new}
spec:
  replicas: 5
  selector: {matchLabels: {app: new}}
  template:
    metadata: {labels: {app: new}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
"""


def plan_of(fleet: Fleet, *texts: str) -> dict[str, int]:
    """Return the nodes of each pool, and -1 for "pending" if a pod stays pending."""
    plan = make_plan(PlanRequest(sources=(Source("w.yaml", "---".join(texts)),), fleet=fleet))
    counts = {pool.name: pool.nodes.desired for pool in plan.pools}
    return counts if plan.verdict == "fits" else {**counts, "pending": -1}


def test_one_plan_supports_pods_of_both_kinds() -> None:
    fleet = fleet_of(EKS, L4, {**L4, "name": "dra", "allocation": "dra"})

    found = plan_of(
        fleet, POD.format(name="old", replicas=9, resource="nvidia.com/gpu", count=1), CLAIMING
    )

    assert found == {"l4": 3, "dra": 2}


def test_class_that_serves_the_resource_opens_dra_nodes_to_old_pods() -> None:
    old = POD.format(name="old", replicas=9, resource="nvidia.com/gpu", count=1)
    dra = {**L4, "name": "dra", "allocation": "dra"}
    serving = {**EKS, "drivers": {"nvidia": {"version": "0.4.1"}}}

    assert plan_of(fleet_of(EKS, {**L4, "count": {"max": 1}}, dra), old)["pending"] == -1
    assert plan_of(fleet_of(serving, {**L4, "count": {"max": 1}}, dra), old) in (
        {"l4": 1, "dra": 2},
        {"l4": 0, "dra": 3},
    )


A100_ON_AKS = {
    **L4,
    "name": "a100",
    "machine": "Standard_NC24ads_A100_v4",
    "mig": "all-1g.20gb",
}
AKS = {**EKS, "cloud": "aks", "region": "eastus", "kubernetes": "1.35"}
G2 = {**L4, "machine": "g2-standard-8"}


@pytest.mark.parametrize(
    ("document", "pool", "fix", "repaired"),
    [
        (
            GKE,
            {**G2, "sharing": {**SLICED, "rename": True}},
            "remove sharing.rename",
            {"sharing": SLICED},
        ),
        (
            GKE,
            {**L4, "machine": "a2-highgpu-1g", "mig": "all-1g.5gb", "migStrategy": "mixed"},
            "set migStrategy to single",
            {"migStrategy": "single"},
        ),
        (
            EKS,
            {**A100, "mig": "0=all-1g.5gb", "migStrategy": "single"},
            "use mixed",
            {"migStrategy": "mixed"},
        ),
        (
            EKS,
            {**A100, "mig": "all-1g.5gb", "sharing": {"strategy": "mps", "replicas": 2}},
            "use time-slicing, or remove mig",
            {"sharing": SLICED},
        ),
        (AKS, A100_ON_AKS, "use the smallest profile or a 2g profile", {"mig": "all-1g.10gb"}),
    ],
)
def test_fix_for_a_pool_works(
    document: dict[str, Any], pool: dict[str, Any], fix: str, repaired: dict[str, Any]
) -> None:
    with pytest.raises(FleetError, match=fix):
        fleet_of(document, pool)

    assert not fleet_of(document, {**pool, **repaired}).pools[0].is_dra


def test_fix_for_a_fleet_works() -> None:
    with pytest.raises(
        FleetError, match=re.escape("set devicePlugin to {version: …} in the fleet")
    ):
        fleet_of({**EKS, "devicePlugin": False}, L4)
    assert fleet_of(EKS, L4).device_plugin

    neuron = {"name": "trn", "machine": "trn1.32xlarge", "count": {"max": 1}}
    with pytest.raises(FleetError, match="set allocation to dra"):
        fleet_of({**EKS, "drivers": {"neuron": True}}, {**neuron, "allocation": "device-plugin"})
    assert (
        fleet_of({**EKS, "drivers": {"neuron": True}}, {**neuron, "allocation": "dra"})
        .pools[0]
        .is_dra
    )


MEMORY_LABEL = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  nodeSelector: {SELECTED}
  containers:
    - {name: main, image: example/main:1, resources: {limits: {nvidia.com/gpu: 1}}}
"""


def test_pod_without_a_claim_is_not_advised_to_change_a_claim() -> None:
    """Devices of a plugin can't be selected, only pools. The fix is applied."""
    fleet = fleet_of(EKS, L4)
    text = MEMORY_LABEL.replace("SELECTED", 'nvidia.com/gpu.memory: "23034"')
    plan = make_plan(PlanRequest(sources=(Source("w.yaml", text),), fleet=fleet))
    (reason,) = plan.workloads[0].reasons
    assert reason.fix == (
        "remove nvidia.com/gpu.memory from the pod's nodeSelector and affinity, and select a "
        "pool by its label pulumi-dra/pool"
    )
    fixed = MEMORY_LABEL.replace("SELECTED", "pulumi-dra/pool: l4")
    again = make_plan(PlanRequest(sources=(Source("w.yaml", fixed),), fleet=fleet))
    assert again.verdict == "fits"


def test_claim_on_a_plugin_pool_is_explained() -> None:
    plan = make_plan(PlanRequest(sources=(Source("w.yaml", CLAIMING),), fleet=fleet_of(EKS, L4)))
    (found,) = [each for each in plan.workloads[0].reasons if each.code == "no-devices"]
    assert found.message == (
        "the pod requests 1 device, but a device plugin allocates the node's devices "
        "(nvidia.com/gpu)"
    )
    assert found.fix == "use a pool with devices that a DRA driver allocates"
    dra = {**L4, "name": "dra", "allocation": "dra"}
    again = make_plan(
        PlanRequest(sources=(Source("w.yaml", CLAIMING),), fleet=fleet_of(EKS, L4, dra))
    )
    assert again.verdict == "fits"
