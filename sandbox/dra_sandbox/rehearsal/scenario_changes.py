"""Describe the change of each scenario in words, and make it in the simulated and in the real
cluster.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.fleet import read_fleet
from dra_planner.model import Node, WorkloadRef
from dra_planner.offers import predict_offers
from dra_planner.plan import Plan
from dra_planner.releases import features_of
from dra_planner.wording import counted
from dra_sandbox.control_plane import ApiServer
from dra_sandbox.rehearsal.cluster import PlannedCluster, cluster_of
from dra_sandbox.rehearsal.controller_delays import wait_for_quotas
from dra_sandbox.rehearsal.scenarios import ScenarioKind, UnknownSubject
from dra_sandbox.rehearsal.snapshot import NODES, SLICES, take_cluster, without_nodes
from dra_sandbox.rehearsal.workload_removal import clear_workloads
from dra_sandbox.rehearsal.workloads import (
    Arrival,
    WorkloadOrder,
    is_ready,
    template_of,
    workload_of,
)

Json = dict[str, Any]

_ROLLED: Final = "pulumi-dra/rollout"
_ROLLING: Final = ("Deployment", "StatefulSet", "DaemonSet")
_SCALED: Final = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_QUOTA_SECONDS: Final = 30.0
_ZONE: Final = "topology.kubernetes.io/zone"


class RehearsedCluster(Struct, frozen=True, kw_only=True):
    """A rehearsed cluster between two scenarios: its nodes, and the last applied workloads.

    `pods` are the pods of workloads, `first` contains the objects that are applied before them, and
    `rollouts` is the number of previous rollouts.
    """

    server: ApiServer
    pods: Sequence[Json]
    plan: Plan
    cluster: PlannedCluster
    first: tuple[Json, ...]
    arrivals: list[Arrival]
    rollouts: int

    @property
    def refs(self) -> tuple[WorkloadRef, ...]:
        """The workloads in arrival order."""
        return tuple(arrival.workload for arrival in self.arrivals)


class ScenarioChange(Struct, kw_only=True):
    """The change of a scenario: its description in words, the cluster for the simulation, and the
    function that changes the real cluster.
    """

    event: str
    cluster: PlannedCluster
    arrivals: list[Arrival]
    after: list[Json]
    act: Callable[[], None]
    wanted: Mapping[WorkloadRef, int] = {}
    gone: Sequence[Json] = ()  # bare pods, which no controller re-creates
    is_done: Callable[[list[Json]], bool] = lambda _pods: True

    @property
    def without_controller(self) -> frozenset[WorkloadRef]:
        """Return the workloads with pods that are permanently lost."""
        return frozenset(workload_of(pod) for pod in self.gone)


def _roll_out(standing: RehearsedCluster, subject: str) -> ScenarioChange:
    names = {ref.name for ref in standing.refs if ref.kind in _ROLLING}
    if subject and subject not in names:
        raise UnknownSubject(
            f'workload "{subject}" can\'t roll out; use one of {", ".join(sorted(names)) or "none"}'
        )
    label = str(standing.rollouts + 1)
    chosen = {ref for ref in standing.refs if ref.kind in _ROLLING and subject in ("", ref.name)}
    arrivals = [
        _relabelled(each, label) if each.workload in chosen else each for each in standing.arrivals
    ]
    refs = sorted(chosen)

    def act() -> None:
        for arrival in arrivals:
            if arrival.workload in chosen:
                for each in arrival.objects:
                    standing.server.apply(each)

    def is_done(pods: list[Json]) -> bool:
        return all(
            _is_rolled_out([pod for pod in pods if workload_of(pod) == ref], label) for ref in refs
        )

    return ScenarioChange(
        event=f"new pods for {', '.join(ref.name for ref in refs)}"
        if refs
        else "no new pods, because no workload can roll out",
        cluster=standing.cluster,
        arrivals=arrivals,
        after=take_cluster(standing.server),
        act=act,
        is_done=is_done,
    )


def _is_rolled_out(pods: list[Json], label: str) -> bool:
    """Return True if all pods are new, or if new pods are pending, which blocks the rollout."""
    new = [pod for pod in pods if pod["metadata"].get("labels", {}).get(_ROLLED) == label]
    if any(not pod["spec"].get("nodeName") for pod in new):
        return True
    return len(new) == len(pods) and all(map(is_ready, new))


def _relabelled(arrival: Arrival, label: str) -> Arrival:
    documents = copy.deepcopy(arrival.objects)
    for each in documents:
        metadata = template_of(each).setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), _ROLLED: label}
    return replace(arrival, objects=documents)


def _scale_up(standing: RehearsedCluster, _subject: str) -> ScenarioChange:
    ceilings = {
        each.workload: each.figures.ceiling
        for each in standing.plan.workloads
        if each.workload.kind in _SCALED and each.figures.ceiling is not None
    }
    sizes = {pool.name: pool.nodes.maximum for pool in standing.plan.pools}
    assert standing.plan.fleet is not None  # a rehearsal always has a plan for a fleet
    grown = cluster_of(standing.plan.fleet, standing.plan.offers, standing.plan.classes, sizes)
    names = {each["metadata"]["name"] for each in standing.cluster.objects}
    added = [each for each in grown.objects if each["metadata"]["name"] not in names]
    arrivals = [
        _scaled(each, ceilings[each.workload]) if each.workload in ceilings else each
        for each in standing.arrivals
    ]

    def act() -> None:
        for each in added:
            standing.server.create(each)
        for arrival in arrivals:
            if arrival.workload in ceilings:
                for each in arrival.objects:
                    standing.server.apply(each)

    nodes = sum(1 for each in added if each["kind"] == "Node")
    return ScenarioChange(
        event=f"{counted(nodes, 'additional node')} with every pool at its maximum, and "
        f"{counted(len(ceilings), 'workload')} at maximum replicas",
        cluster=grown,
        arrivals=arrivals,
        after=[*take_cluster(standing.server), *added],
        act=act,
        wanted=ceilings,
    )


def _scaled(arrival: Arrival, replicas: int) -> Arrival:
    documents = copy.deepcopy(arrival.objects)
    for each in documents:
        each["spec"]["replicas"] = replicas
    return replace(arrival, objects=documents)


def _lose_node(standing: RehearsedCluster, subject: str) -> ScenarioChange:
    if subject and subject not in standing.cluster.nodes:
        raise UnknownSubject(
            f'node "{subject}" doesn\'t exist; use one of {_some(standing.cluster.nodes)}'
        )
    pods = Counter(pod["spec"].get("nodeName", "") for pod in standing.pods)
    busiest = max(standing.cluster.nodes, key=lambda name: pods[name])
    return _lose(standing, frozenset({subject or busiest}), f"node {subject or busiest} fails")


def _lose_zone(standing: RehearsedCluster, subject: str) -> ScenarioChange:
    nodes = {name: _zone(each.node) for name, each in standing.cluster.nodes.items()}
    names = frozenset(name for name, zone in nodes.items() if zone == subject)
    if not names:
        raise UnknownSubject(
            f'no node is in the zone "{subject}"; use one of {_some(sorted(set(nodes.values())))}'
        )
    return _lose(standing, names, f"zone {subject} fails with {len(names)} nodes")


def _lose(standing: RehearsedCluster, names: frozenset[str], event: str) -> ScenarioChange:
    kept = {name: each for name, each in standing.cluster.nodes.items() if name not in names}
    before = take_cluster(standing.server)
    going = [
        each for each in before if each["kind"] == "Pod" and each["spec"].get("nodeName") in names
    ]
    slices = [
        each
        for each in before
        if each["kind"] == "ResourceSlice" and each["spec"].get("nodeName") in names
    ]
    own = [pod for pod in standing.pods if pod["spec"].get("nodeName") in names]
    lonely = [pod for pod in own if not pod["metadata"].get("ownerReferences")]

    def act() -> None:
        for name in sorted(names):
            standing.server.delete(f"{NODES}/{name}")
        for each in slices:
            standing.server.delete(f"{SLICES}/{each['metadata']['name']}")
        for pod in going:
            path = (
                f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
            )
            standing.server.delete(path, at_once=True)

    uids = {pod["metadata"]["uid"] for pod in own}
    objects = tuple(each for each in standing.cluster.objects if not _stands_on(each, names))
    gone = Counter(map(workload_of, lonely))
    wanted = {
        ref: len([pod for pod in standing.pods if workload_of(pod) == ref]) - gone[ref]
        for ref in gone
    }
    return ScenarioChange(
        event=event,
        cluster=replace(standing.cluster, nodes=kept, objects=objects),
        arrivals=standing.arrivals,
        after=without_nodes(before, names),
        act=act,
        wanted=wanted,
        gone=lonely,
        is_done=lambda pods: not any(pod["metadata"]["uid"] in uids for pod in pods),
    )


def _stands_on(item: Json, names: frozenset[str]) -> bool:
    if item["kind"] == "Node":
        return item["metadata"]["name"] in names
    return item["kind"] in ("ResourceSlice", "Pod") and item["spec"].get("nodeName") in names


def _upgrade_driver(standing: RehearsedCluster, subject: str) -> ScenarioChange:
    assert standing.plan.fleet is not None  # a rehearsal always has a plan for a fleet
    document = standing.plan.fleet.model_dump(mode="json", by_alias=True, exclude_unset=True)
    document["drivers"]["nvidia"]["version"] = subject
    upgraded = read_fleet(document)
    features = features_of(upgraded.minor)
    sizes = Counter(each.pool for each in standing.cluster.nodes.values())
    published = cluster_of(
        upgraded, predict_offers(upgraded, features), standing.plan.classes, sizes
    )
    slices = [
        each
        for each in published.objects
        if each["kind"] == "ResourceSlice"
        and each["spec"].get("nodeName") in standing.cluster.nodes
    ]
    rollout = _roll_out(standing, "")
    roll_out = rollout.act
    old = [each for each in rollout.after if each["kind"] == "ResourceSlice"]

    def act() -> None:
        for each in old:
            standing.server.delete(f"{SLICES}/{each['metadata']['name']}")
        for each in slices:
            standing.server.create(each)
        roll_out()

    rest = [each for each in standing.cluster.objects if each["kind"] != "ResourceSlice"]
    rollout.event = f"the NVIDIA driver is upgraded to {subject}, followed by {rollout.event}"
    rollout.cluster = replace(standing.cluster, objects=(*rest, *slices))
    rollout.after = [*(each for each in rollout.after if each["kind"] != "ResourceSlice"), *slices]
    rollout.act = act
    return rollout


def _arrive_again(standing: RehearsedCluster, subject: str) -> ScenarioChange:
    try:
        order = WorkloadOrder.parse(subject)
    except ValueError as error:
        raise UnknownSubject(str(error)) from error
    arrivals = order.arrange(standing.arrivals)
    before = {pod["metadata"]["uid"] for pod in standing.pods}

    def act() -> None:
        clear_workloads(standing.server)
        for each in standing.first:
            standing.server.apply(each)
        wait_for_quotas(standing.server, standing.first, _QUOTA_SECONDS)
        for arrival in arrivals:
            for each in arrival.objects:
                standing.server.apply(each)

    return ScenarioChange(
        event=f"all workloads are applied again in the order {order}",
        cluster=standing.cluster,
        arrivals=arrivals,
        after=list(standing.cluster.objects),
        act=act,
        is_done=lambda pods: not any(pod["metadata"]["uid"] in before for pod in pods),
    )


CHANGES: Final[Mapping[ScenarioKind, Callable[[RehearsedCluster, str], ScenarioChange]]] = {
    "rollout": _roll_out,
    "scale-up": _scale_up,
    "node-lost": _lose_node,
    "zone-lost": _lose_zone,
    "driver-upgraded": _upgrade_driver,
    "arrival-order": _arrive_again,
}


def _zone(node: Node) -> str:
    return node.meta.labels.get(_ZONE, "")


def _some(names: Iterable[str], most: int = 8) -> str:
    found = list(names)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
