"""Running pods that use devices, by their workloads, and the pods that a migration would lose."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import block, labels, number, plain, text
from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.cluster.owners import Owner, Owners
from dra_planner.migration.device_plugins import is_device, read_plugin_facts
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import Result, TemplateOutcome
from dra_planner.migration.pods import needs_of_containers
from dra_planner.migration.target_cluster import Target
from dra_planner.migration.unrequested_devices import takes_all_devices
from dra_planner.records import equality
from dra_planner.sources import Source

_MIRROR: Final = "kubernetes.io/config.mirror"
_ENDED: Final = ("Succeeded", "Failed")
_SET_BY_CLUSTER: Final = ("nodeName", "resourceClaims")


@equality(unhashed=("units",))
class DeviceUser(Struct, frozen=True, kw_only=True):
    """A workload whose pods use devices of a device plugin, or of claims (`by_claims`).

    `units` are the total units of its pods, by resource. `waiting` is the number of its pods
    without a node. `outcome` is the result of a migration, or None for pods that already use
    claims.
    """

    workload: str  # for example, "Deployment serve/chat"
    pods: int
    waiting: int
    units: Mapping[str, int]
    nodes: tuple[str, ...]
    by_claims: bool
    outcome: TemplateOutcome | None = None


class PodLoss(Struct, frozen=True, kw_only=True):
    """A pod that doesn't survive the migration of its node or workload, and the preparation
    for it.
    """

    pod: str  # for example, "ml/trainer"
    node: str
    reason: str
    fix: str


class _PodUse(Struct, frozen=True, kw_only=True):
    """A pod with devices, and its workload."""

    item: KubernetesObject
    spec: Mapping[str, Any]
    owner: Owner
    units: Mapping[str, int]
    by_claims: bool

    @property
    def node(self) -> str:
        return text(self.spec.get("nodeName"))


def find_device_pods(objects: Iterable[KubernetesObject], owners: Owners) -> Iterator[_PodUse]:
    """Yield the pods that haven't ended, and that use devices, request claims, or can access all
    GPUs without a request.
    """
    for item in objects:
        status, spec = block(item.data, "status"), block(item.data, "spec")
        if item.kind != "Pod" or status.get("phase") in _ENDED:
            continue
        units = _units(spec)
        is_served = bool(status.get("extendedResourceClaimStatus"))
        if units or spec.get("resourceClaims") or takes_all_devices(spec):
            by_claims = is_served or (not units and bool(spec.get("resourceClaims")))
            yield _PodUse(
                item=item, spec=spec, owner=owners.of(item), units=units, by_claims=by_claims
            )


def _units(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return the units that the scheduler counts for the pod: the sum of its containers, or its
    largest init container.
    """
    lasting: Counter[str] = Counter()
    peak: Counter[str] = Counter()
    for need in needs_of_containers(spec, is_device):
        if need.ends:
            peak |= Counter(need.counts) + lasting
        else:
            lasting += Counter(need.counts)
    return dict(peak | lasting)


def users_of(
    pods: Sequence[_PodUse],
    owners: Owners,
    nodes: Mapping[str, KubernetesObject],
    facts: PluginFacts,
    target: Target,
) -> Iterator[DeviceUser]:
    """Yield the workloads of pods, sorted. The pods' nodes show how the plugin shares devices."""
    by_owner: dict[tuple[Owner, bool], list[_PodUse]] = {}
    for pod in pods:
        by_owner.setdefault((pod.owner, pod.by_claims), []).append(pod)
    for (owner, by_claims), own in sorted(by_owner.items()):
        names = tuple(sorted({pod.node for pod in own} - {""}))
        outcome = None
        if not by_claims:
            there = read_plugin_facts([nodes[name] for name in names if name in nodes])
            outcome = _outcome(own[0], owners, PluginFacts.joined(there, facts), target)
        yield DeviceUser(
            workload=str(owner),
            pods=len(own),
            waiting=sum(not pod.node for pod in own),
            units=dict(sum((Counter(pod.units) for pod in own), Counter())),
            nodes=names,
            by_claims=by_claims,
            outcome=outcome,
        )


def _outcome(
    pod: _PodUse, owners: Owners, facts: PluginFacts, target: Target
) -> TemplateOutcome | None:
    """Return the result of a migration for the workload of a pod.

    The result is derived from the pod, without the fields that the cluster added.
    """
    owner = owners.object_of(pod.owner)
    spec = {key: value for key, value in pod.spec.items() if key not in _SET_BY_CLUSTER}
    if owner is not None and owner.kind != "Pod" and _names_node(owner):
        spec["nodeName"] = pod.node
    kind = "Pod" if pod.owner.kind == "Node" else pod.owner.kind
    document = {
        "apiVersion": pod.owner.api_version,
        "kind": kind,
        "metadata": {
            "name": pod.owner.name,
            "namespace": pod.owner.namespace,
            "annotations": labels(pod.item.metadata.get("annotations")),
            "labels": labels((owner or pod.item).metadata.get("labels")),
        },
        "spec": spec if kind == "Pod" else {"template": {"spec": spec}},
    }
    found = migrate([Source("pod.json", json.dumps(plain(document)))], target, facts)
    return next(iter(found.templates), None)


def _names_node(owner: KubernetesObject) -> bool:
    template = block(block(owner.data, "spec"), "template")
    return bool(block(template, "spec").get("nodeName"))


def find_losses(
    pods: Iterable[_PodUse], owners: Owners, served_by_plugin: Mapping[str, set[str]]
) -> Iterator[PodLoss]:
    """Yield pods that don't survive. `served_by_plugin` are the resources that each node's device
    plugin offers.
    """
    for pod in pods:
        if pod.by_claims:
            continue
        reason, fix = _loss(pod, owners, served_by_plugin)
        if reason:
            yield PodLoss(
                pod=f"{pod.item.namespace}/{pod.item.name}", node=pod.node, reason=reason, fix=fix
            )


def _loss(
    pod: _PodUse, owners: Owners, served_by_plugin: Mapping[str, set[str]]
) -> tuple[str, str]:
    owner = owners.object_of(pod.owner)
    if _MIRROR in labels(pod.item.metadata.get("annotations")) or pod.owner.kind == "Node":
        return "it's a static pod, which bypasses the scheduler, so it can't use a claim", (
            "replace the pod with a DaemonSet or Deployment"
        )
    if (
        pod.node
        and pod.node in served_by_plugin
        and not pod.units.keys() <= served_by_plugin[pod.node]
    ):
        return "the device plugin no longer runs on its node, so its containers can't restart", (
            "drain the node before the DRA driver starts there"
        )
    if pod.owner.kind == "Pod":
        return (
            "no controller re-creates the pod after its node is drained",
            "create the pod again from its migrated manifest",
        )
    if (
        owner is not None
        and owner.kind == "Job"
        and number(block(owner.data, "spec").get("backoffLimit")) == 0
    ):
        return (
            "its Job has backoffLimit 0, so draining its node fails the Job",
            "wait until the Job ends",
        )
    if pod.owner.kind == "DaemonSet":
        return (
            "`kubectl drain --ignore-daemonsets` doesn't remove the pod, so the pod keeps its "
            "devices",
            "set a node selector in the DaemonSet to remove its pod from the node before the drain",
        )
    return "", ""


def results(users: Iterable[DeviceUser]) -> Counter[Result]:
    """Return how many workloads have each result."""
    return Counter(each.outcome.result for each in users if each.outcome is not None)
