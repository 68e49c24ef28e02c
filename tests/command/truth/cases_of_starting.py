"""Pods that are scheduled and never start, or whose claims are never created or allocated."""

from __future__ import annotations

from truth_cases import Case
from truth_objects import OPAQUE, api, deployment, fleet, job, pod_spec, sharing, template

TIME_SLICING = sharing("TimeSlicing", timeSlicingConfig={"interval": "Long"})
MPS = sharing("MPS", mpsConfig={"defaultActiveThreadPercentage": 50})
NEVER = "ContainerCreating"


def claim(
    name: str, *, count: int = 1, config: dict[str, object] | None = None
) -> dict[str, object]:
    spec = template(name, count=count, config=config)["spec"]["spec"]
    return api("resource.k8s.io/v1", "ResourceClaim", name, spec)


def shared(name: str, claim_name: str, **pod: object) -> dict[str, object]:
    made = deployment(name, 1, **pod)
    made["spec"]["template"]["spec"]["resourceClaims"] = [
        {"name": "gpu", "resourceClaimName": claim_name}
    ]
    return made


def device_class(name: str, **spec: object) -> dict[str, object]:
    selectors = [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]
    return api(
        "resource.k8s.io/v1", "DeviceClass", name, {"selectors": selectors, **spec}, namespace=""
    )


def opaque(parameters: dict[str, object]) -> list[dict[str, object]]:
    return [{"opaque": {"driver": "gpu.nvidia.com", "parameters": parameters}}]


def alternatives_with(parameters: dict[str, object]) -> dict[str, object]:
    """Return a template whose request has an alternative, and configuration that names the
    request.
    """
    made = template(config=parameters)
    devices = made["spec"]["spec"]["devices"]
    devices["requests"] = [
        {"name": "gpu", "firstAvailable": [{"name": "any", "deviceClassName": "gpu.nvidia.com"}]}
    ]
    devices["config"] = [{"requests": ["gpu"], **each} for each in opaque(parameters)]
    return made


FABRIC_REQUEST = {"name": "domain", "exactly": {"deviceClassName": "fabric"}}


def fabric_class() -> dict[str, object]:
    selectors = [{"cel": {"expression": "device.driver == 'fabric.example.com'"}}]
    return api(
        "resource.k8s.io/v1", "DeviceClass", "fabric", {"selectors": selectors}, namespace=""
    )


def fabric_slice() -> dict[str, object]:
    pool = {"name": "fabric", "generation": 1, "resourceSliceCount": 1}
    spec = {
        "driver": "fabric.example.com",
        "pool": pool,
        "allNodes": True,
        "devices": [{"name": "domain-0"}],
    }
    return api("resource.k8s.io/v1", "ResourceSlice", "fabric", spec, namespace="")


STARTING = (
    Case(
        name="two workloads that share a claim",
        given=[claim("gpu"), shared("embed", "gpu"), shared("rerank", "gpu")],
        verdict="fits",
        texts=(
            "Deployment ml/embed and Deployment ml/rerank use ResourceClaim ml/gpu, so they share "
            "its devices and run on one node",
        ),
    ),
    Case(
        name="time slicing with the gate disabled",
        given=[template(config=TIME_SLICING), deployment()],
        verdict="does-not-fit",
        texts=("TimeSlicingSettings", NEVER),
    ),
    Case(
        name="time slicing with an enabled gate",
        given=[claim("one", config=TIME_SLICING), shared("serve", "one")],
        on=fleet(gates={"TimeSlicingSettings": True}),
        verdict="fits",
        silent=(NEVER,),
    ),
    Case(
        name="time slicing in a template for several pods, each of which gets its own GPU",
        given=[template(config=TIME_SLICING), deployment()],
        on=fleet(gates={"TimeSlicingSettings": True}),
        verdict="fits",
        texts=("gets its own", "use resourceClaimName instead of resourceClaimTemplateName"),
    ),
    Case(
        name="configuration for a request with alternatives, which the driver doesn't apply",
        given=[alternatives_with(TIME_SLICING), deployment(replicas=1)],
        on=fleet(gates={"TimeSlicingSettings": True}),
        verdict="fits",
        texts=('doesn\'t apply the configuration for request "gpu"', "gpu/any"),
    ),
    Case(
        name="a device of an unknown driver and a GPU",
        given=[
            fabric_class(),
            fabric_slice(),
            api(
                "resource.k8s.io/v1",
                "ResourceClaim",
                "shared",
                {"devices": {"requests": [FABRIC_REQUEST]}},
            ),
            template(),
            deployment(
                resourceClaims=[
                    {"name": "gpu", "resourceClaimTemplateName": "gpu"},
                    {"name": "fabric", "resourceClaimName": "shared"},
                ]
            ),
        ],
        verdict="cannot-tell",
        texts=(
            "DeviceClass fabric, but no driver in the fleet provides such devices",
            "Before Kubernetes 1.36.2",
        ),
    ),
    Case(
        name="MPS with a disabled gate",
        given=[template(config=MPS), deployment()],
        verdict="does-not-fit",
        texts=("MPSSupport", NEVER),
    ),
    Case(
        name="MPS with an enabled gate",
        given=[claim("one", config=MPS), shared("serve", "one")],
        on=fleet(gates={"MPSSupport": True}),
        verdict="fits",
    ),
    Case(
        name="sharing in a named claim with a disabled feature gate",
        given=[claim("one", config=TIME_SLICING), shared("serve", "one")],
        verdict="does-not-fit",
        texts=(NEVER,),
    ),
    Case(
        name="sharing in the class of a claim with a disabled gate",
        given=[
            device_class("shared", config=opaque(TIME_SLICING)),
            template(device_class="shared"),
            deployment(),
        ],
        verdict="does-not-fit",
        texts=(NEVER, "DeviceClass shared"),
    ),
    Case(
        name="an unused class with a rejected configuration",
        given=[device_class("unused", config=opaque(TIME_SLICING)), template(), deployment()],
        verdict="does-not-fit",
    ),
    Case(
        name="an unused template with a rejected configuration",
        given=[template("unused", config=TIME_SLICING), template(), deployment()],
        verdict="does-not-fit",
    ),
    Case(
        name="configuration of an unknown kind",
        given=[template(config={"apiVersion": OPAQUE, "kind": "GpuSharing"}), deployment()],
        verdict="does-not-fit",
        texts=("GpuSharing", NEVER),
    ),
    Case(
        name="configuration with an unknown field",
        given=[
            template(config={"apiVersion": OPAQUE, "kind": "GpuConfig", "shared": True}),
            deployment(),
        ],
        verdict="does-not-fit",
        texts=("shared", NEVER),
    ),
    Case(
        name="an interval that the driver doesn't know",
        given=[
            template(config=sharing("TimeSlicing", timeSlicingConfig={"interval": "Endless"})),
            deployment(),
        ],
        on=fleet(gates={"TimeSlicingSettings": True}),
        verdict="does-not-fit",
        texts=("Endless",),
    ),
    Case(
        name="a container uses a request that the claim doesn't have",
        given=[template(), deployment(request="gpus")],
        verdict="does-not-fit",
        texts=('"gpus"', '"gpu"'),
    ),
    Case(
        name="a container uses a request that the claim has",
        given=[template(), deployment(request="gpu")],
        verdict="fits",
    ),
    Case(
        name="an init container uses a request that the claim doesn't have",
        given=[
            template(),
            deployment(
                initContainers=[
                    {
                        "name": "warm",
                        "image": "w",
                        "resources": {"claims": [{"name": "gpu", "request": "g"}]},
                    }
                ]
            ),
        ],
        verdict="does-not-fit",
        texts=("warm", '"g"'),
    ),
    Case(
        name="a Job whose container uses a request that the claim doesn't have",
        given=[template(), job(request="r0")],
        verdict="does-not-fit",
        texts=('"r0"',),
    ),
    Case(
        name="a claim for more devices than one allocation holds",
        given=[template(count=33), deployment(replicas=1)],
        verdict="does-not-fit",
        texts=("32",),
    ),
    Case(
        name="a claim for nine GPUs on nodes with one",
        given=[template(count=9), deployment(replicas=1)],
        verdict="does-not-fit",
        texts=("9",),
        silent=("cpu:", "memory: "),
    ),
    Case(
        name="a named claim that exceeds the quota of its namespace",
        given=[
            api(
                "v1",
                "ResourceQuota",
                "q",
                {"hard": {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "1"}},
            ),
            claim("two", count=2),
            shared("serve", "two"),
        ],
        verdict="does-not-fit",
        texts=("ResourceQuota",),
    ),
    Case(
        name="a quota that admits one of two replicas",
        given=[
            api(
                "v1",
                "ResourceQuota",
                "q",
                {"hard": {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "1"}},
            ),
            template(),
            deployment(),
        ],
        verdict="does-not-fit",
        texts=("ResourceQuota",),
    ),
    Case(
        name="a quota that admits the replicas but not their surge",
        given=[
            api(
                "v1",
                "ResourceQuota",
                "q",
                {"hard": {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "2"}},
            ),
            template(),
            deployment(
                strategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
                }
            ),
        ],
        verdict="does-not-fit",
        texts=("rollout",),
    ),
    Case(
        name="a rollout that has no node for its surge",
        given=[
            template(),
            deployment(
                replicas=4,
                strategy={
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
                },
            ),
        ],
        verdict="does-not-fit",
        texts=("rollout",),
    ),
    Case(
        name="a claim that only an init container uses",
        given=[
            template(),
            deployment(
                containers=[{"name": "main", "image": "app:1"}],
                initContainers=[
                    {"name": "warm", "image": "w", "resources": {"claims": [{"name": "gpu"}]}}
                ],
            ),
        ],
        verdict="fits",
        texts=("init container",),
    ),
    Case(
        name="an affinity to a label that no pod has",
        given=[
            template(),
            deployment(
                affinity={
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {
                                "topologyKey": "kubernetes.io/hostname",
                                "labelSelector": {"matchLabels": {"app": "cache"}},
                            }
                        ]
                    }
                }
            ),
        ],
        verdict="does-not-fit",
        texts=("app=cache",),
        silent=("a packing exists",),
    ),
    Case(
        name="a DaemonSet with claims that doesn't tolerate the taint of GPU nodes",
        given=[
            template(),
            api(
                "apps/v1",
                "DaemonSet",
                "dcgm",
                {
                    "selector": {"matchLabels": {"app": "d"}},
                    "template": {
                        "metadata": {"labels": {"app": "d"}},
                        "spec": pod_spec() | {"tolerations": []},
                    },
                },
            ),
        ],
        verdict="does-not-fit",
        texts=("nvidia.com/gpu",),
        silent=("No findings",),
    ),
    Case(
        name="a DaemonSet with claims that also runs on the system nodes",
        given=[
            template(),
            api(
                "apps/v1",
                "DaemonSet",
                "dcgm",
                {
                    "selector": {"matchLabels": {"app": "d"}},
                    "template": {"metadata": {"labels": {"app": "d"}}, "spec": pod_spec()},
                },
            ),
        ],
        verdict="does-not-fit",
        texts=("the system pool's nodes", "pulumi-dra/pool in (l4)"),
        silent=("a packing exists",),
    ),
    Case(
        name="a DaemonSet with claims on nodes that another operator labels",
        given=[
            template(),
            api(
                "apps/v1",
                "DaemonSet",
                "dcgm",
                {
                    "selector": {"matchLabels": {"app": "d"}},
                    "template": {
                        "metadata": {"labels": {"app": "d"}},
                        "spec": pod_spec()
                        | {"nodeSelector": {"nvidia.com/gpu.deploy.dcgm": "true"}},
                    },
                },
            ),
        ],
        verdict="cannot-tell",
        texts=("nvidia.com/gpu.deploy.dcgm",),
        silent=("No findings",),
    ),
    Case(
        name="a DaemonSet without claims that no node of the fleet admits",
        given=[
            api(
                "apps/v1",
                "DaemonSet",
                "agent",
                {
                    "selector": {"matchLabels": {"app": "d"}},
                    "template": {
                        "metadata": {"labels": {"app": "d"}},
                        "spec": {
                            "nodeSelector": {"example.com/has-agent": "true"},
                            "containers": [{"name": "main", "image": "registry.example/agent:1"}],
                        },
                    },
                },
            ),
        ],
        verdict="fits",
    ),
)
