"""Servers that start with other GPUs than those in their claims.

Source: ray-project/kuberay:ray-operator/controllers/ray/utils/resources.go@feeaf72 (KubeRay reads
the number of GPUs from limits, not from claims).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.claims.server_flags import ServerGpus, gpus_of_command
from dra_planner.drivers import driver_of
from dra_planner.drivers.nvidia import DRIVER, GPU_CLASSES, MIG_CLASS
from dra_planner.manifests.workloads.ray import NO_NUM_GPUS
from dra_planner.model import ClaimSpec, Container, ExactDeviceRequest, PodSet, Workload
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.wording import counted, verb

DIFFERENT_FLAGS: Final = "server-flags-differ-from-claim"  # same text as in the rule
_SEVERAL_PODS: Final = frozenset(
    {"RayCluster", "RayJob", "RayService", "LeaderWorkerSet", "MPIJob"}
)
"""The kinds of workloads whose servers might span several pods."""


def find_different_flags(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each container whose flags set another number of GPUs than its claims."""
    for workload, pod_set in pod_sets_with_claims(situation.manifests):
        for container in pod_set.template.spec.containers:
            server = _server(workload, container)
            requests = _requests(situation, workload, pod_set, container) if server else []
            if server is None or not requests:
                continue
            found = _difference(server, requests, situation)
            if found is not None:
                problem, fix = found
                yield fact(
                    f'{workload.ref}: container "{container.name}" starts {server.server} with '
                    f"{server.flags}{problem}",
                    fix,
                    workload.ref,
                    place=workload.place,
                    code=DIFFERENT_FLAGS,
                )


def connects_mig_devices(
    situation: ClusterSituation, workload: Workload, pod_set: PodSet, container: Container
) -> bool:
    """Return whether a container's server connects several GPUs, but its claims request MIG
    devices.
    """
    server = _server(workload, container)
    if server is None or server.gpus == 1:
        return False
    return _has_mig(_requests(situation, workload, pod_set, container), situation)


def _server(workload: Workload, container: Container) -> ServerGpus | None:
    if workload.kind in _SEVERAL_PODS or not container.claims:
        return None
    return gpus_of_command(container.command)


def _difference(
    server: ServerGpus, requests: list[ExactDeviceRequest], situation: ClusterSituation
) -> tuple[str, str] | None:
    """Return how a server's GPUs differ from the GPUs in its claims, and the fix.

    Returns None if they don't differ.
    """
    devices = sum(each.count for each in requests)
    if server.gpus > 1 and _has_mig(requests, situation):
        return (
            ", but its claim requests MIG devices. NCCL can't connect MIG devices on the same GPU, "
            "so the server doesn't start",
            "request whole GPUs, or set the flags to 1",
        )
    if server.gpus > devices:
        return (
            f", which needs {counted(server.gpus, 'GPU')}, but its claims request "
            f"{counted(devices, 'GPU')}, so the server doesn't start",
            f"request {counted(server.gpus, 'GPU')} in the claim, or lower the flag values so that "
            f"{counted(devices, 'GPU')} {verb(devices, 'suffice')}",
        )
    if server.gpus < devices:
        return (
            f", which uses {counted(server.gpus, 'GPU')}, but its claims request "
            f"{counted(devices, 'GPU')}, so the other GPUs stay idle",
            f"request {counted(server.gpus, 'GPU')} in the claim, or raise the flag values to use "
            f"all {counted(devices, 'GPU')}",
        )
    return None


def _requests(
    situation: ClusterSituation, workload: Workload, pod_set: PodSet, container: Container
) -> list[ExactDeviceRequest]:
    """Return the requests for GPUs that a container uses. Return nothing if their number of GPUs
    isn't known.
    """
    manifests = situation.manifests
    entries = {entry.name: entry for entry in pod_set.template.spec.resource_claims}
    found: list[ExactDeviceRequest] = []
    for claim in container.claims:
        spec = (
            spec_of(manifests, workload.meta.namespace, entries[claim.name])
            if claim.name in entries
            else None
        )
        if spec is None:
            return []
        for request in spec.requests:
            ways = request.alternatives
            if claim.request and request.name != claim.request.partition("/")[0]:
                continue
            if not any(_is_gpu(way, situation) for way in ways):
                continue
            only, *others = ways
            if others or only.allocation_mode != "ExactCount":
                return []
            found.append(only)
    return found


def _is_gpu(request: ExactDeviceRequest, situation: ClusterSituation) -> bool:
    name = request.device_class_name
    known = situation.manifests.classes.get(name)
    selectors = known.selectors if known is not None else ()
    return name in GPU_CLASSES or any(DRIVER.domains[0] in each.expression for each in selectors)


def _has_mig(requests: list[ExactDeviceRequest], situation: ClusterSituation) -> bool:
    return any(is_mig_class(each.device_class_name, situation) for each in requests)


def is_mig_class(name: str, situation: ClusterSituation) -> bool:
    """Return whether a DeviceClass only matches MIG devices."""
    found = {**situation.classes, **situation.manifests.classes}.get(name)
    selects = found is not None and any("profile" in each.expression for each in found.selectors)
    return name == MIG_CLASS or selects


def find_ray_workers_without_gpus(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each group of workers with claims for accelerators but without num-gpus and limits."""
    manifests = situation.manifests
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        has_limit = any(
            name.endswith("gpu") for container in spec.containers for name in container.limits
        )
        claims = (
            spec_of(manifests, workload.meta.namespace, entry) for entry in spec.resource_claims
        )
        if NO_NUM_GPUS not in pod_set.assumptions or has_limit:
            continue
        if any(claim is not None and _has_accelerators(claim, situation) for claim in claims):
            yield fact(
                f'{workload.ref}: Ray starts the workers of group "{pod_set.name}" without GPUs, '
                "because KubeRay reads the number of GPUs from limits, not from claims",
                "set num-gpus in the group's rayStartParams to the number of GPUs per pod",
                workload.ref,
                place=workload.place,
                code=DIFFERENT_FLAGS,
            )


def _has_accelerators(claim: ClaimSpec, situation: ClusterSituation) -> bool:
    classes = {**situation.classes, **situation.manifests.classes}
    ways = [way for request in claim.requests for way in request.alternatives]
    owners = (driver_of(driver_of_request(way, classes)) for way in ways)
    return any(owner is not None and not owner.is_network for owner in owners)
