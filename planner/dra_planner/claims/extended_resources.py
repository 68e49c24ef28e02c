"""Extended resources that a DeviceClass serves: requests such as `nvidia.com/gpu: 2` that become a
claim.

Source of the behavior: kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/
extendeddynamicresources.go@v1.36 and
kubernetes/dynamic-resource-allocation:deviceclass/extendedresourcecache@v0.36.2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import (
    ClaimSpec,
    Container,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    PodSpec,
    ShapeClaim,
    Toleration,
)

IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
CLAIM_NAME: Final = "extended-resources"


def extended_resources(pod: PodSpec) -> frozenset[str]:
    """Return the names of the extended resources of which a pod requests more than 0, for example
    nvidia.com/gpu, and the implicit names of classes.
    """
    containers = (*pod.init_containers, *pod.containers)
    implicit = {
        name
        for container in containers
        for name in container.requests
        if name.startswith(IMPLICIT_PREFIX)
    }
    return frozenset(
        name
        for name in _named_resources(pod) | implicit
        if any(container.requests.get(name, 0) > 0 for container in containers)
    )


def tolerate_extended_resources(pod: PodSpec) -> PodSpec:
    """Return the pod with the tolerations of the admission plugin ExtendedResourceToleration. The
    plugin also adds them for requests of 0.

    Source:
    kubernetes/kubernetes:plugin/pkg/admission/extendedresourcetoleration/admission.go@v1.36.3.
    """
    added = [
        Toleration(key=name, operator="Exists", effect="NoSchedule")
        for name in sorted(_named_resources(pod))
    ]
    missing = tuple(toleration for toleration in added if toleration not in pod.tolerations)
    return replace(pod, tolerations=(*pod.tolerations, *missing)) if missing else pod


def _named_resources(pod: PodSpec) -> frozenset[str]:
    """Return the names of the extended resources in a pod's requests.

    Source: kubernetes/kubernetes:pkg/apis/core/v1/helper/helpers.go@v1.36.3
    (IsExtendedResourceName).
    """
    names = {
        name for container in (*pod.init_containers, *pod.containers) for name in container.requests
    }
    return frozenset(name for name in names if "/" in name and "kubernetes.io/" not in name)


class Served(Struct, frozen=True):
    """A pod whose extended resources are served by devices: its remaining requests, and the
    implicit claim.
    """

    pod: PodSpec
    claim: ShapeClaim
    resources: Mapping[str, str]  # class by resource name


def index_classes(classes: Mapping[str, DeviceClass]) -> dict[str, str]:
    """Return the class of each extended resource name.

    If there are several classes, the newest is used, and ties go to the first name.
    """
    served: dict[str, DeviceClass] = {}
    for _, device_class in sorted(classes.items()):
        name = device_class.extended_resource_name
        if not name:
            continue
        best = served.get(name)
        if best is None or device_class.meta.creation_timestamp > best.meta.creation_timestamp:
            served[name] = device_class
    return {name: device_class.name for name, device_class in served.items()}


def serve_extended_resources(
    pod: PodSpec, served: Mapping[str, str], classes: Mapping[str, DeviceClass]
) -> Served | None:
    """Return the pod without the resources that classes serve, and the claim that replaces them, or
    None if classes don't serve any.
    """
    names = {
        name for container in (*pod.init_containers, *pod.containers) for name in container.requests
    }
    resources = {name: served[name] for name in names if name in served}
    for name in names:
        class_name = name.removeprefix(IMPLICIT_PREFIX)
        if name.startswith(IMPLICIT_PREFIX) and class_name in classes:
            resources[name] = class_name
    requests = _requests(pod, resources)
    if not requests:
        return None
    left = without_resources(pod, resources)
    return Served(left, ShapeClaim(name=CLAIM_NAME, spec=ClaimSpec(requests=requests)), resources)


def without_resources(pod: PodSpec, names: Collection[str]) -> PodSpec:
    """Return the pod without its requests and limits of the named resources."""
    return replace(
        pod,
        containers=tuple(_without(container, names) for container in pod.containers),
        init_containers=tuple(_without(container, names) for container in pod.init_containers),
    )


def _requests(pod: PodSpec, resources: Mapping[str, str]) -> tuple[DeviceRequest, ...]:
    """Return one request per container and resource, named as the scheduler names them.

    Containers that run as long as the pod get their own devices. Other init containers reuse them,
    and only the highest additional need is added.
    """
    containers = (*pod.init_containers, *pod.containers)
    ending = [
        index < len(pod.init_containers) and not container.always_restarts
        for index, container in enumerate(containers)
    ]
    counts: dict[tuple[int, str], int] = {}
    for name in sorted(resources):
        needs = [container.requests.get(name, 0) for container in containers]
        lasting = sum(need for need, ends in zip(needs, ending, strict=True) if not ends)
        counts |= {
            (index, name): need for index, need in enumerate(needs) if need and not ending[index]
        }
        extra, neediest = 0, -1
        for index, ends in enumerate(ending):
            sidecars = sum(needs[before] for before in range(index) if not ending[before])
            if ends and needs[index] + sidecars - lasting > extra:
                extra, neediest = needs[index] + sidecars - lasting, index
        if extra:
            counts[neediest, name] = extra
    return tuple(
        DeviceRequest(
            name=f"container-{index}-request-{sorted(containers[index].requests).index(name)}",
            exactly=ExactDeviceRequest(device_class_name=resources[name], count=count),
        )
        for (index, name), count in sorted(counts.items())
    )


def _without(container: Container, names: Collection[str]) -> Container:
    return replace(
        container,
        requests={name: amount for name, amount in container.requests.items() if name not in names},
        limits={name: amount for name, amount in container.limits.items() if name not in names},
    )
