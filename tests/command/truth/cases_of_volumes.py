"""Volumes that several pods use, and volumes that exist only in some zones."""

from __future__ import annotations

from truth_cases import Case
from truth_objects import Object, api, deployment, fleet, template

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ONE_POD, ONE_NODE, ANY = "ReadWriteOncePod", "ReadWriteOnce", "ReadWriteMany"
USES = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "weights"}}]}
IN_ONE_ZONE = fleet(
    pools=[
        {
            "name": "l4",
            "machine": "g6.2xlarge",
            "count": {"min": 0, "max": 4},
            "zones": ["us-east-1a"],
        }
    ]
)
OF_FOUR = fleet(pools=[{"name": "l4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 4}}])
ONE_NODE_FLEET = fleet(
    pools=[{"name": "l4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 1}}]
)
L4_AND_L40S = fleet(
    pools=[
        {"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}, "zones": ["us-east-1a"]},
        {"name": "l40s", "machine": "g6e.2xlarge", "count": {"max": 4}},
    ]
)


def claim(mode: str, storage_class: str = "disks", **spec: object) -> Object:
    size = {"requests": {"storage": "10Gi"}}
    spec = {"accessModes": [mode], "storageClassName": storage_class, "resources": size, **spec}
    return api("v1", "PersistentVolumeClaim", "weights", spec)


def storage_class(provisioner: str = "ebs.csi.aws.com") -> Object:
    made = api("storage.k8s.io/v1", "StorageClass", "disks", namespace="")
    return {**made, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def volume(zone: str, mode: str = ONE_NODE) -> Object:
    rule = {"key": ZONE, "operator": "In", "values": [zone]}
    spec: Object = {
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}},
        "capacity": {"storage": "10Gi"},
        "accessModes": [mode],
        "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"},
    }
    return api("v1", "PersistentVolume", "pv", spec, namespace="")


def on_one_node() -> Object:
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "serve"}}}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def l4_only() -> Object:
    made = template()
    name = 'device.attributes["gpu.nvidia.com"].productName'
    (request,) = made["spec"]["spec"]["devices"]["requests"]
    request["exactly"]["selectors"] = [{"cel": {"expression": f'{name} == "NVIDIA L4"'}}]
    return made


VOLUMES = (
    Case(
        name="two pods share a volume for one pod",
        given=[claim(ONE_POD), storage_class(), template(), deployment(replicas=2, **USES)],
        verdict="does-not-fit",
        texts=(
            "Deployment ml/serve: its pods share the ReadWriteOncePod volume ml/weights, which "
            "only one pod can use, so 1 pod stays pending",
            "use access mode ReadWriteMany",
        ),
    ),
    Case(
        name="one pod uses a volume for one pod",
        given=[claim(ONE_POD), storage_class(), template(), deployment(replicas=1, **USES)],
        verdict="fits",
        silent=("ReadWriteOncePod",),
    ),
    Case(
        name="two workloads share a volume for one pod",
        given=[
            claim(ONE_POD),
            storage_class(),
            template(),
            deployment("serve", 1, **USES),
            deployment("train", 1, **USES),
        ],
        verdict="does-not-fit",
        texts=("Deployment ml/serve and Deployment ml/train share the ReadWriteOncePod volume",),
    ),
    Case(
        name="two pods share a disk that one node can attach",
        on=OF_FOUR,
        given=[claim(ONE_NODE), storage_class(), template(), deployment(replicas=2, **USES)],
        verdict="cannot-tell",
        texts=("which only one node can attach, so pods on other nodes stay in ContainerCreating",),
        silent=("known only at run time",),
    ),
    Case(
        name="two pods share a disk, and no node has a GPU for each",
        given=[claim(ONE_NODE), storage_class(), template(), deployment(replicas=2, **USES)],
        verdict="does-not-fit",
        texts=(
            "which only one node can attach, but no node has enough devices for all of them",
            "give each pod its own volume",
        ),
        silent=("require pod affinity",),
    ),
    Case(
        name="two pods share a volume of an unknown driver, and no node has a GPU for each",
        given=[claim(ONE_NODE), storage_class("csi.example.com"), template(), deployment(**USES)],
        verdict="cannot-tell",
        texts=("no node has enough devices for all of them",),
        silent=("require pod affinity",),
    ),
    Case(
        name="two pods share an existing disk in the zone of the pool",
        on=IN_ONE_ZONE,
        given=[
            claim(ONE_NODE, volumeName="pv"),
            volume("us-east-1a"),
            template(),
            deployment(replicas=2, **USES),
        ],
        verdict="does-not-fit",
        texts=("which only one node can attach",),
    ),
    Case(
        name="two pods share a disk on the only node",
        on=ONE_NODE_FLEET,
        given=[claim(ONE_NODE), storage_class(), template(), deployment(replicas=2, **USES)],
        verdict="fits",
        silent=("attach",),
    ),
    Case(
        name="two pods that run on the same node share a disk",
        on=fleet(pools=[{"name": "l4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 4}}]),
        given=[
            claim(ONE_NODE),
            storage_class(),
            template(),
            deployment(replicas=2, affinity=on_one_node(), **USES),
        ],
        verdict="fits",
        silent=("attach",),
    ),
    Case(
        name="two pods share a network file system, whose driver attaches nothing",
        given=[
            claim(ONE_NODE),
            storage_class("efs.csi.aws.com"),
            template(),
            deployment(replicas=2, **USES),
        ],
        verdict="fits",
        silent=("attach",),
    ),
    Case(
        name="two pods share a volume that many nodes can mount",
        given=[
            claim(ANY),
            storage_class("efs.csi.aws.com"),
            template(),
            deployment(replicas=2, **USES),
        ],
        verdict="fits",
    ),
    Case(
        name="an existing disk in a zone that an unsuitable pool may have",
        on=L4_AND_L40S,
        given=[
            claim(ONE_NODE, volumeName="pv"),
            volume("us-east-1b"),
            l4_only(),
            deployment(replicas=1, **USES),
        ],
        verdict="does-not-fit",
        texts=("use a pool in zone us-east-1b", "(productName: NVIDIA L40S)"),
        silent=("is in another zone", "or remove topology"),
    ),
)
