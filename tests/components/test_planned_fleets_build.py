"""A fleet is rejected with the same message as a component's inputs, and a fleet with a valid plan
can be built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pulumi.errors import InputPropertiesError
from test_bad_inputs import CASES, NEEDED

import pulumi_dra
from dra_planner.clouds import cloud as of_name
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from dra_planner.sources import Source
from pulumi_dra.cloud_components import components_of
from pulumi_dra.dra.from_fleet import check_in_cluster
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformArgs, read_planned, read_platform_inputs

Document = dict[str, Any]
GROUP = (
    "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/capacityReservationGroups/bought"
)
FLEETS: dict[str, Document] = {
    "aks": {
        "cloud": "aks",
        "region": "eastus",
        "kubernetes": "1.34",
        "systemPool": {"machine": "Standard_D4s_v5"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "t4", "machine": "Standard_NC4as_T4_v3", "count": {"min": 0, "max": 4}}],
    },
    "eks": {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.34",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 4}}],
    },
    "gke": {
        "cloud": "gke",
        "region": "us-central1",
        "kubernetes": "1.34",
        "network": {"zones": ["us-central1-a"]},
        "systemPool": {"machine": "e2-standard-4"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "l4", "machine": "g2-standard-8", "count": {"min": 0, "max": 4}}],
    },
}
# Input → the path of the fleet keys that set the same value.
OF_CLUSTERS = {
    "kubernetes_version": "kubernetes",
    "public_access_cidrs": "endpoint.publicAccessCidrs",
    "system_count": "systemPool.count",
    "region": "region",
    "location": "region",
    "system_zones": "network.zones",
    "zones": "network.zones",
    "zone_count": "network.zones",
    "node_zones": "network.zones",
    "subnet_ids": "network.subnetIds",
}
OF_POOLS = {
    "machine": "pools.0.machine",
    "zones": "pools.0.zones",
    "max_nodes": "pools.0.count.max",
    "min_nodes": "pools.0.count.min",
    "max_pods": "pools.0.maxPods",
    "disk_gib": "pools.0.diskGib",
    "local_ssds": "pools.0.localSsds",
    "local_storage": "pools.0.localStorage",
    "image_id": "pools.0.image.id",
    "huge_pages_2mi": "pools.0.hugePages.2Mi",
    "huge_pages_1gi": "pools.0.hugePages.1Gi",
    "image": "pools.0.image.family",
    "labels": "pools.0.labels",
    "taints": "pools.0.taints",
    "mig_layout": "pools.0.mig",
    "reserved_cpu": "pools.0.reserved.cpu",
    "reserved_memory": "pools.0.reserved.memory",
    "reservation_id": "pools.0.capacity.reservation",
    "reservation_group_id": "pools.0.capacity.reservation",
    "cluster_principal_id": "",  # the cluster's own
    "capacity": "",  # follows from the purchased capacity
}
OF_DRIVERS = {
    "version": "drivers.nvidia.version",
    "feature_gates": "drivers.nvidia.featureGates",
    "consumable_shares": "drivers.nvidia.consumableShares",
}
IN_A_FLEET: dict[str, tuple[str, Mapping[str, str]]] = {
    "AksCluster": ("aks", OF_CLUSTERS),
    "AksGpuPool": ("aks", OF_POOLS),
    "EksNetwork": ("eks", OF_CLUSTERS),
    "EksCluster": ("eks", OF_CLUSTERS),
    "EksGpuPool": ("eks", OF_POOLS),
    "GkeNetwork": ("gke", OF_CLUSTERS),
    "GkeCluster": ("gke", OF_CLUSTERS),
    "GkeGpuPool": ("gke", OF_POOLS),
    "DraDriver": ("eks", OF_DRIVERS),
    "DevicePlugin": ("eks", {"version": "devicePlugin.version"}),
    "Dranet": ("eks", {"version": "drivers.dranet.version"}),
    "DeviceClasses": ("eks", {"classes": "deviceClasses"}),
}
OF_CLASSES = {
    "name": "name",
    "selectors": "selectors",
    "extended_resource_name": "extendedResourceName",
}
# Fleet values with another meaning: pools with a maximum of 0 aren't built, nodes without GPUs
# aren't pools of the fleet, and purchased capacity includes its ID.
DIFFERENT_MEANINGS = [
    ("EksGpuPool", "max_nodes", "must be between 1 and"),
    ("AksGpuPool", "max_nodes", "must be between 1 and 1000, not 0"),
    ("AksGpuPool", "max_nodes", "1000, not 1001"),  # a fleet's maximum may be 0
    ("EksGpuPool", "capacity", "must be "),
    ("AksGpuPool", "capacity", "must be "),
    # the fleet's reader doesn't report the subject
    ("EksCluster", "public_access_cidrs", "must be a list of strings"),
    (
        "EksCluster",
        "zone_count",
        "applies only to a new network, but",
    ),  # the same error with the fleet's names
    ("EksGpuPool", "image_id", "must be a string or an output"),  # a fleet only contains text
    (
        "EksGpuPool",
        "service_cidr",
        "is required with image_id, because EKS doesn't add the cluster's settings to nodes that use "
        "a custom image",
    ),  # the cluster's own
    ("EksGpuPool", "reservation_id", "set it to the ID of the purchased capacity"),
    ("EksGpuPool", "reservation_id", 'not to "on-demand"'),
    ("GkeGpuPool", "reservation_name", "set it to the name of the purchased capacity"),
    ("GkeGpuPool", "autoscaled", "GKE starts its nodes when pods request them"),
    ("GkeGpuPool", "zones", "must not be empty"),
    ("DevicePlugin", "version", "set either version"),
]


def fleet_of(component: str, args: Mapping[str, Any]) -> Document | None:
    """Return the fleet that corresponds to the inputs, or None if a fleet can't express one of
    them.
    """
    if component not in IN_A_FLEET:
        return None
    cloud, places = IN_A_FLEET[component]
    document = read_fleet(FLEETS[cloud]).document()
    for key, value in args.items():
        if key not in places or value is None:
            return None
        if key == "classes":
            if any(name not in OF_CLASSES for each in value for name in each):
                return None
            value = [
                {OF_CLASSES[name]: settings for name, settings in each.items()} for each in value
            ]
        if places[key]:
            put(document, places[key].split("."), value)
    return document


def put(document: Any, path: list[str], value: Any) -> None:
    *parents, last = (int(part) if part.isdigit() else part for part in path)
    for part in parents:
        if isinstance(document, dict) and not isinstance(document.get(part), dict | list):
            document[part] = {}
        document = document[part]
    document[last] = value
    if last == "subnetIds":
        document.pop("zones", None)


def has_different_meaning(component: str, path: str, sentence: str) -> bool:
    return any(
        (component, path) == (other, key) and part in sentence
        for other, key, part in DIFFERENT_MEANINGS
    )


EXPRESSED = [
    (component, args, path, sentence)
    for component, args, path, sentence in CASES
    if fleet_of(component, args) is not None
    and not has_different_meaning(component, path, sentence)
]


def test_cases_cover_most_inputs_of_fleets() -> None:
    inputs = {
        (IN_A_FLEET[component][0], key) for component, args, _, _ in EXPRESSED for key in args
    }
    assert len(EXPRESSED) >= 40
    assert {key for _, key in inputs} >= {*OF_CLUSTERS, *OF_POOLS, *OF_DRIVERS, "classes"} - {
        "zones",
        "max_nodes",
    }


@pytest.mark.parametrize(
    ("component", "args", "path", "sentence"),
    EXPRESSED,
    ids=[f"{case[0]}-{case[2]}-{index}" for index, case in enumerate(EXPRESSED)],
)
def test_fleet_is_rejected_with_the_components_message(
    declare: Callable[..., Any], component: str, args: Document, path: str, sentence: str
) -> None:
    refused: list[str] = []

    def make() -> None:
        with pytest.raises(InputPropertiesError) as caught:
            getattr(pulumi_dra, component)("x", {**NEEDED[component], **args})
        refused.append(caught.value.message)

    declare(make)
    messages = [
        line.strip().removeprefix(f"{path}: ")
        for line in refused[0].split("\n")
        if f"{path}: " in line
    ]

    with pytest.raises(PlannerError) as caught:
        planned(fleet_of(component, args))

    assert any(each in str(caught.value) for each in messages if sentence in each), (
        messages,
        str(caught.value),
    )


def planned(document: Any, sources: tuple[Source, ...] = ()) -> tuple[Fleet, Any]:
    """Return a fleet and its plan. Problems with the classes are raised as errors, as reading
    does.
    """
    fleet = read_fleet(document)
    plan = make_plan(PlanRequest(sources=sources, fleet=fleet))
    refused = [each for each in plan.diagnostics if each.severity == "error"]
    if refused and not sources:
        raise PlannerError(refused[0].message, fix=refused[0].fix)
    return fleet, plan


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 3
  parallelism: 3
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: registry.example/train, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
"""
MACHINES = {
    "aks": (
        "Standard_NC4as_T4_v3",
        "Standard_NC24ads_A100_v4",
        "Standard_ND96isr_H100_v5",
        "Standard_D4s_v5",
        "Standard_NC72ds_xl_RTXPRO6000BSE_v6",
    ),
    "eks": ("g6.2xlarge", "g5.xlarge", "p5.48xlarge", "p4d.24xlarge", "m5.large", "g9.huge"),
    "gke": (
        "g2-standard-8",
        "a3-highgpu-8g",
        "a4x-highgpu-4g",
        "n1-standard-8+nvidia-tesla-t4:1",
        "n1-standard-8",
    ),
}
REGIONS = {
    "aks": ("eastus", "westus2"),
    "eks": ("us-east-1", "us-west-2", "us-east-1a"),
    "gke": ("us-central1", "europe-west4"),
}
RESERVATIONS = st.sampled_from(
    [
        "on-demand",
        "on-demand",
        "spot",
        {"reservation": "cr-0a"},
        {"reservation": GROUP},
        {"capacityBlock": "cr-0b"},
    ]
)


@st.composite
def pools(draw: st.DrawFn, cloud: str, region: str, name: str) -> Document:
    least = draw(st.integers(0, 4))
    zone, other = (f"{region}{suffix}" for suffix in of_name(cloud).zone_suffixes[:2])
    pool: Document = {
        "name": name,
        "machine": draw(st.sampled_from(MACHINES[cloud])),
        "count": {"min": least, "max": least + draw(st.integers(0, 8))},
        "capacity": draw(RESERVATIONS),
    }
    further = {
        "zones": st.sampled_from([[zone], [other], [zone, other]]),
        "maxPods": st.sampled_from([1, 8, 29, 110, 250, 256]),
        "diskGib": st.sampled_from([49, 50, 200, 16_384, 16_385]),
        "labels": st.sampled_from([{"team": "a"}, {"a" * 62 + "/b": "c"}, {"example.com/x": ""}]),
        "taints": st.sampled_from(
            [[{"key": "team"}], [{"key": "team"}, {"key": "team", "effect": "NoExecute"}]]
        ),
        "mig": st.sampled_from(["none", "all-1g.10gb", "all-1g.5gb"]),
        "reserved": st.just({"cpu": "500m"}),
    }
    for key in draw(st.sets(st.sampled_from(sorted(further)), max_size=3)):
        pool[key] = draw(further[key])
    return pool


@st.composite
def fleets(draw: st.DrawFn) -> Document:
    """Draw a fleet as a user could write it: most are valid, and many of the others are almost
    valid.
    """
    cloud = draw(st.sampled_from(sorted(FLEETS)))
    region = draw(st.sampled_from(REGIONS[cloud]))
    document = {
        **FLEETS[cloud],
        "region": region,
        "kubernetes": draw(st.sampled_from(["1.34", "1.35", "1.36"])),
        "network": {"zones": draw(st.integers(1, 3))},
        "drivers": {
            "nvidia": {"version": draw(st.sampled_from(["25.8.1", "25.12.0", "0.4.1", "0.5.0"]))},
            "dranet": draw(st.booleans()),
        },
        "devicePlugin": draw(st.sampled_from([False, {"version": "0.17.4"}]))
        if cloud != "gke"
        else False,
        "autoscaler": draw(
            st.sampled_from(["none", "none", "gke" if cloud == "gke" else "cluster-autoscaler"])
        ),
        "pools": [
            draw(pools(cloud, region, f"p{index}")) for index in range(draw(st.integers(1, 2)))
        ],
    }
    further = {
        "deviceClasses": st.sampled_from(
            [[{"name": "own", "selectors": ['device.driver == "gpu.nvidia.com"']}]]
        ),
        "endpoint": st.sampled_from(
            [{"publicAccessCidrs": ["203.0.113.0/24"]}, {"publicAccessCidrs": ["::/0"]}]
        ),
    }
    for key in draw(st.sets(st.sampled_from(sorted(further)))):
        document[key] = draw(further[key])
    if draw(st.booleans()):
        document["drivers"]["nvidia"]["featureGates"] = draw(
            st.sampled_from(
                [{"MPSSupport": True}, {"DynamicMIG": True}, {"NVMLDeviceHealthCheck": True}]
            )
        )
    return document


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(document=fleets())
def test_planned_fleets_can_be_built(document: Document) -> None:
    try:
        fleet, plan = planned(document, (Source(name="train.yaml", text=CLAIM),))
    except PlannerError:
        assume(False)
        return
    assume(plan.verdict == "fits")
    group = {"security_group": "none"} if fleet.cloud == "gke" else {}
    args: Any = {"plan": canonical_text(plan_file(plan)), "cluster": group}
    read = InputReader("DraPlatform", "x", args, DraPlatformArgs)
    found = read_planned(read)
    read.finish()
    assert found is not None
    cloud = components_of(fleet.cloud)
    inputs = read_platform_inputs(read, found[0], cloud.CLUSTER_INPUTS)
    cloud.check_cluster(read, inputs, *found)
    check_in_cluster(read, inputs, *found)
    read.finish()
