"""Unusual but valid fleets: the clouds' own API models accept the declared resources."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from aws_api import REQUESTS, requests

from dra_planner import planfile
from dra_planner.clouds import cloud
from dra_planner.fleet import read_fleet
from pulumi_dra.platform.platform import DraPlatform

LONG = "l" * 40  # the longest pool name that a fleet allows
MANY = {f"example.com/{'k' * 49}{n:02}": "v" * 63 for n in range(40)}
TAINTS = [
    {"key": f"example.com/t{n}", "value": "v" * 63, "effect": "PreferNoSchedule"} for n in range(40)
]

EKS: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 4}}],
}
GKE: dict[str, Any] = {
    **EKS,
    "cloud": "gke",
    "region": "us-central1",
    "network": {"zones": ["us-central1-a"]},
    "systemPool": {"machine": "e2-standard-4"},
    "pools": [{"name": "l4", "machine": "g2-standard-8", "count": {"min": 0, "max": 4}}],
}


def pool(machine: str, name: str = "gpus", **more: Any) -> dict[str, Any]:
    return {"name": name, "machine": machine, "count": {"min": 0, "max": 4}, **more}


def platform(document: dict[str, Any], *, nodes: int = 2, name: str = "dra", **inputs: Any) -> None:
    fleet = read_fleet(document)
    rows = [
        {
            "name": each.name,
            "machine": each.machine,
            "count": {
                "min": each.count.min,
                "bound": nodes,
                "packing": nodes,
                "simulated": nodes,
                "max": each.count.max,
            },
            "nodes": {"min": nodes, "desired": nodes, "max": max(nodes, each.count.max)},
            "devices": {"total": nodes, "used": 0, "stranded": nodes},
        }
        for each in fleet.pools
    ]
    content: dict[str, Any] = {
        "inputs": planfile.inputs_of(fleet, []),
        "kubernetes": fleet.kubernetes,
        "verdict": "fits",
        "fleet": fleet.document(),
        **{key: [] for key in ("assumptions", "classes", "workloads")},
        "demand": {"level": "steady", "shapes": [], "sharedClaims": [], "blocked": []},
        "pools": rows,
    }
    plan = planfile.file_text(planfile.seal(content))
    if fleet.cloud == "gke":
        inputs.setdefault("cluster", {"security_group": "none"})
    DraPlatform(name, {"plan": plan, **inputs})


EKS_FLEETS = {
    "one zone": {"network": {"zones": ["us-east-1c"]}},
    "three zones": {"network": {"zones": 3}, "autoscaler": "cluster-autoscaler"},
    "a pool in its own zone": {
        "network": {"zones": 2},
        "pools": [pool("g6.2xlarge", zones=["us-east-1f"])],
    },
    "only Spot": {"pools": [pool("g6.2xlarge", capacity="spot")]},
    "arm": {"pools": [pool("g5g.xlarge")], "systemPool": {"machine": "m7g.large"}},
    "two pools of one machine": {
        "pools": [pool("g6.2xlarge"), pool("g6.2xlarge", "more", labels={"a": "b"})]
    },
    "names of maximum length": {"pools": [pool("g6.2xlarge", LONG)]},
    "many labels and taints": {"pools": [pool("g6.2xlarge", labels=MANY, taints=TAINTS)]},
    "DRANET": {
        "drivers": {"nvidia": {"version": "25.8.1"}, "dranet": True},
        "pools": [pool("p6-b300.48xlarge")],
    },
    "kubelet settings": {
        "network": {"zones": 2, "prefixDelegation": True},
        "pools": [pool("g6.2xlarge", maxPods=110, reserved={"cpu": "500m"}, diskGib=500)],
    },
    "GB200 in its Local Zone": {
        "network": {"zones": ["us-east-1a", "us-east-1-dfw-2a"]},
        "drivers": {"nvidia": {"version": "25.8.1", "computeDomains": True}},
        "pools": [
            pool(
                "p6e-gb200.36xlarge",
                capacity={"capacityBlock": "cr-0a1b"},
                zones=["us-east-1-dfw-2a"],
            )
        ],
    },
    "a capacity block": {
        "pools": [pool("p5.48xlarge", capacity={"capacityBlock": "cr-0a1b"}, zones=["us-east-1a"])]
    },
}


@pytest.mark.parametrize("changes", EKS_FLEETS.values(), ids=EKS_FLEETS)
def test_eks_accepts_unusual_fleets(declare: Callable[..., Any], changes: dict[str, Any]) -> None:
    tags = {f"{'t' * 120}{n}": "v" * 256 for n in range(40)}
    declared = declare(lambda: platform({**EKS, **changes}, tags=tags))
    sent = [
        r
        for r in declared.resources
        if r.type in REQUESTS and list(requests(r.type, r.name, r.inputs))
    ]
    assert len(sent) == len([r for r in declared.resources if r.type.startswith("aws:")]) > 30
    zones = {subnet.inputs["availabilityZone"] for subnet in declared.all("Subnet")}
    assert len(zones) >= 2
    named = changes.get("network", {}).get("zones")
    if isinstance(named, list) and not any(each.get("zones") for each in changes.get("pools", ())):
        (gpus,) = (group for group in declared.all("NodeGroup") if group.name.endswith("-nodes"))
        assert gpus.inputs["subnetIds"] == [
            f"dra-cluster-network-private-{zone}-id" for zone in named
        ]


GKE_FLEETS = {
    "three zones autoscaled": {"network": {"zones": 3}, "autoscaler": "gke"},
    "three zones, a pool in one": {
        "network": {"zones": 3},
        "pools": [pool("g2-standard-8", zones=["us-central1-a"])],
    },
    "only Spot": {"pools": [pool("g2-standard-8", capacity="spot")]},
    "two pools of one machine": {"pools": [pool("g2-standard-8"), pool("g2-standard-8", "more")]},
    "names of maximum length": {"pools": [pool("g2-standard-8", LONG)]},
    "many labels and taints": {
        "pools": [pool("g2-standard-8", labels=MANY, taints=TAINTS, maxPods=32, diskGib=500)]
    },
    "DRANET": {
        "drivers": {"nvidia": {"version": "25.8.1"}, "dranet": True},
        "pools": [pool("a3-ultragpu-8g", capacity="spot")],
    },
    "borrowed nodes": {
        "autoscaler": "gke",
        "pools": [
            pool("a3-highgpu-8g", "flex", capacity="flex-start"),
            pool("a3-highgpu-8g", "queued", capacity="queued"),
        ],
    },
    "without accelerators": {
        "drivers": {"cpu": True},
        "kubernetes": "1.36",
        "pools": [pool("n2-standard-32")],
    },
    "a reservation": {
        "pools": [pool("a3-highgpu-8g", capacity={"reservation": "block"}, zones=["us-central1-a"])]
    },
}
OF_OTHER_APIS = ("gcp:serviceaccount/account:Account", "gcp:projects/iAMMember:IAMMember")


@pytest.mark.long
def test_gke_accepts_unusual_fleets(declare: Callable[..., Any]) -> None:
    tags = {f"{'t' * 60}{n:02}": "v" * 63 for n in range(40)}
    cases = [
        (each.type, f"{fleet}: {each.name}", each.inputs)
        for fleet, changes in GKE_FLEETS.items()
        for each in declare(
            lambda changes=changes: platform({**GKE, **changes}, tags=tags)
        ).resources
        if each.type.startswith("gcp:") and each.type not in OF_OTHER_APIS
    ]
    # Google's clients run in a separate process.
    program = [sys.executable, str(Path(__file__).with_name("gcp_api.py"))]
    done = subprocess.run(
        program, input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    assert [answer["refused"] for answer in json.loads(done.stdout) if "refused" in answer] == []
    assert len(cases) > 8 * len(GKE_FLEETS)


def test_gpu_operator_installs_the_driver(declare: Callable[..., Any]) -> None:
    drivers = {"nvidia": {"version": "0.5.0", "installer": "gpu-operator"}}
    declared = declare(lambda: platform({**GKE, "drivers": drivers}))
    assert not declared.all("Release")
    assert not [each for each in declared.resources if "driver-installer" in each.name]
    with pytest.raises(
        Exception, match="the GPU Operator installs the driver, so remove this input"
    ):
        declare(lambda: platform({**GKE, "drivers": drivers}, driver={"namespace": "own"}))


AKS: dict[str, Any] = {
    **EKS,
    "cloud": "aks",
    "region": "eastus",
    "network": {"zones": 0},
    "systemPool": {"machine": "Standard_D4s_v5"},
    "autoscaler": "cluster-autoscaler",
    "pools": [pool("Standard_NC4as_T4_v3", "t4", count={"min": 0, "max": 300})],
}


def test_pod_range_that_is_too_small_fails_with_the_plans_message(
    declare: Callable[..., Any],
) -> None:
    (rejection,) = {cloud("aks").pods_range_fault("10.244.0.0/16", [(300, None)], 2)}

    def make() -> None:
        with pytest.raises(
            pulumi.RunError, match=rf"cluster\.pods_?[cC]idr: {re.escape(str(rejection))}"
        ):
            platform(AKS)

    declare(make)
    made = declare(lambda: platform(AKS, cluster={"pods_cidr": "10.128.0.0/14"}))
    assert [each.inputs["networkProfile"]["podCidr"] for each in made.all("ManagedCluster")] == [
        "10.128.0.0/14"
    ]


def test_fixed_count_not_divisible_by_zones_is_rejected_with_a_fix(
    declare: Callable[..., Any],
) -> None:
    def make() -> None:
        sentence = (
            r"pools.l4.desired_nodes: 2 nodes can't be created.*; set only one zone for the pool, or "
            r"use a multiple of 3"
        )
        with pytest.raises(pulumi.RunError, match=sentence):
            platform({**GKE, "network": {"zones": 3}})

    assert declare(make).resources == []


# Maximum name length of each kind, and the number of characters that Pulumi adds.
LIMITS = {
    "gcp:container/cluster:Cluster": 40,
    "gcp:container/nodePool:NodePool": 40,
    "gcp:compute/network:Network": 63,
    "gcp:compute/subnetwork:Subnetwork": 63,
    "gcp:compute/firewall:Firewall": 63,
    "gcp:compute/router:Router": 63,
    "gcp:compute/routerNat:RouterNat": 63,
    "aws:eks/cluster:Cluster": 100,
    "aws:eks/nodeGroup:NodeGroup": 63,
    "aws:iam/role:Role": 64,
    "aws:ec2/launchTemplate:LaunchTemplate": 128,
}
SUFFIX = len("-1a2b3c4")


@pytest.mark.parametrize("document", [EKS, GKE], ids=["eks", "gke"])
def test_automatic_names_fit_with_long_platform_and_pool_names(
    declare: Callable[..., Any], document: dict[str, Any]
) -> None:
    pools = [{**document["pools"][0], "name": f"{LONG[:-1]}{letter}"} for letter in "ab"]
    declared = declare(
        lambda: platform({**document, "pools": pools}, name="a-platform-for-training-in-production")
    )
    named = [each for each in declared.resources if each.type in LIMITS]
    assert {
        each.name: len(each.name) + SUFFIX
        for each in named
        if len(each.name) + SUFFIX > LIMITS[each.type]
    } == {}
    assert len({(each.type, each.name) for each in named}) == len(named) > 6
