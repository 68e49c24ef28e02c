"""Builders for fleets and Kubernetes objects: each case passes only the values that vary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

DRIVER = "0.4.1"
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
OPAQUE = "resource.nvidia.com/v1beta1"


def fleet(
    *, kubernetes: str = "1.36", gates: Mapping[str, bool] | None = None, most: int = 4, **more: Any
) -> Object:
    """A fleet on EKS with one pool of single L4 GPUs."""
    nvidia: Object = {"version": DRIVER}
    if gates:
        nvidia["featureGates"] = dict(gates)
    pool = {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": most}}
    return {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": kubernetes,
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": nvidia},
        "pools": [pool],
        **more,
    }


def template(
    name: str = "gpu",
    *,
    device_class: str = "gpu.nvidia.com",
    config: Object | None = None,
    **exactly: Any,
) -> Object:
    """A ResourceClaimTemplate with one request, named gpu."""
    devices: Object = {
        "requests": [{"name": "gpu", "exactly": {"deviceClassName": device_class, **exactly}}]
    }
    if config is not None:
        devices["config"] = [{"opaque": {"driver": "gpu.nvidia.com", "parameters": config}}]
    return api("resource.k8s.io/v1", "ResourceClaimTemplate", name, {"spec": {"devices": devices}})


def sharing(strategy: str, **settings: Any) -> Object:
    """A GpuConfig of the NVIDIA driver that shares a GPU."""
    return {
        "apiVersion": OPAQUE,
        "kind": "GpuConfig",
        "sharing": {"strategy": strategy, **settings},
    }


def pod_spec(claim: str = "gpu", *, cpu: str = "1", request: str = "", **more: Any) -> Object:
    """A pod spec with one container and one claim from a template."""
    used = {"name": "gpu", **({"request": request} if request else {})}
    resources = {"requests": {"cpu": cpu, "memory": "2Gi"}, "claims": [used]}
    return {
        "containers": [{"name": "main", "image": "app:1", "resources": resources}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": claim}],
        "tolerations": [TOLERATION],
        **more,
    }


def deployment(
    name: str = "serve", replicas: int = 2, *, strategy: Object | None = None, **pod: Any
) -> Object:
    """A Deployment whose pods each have one GPU. `pod` contains changes to the pod spec."""
    meta = {"labels": {"app": name}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
    spec |= {"template": {"metadata": meta, "spec": pod_spec(**pod)}}
    return api("apps/v1", "Deployment", name, spec | ({"strategy": strategy} if strategy else {}))


def job(
    name: str = "train", pods: int = 2, *, labels: Mapping[str, str] | None = None, **pod: Any
) -> Object:
    """A Job whose pods run together, each with one GPU."""
    spec = pod_spec(restartPolicy="Never", **pod)
    made = api(
        "batch/v1",
        "Job",
        name,
        {"parallelism": pods, "completions": pods, "template": {"spec": spec}},
    )
    made["metadata"]["labels"] = dict(labels or {})
    return made


def api(
    version: str, kind: str, name: str, spec: Any = None, *, namespace: str = "ml", **more: Any
) -> Object:
    """An API object. `namespace` is "" for cluster-scoped objects."""
    meta: Object = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": meta,
        **({"spec": spec} if spec is not None else {}),
        **more,
    }


def runtime_class(name: str = "kata", **fields: Any) -> Object:
    """A RuntimeClass."""
    return api("node.k8s.io/v1", "RuntimeClass", name, namespace="", handler="kata", **fields)


def taint_rule(effect: str = "NoSchedule", **selector: str) -> Object:
    """A DeviceTaintRule for the devices that a selector names; without any, for all devices."""
    taint = {"key": "example.com/maintenance", "value": "true", "effect": effect}
    spec = {"taint": taint, "deviceSelector": dict(selector)}
    return api("resource.k8s.io/v1", "DeviceTaintRule", "drain", spec, namespace="")


def local_queue(name: str = "team", cluster_queue: str = "gpus") -> Object:
    """A LocalQueue of Kueue."""
    return api("kueue.x-k8s.io/v1beta1", "LocalQueue", name, {"clusterQueue": cluster_queue})


def cluster_queue(
    name: str = "gpus",
    flavor: str = "l4",
    gpus: int = 8,
    resource: str = "example.com/gpu",
    cpu: int = 100,
) -> Object:
    """A ClusterQueue of Kueue with one flavor."""
    quotas: list[Object] = [{"name": "cpu", "nominalQuota": cpu}]
    quotas.append({"name": "memory", "nominalQuota": "400Gi"})
    quotas.append({"name": resource, "nominalQuota": gpus})
    group = {
        "coveredResources": ["cpu", "memory", resource],
        "flavors": [{"name": flavor, "resources": quotas}],
    }
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    return api("kueue.x-k8s.io/v1beta1", "ClusterQueue", name, spec, namespace="")


def flavor(name: str = "l4", **spec: Any) -> Object:
    """A ResourceFlavor of Kueue."""
    return api("kueue.x-k8s.io/v1beta1", "ResourceFlavor", name, spec or None, namespace="")


def kueue_config(*classes: str, in_config_map: bool = False) -> Object:
    """Kueue's configuration, which maps classes to the resource example.com/gpu."""
    mappings = [{"name": "example.com/gpu", "deviceClassNames": list(classes)}]
    config = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta1",
        "kind": "Configuration",
        "resources": {"deviceClassMappings": mappings},
    }
    if not in_config_map:
        return config
    import yaml  # the text of a ConfigMap

    data = {"controller_manager_config.yaml": yaml.safe_dump(config)}
    return api("v1", "ConfigMap", "kueue-manager-config", namespace="kueue-system", data=data)
