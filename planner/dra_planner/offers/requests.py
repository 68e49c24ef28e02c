"""A pod's requests for a node's resources, except devices.

Source: kubernetes/component-helpers:resource/helpers.go (PodRequests)@v0.36.3.
"""

from __future__ import annotations

from dra_planner.model import Amounts, Container, PodSpec, peak_amounts


def pod_requests(pod: PodSpec) -> dict[str, int]:
    """Return the amounts that the scheduler counts for a pod: one pod slot, and its requests.

    For containers, the maximum simultaneous requests count. Pod-level requests replace them, and
    overhead is added.
    """
    total = peak_amounts(pod, _requested)
    pod_level = ("cpu", "memory")
    total |= {
        name: amount
        for name, amount in pod.pod_requests.items()
        if name in pod_level or name.startswith("hugepages-")
    }
    for name, amount in pod.overhead.items():
        total[name] = total.get(name, 0) + amount
    total["pods"] = 1
    return {name: amount for name, amount in sorted(total.items()) if amount}


def _requested(container: Container) -> Amounts:
    return {**container.limits, **container.requests}
