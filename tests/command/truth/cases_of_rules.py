"""Rules between pods, reasons why pods don't fit, other vendors, and objects of unknown kinds."""

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


def next_to_cache(replicas: int = 1, cache: int = 1, cpu: str = "1", **more: Any) -> list[Object]:
    """Pods with GPUs that must run on the nodes of other pods with GPUs."""
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "cache"}}}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    serve = deployment(replicas=replicas, affinity=affinity, strategy={"type": "Recreate"}, **more)
    (container,) = serve["spec"]["template"]["spec"]["containers"]
    container["resources"] = {**container["resources"], "requests": {"cpu": cpu}}
    others = deployment("cache", replicas=cache, strategy={"type": "Recreate"})
    return [template(), others, serve]


def node_affinity(key: str, value: str) -> Object:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


def class_of(driver: str) -> Object:
    selectors = [{"cel": {"expression": f"device.driver == '{driver}'"}}]
    return api("resource.k8s.io/v1", "DeviceClass", driver, {"selectors": selectors}, namespace="")


def volume(zone: str, pod: int = 0) -> list[Object]:
    """A volume in a zone, and the claim of a StatefulSet's pod for it."""
    size = {"resources": {"requests": {"storage": "10Gi"}}, "accessModes": ["ReadWriteOnce"]}
    required = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
        ]
    }
    spec = {"nodeAffinity": {"required": required}, "capacity": {"storage": "10Gi"}}
    spec |= {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{pod}"}}
    spec |= {"accessModes": ["ReadWriteOnce"]}
    name = f"data-serve-{pod}"
    return [
        api("v1", "PersistentVolume", f"v{pod}", spec, namespace=""),
        api("v1", "PersistentVolumeClaim", name, {"volumeName": f"v{pod}", **size}),
    ]


def stateful_set(replicas: int = 1) -> Object:
    """A StatefulSet whose pods have a GPU and a volume each."""
    size = {"resources": {"requests": {"storage": "10Gi"}}, "accessModes": ["ReadWriteOnce"]}
    made = deployment(replicas=replicas)
    spec = {**made["spec"], "serviceName": "serve"}
    spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": size}]
    return {**made, "kind": "StatefulSet", "spec": spec}


def of_memory(amount: str) -> Object:
    made = template()
    memory = 'device.capacity["gpu.nvidia.com"].memory'
    (request,) = made["spec"]["spec"]["devices"]["requests"]
    cel = {"expression": f'{memory}.compareTo(quantity("{amount}")) >= 0'}
    request["exactly"]["selectors"] = [{"cel": cel}]
    return made


IN_TWO_ZONES = fleet(pools=[pool("l4", "g6.2xlarge", zones=["us-east-1a", "us-east-1b"])])
OF_FOUR = fleet(pools=[pool("l4x", "g6.12xlarge")])

RULES_OF_PODS = (
    Case(
        name="a zone in which the pool has no node",
        on=IN_TWO_ZONES,
        given=[template(), deployment(nodeSelector={ZONE: "us-east-1f"})],
        verdict="does-not-fit",
        texts=("the node is in another zone", "use a pool in zone us-east-1f"),
    ),
    Case(
        name="a zone in which the pool may have a node",
        on=IN_TWO_ZONES,
        given=[template(), deployment(nodeSelector={ZONE: "us-east-1b"})],
        verdict="cannot-tell",
    ),
    Case(
        name="the existing volume of a StatefulSet in a zone without nodes",
        on=IN_TWO_ZONES,
        given=[*volume("us-east-1f"), template(), stateful_set()],
        verdict="does-not-fit",
        texts=("node affinity of PersistentVolume v0",),
    ),
    Case(
        name="the existing volumes of a StatefulSet in the zone of the pool",
        on=fleet(pools=[pool("l4", "g6.2xlarge", zones=["us-east-1a"])]),
        given=[*volume("us-east-1a"), *volume("us-east-1a", 1), template(), stateful_set(2)],
        verdict="fits",
    ),
    Case(
        name="one of two volumes of a StatefulSet exists",
        on=fleet(pools=[pool("l4", "g6.2xlarge", zones=["us-east-1a"])]),
        given=[*volume("us-east-1a"), template(), stateful_set(2)],
        verdict="cannot-tell",
    ),
    Case(
        name="a smaller memory request fits the pool with the most memory",
        on=fleet(pools=[pool("t4", "g4dn.2xlarge"), pool("a100", "p4d.24xlarge", 1)]),
        given=[of_memory("70Gi"), deployment(replicas=1)],
        verdict="does-not-fit",
        texts=('if 40Gi is enough, use `quantity("40Gi")`',),
    ),
    Case(
        name="two pods that each need all devices of a node",
        on=fleet(pools=[pool("l4x", "g6.12xlarge", 1)]),
        given=[template(allocationMode="All"), deployment(strategy={"type": "Recreate"})],
        verdict="does-not-fit",
        texts=(
            'pool "l4x" has at most 1 node, so 1 of 2 pods stays pending; ',
            "needs all devices of 1 more",
        ),
        silent=("1 more device", "1 device"),
    ),
    Case(
        name="a spread over more zones than the pools have",
        given=[template(), deployment(replicas=3, topologySpreadConstraints=spread(minDomains=3))],
        verdict="does-not-fit",
        texts=("minDomains", "2 zones", "at most 2 of its 3 pods"),
        silent=("A packing exists",),
        on=IN_TWO_ZONES,
    ),
    Case(
        name="a spread over nodes that counts the system nodes",
        on=fleet(pools=[pool("l4x", "g6.12xlarge", 2)]),
        given=[
            template(),
            deployment(replicas=5, topologySpreadConstraints=spread(topologyKey=HOST)),
        ],
        verdict="does-not-fit",
        texts=(
            "also counts the system nodes",
            "each node runs at most 1 pod",
            "pulumi-dra/pool in (l4x)",
        ),
    ),
    Case(
        name="a spread over the nodes of a pool",
        on=fleet(pools=[pool("l4x", "g6.12xlarge", 2)]),
        given=[
            template(),
            deployment(
                replicas=5,
                strategy={"type": "Recreate"},
                topologySpreadConstraints=spread(topologyKey=HOST),
                nodeSelector={"pulumi-dra/pool": "l4x"},
            ),
        ],
        verdict="fits",
        silent=("system nodes",),
    ),
    Case(
        name="pods that run on one node and request more GPUs than a node has",
        given=[template(), deployment(replicas=6, affinity=next_to(HOST))],
        verdict="does-not-fit",
        texts=("6 devices", "no node has more than 4"),
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
        name="pods next to pods that use the only GPU of a node",
        given=next_to_cache(),
        verdict="does-not-fit",
        texts=("same node as pods with app=cache", "no node has enough devices for both"),
        silent=("A packing exists",),
    ),
    Case(
        name="more pods than fit on the nodes of other pods",
        given=next_to_cache(replicas=4),
        verdict="does-not-fit",
        texts=("1 such node has enough devices for only 3 of its 4 pods",),
        on=OF_FOUR,
    ),
    Case(
        name="pods that request more CPU than is left next to other pods",
        given=next_to_cache(replicas=2, cpu="30"),
        verdict="does-not-fit",
        texts=("1 such node has enough cpu for only 1 of its 2 pods",),
        on=OF_FOUR,
    ),
    Case(
        name="pods that fit on the nodes of other pods",
        given=next_to_cache(replicas=3),
        verdict="fits",
        on=OF_FOUR,
    ),
    Case(
        name="a node affinity to a label of no node",
        given=[template(), deployment(affinity=node_affinity("tier", "gold"))],
        verdict="does-not-fit",
        texts=("tier in (gold)", "label the pool with tier=gold"),
        silent=("A packing exists",),
    ),
    Case(
        name="nine GPUs on nodes with eight",
        given=[template(count=9), deployment(replicas=1)],
        verdict="does-not-fit",
        texts=("9", "8"),
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
        texts=("gpu.amd.com",),
        silent=("nvidia.com/gpu",),
    ),
    Case(
        name="a MIG class without a partitioned GPU",
        given=[template(device_class="mig.nvidia.com"), deployment()],
        verdict="does-not-fit",
        texts=("mig.nvidia.com",),
        silent=("use gpu.nvidia.com",),
    ),
    Case(
        name="MPS for one alternative with a disabled gate",
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
        texts=("MPS",),
    ),
    Case(
        name="a gated Job",
        given=[template(), job(schedulingGates=[{"name": "example.com/hold"}])],
        verdict="cannot-tell",
        texts=("example.com/hold",),
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
        texts=("Object",),
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
        texts=("must be less than or equal to cpu limit",),
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
        texts=("maxUnavailable",),
    ),
)
