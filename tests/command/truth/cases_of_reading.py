"""Objects that nothing reads: only known kinds without pods leave *Nothing to place*."""

from __future__ import annotations

from truth_cases import Case
from truth_objects import api, deployment, pod_spec, template

NOTHING = "Nothing to place"


def alone(name: str, given: dict[str, object], *texts: str) -> Case:
    return Case(name=name, given=[given], verdict="cannot-tell", texts=texts, silent=(NOTHING,))


def harmless(name: str, given: dict[str, object]) -> Case:
    return Case(name=name, given=[given], verdict="fits")


def rollout(kind: str = "Deployment", name: str = "serve") -> dict[str, object]:
    """Return an Argo Rollout of three pods with the pod template of another object."""
    canary = {"canary": {"maxSurge": 0, "maxUnavailable": 1}}
    ref = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    spec = {"replicas": 3, "workloadRef": ref, "strategy": canary}
    return api("argoproj.io/v1alpha1", "Rollout", "serve", spec)


GPU_LIMIT = {"limits": {"nvidia.com/gpu": 1}}

READING = (
    Case(
        name="a Rollout of a Deployment's template",
        given=[rollout(), template(), deployment(replicas=0)],
        verdict="fits",
    ),
    Case(
        name="a Rollout of the template of a Deployment that keeps its pods",
        given=[rollout(), template(), deployment(strategy={"type": "Recreate"})],
        verdict="does-not-fit",
        texts=("Rollout ml/serve", 'raise the maximum of pool "l4" to 5'),
    ),
    Case(
        name="a Rollout of the template of a missing Deployment",
        given=[rollout(name="other"), template(), deployment(replicas=0)],
        verdict="cannot-tell",
        texts=("its workloadRef, Deployment other, isn't in the manifests",),
    ),
    harmless(
        "a runtime of KServe, which creates no pods, with a field that its controller fills in",
        api(
            "serving.kserve.io/v1alpha1",
            "ClusterServingRuntime",
            "llm",
            {
                "containers": [{"name": "main", "image": "i", "resources": GPU_LIMIT}],
                "volumes": [{"name": "v", "secret": {"secretName": "{{ .Name }}-certs"}}],
            },
            namespace="",
        ),
    ),
    alone(
        "GPU counts in the annotations of an LLMInferenceService",
        api(
            "serving.kserve.io/v1alpha1",
            "LLMInferenceService",
            "llama",
            {"model": {"uri": "hf://meta"}},
        )
        | {
            "metadata": {
                "name": "llama",
                "namespace": "ml",
                "annotations": {"serving.kserve.io/dra-claims": "gpu.nvidia.com=4"},
            }
        },
        "LLMInferenceService",
        "pods",
    ),
    alone(
        "claims in the values of a HelmRelease",
        api(
            "helm.toolkit.fluxcd.io/v2",
            "HelmRelease",
            "jellyfin",
            {
                "chartRef": {"kind": "OCIRepository", "name": "app-template"},
                "values": {
                    "pod": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
                },
            },
        ),
        "HelmRelease",
        "helm template",
    ),
    alone(
        "a HelmRelease that doesn't mention devices",
        api(
            "helm.toolkit.fluxcd.io/v2",
            "HelmRelease",
            "app",
            {
                "chart": {
                    "spec": {
                        "chart": "app",
                        "sourceRef": {"kind": "HelmRepository", "name": "apps"},
                    }
                }
            },
        ),
        "HelmRelease",
    ),
    alone(
        "a chart of k3s that Helm's controller installs",
        api(
            "helm.cattle.io/v1", "HelmChart", "vllm", {"chart": "vllm", "valuesContent": "gpus: 4"}
        ),
        "HelmChart",
    ),
    alone(
        "an Argo Application with a path",
        api(
            "argoproj.io/v1alpha1",
            "Application",
            "serving",
            {
                "source": {"repoURL": "https://git.example/apps", "path": "serving"},
                "destination": {},
            },
        ),
        "Application",
    ),
    alone(
        "a Flux Kustomization",
        api(
            "kustomize.toolkit.fluxcd.io/v1",
            "Kustomization",
            "apps",
            {"path": "./apps", "prune": True},
        ),
        "Kustomization",
    ),
    alone(
        "a MachineDeployment of Cluster API",
        api(
            "cluster.x-k8s.io/v1beta1",
            "MachineDeployment",
            "gpu",
            {
                "clusterName": "c",
                "replicas": 4,
                "template": {"spec": {"clusterName": "c", "bootstrap": {}}},
            },
        ),
        "MachineDeployment",
    ),
    alone(
        "a ProvisioningRequest",
        api(
            "autoscaling.x-k8s.io/v1",
            "ProvisioningRequest",
            "train",
            {
                "provisioningClassName": "check-capacity",
                "podSets": [{"count": 4, "podTemplateRef": {"name": "p"}}],
            },
        ),
        "ProvisioningRequest",
    ),
    alone(
        "an unknown kind that names a class",
        api(
            "ai.example.com/v1",
            "Fleet",
            "f",
            {"workers": {"deviceClassName": "gpu.nvidia.com", "number": 2}},
        ),
        "Fleet",
    ),
    alone(
        "an unknown kind that mentions a GPU resource",
        api("ai.example.com/v1", "Engine", "e", {"resources": GPU_LIMIT}),
        "Engine",
    ),
    alone(
        "an unknown kind with a field for accelerators",
        api("ai.example.com/v1", "Model", "m", {"accelerator": {"type": "L4", "gpus": 2}}),
        "Model",
    ),
    alone(
        "an unknown kind with an image and replicas",
        api("ai.example.com/v1", "Server", "s", {"image": "server:1", "replicas": 3}),
        "Server",
    ),
    alone(
        "an unknown kind with a pod template that requests no device",
        api(
            "ai.example.com/v1",
            "Worker",
            "w",
            {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
        ),
        "Worker",
    ),
    Case(
        name="a DaemonSet whose pods the API server rejects",
        given=[
            api(
                "apps/v1",
                "DaemonSet",
                "d",
                {
                    "selector": {"matchLabels": {"app": "d"}},
                    "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": []}},
                },
            )
        ],
        verdict="does-not-fit",
        texts=("spec.template.spec.containers",),
    ),
    Case(
        name="an unknown kind with a workload that fits",
        given=[
            template(),
            deployment(),
            api("ai.example.com/v1", "Engine", "e", {"resources": GPU_LIMIT}),
        ],
        verdict="cannot-tell",
        texts=("Engine",),
    ),
    Case(
        name="an unknown kind without devices with a workload that fits",
        given=[
            template(),
            deployment(),
            api("ai.example.com/v1", "PromptTemplate", "p", {"text": "Say hello."}),
        ],
        verdict="fits",
    ),
    Case(
        name="an unknown kind that might create pods with a workload that fits",
        given=[template(), deployment(), api("kafka.strimzi.io/v1", "Kafka", "events", {})],
        verdict="fits",
        texts=("Kafka ml/events", "aren't in the plan"),
    ),
    harmless("a Service", api("v1", "Service", "web", {"ports": [{"port": 80}]})),
    harmless(
        "a ConfigMap that mentions GPUs",
        api("v1", "ConfigMap", "c", data={"note": "nvidia.com/gpu: 8"}),
    ),
    harmless(
        "a ConfigMap with a manifest",
        api(
            "v1",
            "ConfigMap",
            "c",
            data={"pod.yaml": "kind: Pod\nspec: {resourceClaims: [{name: gpu}]}"},
        ),
    ),
    harmless(
        "a NetworkPolicy",
        api(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "deny",
            {"podSelector": {}, "policyTypes": ["Ingress"]},
        ),
    ),
    harmless(
        "a CustomResourceDefinition whose schema has claims",
        api(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "engines.ai.example.com",
            {
                "group": "ai.example.com",
                "scope": "Namespaced",
                "names": {"plural": "engines", "singular": "engine", "kind": "Engine"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {
                            "openAPIV3Schema": {
                                "type": "object",
                                "properties": {
                                    "resourceClaims": {"type": "array", "items": {"type": "string"}}
                                },
                            }
                        },
                    }
                ],
            },
            namespace="",
        ),
    ),
    harmless(
        "a ServiceMonitor",
        api("monitoring.coreos.com/v1", "ServiceMonitor", "dcgm", {"endpoints": []}),
    ),
    harmless("a claim template without a pod", template()),
    harmless(
        "a Job template that is suspended by Flux's image policy",
        api("v1", "ServiceAccount", "robot"),
    ),
    Case(
        name="a pod that only this list reads",
        given=[template(), api("v1", "Pod", "p", pod_spec())],
        verdict="fits",
    ),
)
