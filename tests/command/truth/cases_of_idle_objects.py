"""Objects that don't prevent any pods from running: workloads without pods, and objects that only
configure something.
"""

from __future__ import annotations

from truth_cases import Case
from truth_objects import Object, api, deployment, fleet, sharing, template


def release(*, gpus: bool) -> Object:
    """Return a HelmRelease of the NVIDIA driver's chart."""
    chart = {
        "chart": "dra-driver-nvidia-gpu",
        "version": "0.4.1",
        "sourceRef": {"kind": "HelmRepository", "name": "nvidia"},
    }
    values: Object = {"resources": {"gpus": {"enabled": gpus}}}
    if gpus:
        values["gpuResourcesEnabledOverride"] = True
    return api(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        "dra",
        {"chart": {"spec": chart}, "values": values},
    )


def inference(runtime: str) -> Object:
    """Return an InferenceService of one pod without GPUs."""
    model = {"modelFormat": {"name": "sklearn"}, "runtime": runtime}
    return api(
        "serving.kserve.io/v1beta1",
        "InferenceService",
        "llm",
        {"predictor": {"model": model, "maxReplicas": 1}},
    )


def runtime(kind: str, namespace: str) -> Object:
    spec = {"containers": [{"name": "kserve-container", "image": "i"}]}
    return api("serving.kserve.io/v1alpha1", kind, "sklearn", spec, namespace=namespace)


MISSING_RUNTIME = 'ServingRuntime "sklearn", which isn\'t in the manifests'

IDLE_OBJECTS = (
    Case(
        name="a release of the driver that the fleet describes",
        given=[release(gpus=True), template(), deployment()],
        verdict="fits",
        silent=("isn't rendered",),
    ),
    Case(
        name="a release of the driver that publishes no GPUs",
        given=[release(gpus=False), template(), deployment()],
        verdict="cannot-tell",
        texts=("claims for GPUs are never allocated",),
    ),
    Case(
        name="a Kubeflow Profile that limits GPUs",
        given=[
            api(
                "kubeflow.org/v1",
                "Profile",
                "ml",
                {
                    "owner": {"kind": "User", "name": "ann"},
                    "resourceQuotaSpec": {"hard": {"requests.nvidia.com/gpu": "4"}},
                },
                namespace="",
            ),
            template(),
            deployment(),
        ],
        verdict="fits",
        silent=("Profile",),
    ),
    Case(
        name="a serving runtime that isn't in the manifests",
        given=[inference("sklearn")],
        verdict="fits",
        texts=(MISSING_RUNTIME,),
    ),
    Case(
        name="a serving runtime of the namespace",
        given=[inference("sklearn"), runtime("ServingRuntime", "ml")],
        verdict="fits",
        silent=(MISSING_RUNTIME,),
    ),
    Case(
        name="a serving runtime of the cluster",
        given=[inference("sklearn"), runtime("ClusterServingRuntime", "")],
        verdict="fits",
        silent=(MISSING_RUNTIME,),
    ),
    Case(
        name="a serving runtime of another namespace",
        given=[inference("sklearn"), runtime("ServingRuntime", "other")],
        verdict="fits",
        texts=(MISSING_RUNTIME,),
    ),
    Case(
        name="a serving runtime that certainly doesn't exist",
        given=[api("v1", "Namespace", "ml", namespace=""), inference("sklearn")],
        verdict="does-not-fit",
        texts=("ServingRuntime",),
        on=fleet(manifests="complete"),
    ),
    Case(
        name="no pods, and a claim template that isn't in the manifests",
        given=[deployment(replicas=0)],
        verdict="fits",
    ),
    Case(
        name="no pods, and a PriorityClass that isn't in the manifests",
        given=[template(), deployment(replicas=0, priorityClassName="batch")],
        verdict="fits",
        texts=('PriorityClass "batch"',),
    ),
    Case(
        name="no pods, and a configuration that the driver rejects",
        given=[template(config=sharing("MPS")), deployment(replicas=0)],
        verdict="fits",
        texts=("MPS",),
    ),
    Case(
        name="no pods, and another scheduler",
        given=[template(), deployment(replicas=0, schedulerName="other")],
        verdict="fits",
        texts=("scheduler",),
    ),
    Case(
        name="no pods, and a label that no node has",
        given=[template(), deployment(replicas=0, nodeSelector={"disk": "fast"})],
        verdict="fits",
    ),
    Case(
        name="no pods, and a volume that isn't in the manifests",
        given=[
            template(),
            deployment(
                replicas=0,
                volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            ),
        ],
        verdict="fits",
    ),
    Case(
        name="no pods until an autoscaler adds some, and a missing PriorityClass",
        given=[
            template(),
            deployment(replicas=0, priorityClassName="batch"),
            api(
                "keda.sh/v1alpha1",
                "ScaledObject",
                "serve",
                {
                    "scaleTargetRef": {"name": "serve"},
                    "minReplicaCount": 0,
                    "maxReplicaCount": 2,
                    "triggers": [{"type": "cron", "metadata": {}}],
                },
            ),
        ],
        verdict="cannot-tell",
        texts=('PriorityClass "batch"',),
    ),
    Case(
        name="one of two workloads has no pods",
        given=[
            template(),
            deployment(),
            deployment("idle", replicas=0, priorityClassName="batch"),
        ],
        verdict="fits",
        texts=('PriorityClass "batch"',),
    ),
    Case(
        name="a pod preset of Kubeflow",
        given=[
            template(),
            deployment(),
            api("kubeflow.org/v1alpha1", "PodDefault", "access", {"selector": {"matchLabels": {}}}),
        ],
        verdict="fits",
        silent=("doesn't know whether the kind",),
    ),
    Case(
        name="kinds that only configure something",
        given=[
            api("v1", "Pod", "web", {"containers": [{"name": "main", "image": "i"}]}),
            api("azmonitoring.coreos.com/v1", "ServiceMonitor", "dcgm", {"endpoints": []}),
            api("scheduling.godel.kubewharf.io/v1alpha1", "PodGroup", "group", {"minMember": 2}),
            api("mlops.seldon.io/v1alpha1", "Experiment", "split", {"candidates": []}),
            api("workloads.x-k8s.io/v1alpha1", "RoleBasedGroupScalingAdapter", "decode", {}),
        ],
        verdict="fits",
        silent=("doesn't know whether the kind",),
    ),
    Case(
        name="a missing Secret whose name only ends like another one",
        given=[
            template(),
            api("v1", "Secret", "chap-secret", stringData={"key": "value"}),
            deployment(volumes=[{"name": "token", "secret": {"secretName": "hf-secret"}}]),
        ],
        verdict="fits",
        texts=('refers to Secret "hf-secret"',),
        silent=("did you mean",),
    ),
    Case(
        name="a StatefulSet with its own volume for a claim of the template",
        given=[
            template(),
            api(
                "apps/v1",
                "StatefulSet",
                "db",
                {
                    "serviceName": "db",
                    "selector": {"matchLabels": {"app": "db"}},
                    "template": {
                        "metadata": {"labels": {"app": "db"}},
                        "spec": {
                            "containers": [{"name": "main", "image": "i"}],
                            "volumes": [
                                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
                            ],
                        },
                    },
                    "volumeClaimTemplates": [
                        {
                            "metadata": {"name": "data"},
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "storageClassName": "gp2",
                                "resources": {"requests": {"storage": "1Gi"}},
                            },
                        }
                    ],
                },
            ),
        ],
        verdict="fits",
        silent=('PersistentVolumeClaim "data"',),
    ),
    Case(
        name="an operator whose lifecycle manager creates its service account",
        given=[
            api(
                "operators.coreos.com/v1alpha1",
                "ClusterServiceVersion",
                "operator",
                {
                    "displayName": "Operator",
                    "install": {
                        "strategy": "deployment",
                        "spec": {
                            "clusterPermissions": [{"serviceAccountName": "manager", "rules": []}],
                            "deployments": [
                                {
                                    "name": "manager",
                                    "spec": {
                                        "replicas": 1,
                                        "selector": {"matchLabels": {"app": "manager"}},
                                        "template": {
                                            "metadata": {"labels": {"app": "manager"}},
                                            "spec": {
                                                "serviceAccountName": "manager",
                                                "containers": [{"name": "main", "image": "i"}],
                                            },
                                        },
                                    },
                                }
                            ],
                        },
                    },
                },
            )
        ],
        verdict="fits",
        silent=('ServiceAccount "manager"',),
    ),
)
