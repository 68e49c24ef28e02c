"""A model server that is configured for more GPUs than its container has, or for several MIG
devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.drivers import nvidia
from dra_planner.manifests import Manifests
from dra_planner.model import Container, ExactDeviceRequest, PodSet, Workload
from dra_planner.plan.blockers.ray_workers import DIFFERENT_FLAGS, find_ray_workers_without_gpus
from dra_planner.wording import counted, verb
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import GPU_CLASSES
from dra_policies.view.server_flags import ServerGpus, gpus_of_command
from dra_policies.view.stack_view import StackView

_MIG: Final = "mig"
_DRIVER: Final = nvidia.DRIVER.domains[0]
_SEVERAL_PODS: Final = frozenset(
    {"RayCluster", "RayJob", "RayService", "LeaderWorkerSet", "MPIJob"}
)


_check_ray: Final = planner_check(DIFFERENT_FLAGS, find_ray_workers_without_gpus)


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    yield from _check_ray(view)
    for workload, pod_set in pod_sets_with_claims(view.manifests):
        if workload.kind in _SEVERAL_PODS:
            continue  # a server in this kind of workload might span several pods
        for container in pod_set.template.spec.containers:
            server = gpus_of_command(container.command) if container.claims else None
            requests = _requests(view.manifests, workload, pod_set, container) if server else None
            if server is not None and requests:
                yield from _compare(workload, container, server, requests)


def _compare(
    workload: Workload, container: Container, server: ServerGpus, requests: list[ExactDeviceRequest]
) -> Iterator[Finding]:
    devices = sum(each.count for each in requests)
    subject = (
        f'{workload.ref}: container "{container.name}" starts {server.server} with {server.flags}'
    )
    if server.gpus > 1 and any(_MIG in each.device_class_name for each in requests):
        yield Finding(
            message=f"{subject}, but its claim requests MIG devices. NCCL can't connect MIG "
            "devices on the same GPU, so the server doesn't start",
            fix="request whole GPUs, or set the flags to 1",
            place=workload.place,
        )
    elif server.gpus > devices:
        yield Finding(
            message=f"{subject}, which needs {counted(server.gpus, 'GPU')}, but its claims "
            f"request {counted(devices, 'GPU')}, so the server doesn't start",
            fix=f"request {counted(server.gpus, 'GPU')} in the claim, or lower the flag values so "
            f"that {counted(devices, 'GPU')} {verb(devices, 'suffice')}",
            place=workload.place,
        )
    elif server.gpus < devices:
        yield Finding(
            message=f"{subject}, which uses {counted(server.gpus, 'GPU')}, but its claims "
            f"request {counted(devices, 'GPU')}, so the other GPUs stay idle",
            fix=f"request {counted(server.gpus, 'GPU')} in the claim, or raise the flag values to "
            f"use all {counted(devices, 'GPU')}",
            place=workload.place,
        )


def _requests(
    manifests: Manifests, workload: Workload, pod_set: PodSet, container: Container
) -> list[ExactDeviceRequest] | None:
    """Return the requests for GPUs that a container uses; None if their number of GPUs isn't
    known.
    """
    entries = {entry.name: entry for entry in pod_set.template.spec.resource_claims}
    found: list[ExactDeviceRequest] = []
    for claim in container.claims:
        spec = (
            spec_of(manifests, workload.meta.namespace, entries[claim.name])
            if claim.name in entries
            else None
        )
        if spec is None:
            return None
        for request in spec.requests:
            ways = request.alternatives
            if claim.request and request.name != claim.request.partition("/")[0]:
                continue
            if not any(_is_gpu(way, manifests) for way in ways):
                continue
            only, *others = ways
            if others or only.allocation_mode != "ExactCount":
                return None
            found.append(only)
    return found


def _is_gpu(request: ExactDeviceRequest, manifests: Manifests) -> bool:
    name = request.device_class_name
    known = manifests.classes.get(name)
    selectors = known.selectors if known is not None else ()
    return name in GPU_CLASSES or any(_DRIVER in each.expression for each in selectors)


RULE = Rule(
    id=DIFFERENT_FLAGS,
    description="A model server's flags don't match the GPUs in its claim.",
    why="A server doesn't start if its flags specify more GPUs than the claim has. If the flags "
    "specify fewer GPUs, the claim's other GPUs stay idle.",
    fix="Request the number of GPUs that the flags specify, or change the flags to match the "
    "claim.",
    level="advisory",
    check=check,
)
