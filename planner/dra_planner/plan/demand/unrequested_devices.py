"""Pods that use GPUs of their node without a request, so that plans can't reserve them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.drivers import publishers_of
from dra_planner.errors import Diagnostic
from dra_planner.manifests import Manifests
from dra_planner.manifests.parsing.pods import VISIBLE_DEVICES
from dra_planner.model import PodTemplate

DEVICE_TAKEN: Final = "device-taken-past-claim"
"""The code of the finding, and the ID of the rule that reports it without a plan."""


def find_unrequested_devices(manifests: Manifests) -> Iterator[Diagnostic]:
    """Yield a warning for each workload whose pods set NVIDIA_VISIBLE_DEVICES and request no
    device.

    DaemonSets are excluded, because drivers and exporters use all devices of their node on purpose.
    """
    for workload in manifests.workloads:
        if workload.kind == "DaemonSet" or workload.ref in manifests.existing:
            continue
        for pod_set in workload.pod_sets:
            ways = pod_set.template.past_claims
            way = next((each for each in ways if each.setting == VISIBLE_DEVICES), None)
            if way is not None and not _requests_devices(pod_set.template):
                yield Diagnostic(
                    severity="warning",
                    code=DEVICE_TAKEN,
                    message=f"{workload.ref} {way.description} and doesn't request devices, so its pods can "
                    "use every GPU on their node, including other pods' GPUs, without "
                    "reserving any",
                    place=pod_set.template.place if pod_set.template.place.file else workload.place,
                    fix="remove the variable, and request the GPUs with a claim; to monitor "
                    "all GPUs, use a claim with adminAccess",
                )


def _requests_devices(template: PodTemplate) -> bool:
    spec = template.spec
    containers = (*spec.containers, *spec.init_containers)
    return bool(spec.resource_claims) or any(
        publishers_of(name)
        for container in containers
        for name in {**container.limits, **container.requests}
        if "/" in name
    )
