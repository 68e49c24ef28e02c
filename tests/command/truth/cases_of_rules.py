"""Rules between pods, causes of misfits, other vendors, and objects that no reader knows."""

from __future__ import annotations

from typing import Any

from truth_cases import Case
from truth_objects import Object, api, deployment, fleet, job, pod_spec, sharing, template

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
MINE = {"matchLabels": {"app": "serve"}}


def pool(name: str, machine: str, most: int = 4, **more: Any) -> Object:
    return {"name": name, "machine": machine, "count": {"min": 0, "max": most}, **more}


def spread(**more: Any) -> list[Object]:
    strict = {"topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": MINE}
    return [{"maxSkew": 1, **strict, **more}]


def next_to(key: str) -> Object:
    term = {"topologyKey": key, "labelSelector": MINE}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def node_affinity(key: str, value: str) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


def class_of(driver: str) -> Object:
    selectors = [{"cel": {"expression": f"device.driver == '{driver}'"}}]
    return api("resource.k8s.io/v1", "DeviceClass", driver, {"selectors": selectors}, namespace="")


IN_TWO_ZONES = fleet(pools=[pool("l4", "g6.2xlarge", zones=["us-east-1a", "us-east-1b"])])
OF_FOUR = fleet(pools=[pool("l4x", "g6.12xlarge")])

RULES_OF_PODS = (
    Case(
        name="a spread over more zones than the pools have",
        given=[template(), deployment(replicas=3, topologySpreadConstraints=spread(minDomains=3))],
        verdict="does-not-fit",
        says=("minDomains", "2 zones", "at most 2 of its 3 pods"),
        silent=("A packing exists",),
        on=IN_TWO_ZONES,
    ),
    Case(
        name="pods that run on one node and request more GPUs than a node has",
        given=[template(), deployment(replicas=6, affinity=next_to(HOST))],
        verdict="does-not-fit",
        says=("6 devices", "no node has more than 4"),
        silent=("A packing exists",),
        on=OF_FOUR,
    ),
    Case(
        name="pods that run on one node and fit it",
        given=[template(), deployment(replicas=3, affinity=next_to(HOST))],
        verdict="fits",
        on=OF_FOUR,
    ),
    Case(
        name="a node affinity to a label of no node",
        given=[template(), deployment(affinity=node_affinity("tier", "gold"))],
        verdict="does-not-fit",
        says=("tier in (gold)", "label the pool with tier=gold"),
        silent=("A packing exists",),
    ),
    Case(
        name="nine GPUs on nodes with eight",
        given=[template(count=9), deployment(replicas=1)],
        verdict="does-not-fit",
        says=("9", "8"),
        silent=("cpu:",),
        on=fleet(pools=[pool("h100", "p5.48xlarge", 2)]),
    ),
    Case(
        name="a claim for devices of AMD",
        given=[
            class_of("gpu.amd.com"),
            template(device_class="gpu.amd.com"),
            deployment(tolerations=[]),
        ],
        verdict="cannot-tell",
        says=("gpu.amd.com",),
        silent=("nvidia.com/gpu",),
    ),
    Case(
        name="a MIG class while no GPU is partitioned",
        given=[template(device_class="mig.nvidia.com"), deployment()],
        verdict="does-not-fit",
        says=("mig.nvidia.com",),
        silent=("use gpu.nvidia.com",),
    ),
    Case(
        name="MPS for one alternative while its gate is off",
        given=[
            api(
                "resource.k8s.io/v1",
                "ResourceClaimTemplate",
                "gpu",
                {
                    "spec": {
                        "devices": {
                            "requests": [
                                {
                                    "name": "gpu",
                                    "firstAvailable": [
                                        {"name": "a", "deviceClassName": "gpu.nvidia.com"}
                                    ],
                                }
                            ],
                            "config": [
                                {
                                    "requests": ["gpu/a"],
                                    "opaque": {
                                        "driver": "gpu.nvidia.com",
                                        "parameters": sharing("MPS"),
                                    },
                                }
                            ],
                        }
                    }
                },
            ),
            deployment(),
        ],
        verdict="does-not-fit",
        says=("MPS",),
    ),
    Case(
        name="a gated Job",
        given=[template(), job(schedulingGates=[{"name": "example.com/hold"}])],
        verdict="cannot-tell",
        says=("example.com/hold",),
    ),
    Case(
        name="a manifest in an object of Crossplane",
        given=[
            api(
                "kubernetes.crossplane.io/v1alpha2",
                "Object",
                "o",
                {"forProvider": {"manifest": {"kind": "Pod", "spec": pod_spec()}}},
                namespace="",
            )
        ],
        verdict="cannot-tell",
        says=("Object",),
        silent=("Nothing to place",),
    ),
    Case(
        name="a bucket of Crossplane",
        given=[
            api("s3.aws.crossplane.io/v1beta1", "Bucket", "b", {"forProvider": {}}, namespace="")
        ],
        verdict="fits",
    ),
    Case(
        name="a limit below the request",
        given=[
            template(),
            deployment(
                containers=[
                    {
                        "name": "main",
                        "image": "app:1",
                        "resources": {
                            "requests": {"cpu": "4"},
                            "limits": {"cpu": "2"},
                            "claims": [{"name": "gpu"}],
                        },
                    }
                ]
            ),
        ],
        verdict="does-not-fit",
        says=("must be less than or equal to cpu limit",),
    ),
    Case(
        name="no surge and no pod unavailable",
        given=[
            template(),
            deployment(
                strategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0},
                }
            ),
        ],
        verdict="does-not-fit",
        says=("maxUnavailable",),
    ),
)
