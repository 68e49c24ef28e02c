"""Typical decisions in real fleets, one named case each: the verdict is correct, and other verdicts
than *fits* have a reason.

A case that doesn't fit states the smallest change. With this change, all pods fit, and rollouts
finish. With one less, they don't. By default, a rollout of up to three pods deletes an old pod only
after an additional pod runs, so it needs one more device than the pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from msgspec import Struct
from msgspec.structs import replace
from plan_builders import deployment

from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.manifests import render_node, render_slice
from dra_planner.model import Unknown, Verdict
from dra_planner.offers import predict_offers
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source

Json = dict[str, Any]
ZONES = ["us-east-1a", "us-east-1b"]
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
"""
POD = """{tolerations: [{key: nvidia.com/gpu, operator: Exists}],
    resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}],
    containers: [{name: a, image: registry.example/a:1, resources: {requests: {cpu: 500m}, claims: [{name: gpu}]}}]%s}
"""


def fleet(*pools: Json, cloud: str = "eks", **more: Any) -> Json:
    here = {
        "eks": ("us-east-1", "m7i.large"),
        "gke": ("us-central1", "e2-standard-4"),
        "aks": ("eastus", "Standard_D4s_v5"),
    }
    region, system = here[cloud]
    return {
        "cloud": cloud,
        "region": region,
        "kubernetes": "1.34",
        "systemPool": {"machine": system},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": list(pools),
        **more,
    }


def pool(name: str = "l4", machine: str = "g6.2xlarge", most: int = 4, **more: Any) -> Json:
    return {"name": name, "machine": machine, "count": {"max": most}, **more}


def quota(limit: int, unit: str = "gpus", **more: Any) -> Json:
    return {"quotas": [{"name": "q", "unit": unit, "limit": limit, **more}]}


def claiming(
    kind: str, spec: str, *, name: str = "web", labels: str = "{}", objects: str = ""
) -> Source:
    """A workload whose pods claim one GPU each; {pod} in its spec is the pod."""
    version = {"Deployment": "apps/v1", "Job": "batch/v1", "JobSet": "jobset.x-k8s.io/v1alpha2"}
    head = f"apiVersion: {version.get(kind, 'leaderworkerset.x-k8s.io/v1')}\nkind: {kind}\n"
    meta = f"metadata: {{name: {name}, namespace: default, labels: {labels}}}\n"
    return Source(f"{name}.yaml", f"{CLAIM}{head}{meta}spec: {spec}\n{objects}")


def replicas(number: int, extra: str = "", objects: str = "") -> Source:
    template = f"{{metadata: {{labels: {{app: web}}}}, spec: {POD % extra}}}"
    spec = f"{{replicas: {number}, selector: {{matchLabels: {{app: web}}}}, template: {template}}}"
    return claiming("Deployment", spec, objects=objects)


TWO_GPUS = replicas(1)
TWO_GPUS = Source("web.yaml", TWO_GPUS.text.replace("gpu.nvidia.com", "gpu.nvidia.com, count: 2"))
HUGE = replicas(3)
HUGE = Source(
    "web.yaml",
    HUGE.text.replace("cpu: 500m}", "cpu: 500m}, limits: {hugepages-2Mi: 1Gi, memory: 1Gi}"),
)
IMAGE = {"id": "ami-0123456789abcdef0", "family": "al2023"}
NEVER = POD % ", restartPolicy: Never"
JOB_SET = claiming(
    "JobSet",
    "{replicatedJobs: [{name: workers, replicas: 2, template: {spec: {parallelism: 2, completions: "
    "2, "
    f"template: {{spec: {NEVER}}}}}}}}}]}}",
)
LEADER_WORKER_SET = claiming(
    "LeaderWorkerSet",
    f"{{replicas: 2, leaderWorkerTemplate: {{size: 3, workerTemplate: {{spec: {POD % ''}}}}}}}",
)
SUSPENDED = claiming(
    "Job",
    f"{{suspend: true, parallelism: 3, template: {{spec: {NEVER}}}}}",
    labels="{kueue.x-k8s.io/queue-name: team}",
)
GANG = """---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang, namespace: default}
spec: {minMember: 3}
"""
GANGS = Source(
    "gangs.yaml",
    CLAIM
    + "---\n".join(
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: default}}\nspec: "
        "{parallelism: 3, "
        f"template: {{metadata: {{annotations: {{scheduling.k8s.io/group-name: {name}}}}}, spec: "
        f"{NEVER}}}}}\n" + GANG.replace("name: gang", f"name: {name}")
        for name in ("gang-a", "gang-b")
    ),
)
BUDGET = """---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""
SCALER = """---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec:
  minReplicas: 2
  maxReplicas: 6
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
RESOURCE_QUOTA = """---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: default}
spec: {hard: {gpu.nvidia.com.deviceclass.resource.k8s.io/devices: "1"}}
"""
SHARED = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
"""
ZONAL = ", volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"
WAITING = ", schedulingGates: [{name: example.com/wait}]"
APART = (
    ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"
)
EVEN = (
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
)


def in_zone(zone: str) -> str:
    return f", nodeSelector: {{topology.kubernetes.io/zone: {zone}}}"


class Case(Struct, frozen=True):
    """A fleet, workloads, and the expected result: built nodes, the reason, and other texts.

    `least` is the change in the reason, and `less` is the same change with one less, which isn't
    enough. `existing` is the number of empty nodes that the first pool already has.
    """

    name: str
    fleet: Json
    work: tuple[Source, ...]
    verdict: Verdict
    built: Mapping[str, int]
    reason: str = ""
    text: str = ""
    least: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    existing: int = 0


def domain(name: str, pods: int) -> Source:
    """A ComputeDomain, and a job whose pods have its channel and the four GPUs of a node."""
    pod = (
        "{tolerations: [{operator: Exists}], restartPolicy: Never, resourceClaims: "
        f"[{{name: gpu, resourceClaimTemplateName: {name}-gpus}}, "
        f"{{name: channel, resourceClaimTemplateName: {name}}}], "
        "containers: [{name: a, image: registry.example/a:1, resources: {claims: [{name: gpu}, "
        "{name: channel}]}}]}"
    )
    spec = f"{{parallelism: {pods}, template: {{spec: {pod}}}}}"
    made = claiming("Job", spec, name=name)
    objects = (
        "---\napiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomain\n"
        f"metadata: {{name: {name}, namespace: default}}\n"
        f"spec: {{numNodes: 0, channel: {{resourceClaimTemplate: {{name: {name}}}}}}}\n"
    )
    text = made.text.replace("name: gpu, namespace", f"name: {name}-gpus, namespace")
    return Source(made.name, text.replace("gpu.nvidia.com}", "gpu.nvidia.com, count: 4}") + objects)


def racked(most: int) -> Json:
    bought = {"reservation": "rack"}
    made = fleet(pool("gb", "a4x-highgpu-4g", most, pricePerHour=50, capacity=bought), cloud="gke")
    return {**made, "drivers": {"nvidia": {"version": "25.8.1", "computeDomains": True}}}


H100 = "p5.48xlarge"
BOUGHT = {"reservation": "cr-0123"}
BLOCK = {"capacityBlock": "cr-0123", "nodes": 2}
RESERVED = pool("bought", capacity={**BOUGHT, "nodes": 2}, pricePerHour=0.5)
BLOCKS = [pool(name, H100, capacity=BLOCK, zones=ZONES[:1], pricePerHour=9) for name in ("a", "b")]
IN_BOTH = pool(zones=ZONES, most=6)
T4 = "Standard_NC4as_T4_v3"
GROUP = "/subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/capacityReservationGroups/t4"

CASES = [
    Case(
        "Spot nodes first, then on-demand nodes",
        fleet(pool("spot", most=2, capacity="spot", pricePerHour=0.3), pool("behind")),
        (replicas(5),),
        "fits",
        {"spot": 2, "behind": 3},
    ),
    Case(
        "without Spot nodes, the on-demand pool is enough",
        fleet(
            {**pool("spot", capacity="spot", pricePerHour=0.3), "count": 0}, pool("behind", most=5)
        ),
        (replicas(5),),
        "fits",
        {"spot": 0, "behind": 5},
    ),
    Case(
        "a quota of Spot nodes",
        fleet(
            pool("spot", capacity="spot", pricePerHour=0.3),
            pool("behind"),
            **quota(16, "vcpus", capacity=["spot"]),
        ),
        (replicas(4),),
        "fits",
        {"spot": 2, "behind": 2},
    ),
    Case(
        "a reservation smaller than the demand, and an on-demand pool",
        fleet(RESERVED, pool("behind")),
        (replicas(5),),
        "fits",
        {"bought": 2, "behind": 3},
    ),
    Case(
        "a reservation that is too small",
        fleet(RESERVED),
        (replicas(3),),
        "does-not-fit",
        {"bought": 2},
        "limit-too-small",
        "raise the reservation of bought to 4 nodes",
        ("pools.bought.capacity={reservation: cr-0123, nodes: 4}",),
        ("pools.bought.capacity={reservation: cr-0123, nodes: 3}",),
    ),
    Case(
        "a reservation of unknown size",
        fleet(pool("bought", capacity=BOUGHT)),
        (replicas(3),),
        "fits",
        {"bought": 3},
        text="the number of reserved nodes isn't set, so the plan uses the pool's maximum",
    ),
    Case(
        "two pools in one Capacity Block",
        fleet(*BLOCKS),
        (deployment(replicas=17),),
        "does-not-fit",
        {"a": 1, "b": 1},
        "limit-too-small",
        "raise the capacity block of a and b to 3 nodes",
        (
            "pools.a.capacity={capacityBlock: cr-0123, nodes: 3}",
            "pools.b.capacity={capacityBlock: cr-0123, nodes: 3}",
        ),  # 24 GPUs also fit the five additional pods of a rollout
    ),
    Case(
        "a quota of vCPUs fits more GPUs in smaller machine types",
        fleet(
            pool("large"),
            pool("small", "g6.xlarge", pricePerHour=2),
            **quota(16, "vcpus", machines=["g*"]),
        ),
        (replicas(4),),
        "fits",
        {"large": 0, "small": 4},
    ),
    Case(
        "a quota of vCPUs that is too small",
        fleet(pool(), **quota(16, "vcpus", machines=["g*"])),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 32 vCPUs',
        ("quotas.q.limit=32",),
        ("quotas.q.limit=31",),
    ),
    Case(
        "a quota that the system pool partly uses",
        fleet(pool(), **quota(20, "vcpus")),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 36 vCPUs',
        ("quotas.q.limit=36",),
        ("quotas.q.limit=35",),
    ),
    Case(
        "a quota of GPUs of a region on GKE",
        fleet(
            pool(machine="g2-standard-8", zones=["us-central1-a"]),
            cloud="gke",
            network={"zones": ["us-central1-a"]},
            **quota(2, machines=["g2-*"]),
        ),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 4 GPUs',
        ("quotas.q.limit=4",),
        ("quotas.q.limit=3",),
    ),
    Case(
        "a quota of vCPUs of a family on AKS",
        fleet(pool("t4", T4), cloud="aks", **quota(8, "vcpus", machines=["Standard_NC*as_T4_v3"])),
        (replicas(3),),
        "does-not-fit",
        {"t4": 2},
        "limit-too-small",
        'raise quota "q" to 16 vCPUs',
        ("quotas.q.limit=16",),
        ("quotas.q.limit=15",),
    ),
    Case(
        "a reservation group on AKS smaller than the demand, and an on-demand pool",
        fleet(
            pool("bought", T4, capacity={"reservation": GROUP, "nodes": 2}, pricePerHour=0.1),
            pool("behind", T4),
            cloud="aks",
        ),
        (replicas(5),),
        "fits",
        {"bought": 2, "behind": 3},
    ),
    Case(
        "pods that don't tolerate the taint of AKS Spot nodes",
        fleet(pool("spot", T4, capacity="spot", pricePerHour=0.1), pool("behind", T4), cloud="aks"),
        (replicas(2),),
        "fits",
        {"spot": 0, "behind": 2},
    ),
    Case(
        "a pod range on GKE for two nodes in addition to the system pool",
        fleet(
            pool(machine="g2-standard-8", zones=["us-central1-a"]),
            cloud="gke",
            network={"zones": ["us-central1-a"]},
            **quota(4 * 256, "pod-addresses"),
        ),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 1536 pod addresses',
        ("quotas.q.limit=1536",),
        ("quotas.q.limit=1535",),
    ),
    Case(
        "a pod range on AKS for two nodes",
        fleet(pool("t4", T4), cloud="aks", **quota(512, "pod-addresses", machines=[T4])),
        (replicas(3),),
        "does-not-fit",
        {"t4": 2},
        "limit-too-small",
        'raise quota "q" to 1024 pod addresses',
        ("quotas.q.limit=1024",),
        ("quotas.q.limit=1023",),
    ),
    Case(
        "subnets on EKS with addresses for two nodes with a spare interface each",
        fleet(pool(), **quota(60, "addresses", machines=["g6.*"])),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 120 addresses',
        ("quotas.q.limit=120",),
        ("quotas.q.limit=119",),
    ),
    Case(
        "subnets on EKS whose interfaces have prefixes",
        fleet(
            pool(),
            network={"zones": 2, "prefixDelegation": True},
            **quota(66, "addresses", machines=["g6.*"]),
        ),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 132 addresses',
        ("quotas.q.limit=132",),
        ("quotas.q.limit=131",),
    ),
    Case(
        "subnets on EKS that are enough if the system pool has few pods",
        fleet(pool(), **quota(100, "addresses")),
        (replicas(2),),
        "cannot-tell",
        {"l4": 2},
        text="but the nodes need 80 to 120, depending on the number of pods per node\n"
        'raise quota "q" to 120 addresses',
    ),
    Case(
        "a maximum and a quota that are both too small",
        fleet(pool(most=2), **quota(2, "nodes", machines=["g6.*"])),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "limit-too-small",
        'raise quota "q" to 4 nodes and raise the maximum of pool "l4" to 4 (2 more nodes)',
        ("quotas.q.limit=4", "pools.l4.count.max=4"),
        ("quotas.q.limit=4", "pools.l4.count.max=3"),
    ),
    Case(
        "a maximum that is too small for the pods, and a quota that is too small for a rollout",
        fleet(pool(most=2), **quota(3, "nodes", machines=["g6.*"])),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "pool-too-small",
        'raise quota "q" to 4 nodes and raise the maximum of pool "l4" to 4 (2 more nodes)',
        ("quotas.q.limit=4", "pools.l4.count.max=4"),
        ("pools.l4.count.max=4",),
    ),
    Case(
        "one spare node",
        fleet(pool(), redundancy={"nodes": 1}),
        (replicas(3),),
        "fits",
        {"l4": 4},
    ),
    Case(
        "no capacity for the spare node",
        fleet(pool(most=3), redundancy={"nodes": 1}),
        (replicas(3),),
        "cannot-tell",
        {"l4": 3},
        "loss-leaves-pods",
        'pool "l4" would need 4',
    ),
    Case(
        "a zone that may be lost",
        fleet(IN_BOTH, redundancy={"zones": 1}),
        (replicas(3),),
        "fits",
        {"l4": 6},
    ),
    Case(
        "a zone that may be lost, and all nodes in it",
        fleet(pool(zones=ZONES[:1], most=6), redundancy={"zones": 1}),
        (replicas(1),),
        "cannot-tell",
        {"l4": 6},
        "loss-leaves-pods",
        "if zone us-east-1a is lost",
    ),
    Case(
        "headroom for two pods",
        fleet(pool(), headroom=[{"kind": "Deployment", "name": "web", "pods": 2}]),
        (replicas(2),),
        "fits",
        {"l4": 4},
    ),
    Case(
        "headroom for more pods than nodes",
        fleet(pool(), headroom=[{"kind": "Deployment", "name": "web", "pods": 3}]),
        (replicas(2),),
        "does-not-fit",
        {"l4": 4},
        "pool-too-small",
        'raise the maximum of pool "l4" to 6',
        ("pools.l4.count.max=6",),
        ("pools.l4.count.max=5",),
    ),
    Case(
        "headroom for a missing workload",
        fleet(pool(), headroom=[{"kind": "Deployment", "name": "wbe", "pods": 3}]),
        (replicas(2),),
        "fits",
        {"l4": 2},
        text="the plan doesn't keep capacity free for Deployment default/wbe",
    ),
    Case("a JobSet, all of its pods at once", fleet(pool()), (JOB_SET,), "fits", {"l4": 4}),
    Case(
        "a LeaderWorkerSet whose groups do not fit as a whole",
        fleet(pool()),
        (LEADER_WORKER_SET,),
        "does-not-fit",
        {"l4": 4},
        "pool-too-small",
        'raise the maximum of pool "l4" to 6',
        ("pools.l4.count.max=6",),
        ("pools.l4.count.max=5",),
    ),
    Case(
        "a LeaderWorkerSet, of which one group is whole",
        fleet(pool()),
        (LEADER_WORKER_SET,),
        "does-not-fit",
        {"l4": 4},
        "gang-stays-out",
        "1 of its 2 groups of 3 pods fit",
    ),
    Case(
        "two gangs, and room for all pods of one: no node for the other",
        fleet(pool(most=5)),
        (GANGS,),
        "does-not-fit",
        {"l4": 3},
        "gang-stays-out",
        "Volcano doesn't start its 3 pods until all of them fit; 1 of 2 groups fit (no plan within "
        "these limits fits",
        ("pools.l4.count.max=6",),
        ("pools.l4.count.max=5",),
    ),
    Case("two gangs that both fit", fleet(pool(most=6)), (GANGS,), "fits", {"l4": 6}),
    Case(
        "a Job that Kueue admits only completely",
        fleet(pool(most=2)),
        (SUSPENDED,),
        "does-not-fit",
        {"l4": 0},
        "gang-stays-out",
        "Kueue doesn't start its 3 pods until all of them fit",
        ("pools.l4.count.max=3",),
        ("pools.l4.count.max=2",),
    ),
    Case(
        "a PodGroup of another scheduler that its pods do not name",
        fleet(pool()),
        (replicas(3, ", schedulerName: volcano", GANG),),
        "cannot-tell",
        {"l4": 3},
        "pod-waits-for-others",
        text="1 object of kind scheduling.volcano.sh/v1beta1 PodGroup is ignored",
    ),
    Case(
        "a job that Kueue has not admitted yet",
        fleet(pool()),
        (SUSPENDED,),
        "fits",
        {"l4": 3},
        text="is suspended until Kueue admits it",
    ),
    Case(
        "a disruption budget that lets no pod go: no node of its pods is ever drained",
        fleet(pool()),
        (replicas(2, "", BUDGET),),
        "fits",
        {"l4": 2},
        text="PodDisruptionBudget default/web (minAvailable: 2) allows no evictions of Deployment "
        "default/web (2 pods)",
    ),
    Case(
        "a disruption budget on full nodes: a node more while one is drained",
        fleet(pool()),
        (replicas(3, "", BUDGET),),
        "fits",
        {"l4": 3},
        text="its pods need 3 nodes (the proven minimum), so draining a node requires one "
        "additional node",
    ),
    Case(
        "a node that is drained has room on the spare one",
        fleet(pool(), redundancy={"nodes": 1}),
        (replicas(3, "", BUDGET),),
        "fits",
        {"l4": 4},
    ),
    Case(
        "an autoscaler, and the time until a new node's devices can be claimed",
        fleet(pool(), autoscaler="cluster-autoscaler"),
        (replicas(1),),
        "fits",
        {"l4": 1},
        text=": it's unknown how long new nodes need to publish devices, so the plan doesn't "
        "check the timeout of cluster-autoscaler",
    ),
    Case(
        "a custom image with the driver in the folder of EKS images",
        fleet(pool(image={**IMAGE, "driverRoot": "/"})),
        (replicas(2),),
        "fits",
        {"l4": 2},
        text="nodes run the image ami-0123456789abcdef0",
    ),
    Case(
        "a custom image without a driver setting",
        fleet(pool(image=IMAGE)),
        (replicas(2),),
        "cannot-tell",
        {"l4": 0},
        "driver-not-known",
    ),
    Case(
        "claims for two GPUs on a machine type with one GPU",
        fleet(pool(image=IMAGE)),
        (TWO_GPUS,),
        "does-not-fit",
        {"l4": 0},
    ),
    Case(
        "huge pages: three pods of 1 GiB, two on each node",
        fleet(pool(machine="g6.12xlarge", hugePages={"2Mi": 1024})),
        (HUGE,),
        "fits",
        {"l4": 2},
        text="nodes reserve 1024 huge pages of 2MiB at boot",
    ),
    Case(
        "huge pages that no node reserves",
        fleet(pool(machine="g6.12xlarge")),
        (HUGE,),
        "does-not-fit",
        {"l4": 0},
        "insufficient-resource",
        text="set hugePages on the pool to reserve pages of that size, or remove",
    ),
    Case(
        "a zonal volume",
        fleet(pool()),
        (replicas(2, ZONAL),),
        "cannot-tell",
        {"l4": 0},
        "zonal-volume",
    ),
    Case(
        "pods in one zone, and a pool only in this zone",
        fleet(pool(zones=ZONES[:1])),
        (replicas(2, in_zone("us-east-1a")),),
        "fits",
        {"l4": 2},
    ),
    Case(
        "pods in a zone that the pool doesn't have",
        fleet(pool(zones=ZONES[:1])),
        (replicas(2, in_zone("us-east-1b")),),
        "does-not-fit",
        {"l4": 0},
        "node-selector",
    ),
    Case(
        "pods spread evenly over the zones of two pools",
        fleet(pool("a", zones=ZONES[:1]), pool("b", zones=ZONES[1:]), network={"zones": ZONES}),
        (replicas(4, EVEN),),
        "fits",
        {"a": 2, "b": 2},  # the packing has all in one zone
    ),
    Case(
        "pods with anti-affinity need one node each",
        fleet(pool("h100", H100)),
        (replicas(3, APART),),
        "fits",
        {"h100": 3},
    ),
    Case(
        "a ceiling that doesn't fit doesn't affect the steady demand",
        fleet(pool()),
        (replicas(2, "", SCALER),),
        "fits",
        {"l4": 2},
        text="does not fit at its maximum (6 pods)",
    ),
    Case(
        "minimum nodes are used first, although they cost more",
        fleet({**pool("dear", H100), "count": {"min": 1, "max": 2}}, pool("cheap")),
        (replicas(3),),
        "fits",
        {"dear": 1, "cheap": 0},
    ),
    Case("a fixed count", fleet({**pool(), "count": 3}), (replicas(2),), "fits", {"l4": 3}),
    Case(
        "a fixed count that is too small",
        fleet({**pool(), "count": 1}),
        (replicas(2),),
        "does-not-fit",
        {"l4": 1},
        "pool-too-small",
        'set the count of pool "l4" to 3',
        ("pools.l4.count=3",),
        ("pools.l4.count=2",),
    ),
    Case(
        "an unknown price: fewest devices first, and no cost is told",
        fleet(pool("block", H100, capacity={"capacityBlock": "cr-0123"}, zones=ZONES[:1]), pool()),
        (replicas(2),),
        "fits",
        {"block": 0, "l4": 2},
        text=": you pay for Capacity Blocks in advance, and their price is unknown",
    ),
    Case(
        "pods that share one claim use one GPU",
        fleet(pool()),
        (
            Source(
                "shared.yaml",
                SHARED
                + replicas(3).text.replace(
                    "resourceClaimTemplateName: gpu", "resourceClaimName: one"
                ),
            ),
        ),
        "fits",
        {"l4": 1},
    ),
    Case(
        "pods with a scheduling gate count as released",
        fleet(pool()),
        (replicas(2, WAITING),),
        "cannot-tell",
        {"l4": 2},
        "pod-waits-for-others",
        "1 scheduling gate (example.com/wait) blocks its pods",
    ),
    Case(
        "two ComputeDomains of ten nodes, each in a rack of eighteen",
        racked(36),
        (domain("a", 10), domain("b", 10)),
        "fits",
        {"gb": 36},
        text="needs 2 racks of 18 nodes. 20 nodes have capacity for their pods, but Pulumi creates "
        "36. A queue must place the pods of each ComputeDomain in one rack",
    ),
    Case(
        "no capacity for whole racks",
        racked(30),
        (domain("a", 10), domain("b", 10)),
        "does-not-fit",
        {"gb": 20},
        text='set the maximum of pool "gb" to 36',
        least=("pools.gb.count.max=36",),
        less=("pools.gb.count.max=35",),
    ),
    Case(
        "existing nodes are used first, and two are added",
        fleet(pool()),
        (replicas(3),),
        "fits",
        {"l4": 3},
        existing=1,
    ),
    Case(
        "existing nodes, and no capacity for the third",
        fleet(pool(most=2)),
        (replicas(3),),
        "does-not-fit",
        {"l4": 2},
        "devices-taken",
        'raise the maximum of pool "l4" to 4. In the simulation, all pods then fit on ',
        ("pools.l4.count.max=4",),
        ("pools.l4.count.max=3",),
        existing=1,
    ),
    Case(
        "a quota of the namespace",
        fleet(pool()),
        (replicas(2, "", RESOURCE_QUOTA),),
        "does-not-fit",
        {"l4": 1},
        "quota-exceeded",
    ),
]


def snapshot(where: Fleet, nodes: int) -> tuple[Source, ...]:
    """A cluster with so many nodes of the first pool as they are predicted, and nothing on them."""
    if not nodes:
        return ()
    offer = predict_offers(where, features_of(34))[0]
    objects = []
    for name in (f"node-{at}" for at in range(nodes)):
        meta = replace(
            offer.node.meta,
            name=name,
            labels={**offer.node.meta.labels, "kubernetes.io/hostname": name},
        )
        objects.append(render_node(replace(offer.node, meta=meta)))
        for each in offer.slices:
            known = tuple(
                replace(
                    device,
                    attributes={
                        key: got
                        for key, got in device.attributes.items()
                        if not isinstance(got, Unknown)
                    },
                )
                for device in each.devices
            )
            its = replace(
                each, name=f"{name}-{each.name}", node_name=name, pool=name, devices=known
            )
            objects.append(render_slice(its))
    return (Source("snapshot.yaml", yaml.safe_dump_all(objects)),)


def planned(where: Fleet, work: tuple[Source, ...], existing: int = 0) -> Plan:
    return make_plan(
        PlanRequest(
            sources=work,
            fleet=where,
            observed=snapshot(where, existing),
            kubernetes="1.34" if existing else "",
        )
    )


def texts_of(plan: Plan) -> str:
    """Return all texts of a plan except its verdict."""
    texts = [
        text
        for each in plan.workloads
        for reason in each.reasons
        for text in (reason.message, reason.fix)
    ]
    texts += [
        text
        for each in (*plan.diagnostics, *plan.beside)
        for text in (each.message, each.fix)
        if text
    ]
    return "\n".join([*texts, *plan.assumptions])


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_plan_has_the_expected_answer(case: Case) -> None:
    plan = planned(read_fleet(case.fleet), case.work, case.existing)
    texts = {reason.code for each in plan.workloads for reason in each.reasons}
    assert (plan.running, {each.name: each.nodes.desired for each in plan.pools}) == (
        case.verdict,
        case.built,
    ), texts
    assert case.reason in texts or not case.reason
    assert case.text in texts_of(plan)


WITH_CHANGE = [case for case in CASES if case.least]


@pytest.mark.parametrize("case", WITH_CHANGE, ids=[case.name for case in WITH_CHANGE])
def test_suggested_change_is_sufficient_and_minimal(case: Case) -> None:
    def verdict_with(changes: tuple[str, ...]) -> Verdict:
        where = change_fleet(read_fleet(case.fleet), map(read_change, changes))
        return planned(where, case.work, case.existing).verdict

    assert verdict_with(case.least) == "fits"
    if case.less:
        assert verdict_with(case.less) == "does-not-fit"


REFUSED = [
    ("addresses of a range that EKS doesn't have", quota(64, "pod-addresses"), "count addresses"),
    ("a rack of NVLink as one unit", {"racks": 2}, "isn't a key of the fleet"),
    ("the time until a new node can be claimed", {"readyAfter": "6m"}, "isn't a key of the fleet"),
    (
        "two kinds of loss at once",
        {"redundancy": {"nodes": 1, "zones": 1}},
        "set either nodes or zones",
    ),
    (
        "less than the system pool uses",
        quota(1, "nodes"),
        ", but the minimum counts of its pools need 0 and the system pool uses 2",
    ),
]


@pytest.mark.parametrize(
    ("keys", "sentence"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_unsupported_settings_are_rejected(keys: Json, sentence: str) -> None:
    with pytest.raises(FleetError) as refused:
        read_fleet({**fleet(pool()), **keys})
    assert sentence in str(refused.value)


def test_there_are_at_least_thirty_cases() -> None:
    assert len(CASES) >= 30
    assert len({case.name for case in CASES}) == len(CASES)
