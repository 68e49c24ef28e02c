"""Read the outcome of the workloads: the nodes, pools, and devices of pods, and the reasons why
pods are pending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from dra_planner.model import WorkloadRef
from dra_sandbox.rehearsal.cluster import PlannedCluster
from dra_sandbox.rehearsal.scheduler_decisions import is_failing, is_judged, scheduled_condition
from dra_sandbox.rehearsal.workloads import workload_of

Json = dict[str, Any]


class HeldDevice(NamedTuple):
    """A device of a claim: its request, its driver, and its pool of devices."""

    claim: str
    request: str
    driver: str
    pool: str
    device: str


class PodOutcome(Struct, frozen=True):
    """One pod: its node, or an empty text with the scheduler's message, and the devices of its
    claims.
    """

    name: str
    node: str
    words: str
    is_judged: bool
    devices: tuple[HeldDevice, ...] = ()


class RehearsedWorkload(Struct, frozen=True):
    """The outcome of one workload. `refused` is the reason why the API server rejected the workload
    or its pods.
    """

    workload: WorkloadRef
    pods: tuple[PodOutcome, ...] = ()
    pools: Mapping[str, int] = {}
    refused: str = ""

    @property
    def placed(self) -> int:
        """Number of pods with a node."""
        return sum(1 for pod in self.pods if pod.node)

    @property
    def words(self) -> tuple[str, ...]:
        """The scheduler's messages about pending pods, without duplicates."""
        return tuple(dict.fromkeys(pod.words for pod in self.pods if not pod.node and pod.words))


class PoolOutcome(Struct, frozen=True):
    """The outcome of one pool: its nodes, the nodes with pods, all devices, and the devices of
    claims.
    """

    name: str
    nodes: int
    nodes_used: int
    pods: int
    devices: int
    devices_used: int


class RehearsalOutcome(Struct, frozen=True):
    """Workloads in arrival order and pools in fleet order. `decided` is False if the time limit was
    reached.
    """

    workloads: tuple[RehearsedWorkload, ...]
    pools: tuple[PoolOutcome, ...]
    decided: bool


def read_outcome(
    refs: Iterable[WorkloadRef],
    pods: Iterable[Json],
    claims: Iterable[Json],
    cluster: PlannedCluster,
    refused: Mapping[WorkloadRef, str],
    *,
    decided: bool,
) -> RehearsalOutcome:
    """Return the outcome of these workloads from the current pods and claims."""
    held = _devices(claims)
    found: dict[WorkloadRef, list[PodOutcome]] = {ref: [] for ref in refs}
    for pod in pods:
        found.setdefault(workload_of(pod), []).append(_pod(pod, held))
    workloads = tuple(
        RehearsedWorkload(
            ref,
            tuple(each),
            dict(
                sorted(
                    Counter(
                        cluster.pool_of(pod.node) for pod in each if pod.node in cluster.nodes
                    ).items()
                )
            ),
            refused.get(ref, ""),
        )
        for ref, each in found.items()
    )
    return RehearsalOutcome(workloads, tuple(_pools(cluster, workloads, held)), decided)


def _pod(pod: Json, held: Mapping[tuple[str, str], list[HeldDevice]]) -> PodOutcome:
    namespace, status = pod["metadata"]["namespace"], pod.get("status", {})
    names = [each.get("resourceClaimName") for each in status.get("resourceClaimStatuses", [])]
    names += [each.get("resourceClaimName") for each in pod["spec"].get("resourceClaims", [])]
    names.append((status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName"))
    return PodOutcome(
        name=pod["metadata"]["name"],
        node=pod["spec"].get("nodeName", ""),
        words=scheduled_condition(pod).get("message", ""),
        is_judged=is_judged(pod) or is_failing(pod),
        devices=tuple(
            device
            for name in dict.fromkeys(names)
            if name
            for device in held.get((namespace, name), ())
        ),
    )


def _devices(claims: Iterable[Json]) -> dict[tuple[str, str], list[HeldDevice]]:
    held: dict[tuple[str, str], list[HeldDevice]] = {}
    for claim in claims:
        name, allocation = (
            claim["metadata"]["name"],
            claim.get("status", {}).get("allocation") or {},
        )
        held[claim["metadata"]["namespace"], name] = [
            HeldDevice(name, each["request"], each["driver"], each["pool"], each["device"])
            for each in (allocation.get("devices") or {}).get("results", [])
        ]
    return held


def _pools(
    cluster: PlannedCluster,
    workloads: Iterable[RehearsedWorkload],
    held: Mapping[tuple[str, str], list[HeldDevice]],
) -> Iterable[PoolOutcome]:
    pods = Counter(pod.node for workload in workloads for pod in workload.pods if pod.node)
    used = {(each.driver, each.pool, each.device) for devices in held.values() for each in devices}
    used_on = Counter(pool for _, pool, _ in used)
    for name in cluster.pools:
        nodes = [node for node, each in cluster.nodes.items() if each.pool == name]
        yield PoolOutcome(
            name=name,
            nodes=len(nodes),
            nodes_used=sum(1 for node in nodes if pods[node]),
            pods=sum(pods[node] for node in nodes),
            devices=sum(len(one.devices) for node in nodes for one in cluster.nodes[node].slices),
            devices_used=sum(used_on[node] for node in nodes),
        )
