"""Admission: changes to pods when they are created, references that don't resolve, device taints,
and schedulers.
"""

from __future__ import annotations

from truth_cases import Case
from truth_objects import api, deployment, fleet, pod_spec, runtime_class, taint_rule, template

AT_37 = fleet(kubernetes="1.37")
TOLERATES = {"tolerations": [{"key": "example.com/maintenance", "operator": "Exists"}]}
QUOTA = api("v1", "ResourceQuota", "q", {"hard": {"requests.cpu": "4"}})


def container(requests: dict[str, str], limits: dict[str, str]) -> dict[str, object]:
    """Return a container with the pod's claim, requests, and limits."""
    resources = {"requests": requests, "limits": limits, "claims": [{"name": "gpu"}]}
    return {"name": "main", "image": "app:1", "resources": resources}


def bare(**pod: object) -> dict[str, object]:
    spec = pod_spec(**pod)
    return api("v1", "Pod", "serve", spec)


def job_set(**first: object) -> dict[str, object]:
    """A JobSet with two replicated jobs, and fields of the first one."""
    pod = pod_spec(restartPolicy="Never")
    jobs = [
        {"name": name, "template": {"spec": {"template": {"spec": pod}}}, **fields}
        for name, fields in (("workers", first), ("driver", {}))
    ]
    return api("jobset.x-k8s.io/v1alpha2", "JobSet", "sweep", {"replicatedJobs": jobs})


def worker_set(groups: dict[str, object]) -> dict[str, object]:
    """A LeaderWorkerSet with one group of four pods, divided in subgroups."""
    template = {"size": 4, "subGroupPolicy": groups, "workerTemplate": {"spec": pod_spec()}}
    spec = {"replicas": 1, "leaderWorkerTemplate": template}
    return api("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "serve", spec)


URGENT = api("scheduling.k8s.io/v1", "PriorityClass", "urgent", namespace="", value=2_000_000_000)
RATIO = {"limits": [{"type": "Container", "maxLimitRequestRatio": {"cpu": "2"}}]}
BURSTS = {"cpu": "1", "memory": "2Gi"}, {"cpu": "4"}

ADMISSION = (
    Case(
        name="a replicated job that depends on a later one",
        given=[template(), job_set(dependsOn=[{"name": "driver", "status": "Ready"}])],
        verdict="does-not-fit",
        texts=("DependsOn can't be set for the first ReplicatedJob",),
    ),
    Case(name="a JobSet without dependencies", given=[template(), job_set()], verdict="fits"),
    Case(
        name="subgroups that don't divide a group",
        given=[template(), worker_set({"subGroupSize": 5})],
        verdict="does-not-fit",
        texts=("size or size - 1 must be divisible by subGroupSize", "larger than size"),
    ),
    Case(
        name="subgroups that divide a group",
        given=[template(), worker_set({"subGroupSize": 2})],
        verdict="fits",
    ),
    Case(
        name="a PriorityClass that the API server rejects",
        given=[URGENT, template(), deployment(priorityClassName="urgent")],
        verdict="does-not-fit",
        texts=('PriorityClass "urgent", which the API server rejects',),
    ),
    Case(
        name="a limit above the ratio of a LimitRange",
        given=[
            api("v1", "LimitRange", "ratio", RATIO),
            template(),
            deployment(containers=[container(*BURSTS)]),
        ],
        verdict="does-not-fit",
        texts=("maxLimitRequestRatio", "allows at most 2 times the request"),
    ),
    Case(
        name="a limit within the ratio of a LimitRange",
        given=[
            api("v1", "LimitRange", "ratio", RATIO),
            template(),
            deployment(containers=[container(BURSTS[0], {"cpu": "2"})]),
        ],
        verdict="fits",
    ),
    Case(
        name="no limit under a LimitRange with a ratio",
        given=[api("v1", "LimitRange", "ratio", RATIO), template(), deployment()],
        verdict="does-not-fit",
        texts=("request or limit, but LimitRange",),
    ),
    Case(
        name="a RuntimeClass with an overhead that doesn't fit",
        given=[
            template(),
            runtime_class(overhead={"podFixed": {"cpu": "7"}}),
            deployment(runtimeClassName="kata"),
        ],
        verdict="does-not-fit",
        texts=("overhead",),
    ),
    Case(
        name="a RuntimeClass with an overhead that fits",
        given=[
            template(),
            runtime_class(overhead={"podFixed": {"cpu": "2"}}),
            deployment(runtimeClassName="kata"),
        ],
        verdict="fits",
    ),
    Case(
        name="an overhead that exceeds the quota of its namespace",
        given=[
            QUOTA,
            template(),
            runtime_class(overhead={"podFixed": {"cpu": "2"}}),
            deployment(runtimeClassName="kata"),
        ],
        verdict="does-not-fit",
        texts=("ResourceQuota",),
    ),
    Case(
        name="the same pods without the overhead",
        given=[QUOTA, template(), deployment()],
        verdict="fits",
    ),
    Case(
        name="the node selector of a RuntimeClass that no pool has",
        given=[
            template(),
            runtime_class(scheduling={"nodeSelector": {"example.com/kata": "true"}}),
            deployment(runtimeClassName="kata"),
        ],
        verdict="does-not-fit",
        texts=("label the pool", 'scheduling.nodeSelector of RuntimeClass "kata"'),
        silent=("the pod's nodeSelector",),
    ),
    Case(
        name="the node selector of a RuntimeClass that a pool has",
        given=[
            template(),
            runtime_class(scheduling={"nodeSelector": {"pulumi-dra/pool": "l4"}}),
            deployment(runtimeClassName="kata"),
        ],
        verdict="fits",
    ),
    Case(
        name="a pod whose node selector contradicts its RuntimeClass",
        given=[
            template(),
            runtime_class(scheduling={"nodeSelector": {"pulumi-dra/pool": "l4"}}),
            deployment(runtimeClassName="kata", nodeSelector={"pulumi-dra/pool": "other"}),
        ],
        verdict="does-not-fit",
        texts=('RuntimeClass "kata"', "pulumi-dra/pool"),
    ),
    Case(
        name="tolerations that only the RuntimeClass has",
        given=[
            template(),
            runtime_class(
                scheduling={"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
            ),
            deployment(runtimeClassName="kata", tolerations=[]),
        ],
        verdict="fits",
    ),
    Case(
        name="a pod with its own overhead that differs from its RuntimeClass",
        given=[
            template(),
            runtime_class(overhead={"podFixed": {"cpu": "1"}}),
            bare(runtimeClassName="kata", overhead={"cpu": "2"}),
        ],
        verdict="does-not-fit",
        texts=("overhead",),
    ),
    Case(
        name="a missing RuntimeClass",
        given=[template(), deployment(runtimeClassName="kata")],
        verdict="cannot-tell",
        texts=('RuntimeClass "kata"',),
    ),
    Case(
        name="a misspelled RuntimeClass",
        given=[template(), runtime_class("kata"), deployment(runtimeClassName="katta")],
        verdict="cannot-tell",
        texts=('RuntimeClass "katta"', "kata"),
    ),
    Case(
        name="a missing PriorityClass",
        given=[template(), deployment(priorityClassName="gpu-high")],
        verdict="cannot-tell",
        texts=('PriorityClass "gpu-high"',),
    ),
    Case(
        name="an existing PriorityClass",
        given=[
            template(),
            api("scheduling.k8s.io/v1", "PriorityClass", "gpu-high", namespace="", value=1000),
            deployment(priorityClassName="gpu-high"),
        ],
        verdict="fits",
    ),
    Case(
        name="a PriorityClass that every cluster has",
        given=[template(), deployment(priorityClassName="system-cluster-critical")],
        verdict="fits",
    ),
    Case(
        name="a missing namespace",
        given=[api("v1", "Namespace", "other", namespace=""), template(), deployment()],
        verdict="fits",
        texts=('Namespace "ml"',),
    ),
    Case(
        name="a missing Secret and ServiceAccount",
        given=[
            template(),
            deployment(
                serviceAccountName="robot",
                volumes=[
                    {"name": "token", "secret": {"secretName": "token"}},
                    {"name": "notes", "configMap": {"name": "notes", "optional": True}},
                ],
            ),
        ],
        verdict="fits",
        texts=(
            'refers to Secret "token" and ServiceAccount "robot", which aren\'t in the manifests',
            "Until they exist, the API server rejects the pods and the containers don't start",
        ),
        silent=("notes",),
    ),
    Case(
        name="a missing PersistentVolumeClaim",
        given=[
            template(),
            deployment(
                volumes=[{"name": "m", "persistentVolumeClaim": {"claimName": "models"}}],
            ),
        ],
        verdict="cannot-tell",
        texts=(
            'PersistentVolumeClaim "models", which isn\'t',
            "tell which nodes can mount it",
        ),
    ),
    Case(
        name="existing objects and objects that a controller creates",
        given=[
            template(),
            api("v1", "ServiceAccount", "robot"),
            api(
                "external-secrets.io/v1",
                "ExternalSecret",
                "vault",
                {"target": {"name": "token"}},
            ),
            deployment(
                serviceAccountName="robot",
                volumes=[
                    {"name": "token", "secret": {"secretName": "token"}},
                    {"name": "ca", "configMap": {"name": "kube-root-ca.crt"}},
                ],
            ),
        ],
        verdict="fits",
        silent=("in the manifests",),
    ),
    Case(
        name="a misspelled PersistentVolumeClaim",
        given=[
            template(),
            api(
                "v1",
                "PersistentVolumeClaim",
                "model-weights",
                {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            ),
            deployment(
                volumes=[
                    {"name": "m", "persistentVolumeClaim": {"claimName": "models-weights"}},
                ],
            ),
        ],
        verdict="cannot-tell",
        texts=("did you mean PersistentVolumeClaim model-weights?", "the pods stay pending"),
    ),
    Case(
        name="a PodDisruptionBudget that selects nothing",
        given=[
            template(),
            deployment(),
            api(
                "policy/v1",
                "PodDisruptionBudget",
                "serve",
                {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "server"}}},
            ),
        ],
        verdict="fits",
        texts=("PodDisruptionBudget ml/serve doesn't select any pod",),
    ),
    Case(
        name="a scheduling gate",
        given=[template(), deployment(schedulingGates=[{"name": "example.com/approval"}])],
        verdict="cannot-tell",
        texts=("example.com/approval",),
    ),
    Case(
        name="an unknown scheduler",
        given=[template(), deployment(schedulerName="gpu-scheduler")],
        verdict="cannot-tell",
        texts=("gpu-scheduler",),
    ),
    Case(
        name="the default scheduler by its name",
        given=[template(), deployment(schedulerName="default-scheduler")],
        verdict="fits",
    ),
    Case(
        name="pods that use Volcano's scheduler",
        given=[template(), deployment(schedulerName="volcano")],
        verdict="cannot-tell",
        texts=("Volcano",),
    ),
    Case(
        name="pods that use KAI's scheduler",
        given=[template(), deployment(schedulerName="kai-scheduler")],
        verdict="cannot-tell",
        texts=("KAI",),
    ),
    Case(
        name="a rule that taints every GPU",
        given=[template(), deployment(), taint_rule(driver="gpu.nvidia.com")],
        on=AT_37,
        verdict="does-not-fit",
        texts=("DeviceTaintRule drain",),
        silent=("set `drivers.", "add a pool"),
    ),
    Case(
        name="a rule that taints every GPU, and claims that tolerate it",
        given=[template(**TOLERATES), deployment(), taint_rule(driver="gpu.nvidia.com")],
        on=AT_37,
        verdict="fits",
        texts=("DeviceTaintRule drain",),
    ),
    Case(
        name="a rule for the devices of another driver",
        given=[template(), deployment(), taint_rule(driver="nic.example.com")],
        on=AT_37,
        verdict="fits",
    ),
    Case(
        name="an empty selector that evicts every pod with a device",
        given=[template(), deployment(), taint_rule("NoExecute")],
        on=AT_37,
        verdict="does-not-fit",
        texts=("DeviceTaintRule drain", "evicts", "ml/serve"),
    ),
    Case(
        name="an evicting rule that claims tolerate",
        given=[template(**TOLERATES), deployment(), taint_rule("NoExecute")],
        on=AT_37,
        verdict="fits",
    ),
    Case(
        name="a rule without an effect on scheduling",
        given=[template(), deployment(), taint_rule("None", driver="gpu.nvidia.com")],
        on=AT_37,
        verdict="fits",
    ),
    Case(
        name="a rule for one node with an unknown name",
        given=[template(), deployment(), taint_rule(driver="gpu.nvidia.com", pool="ip-10-0-0-7")],
        on=AT_37,
        verdict="fits",
        texts=("DeviceTaintRule drain", "ip-10-0-0-7"),
    ),
    Case(
        name="a rule that Kubernetes 1.36 doesn't serve",
        given=[template(), deployment(), taint_rule(driver="gpu.nvidia.com")],
        verdict="does-not-fit",
        texts=("1.37",),
    ),
)
