"""The fleet document of a cluster that another tool describes. Facts that the tool doesn't state
are omitted and noted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud, NodeOrigin, cloud
from dra_planner.clouds.foreign import ForeignCluster, ForeignPool
from dra_planner.drivers import nvidia
from dra_planner.errors import CatalogError, FleetError, Place
from dra_planner.fleet import Fleet, LearnedMachine, read_fleet
from dra_planner.fleet.imported_pools import free_pool_name, is_own_label
from dra_planner.fleet.schema import SystemPool
from dra_planner.fleet_sources.endpoints import imported_endpoint
from dra_planner.fleet_sources.images import imported_disk, note_image
from dra_planner.fleet_sources.limits import imported_quotas
from dra_planner.fleet_sources.networks import (
    fill_in_zones,
    imported_network,
    imported_zones,
)
from dra_planner.fleet_sources.taints import imported_taints, note_lost_taints, note_new_taint
from dra_planner.wording import counted

_MOST_NODES: Final = 10
"""Default maximum of a pool if the tool doesn't set one. Users must check it."""
_VARIABLE: Final = "${"
"""Start of a variable in a template, which `clusterctl generate` or `envsubst` fills in."""
_CLUSTER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
"""A name that clouds accept. Descriptions without a name use an address instead."""
_DRIVER_CHARTS: Final = ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu")


class ImportedFleet(Struct, frozen=True, kw_only=True):
    """A fleet, its document to commit, and notes about missing or unsupported facts.

    `cluster` is the name of the described cluster, or "" if it's unknown.
    """

    fleet: Fleet
    document: Mapping[str, Any]
    notes: tuple[str, ...]
    cluster: str = ""


def fleet_of_cluster_description(
    described: ForeignCluster,
    *,
    file: str,
    region: str = "",
    kubernetes: str = "",
    learned: Sequence[LearnedMachine] = (),
    target: str = "FOLDER",
) -> ImportedFleet:
    """Return the fleet of a described cluster.

    `learned` are machine types beyond the tables, and `target` are the other arguments of `init`,
    for the command in a fix. Raises FleetError if no pool has accelerators, or a fact is missing.
    """
    of_cloud = cloud(described.cloud)
    notes = list(described.notes)
    rows = {row.machine: row for row in learned}
    stated = "" if _VARIABLE in described.region else described.region
    gpu_pools: list[dict[str, Any]] = []
    with_devices: list[tuple[ForeignPool, list[Machine]]] = []
    plain: list[tuple[Machine, ForeignPool]] = []
    taken: set[str] = set()
    for pool in described.pools:
        notes += pool.notes
        machines = _known(pool, of_cloud, rows, notes)
        with_gpus = [each for each in machines if each.accelerator or _has_devices(rows, each)]
        if with_gpus:
            with_devices.append((pool, with_gpus))
            gpu_pools += _pools(pool, with_gpus, taken, of_cloud, notes, region or stated)
            note_new_taint(pool, machines, of_cloud, notes)
        elif machines:
            plain.append((machines[0], pool))
            note_lost_taints(pool, of_cloud, notes)
    if not gpu_pools:
        message = "none of the pools in these files has accelerators and a known machine type"
        raise FleetError(
            message, place=Place(file), fix="; ".join(notes[:3]) or "pass a file with GPU pools"
        )
    where = _required("region", region or stated, file, target)
    if described.has_single_zones:
        fill_in_zones(gpu_pools, f"{where}{of_cloud.zone_suffixes[0]}", notes)
    version = _minor(kubernetes or described.kubernetes)
    document = _cluster(described, where, version, of_cloud, notes)
    document["systemPool"] = _system_pool(plain, of_cloud, notes)
    document["drivers"] = {"nvidia": {"version": _driver(described.charts, notes)}}
    document["pools"] = gpu_pools
    if quotas := imported_quotas(with_devices, notes):
        document["quotas"] = quotas
    return ImportedFleet(
        fleet=read_fleet(document, file=file, catalog=learned),
        document=document,
        notes=tuple(notes),
        cluster=described.name if _CLUSTER_NAME.fullmatch(described.name) else "",
    )


def _cluster(
    described: ForeignCluster, region: str, version: str, of_cloud: Cloud, notes: list[str]
) -> dict[str, Any]:
    """Return the part of the document that describes the cluster without its pools."""
    if not version:
        version = of_cloud.new_cluster
        notes.append(f"the Kubernetes version isn't set, so the fleet uses {version}")
    document: dict[str, Any] = {"cloud": of_cloud.name, "region": region, "kubernetes": version}
    if described.autoscaler in of_cloud.autoscalers:
        document["autoscaler"] = described.autoscaler
    if network := imported_network(described, region, version, of_cloud, notes):
        document["network"] = network
    if endpoint := imported_endpoint(described, of_cloud, notes):
        document["endpoint"] = endpoint
    return document


def _known(
    pool: ForeignPool, of_cloud: Cloud, rows: Mapping[str, LearnedMachine], notes: list[str]
) -> list[Machine]:
    found = []
    for name in pool.machines:
        try:
            found.append(catalog.machine(of_cloud.name, name))
        except CatalogError:
            if name in rows:
                found.append(rows[name].machine_type(of_cloud.name))
                continue
            notes.append(f"pool {pool.name} is skipped, because {_unknown_machine(name)}")
    return found


def _unknown_machine(name: str) -> str:
    if _VARIABLE in name:
        return (
            f"its machine type is the variable {name}. Fill in the file first, for example with "
            "`clusterctl generate yaml --from FILE`"
        )
    return f"the machine type {name} isn't in the catalog"


def _has_devices(rows: Mapping[str, LearnedMachine], machine: Machine) -> bool:
    return machine.name in rows and bool(rows[machine.name].drivers)


def _pools(
    pool: ForeignPool,
    machines: Sequence[Machine],
    taken: set[str],
    of_cloud: Cloud,
    notes: list[str],
    region: str,
) -> list[dict[str, Any]]:
    """Return a pool for each machine type.

    Alternative machine types share one maximum, and only the first pool has the minimum.
    """
    group = free_pool_name(pool.name, taken, of_cloud)
    found = _pool(pool, machines[0], group, of_cloud, notes, region)
    if len(machines) == 1:
        return [found]
    note = (
        f"pool {group} may use {len(machines)} machine types. The fleet has one pool for each "
        f"machine type, and these pools share the maximum of {found['count']['max']} nodes"
    )
    if least := found["count"]["min"]:
        note += f". Only the pool with {machines[0].name} has the minimum of {least}"
    notes.append(note)
    return [
        {
            **found,
            "name": free_pool_name(f"{pool.name}-{machine.name}", taken, of_cloud),
            "machine": machine.name,
            "count": {
                "min": 0 if at else found["count"]["min"],
                "max": pool.maximums.get(machine.name, found["count"]["max"]),
            },
            "partOf": group,
        }
        for at, machine in enumerate(machines)
    ]


def _pool(
    pool: ForeignPool, machine: Machine, name: str, of_cloud: Cloud, notes: list[str], region: str
) -> dict[str, Any]:
    most = pool.maximum
    if most is None:
        most = max(_MOST_NODES, pool.minimum or 0)
        notes.append(f"pool {name}: its maximum isn't set, so the fleet allows {most} nodes")
    found: dict[str, Any] = {
        "name": name,
        "machine": machine.name,
        "count": {"min": min(pool.minimum or 0, most), "max": most},
    }
    if zones := imported_zones(pool, region, of_cloud, notes):
        found["zones"] = zones
    if capacity := _capacity(pool, of_cloud, notes):
        found["capacity"] = capacity
    if pool.mig:
        notes.append(
            f"pool {name}: its GPUs are partitioned ({pool.mig}); set `mig` to their MIG "
            "configuration"
        )
    found["diskGib"] = imported_disk(pool, of_cloud, notes)
    note_image(pool, machine, of_cloud, notes)
    if pool.max_pods is not None:
        found["maxPods"] = pool.max_pods
    if pool.local_storage and machine.local_disks:
        found["localStorage"] = pool.local_storage
    if labels := _labels(pool, machine, of_cloud, notes):
        found["labels"] = labels
    if taints := imported_taints(pool, machine, of_cloud, notes):
        found["taints"] = taints
    return found


def _capacity(pool: ForeignPool, of_cloud: Cloud, notes: list[str]) -> Any:
    if pool.capacity not in of_cloud.capacities or pool.capacity == "on-demand":
        return ""
    if pool.capacity in ("spot", "flex-start", "queued"):
        return pool.capacity
    if not pool.reservation:
        notes.append(
            f"pool {pool.name}: the ID of its {pool.capacity} isn't set, so the fleet uses "
            "on-demand capacity"
        )
        return ""
    if fault := of_cloud.reservation_fault(pool.reservation):
        notes.append(f"pool {pool.name}: {fault}; it's planned on demand")
        return ""
    key = "capacityBlock" if pool.capacity == "capacity-block" else "reservation"
    return {key: pool.reservation}


def _labels(
    pool: ForeignPool, machine: Machine, of_cloud: Cloud, notes: list[str]
) -> dict[str, str]:
    """Return the labels that a fleet's pool can set.

    Add a note for the other labels, unless the fleet's nodes have the same labels automatically.
    """
    origin = NodeOrigin(name=pool.name, machine=machine, capacity=pool.capacity)
    automatic = {each.key: each.value for each in of_cloud.labels(origin)}
    automatic |= of_cloud.added_labels(origin)
    rows = sorted(pool.labels.items())
    kept = {key: value for key, value in rows if is_own_label(key, value, of_cloud)}
    lost = [f"{k}={v}" for k, v in rows if k not in kept and automatic.get(k) != v]
    if lost:
        notes.append(
            f"pool {pool.name}: its labels {', '.join(lost)} aren't imported, because a fleet "
            "can't set labels that belong to clouds or drivers"
        )
    return kept


def _system_pool(
    plain: Sequence[tuple[Machine, ForeignPool]], of_cloud: Cloud, notes: list[str]
) -> dict[str, Any]:
    if not plain:
        notes.append(
            "the files don't name a machine type for nodes without accelerators, so the system "
            f"pool uses {of_cloud.system_machine}"
        )
        return {"machine": of_cloud.system_machine}
    machine, pool = max(plain, key=lambda each: each[1].desired or each[1].minimum or 0)
    if len(plain) > 1:
        notes.append(
            f"{len(plain)} pools don't have accelerators, so the system pool uses the machine type "
            f"of the pool with the most nodes, {machine.name}"
        )
    which = "desired" if pool.desired else "minimum"
    count = pool.desired or pool.minimum
    if not count:
        which, count = "default", SystemPool.model_fields["count"].default
    if count != pool.minimum or count != pool.maximum:
        notes.append(
            f"the system pool has {counted(count, 'node')} (the {which} count of pool "
            f"{pool.name}), because a fleet doesn't scale its system pool"
        )
    return {"machine": machine.name, "count": count}


def _driver(charts: Mapping[str, str], notes: list[str]) -> str:
    """Return the described version of the driver's chart, or the newest known version."""
    known = {release.version for release in nvidia.driver_releases() if release.is_installable}
    described = next((version for chart, version in charts.items() if chart in _DRIVER_CHARTS), "")
    if described in known:
        return described
    newest = nvidia.newest_driver_release().version
    what = (
        f"version {described} of the NVIDIA DRA driver isn't known"
        if described
        else "these files don't describe the NVIDIA DRA driver"
    )
    notes.append(f"{what}, so the fleet uses version {newest}")
    return newest


NOT_SET: Final = "the {} isn't set in these files"


def _required(what: str, value: str, file: str, target: str) -> str:
    if value:
        return value
    raise FleetError(
        NOT_SET.format(what),
        place=Place(file),
        fix=f"run `pulumi-dra init {target} --from {shlex.quote(file)} --{what} NAME`",
    )


def _minor(version: str) -> str:
    """Return the minor version from a tool's text: 1.36.3-gke.100 → 1.36, or "" for a channel or no
    version.
    """
    parts = version.removeprefix("v").split(".")
    is_version = len(parts) >= 2 and parts[0].isdigit() and parts[1].isdigit()
    return f"{parts[0]}.{parts[1]}" if is_version else ""
