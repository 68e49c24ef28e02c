"""Health of the devices that pods hold, as reported by kubelets in pod statuses.

Source: kubernetes/api:core/v1/types.go@v0.37.2 (ResourceStatus, ResourceHealth; feature gate
ResourceHealthStatus).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import block, blocks, text
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.offers import NodeDifference
from dra_planner.sources import Source

_STATUS: Final = "allocatedResourcesStatus"
_CONTAINERS: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_UNHEALTHY: Final = "Unhealthy"


def verify_health(
    sources: Iterable[Source], pool_of_node: Mapping[str, str]
) -> tuple[NodeDifference, ...]:
    """Return the devices that kubelets report as unhealthy, one row for each device of a pod.

    Devices with unknown health aren't differences, because drivers don't have to report health.
    """
    documents, _ = read_documents(each for each in sources if _STATUS in each.text)
    pods = (each for each in read_objects(documents) if each.kind == "Pod")
    return tuple(dict.fromkeys(row for pod in pods for row in _of_pod(pod, pool_of_node)))


def _of_pod(pod: KubernetesObject, pool_of_node: Mapping[str, str]) -> Iterator[NodeDifference]:
    node = text(block(pod.data, "spec").get("nodeName"))
    for resource in _resources(block(pod.data, "status")):
        for device in blocks(resource, "resources"):
            if device.get("health") != _UNHEALTHY:
                continue
            message = text(device.get("message"))
            yield NodeDifference(
                pool=pool_of_node.get(node, ""),
                node=node,
                aspect="device-health",
                subject=text(device.get("resourceID")),
                field=f"{text(resource.get('name'))} of Pod {pod.namespace}/{pod.name}",
                predicted="Healthy",
                observed=f"{_UNHEALTHY}: {message}" if message else _UNHEALTHY,
            )


def _resources(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in _CONTAINERS:
        for container in blocks(status, key):
            yield from blocks(container, _STATUS)
