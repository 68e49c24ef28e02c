"""What a pod asks of a node besides devices.

Source: kubernetes/component-helpers:resource/helpers.go (PodRequests)@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.model import Amounts, Container, PodSpec


def pod_requests(pod: PodSpec) -> dict[str, int]:
    """Return the amounts that the scheduler counts for a pod: one pod slot, and what its containers ask for.

    Init containers run one after the other beside the sidecars that started before them, so their peak counts;
    pod-level requests stand in for those of the containers; overhead comes on top.
    """
    sidecars = [container for container in pod.init_containers if container.always_restarts]
    total = _sum((*pod.containers, *sidecars))
    started: list[Container] = []
    for container in pod.init_containers:
        if container.always_restarts:
            started.append(container)
        stage = _sum(started if container.always_restarts else (*started, container))
        total = {name: max(total.get(name, 0), stage.get(name, 0)) for name in {*total, *stage}}
    pod_level = ("cpu", "memory")
    total |= {
        name: amount for name, amount in pod.pod_requests.items() if name in pod_level or name.startswith("hugepages-")
    }
    for name, amount in pod.overhead.items():
        total[name] = total.get(name, 0) + amount
    total["pods"] = 1
    return {name: amount for name, amount in sorted(total.items()) if amount}


def _sum(containers: Iterable[Container]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        amounts: Amounts = {**container.limits, **container.requests}
        for name, amount in amounts.items():
            total[name] = total.get(name, 0) + amount
    return total
