"""Conditions outside the pods' devices that decide whether pods run: settings of queues,
namespaces, groups, tolerations for a time, and rules that limit the pods of a node.
"""

from __future__ import annotations

from typing import Any

from truth_cases import Case
from truth_objects import (
    Object,
    api,
    cluster_queue,
    deployment,
    flavor,
    fleet,
    job,
    kueue_config,
    local_queue,
    pod_spec,
    taint_rule,
    template,
)

AT_37 = fleet(kubernetes="1.37")
HOST = "kubernetes.io/hostname"
LABELS = {"kueue.x-k8s.io/queue-name": "team"}
TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
EXCLUSIVE = "leaderworkerset.sigs.k8s.io/exclusive-topology"
EXCLUSIVE_JOBS = "alpha.jobset.sigs.k8s.io/exclusive-topology"
VERSION = "device.attributes['gpu.nvidia.com'].driverVersion"


def queued(*queues: Object, pods: int = 2, **annotations: str) -> list[Object]:
    made = job(pods=pods, labels=LABELS)
    made["spec"]["template"]["metadata"] = {"annotations": annotations}
    return [template(), kueue_config("gpu.nvidia.com"), flavor(), local_queue(), *queues, made]


def queue(**spec: Any) -> Object:
    made = cluster_queue(gpus=2)
    made["spec"] |= spec
    return made


def without_selector() -> Object:
    made = cluster_queue()
    del made["spec"]["namespaceSelector"]
    return made


def borrowing(limit: int) -> Object:
    made = queue(cohort="all")
    made["spec"]["resourceGroups"][0]["flavors"][0]["resources"][2]["borrowingLimit"] = limit
    return made


def namespace(**labels: str) -> Object:
    made = api("v1", "Namespace", "ml", namespace="")
    made["metadata"]["labels"] = labels
    return made


def on_gke() -> Object:
    pool = {"name": "l4", "machine": "g2-standard-8", "count": {"min": 0, "max": 4}}
    system = {"machine": "e2-standard-4"}
    return fleet(cloud="gke", region="us-central1", systemPool=system, pools=[pool])


def in_own(key: str) -> Object:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "serve"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def paused() -> Object:
    made = deployment()
    made["spec"]["paused"] = True
    return made


def stateful_set() -> Object:
    made = deployment()
    storage = {"requests": {"storage": "1Gi"}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": storage}
    made["spec"] |= {
        "serviceName": "serve",
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    return {**made, "kind": "StatefulSet"}


def storage_class(binding: str) -> Object:
    made = api("storage.k8s.io/v1", "StorageClass", "fast", namespace="")
    made["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {**made, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": binding}


def job_set(*replicas: int, **annotations: str) -> Object:
    template = {"spec": {**pod_spec(), "restartPolicy": "Never"}}
    job = {"completions": 2, "parallelism": 2, "template": template}
    jobs = [
        {"name": f"part-{number}", "replicas": count, "template": {"spec": job}}
        for number, count in enumerate(replicas)
    ]
    made = api("jobset.x-k8s.io/v1alpha2", "JobSet", "train", {"replicatedJobs": jobs})
    zone = "topology.kubernetes.io/zone"
    made["metadata"]["annotations"] = {EXCLUSIVE_JOBS: zone, **annotations}
    return made


def groups(count: int) -> Object:
    workers = {"size": 2, "workerTemplate": {"spec": pod_spec()}}
    spec = {"replicas": count, "leaderWorkerTemplate": workers}
    made = api("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "big", spec)
    made["metadata"]["annotations"] = {EXCLUSIVE: "topology.kubernetes.io/zone"}
    return made


def in_one_zone() -> Object:
    made = fleet()
    made["pools"][0]["zones"] = ["us-east-1a"]
    return made


def on_h100(most: int) -> Object:
    pool = {"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": most}}
    return fleet(pools=[pool])


def grouped(least: int) -> list[Object]:
    made = deployment()
    made["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "g"
    group = api("scheduling.x-k8s.io/v1alpha1", "PodGroup", "g", {"minMember": least})
    return [template(), made, group]


def for_a_time(**seconds: int) -> Object:
    toleration = {"key": "example.com/maintenance", "operator": "Exists", "effect": "NoExecute"}
    return template(tolerations=[toleration | seconds])


def selecting(expression: str) -> Object:
    return template(selectors=[{"cel": {"expression": expression}}])


def through_a_plugin(name: str) -> Object:
    made = deployment()
    spec = made["spec"]["template"]["spec"]
    del spec["resourceClaims"], spec["containers"][0]["resources"]["claims"]
    spec["containers"][0]["resources"]["limits"] = {name: "1"}
    return made


def on_a_port(port: int) -> Object:
    made = deployment()
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["ports"] = [{"containerPort": port, "hostPort": port}]
    return made


def apart() -> Object:
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "serve"}}}
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return deployment(replicas=3, affinity={"podAntiAffinity": rule})


def suspended() -> Object:
    made = job()
    made["spec"]["suspend"] = True
    return made


def flat_template() -> Object:
    made = template()
    flat = {"name": "gpu", "deviceClassName": "gpu.nvidia.com"}
    made["spec"]["spec"]["devices"]["requests"] = [flat]
    return made


CONDITIONS = (
    Case(
        name="a ClusterQueue that is held",
        given=queued(queue(stopPolicy="Hold")),
        verdict="does-not-fit",
        texts=("stopPolicy Hold", "set stopPolicy"),
    ),
    Case(
        name="a ClusterQueue without a namespaceSelector",
        given=queued(without_selector()),
        verdict="does-not-fit",
        texts=("doesn't set namespaceSelector", "set namespaceSelector to {}"),
    ),
    Case(
        name="a ClusterQueue for the namespaces of another team",
        given=[
            namespace(team="b"),
            *queued(queue(namespaceSelector={"matchLabels": {"team": "a"}})),
        ],
        verdict="does-not-fit",
        texts=('change the labels of Namespace "ml"',),
    ),
    Case(
        name="a topology that the flavor of the queue doesn't have",
        given=queued(queue(), **{TOPOLOGY: "example.com/rack"}),
        verdict="does-not-fit",
        texts=(TOPOLOGY, "set topologyName"),
    ),
    Case(
        name="a queue that may borrow enough from its cohort",
        given=queued(borrowing(1), pods=3),
        verdict="fits",
    ),
    Case(
        name="a queue that may not borrow enough",
        given=queued(borrowing(1), pods=4),
        verdict="does-not-fit",
        texts=("quota of 3 (nominalQuota plus borrowingLimit)",),
    ),
    Case(
        name="a namespace that enforces a Pod Security level",
        given=[
            namespace(**{"pod-security.kubernetes.io/enforce": "restricted"}),
            template(),
            deployment(),
        ],
        verdict="does-not-fit",
        texts=('level "restricted"', "runAsNonRoot"),
    ),
    Case(
        name="groups that each need their own zone, in one zone",
        given=[template(), groups(2)],
        on=in_one_zone(),
        verdict="does-not-fit",
        texts=("each needs its own zone",),
    ),
    Case(
        name="one group that needs its own zone",
        given=[template(), groups(1)],
        on=in_one_zone(),
        verdict="fits",
    ),
    Case(
        name="a missing template, and a taint that the pods don't tolerate",
        given=[deployment(tolerations=[])],
        verdict="cannot-tell",
        texts=(
            "ResourceClaimTemplate ml/gpu isn't in the manifests",
            "no pool with devices accepts its pods, regardless of the devices that they claim, because the node "
            "has the taint",
        ),
    ),
    Case(
        name="a missing template, and more CPU than a node has",
        given=[deployment(cpu="64")],
        verdict="cannot-tell",
        texts=("no pool with devices accepts its pods, regardless of the devices that they claim",),
    ),
    Case(
        name="a missing template of pods that a pool accepts",
        given=[deployment()],
        verdict="cannot-tell",
        silent=("no pool with devices",),
    ),
    Case(
        name="pods that each need their own zone, of which there are fewer",
        given=[template(), deployment(replicas=2, affinity=in_own("topology.kubernetes.io/zone"))],
        on=in_one_zone(),
        verdict="does-not-fit",
        texts=("needs a separate zone for each of its 2 pods",),
    ),
    Case(
        name="one pod that needs its own zone",
        given=[template(), deployment(replicas=1, affinity=in_own("topology.kubernetes.io/zone"))],
        on=in_one_zone(),
        verdict="fits",
    ),
    Case(
        name="a paused Deployment",
        given=[template(), paused()],
        verdict="fits",
        texts=("Deployment ml/serve is paused and doesn't create pods until you resume it",),
    ),
    Case(
        name="a volume without a class, and no default class in a new cluster",
        given=[template(), stateful_set()],
        verdict="cannot-tell",
        texts=("StatefulSet ml/serve has a volume without storageClassName",),
    ),
    Case(
        name="a volume without a class, and a given default class",
        given=[template(), stateful_set(), storage_class("WaitForFirstConsumer")],
        verdict="fits",
        silent=("storageClassName",),
    ),
    Case(
        name="a volume without a class, and a default class that doesn't wait",
        given=[template(), stateful_set(), storage_class("Immediate")],
        verdict="cannot-tell",
        texts=('the zone of volume "data" is known only at run time',),
    ),
    Case(
        name="a volume without a class on a cloud with a default class",
        given=[template(), stateful_set()],
        on=on_gke(),
        verdict="fits",
        silent=("storageClassName",),
    ),
    Case(
        name="a JobSet with one Job of several pods that needs its own zone",
        given=[template(), job_set(1)],
        on=in_one_zone(),
        verdict="fits",
    ),
    Case(
        name="a JobSet with more Jobs than zones, which each need their own",
        given=[template(), job_set(1, 1)],
        on=in_one_zone(),
        verdict="does-not-fit",
        texts=("JobSet ml/train: has 2 groups", "each needs its own zone"),
    ),
    Case(
        name="a JobSet whose nodes a script labels for each Job",
        given=[template(), job_set(1, **{"alpha.jobset.sigs.k8s.io/node-selector": "true"})],
        on=in_one_zone(),
        verdict="cannot-tell",
        texts=("needs nodes with a different value of alpha.jobset.sigs.k8s.io/namespaced-job",),
    ),
    Case(
        name="a PodGroup with a larger minimum than its pods",
        given=grouped(4),
        verdict="does-not-fit",
        texts=("PodGroup ml/g waits for 4 pods",),
    ),
    Case(name="a PodGroup with as many pods as its minimum", given=grouped(2), verdict="fits"),
    Case(
        name="an evicting rule that claims tolerate for a minute",
        given=[for_a_time(tolerationSeconds=60), deployment(), taint_rule("NoExecute")],
        on=AT_37,
        verdict="does-not-fit",
        texts=("for only 60 seconds", "remove tolerationSeconds"),
    ),
    Case(
        name="a version compared with text",
        given=[selecting(f"{VERSION} >= '550'"), deployment()],
        verdict="does-not-fit",
        texts=('"550.0.0")) >= 0',),
    ),
    Case(
        name="a version compared with a version",
        given=[selecting(f"{VERSION}.compareTo(semver('550.0.0')) >= 0"), deployment()],
        verdict="cannot-tell",
        texts=("driverVersion",),
    ),
    Case(
        name="the implicit extended resource of a class before Kubernetes 1.36",
        given=[through_a_plugin("deviceclass.resource.kubernetes.io/gpu.nvidia.com")],
        on=fleet(kubernetes="1.35"),
        verdict="does-not-fit",
        texts=("DRAExtendedResource", "with a ResourceClaim"),
    ),
    Case(
        name="pods that must be on different nodes with free GPUs",
        given=[template(), apart()],
        on=on_h100(2),
        verdict="does-not-fit",
        texts=("anti-affinity",),
        silent=("more device",),
    ),
    Case(
        name="two pods with one host port on one node with free GPUs",
        given=[template(), on_a_port(8000)],
        on=on_h100(1),
        verdict="does-not-fit",
        texts=("host port 8000",),
        silent=("more device",),
    ),
    Case(
        name="a suspended Job that no queue resumes",
        given=[template(), suspended()],
        verdict="fits",
        texts=("Job ml/train is suspended",),
    ),
    Case(
        name="a template in the flat form of v1beta1",
        given=[flat_template(), deployment()],
        verdict="does-not-fit",
        texts=("move the field under `exactly`",),
    ),
)
