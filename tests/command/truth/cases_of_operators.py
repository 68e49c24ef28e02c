"""Objects of operators: the pods that their controllers create are counted, or the verdict is
*cannot tell*.
"""

from __future__ import annotations

from truth_cases import Case
from truth_objects import TOLERATION, Object, api

NIM = "apps.nvidia.com/v1alpha1"
OF_ONE_GPU = {"limits": {"nvidia.com/gpu": 1}}


def nim(**spec: object) -> Object:
    return api(NIM, "NIMService", "deepseek", nim_spec(**spec))


def nim_spec(**spec: object) -> Object:
    return {"tolerations": [TOLERATION], **spec}


def stages(pipeline: int | None, tensor: int = 1) -> Object:
    """Return the `multiNode` of a service with one pod for each stage of its pipeline."""
    parallelism = {"tensor": tensor} | ({} if pipeline is None else {"pipeline": pipeline})
    return {"parallelism": parallelism}


def domain(name: str = "", *, create: bool = False) -> Object:
    return {**stages(2), "computeDomain": {"create": True} if create else {"name": name}}


NIM_SERVICES = (
    Case(
        name="a NIMService with a pod for each of five stages",
        given=[nim(multiNode=stages(5), resources=OF_ONE_GPU)],
        verdict="does-not-fit",
        texts=("NIMService ml/deepseek",),
    ),
    Case(
        name="a NIMService with a pod for each of four stages",
        given=[nim(multiNode=stages(4), resources=OF_ONE_GPU)],
        verdict="fits",
    ),
    Case(
        name="a service of a NIMPipeline with two replicas of three stages",
        given=[
            api(
                NIM,
                "NIMPipeline",
                "rag",
                {
                    "services": [
                        {
                            "name": "llm",
                            "enabled": True,
                            "spec": nim_spec(replicas=2, multiNode=stages(3), resources=OF_ONE_GPU),
                        }
                    ]
                },
            )
        ],
        verdict="does-not-fit",
        texts=("NIMPipeline ml/rag",),
    ),
    Case(
        name="a multi-node NIMService without the number of stages",
        given=[nim(multiNode=stages(None), resources=OF_ONE_GPU)],
        verdict="cannot-tell",
        texts=("multiNode.parallelism.pipeline isn't set",),
    ),
    Case(
        name="a NIMService whose operator adds the GPUs of a stage",
        given=[nim(multiNode=stages(2, tensor=2), storage={"nimCache": {"name": "deepseek"}})],
        verdict="does-not-fit",
        texts=("NIMService ml/deepseek",),
    ),
    Case(
        name="a NIMService whose GPUs depend on a model profile",
        given=[nim(storage={"nimCache": {"name": "deepseek"}})],
        verdict="cannot-tell",
        texts=("model profile",),
    ),
    Case(
        name="a NIMService without a rollout surge",
        given=[nim(replicas=4, resources=OF_ONE_GPU)],
        verdict="fits",
        silent=("not at peak demand",),
    ),
    Case(
        name="a NIMService whose operator creates a ComputeDomain, without the DeviceClass",
        given=[nim(multiNode=domain(create=True), resources=OF_ONE_GPU)],
        verdict="cannot-tell",
        texts=("compute-domain-default-channel.nvidia.com",),
    ),
    Case(
        name="a NIMService with a missing ComputeDomain",
        given=[nim(multiNode=domain("imex"), resources=OF_ONE_GPU)],
        verdict="cannot-tell",
        texts=("its ComputeDomain isn't in the manifests",),
    ),
)


def storm(replicas: int = 1, **role: object) -> Object:
    """Return an object of an unknown kind that contains a role's pod template."""
    pod = {
        "tolerations": [TOLERATION],
        "containers": [{"name": "main", "image": "i", "resources": OF_ONE_GPU}],
    }
    roles = [{"name": "prefill", "replicas": 2, "template": {"spec": pod}, **role}]
    spec = {"replicas": replicas, "template": {"spec": {"roles": roles}}}
    return api("orchestration.example.com/v1", "Storm", "s", spec)


UNKNOWN_COUNTS = (
    Case(
        name="an unknown kind whose replicas may multiply the replicas of a role",
        given=[storm(replicas=2)],
        verdict="cannot-tell",
        texts=("Storm ml/s", "replicas"),
    ),
    Case(
        name="an unknown kind whose role has groups of pods",
        given=[storm(podGroupSize=2)],
        verdict="cannot-tell",
        texts=("Storm ml/s", "podGroupSize"),
    ),
    Case(name="an unknown kind with one replica of a role", given=[storm()], verdict="fits"),
)


def unread(api_version: str, kind: str, spec: Object, *texts: str) -> Case:
    """An object of a serving or training API whose controller isn't known."""
    return Case(
        name=f"a {kind} of {api_version}",
        given=[api(api_version, kind, "chat", spec)],
        verdict="cannot-tell",
        texts=(f"{kind} ml/chat", *texts),
        silent=("Nothing to place",),
    )


def harmless(api_version: str, kind: str, spec: Object) -> Case:
    return Case(
        name=f"a {kind} of {api_version}, which creates no pods",
        given=[api(api_version, kind, "chat", spec)],
        verdict="fits",
    )


SERVING_APIS = (
    unread("ome.io/v1beta1", "InferenceService", {"engine": {"minReplicas": 1}}),
    unread("kubeai.org/v1", "Model", {"resourceProfile": "gaudi:1", "minReplicas": 1}),
    unread(
        "gmc.opea.io/v1alpha3",
        "GMConnector",
        {"nodes": {"root": {"steps": [{"internalService": {"config": {"MODEL_ID": "llama"}}}]}}},
        "MODEL_ID",
    ),
    unread("platform.example.com/v1", "ChatBot", {"modelName": "llama", "tier": "large"}),
    unread("platform.example.com/v1", "LLMService", {"tier": "large"}),
    unread("platform.example.com/v1", "TrainingRun", {"epochs": 3}),
    unread("platform.example.com/v1", "Connector", {"steps": [{"serviceName": "router"}]}),
    unread("platform.example.com/v1", "LabApp", {"size": "small"}),
    unread("kafka.strimzi.io/v1", "Kafka", {"kafka": {"version": "4.0.0"}}),
    harmless("kafka.strimzi.io/v1", "KafkaTopic", {"partitions": 3}),
    unread("minio.min.io/v2", "Tenant", {"pools": [{"servers": 4}]}),
    harmless("capsule.clastix.io/v1beta2", "Tenant", {"owners": [{"name": "a", "kind": "User"}]}),
    unread("ceph.rook.io/v1", "CephObjectStore", {"gateway": {"instances": 2}}),
    harmless("ceph.rook.io/v1", "CephObjectStoreUser", {"store": "s"}),
    unread("weblogic.oracle/v9", "Domain", {"domainUID": "d"}),
    unread("tailscale.com/v1alpha1", "ProxyGroup", {"type": "egress"}),
    unread("comcast.github.io/v1", "KuberhealthyCheck", {"runInterval": "30s"}),
    harmless("cluster.x-k8s.io/v1beta1", "MachineHealthCheck", {"clusterName": "c"}),
    unread("operator.tekton.dev/v1alpha1", "TektonConfig", {"profile": "all"}),
    unread("core.oam.dev/v1alpha2", "ApplicationConfiguration", {"components": []}),
    unread("fission.io/v1", "MessageQueueTrigger", {"mqtkind": "keda"}),
    harmless("fpga.intel.com/v2", "AcceleratorFunction", {"afuId": "d8424dc4"}),
    harmless("fpga.intel.com/v2", "FpgaRegion", {"interfaceId": "ce48969"}),
    harmless("dashboard.opendatahub.io/v1", "AcceleratorProfile", {"identifier": "nvidia.com/gpu"}),
    harmless("scheduling.incubator.k8s.io/v1alpha1", "PodGroup", {"minMember": 2}),
    harmless(
        "analysis.koordinator.sh/v1alpha1", "Recommendation", {"target": {"type": "workload"}}
    ),
    harmless(
        "godelscheduler.config.kubewharf.io/v1beta1",
        "GodelSchedulerConfiguration",
        {"profile": {"basePluginsForNode": {"filter": [{"name": "nvidia.com/gpu"}]}}},
    ),
    harmless("platform.example.com/v1", "AccessPolicies", {"allow": ["ml"]}),
    harmless("platform.example.com/v1", "OperatorConfig", {"logLevel": "debug"}),
    harmless("tekton.dev/v1", "Task", {"steps": [{"image": "registry.example/t:1", "args": []}]}),
    unread("serving.kserve.io/v1alpha1", "InferenceGraph", {"nodes": {"root": {}}}),
    harmless("s3.services.k8s.aws/v1alpha1", "Bucket", {"name": "weights"}),
    harmless("storage.azure.com/v1", "BlobContainer", {"owner": {"name": "weights"}}),
    harmless("ome.io/v1beta1", "BaseModel", {"modelFormat": {"name": "safetensors"}}),
    harmless("apps.nvidia.com/v1alpha1", "NIMCache", {"source": {"ngc": {"model": {}}}}),
    harmless("inference.networking.x-k8s.io/v1alpha2", "InferenceModel", {"modelName": "llama"}),
    harmless("bitnami.com/v1alpha1", "SealedSecret", {"encryptedData": {"token": "abc"}}),
    harmless("policy.example.com/v1", "Constraint", {"match": {}}),
)


def operator(gpus: int) -> Object:
    """Return the version of an operator that Operator Lifecycle Manager installs."""
    pod = {
        "tolerations": [TOLERATION],
        "containers": [
            {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
        ],
    }
    labels = {"app": "manager"}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    install = {"strategy": "deployment", "spec": {"deployments": [{"name": "m", "spec": spec}]}}
    return api(
        "operators.coreos.com/v1alpha1", "ClusterServiceVersion", "op.v1", {"install": install}
    )


OPERATORS = (
    *NIM_SERVICES,
    *UNKNOWN_COUNTS,
    *SERVING_APIS,
    Case(name="an operator's Deployment", given=[operator(1)], verdict="fits"),
    *(
        Case(
            name=f"an operator without deployments: {spec}",
            given=[api("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "op.v1", spec)],
            verdict="fits",
        )
        for spec in ({}, {"install": {"strategy": "deployment", "spec": {"deployments": []}}})
    ),
    Case(
        name="an operator's Deployment with more GPUs than a node",
        given=[operator(2)],
        verdict="does-not-fit",
        texts=("ClusterServiceVersion ml/op.v1",),
    ),
)
