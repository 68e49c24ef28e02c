"""Create an initial fleet file for the GPU nodes in a cluster's snapshot.

Facts that nodes don't show aren't guessed. Instead, the fleet's defaults apply, and notes list
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import POOL, Cloud, NodeOrigin, cloud, cloud_of_labels
from dra_planner.documents.snapshot import SNAPSHOT_COMMAND
from dra_planner.drivers import nvidia
from dra_planner.errors import CatalogError, ManifestError, Place, PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.imported_pools import free_pool_name, is_own_label
from dra_planner.model import Node
from dra_planner.offers import Offer, observe_offers
from dra_planner.plan.cluster.snapshot_plan import features_of_snapshot
from dra_planner.plan.model import PlanRequest
from dra_planner.plan.reading import read_checked
from dra_planner.sources import Source
from dra_planner.wording import counted

_REGION: Final = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
# labels with the pool's name that are the same on every cloud
_POOL_LABELS: Final = (POOL, "karpenter.sh/nodepool")

_DRIVER_IMAGE: Final = re.compile(
    r"/(?:k8s-dra-driver-gpu|dra-driver-nvidia-gpu):v?(\d+\.\d+\.\d+)"
)


class StartingFleet(Struct, frozen=True, kw_only=True):
    """A fleet as plain data, ready to commit after a review, with notes for the reviewer."""

    fleet: Fleet
    document: Mapping[str, Any]
    notes: tuple[str, ...]


def fleet_of_cluster(sources: Sequence[Source], kubernetes: str = "") -> StartingFleet:
    """Return the fleet of a snapshot's GPU nodes.

    `kubernetes` is used if the snapshot doesn't contain a version. Raises ManifestError for a
    snapshot without GPU nodes of a supported cloud, and PlannerError if these nodes don't result in
    a valid fleet.
    """
    request = PlanRequest(sources=(), observed=tuple(sources), kubernetes=kubernetes)
    features = features_of_snapshot(request)
    manifests = read_checked(request.observed, features)
    offers = observe_offers(manifests, features)
    place = Place(sources[0].name)
    by_cloud = [
        (name, offer) for offer in offers if (name := cloud_of_labels(offer.node.meta.labels))
    ]
    if not by_cloud:
        refused = next(
            (
                f" (ignored: {found})"
                for found in manifests.diagnostics
                if found.severity == "error"
            ),
            "",
        )
        raise ManifestError(
            f"doesn't contain a node on a supported cloud{refused}",
            place=place,
            fix=f"use the output of `{SNAPSHOT_COMMAND}`",
        )
    of_cloud = cloud(Counter(name for name, _ in by_cloud).most_common(1)[0][0])
    notes = [f"ignored: {found}" for found in manifests.diagnostics if found.severity == "error"]
    nodes = [
        (offer, _machine(offer, of_cloud)) for name, offer in by_cloud if name == of_cloud.name
    ]
    pools = list(
        _pools(
            [(offer, found) for offer, found in nodes if found and found.gpu_count], of_cloud, notes
        )
    )
    if not pools:
        raise ManifestError(
            "doesn't contain a GPU node with a known machine type",
            place=place,
            fix=f"use the output of `{SNAPSHOT_COMMAND}`",
        )
    _note_device_plugin([offer.node for offer, _ in nodes], notes)
    plain = [offer.machine for offer, found in nodes if found is None or not found.gpu_count]
    document = {
        "cloud": of_cloud.name,
        "region": _region([offer.node for offer, _ in nodes], of_cloud, place),
        "kubernetes": features.version,
        "systemPool": _system_pool(
            plain, of_cloud, notes, all_have_gpus=not plain and len(nodes) == len(offers)
        ),
        "drivers": {"nvidia": {"version": _driver(sources, notes)}},
        "pools": pools,
    }
    return StartingFleet(fleet=read_fleet(document), document=document, notes=tuple(notes))


def _machine(offer: Offer, of_cloud: Cloud) -> Machine | None:
    """Return the node's machine type with its attached GPUs, or None if it isn't in the tables."""
    name = offer.machine
    kind = (
        offer.node.meta.labels.get(of_cloud.accelerator_label, "")
        if of_cloud.accelerator_label
        else ""
    )
    gpus = sum(
        device.attributes.get("type") == "gpu" for each in offer.slices for device in each.devices
    )
    gpus = gpus or offer.node.allocatable.get(nvidia.EXTENDED_RESOURCE, 0)
    for candidate in (name, f"{name}+{kind}:{gpus}"):
        try:
            found = catalog.machine(of_cloud.name, candidate)
        except CatalogError:
            continue
        if found.gpu_count or not kind:
            return found
    return None


def _pools(
    nodes: Sequence[tuple[Offer, Machine]], of_cloud: Cloud, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield the pools.

    The nodes of a pool have the same machine type, and the same pool name or no pool name.
    """
    grouped: dict[tuple[str, str], list[tuple[Offer, Machine]]] = {}
    for offer, machine in nodes:
        labels = offer.node.meta.labels
        keys = (*_POOL_LABELS, of_cloud.pool_label)
        name = next((labels[key] for key in keys if key and key in labels), machine.name)
        grouped.setdefault((name, machine.name), []).append((offer, machine))
    several = Counter(name for name, _ in grouped)
    taken: set[str] = set()
    for (name, machine_name), members in sorted(grouped.items()):
        title = free_pool_name(
            f"{name}-{machine_name}" if several[name] > 1 else name, taken, of_cloud
        )
        yield _pool(title, members, of_cloud, notes)


def _pool(
    name: str, members: Sequence[tuple[Offer, Machine]], of_cloud: Cloud, notes: list[str]
) -> dict[str, Any]:
    machine = members[0][1]
    nodes = [offer.node for offer, _ in members]
    plain = NodeOrigin(name=name, machine=machine)
    spot = (
        of_cloud.added_labels(replace(plain, capacity="spot")).items()
        - of_cloud.added_labels(plain).items()
    )
    pool: dict[str, Any] = {
        "name": name,
        "machine": machine.name,
        "count": {"min": 0, "max": len(nodes)},
    }
    notes.append(f'pool "{name}": its maximum is the current count, {counted(len(nodes), "node")}')
    zones = sorted({zone for offer, _ in members for zone in offer.zones})
    if zones and all(map(of_cloud.region_of, zones)) and all(offer.zones for offer, _ in members):
        pool["zones"] = zones
    if spot and all(spot <= node.meta.labels.items() for node in nodes):
        pool["capacity"] = "spot"
    if labels := _own_labels(nodes, of_cloud):
        pool["labels"] = labels
    if taints := _own_taints(nodes, of_cloud, plain):
        pool["taints"] = taints
    notes.extend(
        f'pool "{name}": the fleet adds the taint {taint}, which some existing nodes don\'t have, '
        f"so pods without a toleration for {taint.key} can't run on new nodes"
        for taint in of_cloud.taints(plain)
        if any(taint.key not in {each.key for each in node.taints} for node in nodes)
    )
    if any(
        device.attributes.get("type") == "mig"
        for o, _ in members
        for each in o.slices
        for device in each.devices
    ):
        notes.append(
            f'pool "{name}": its GPUs are partitioned; set mig to their MIG configuration '
            "(pulumi-dra catalog mig)"
        )
    return pool


def _note_device_plugin(nodes: Iterable[Node], notes: list[str]) -> None:
    """Add a note if nodes in the snapshot offer their GPUs through a device plugin."""
    if any(node.allocatable.get(nvidia.EXTENDED_RESOURCE) for node in nodes):
        notes.append(
            f"a device plugin offers the GPUs in the snapshot as {nvidia.EXTENDED_RESOURCE}, but "
            "new nodes offer GPUs only to claims; to convert the pods, run `pulumi-dra migrate`"
        )


def _own_labels(nodes: Sequence[Node], of_cloud: Cloud) -> dict[str, str]:
    """Return labels that have one value on all nodes of the pool, and that neither a cloud nor a
    driver sets.
    """
    common = set(nodes[0].meta.labels.items()).intersection(
        *(node.meta.labels.items() for node in nodes)
    )
    return {key: value for key, value in sorted(common) if is_own_label(key, value, of_cloud)}


def _own_taints(nodes: Sequence[Node], of_cloud: Cloud, plain: NodeOrigin) -> list[dict[str, str]]:
    ours = {
        (taint.key, taint.effect) for taint in (*of_cloud.taints(plain), *of_cloud.possible_taints)
    }
    common = set(nodes[0].taints).intersection(*(node.taints for node in nodes))
    return [
        {"key": taint.key, "value": taint.value, "effect": taint.effect}
        for taint in sorted(common, key=str)
        if (taint.key, taint.effect) not in ours and not taint.key.startswith("node.kubernetes.io/")
    ]


def _region(nodes: Iterable[Node], of_cloud: Cloud, place: Place) -> str:
    for node in nodes:
        if found := next((node.meta.labels[key] for key in _REGION if key in node.meta.labels), ""):
            return of_cloud.region_of(found) or found
    raise PlannerError(
        "the nodes don't have a region label",
        place=place,
        fix=f"set the label {_REGION[0]} on at least one node",
    )


def _system_pool(
    machines: Sequence[str], of_cloud: Cloud, notes: list[str], *, all_have_gpus: bool
) -> dict[str, Any]:
    if not any(machines):
        cause = (
            "all nodes in the snapshot have GPUs"
            if all_have_gpus
            else "the machine types of the nodes without GPUs are unknown"
        )
        notes.append(f"{cause}, so the system pool uses {of_cloud.system_machine}")
        return {"machine": of_cloud.system_machine}
    machine, count = Counter(name for name in machines if name).most_common(1)[0]
    return {"machine": machine, "count": count}


def _driver(sources: Iterable[Source], notes: list[str]) -> str:
    """Return the version of the NVIDIA DRA driver in the snapshot's pods, or the newest known
    version.
    """
    known = [release.version for release in nvidia.driver_releases() if release.is_installable]
    seen: Counter[str] = Counter(
        match for source in sources for match in _DRIVER_IMAGE.findall(source.text)
    )
    for version, _ in seen.most_common():
        if version in known:
            return version
    newest = nvidia.newest_driver_release().version
    reason = (
        f"the catalog doesn't contain NVIDIA DRA driver {next(iter(seen))} from the snapshot"
        if seen
        else "the snapshot doesn't contain the NVIDIA DRA driver"
    )
    notes.append(f"{reason}, so the fleet uses {newest}")
    return newest
