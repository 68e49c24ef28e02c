"""What a pod asks of a node besides devices.

Source of the behaviour: kubernetes/component-helpers:resource/helpers.go (PodRequests) @v0.36.3. Amounts as
in `model.Amounts`: cpu in thousandths of a core, everything else in whole units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dra_planner.model import Amounts, Container, PodSpec

POD_LEVEL = ("cpu", "memory")
"""Resources that pod-level requests may set; hugepages too, by prefix."""


def pod_requests(pod: PodSpec) -> dict[str, int]:
    """Return what the scheduler counts: containers and sidecars added up, or the peak while init containers
    run, with pod-level requests in their place where set, and overhead. `pods` is 1.
    """
    running: Counter[str] = Counter()
    for container in pod.containers:
        running.update(_requests(container))
    peak: dict[str, int] = {}
    sidecars: Counter[str] = Counter()
    for container in pod.init_containers:
        if container.always_restarts:
            running.update(_requests(container))
            sidecars.update(_requests(container))
            stage: Amounts = sidecars
        else:
            stage = Counter(sidecars)
            stage.update(_requests(container))
        for name, amount in stage.items():
            peak[name] = max(peak.get(name, 0), amount)
    total = {name: max(running[name], peak.get(name, 0)) for name in {*running, *peak}}
    total |= {name: a for name, a in pod.pod_requests.items() if name in POD_LEVEL or name.startswith("hugepages-")}
    for name, amount in pod.overhead.items():
        total[name] = total.get(name, 0) + amount
    total["pods"] = 1
    return {name: amount for name, amount in sorted(total.items()) if amount}


def _requests(container: Container) -> dict[str, int]:
    """Requests of a container; a limit stands in for a request that is not written."""
    return {**container.limits, **container.requests}


def host_ports(pod: PodSpec) -> frozenset[tuple[str, str, int]]:
    """Return the host ports a pod takes, as (address, protocol, port)."""
    sidecars = (c for c in pod.init_containers if c.always_restarts)
    return frozenset(_ports((*pod.containers, *sidecars), pod.host_network))


def _ports(containers: Iterable[Container], host_network: bool) -> Iterable[tuple[str, str, int]]:
    for container in containers:
        for port in container.ports:
            number = port.host_port or (port.container_port if host_network else 0)
            if number:
                yield port.host_ip or "0.0.0.0", port.protocol, number


def ports_clash(wanted: frozenset[tuple[str, str, int]], used: frozenset[tuple[str, str, int]]) -> int | None:
    """Return a port that both sides take, or None; the address 0.0.0.0 stands for every address."""
    for address, protocol, port in sorted(wanted):
        for other, other_protocol, other_port in used:
            if (protocol, port) == (other_protocol, other_port) and (address == other or "0.0.0.0" in (address, other)):
                return port
    return None
