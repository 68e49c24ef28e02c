"""Host ports that a pod uses.

Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/nodeports/node_ports.go @v0.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.model import Container, PodSpec


def host_ports(pod: PodSpec) -> frozenset[tuple[str, str, int]]:
    """Return the host ports of a pod as (address, protocol, port)."""
    sidecars = (c for c in pod.init_containers if c.always_restarts)
    return frozenset(_ports((*pod.containers, *sidecars), pod.host_network))


def _ports(containers: Iterable[Container], host_network: bool) -> Iterable[tuple[str, str, int]]:
    for container in containers:
        for port in container.ports:
            number = port.host_port or (port.container_port if host_network else 0)
            if number:
                yield port.host_ip or "0.0.0.0", port.protocol, number


def ports_clash(
    wanted: frozenset[tuple[str, str, int]], used: frozenset[tuple[str, str, int]]
) -> int | None:
    """Return a port that both sides use, or None. The address 0.0.0.0 means every address."""
    for address, protocol, port in sorted(wanted):
        for other, other_protocol, other_port in used:
            if (protocol, port) == (other_protocol, other_port) and (
                address == other or "0.0.0.0" in (address, other)
            ):
                return port
    return None
