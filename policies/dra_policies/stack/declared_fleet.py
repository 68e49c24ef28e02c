"""Read the fleet that a stack's resources declare, independent of its plan, and predict the nodes
of each pool.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog import machines
from dra_planner.clouds import cloud
from dra_planner.errors import Place, PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.offers import Offer, predict_offers
from dra_planner.releases import Features, parse_version
from dra_policies.stack.pools import cloud_of_cluster, cloud_of_provider
from dra_policies.stack.resource import Resource
from dra_policies.stack.scaling_groups import states_labels
from dra_policies.stack.wording import with_titles
from dra_policies.view.stack_view import DeclaredPool, StackView

_MAX_PODS = re.compile(r"max-?pods[\"']?\s*[:=]\s*(\d{1,4})\b", re.IGNORECASE)
_ONLY_OF_PLUGINS = ("allocation", "migStrategy", "sharing")


class DeclaredFleet(Struct, frozen=True):
    """The fleet, its offers, and notes about unknown facts that come from the plan."""

    fleet: Fleet
    offers: tuple[Offer, ...]
    features: Features
    unknowns: tuple[str, ...]
    doubtful_pools: tuple[str, ...]


def declared_fleet(
    view: StackView, resources: Sequence[Resource], assumed: Mapping[str, Any] | None = None
) -> DeclaredFleet:
    """Return the fleet that the resources of a stack declare. Raises PlannerError if it isn't
    known.

    Facts that resources don't show (zones, MIG configurations, prices) come from the plan if there
    is one. `assumed` contains keys of a fleet file for facts that a stack without a plan doesn't
    state.
    """
    planned = (
        view.record.plan_file.fleet.document() if view.record and view.record.plan_file else None
    )
    unknowns: list[str] = []
    served = _plugin_pools(planned)
    pools = [
        pool
        for pool in (*view.pools, *filter(states_labels, view.scaling_groups))
        if pool.has_gpus is not False and (pool.is_dra is not False or pool.offer_name in served)
    ]
    region = stack_region(resources)
    rows = [_row(pool, planned, unknowns, region) for pool in pools]
    if not any(rows):
        raise PlannerError("; ".join(unknowns) or "this stack doesn't declare a DRA pool")
    known_rows = [row for row in rows if row is not None]
    if assumed is None and planned is None and not region:
        assumed = _assumed_region(view.node_pools[0].cloud, known_rows, unknowns)
    document = _document(view, resources, planned, assumed or {}, unknowns)
    document["pools"] = known_rows
    fleet = _read(
        document, [pool.title for pool, row in zip(pools, rows, strict=True) if row is not None]
    )
    features = fleet.features
    by_name = {pool.offer_name: pool for pool in pools}
    offers = tuple(
        _as_declared(offer, by_name[offer.name], fleet) for offer in predict_offers(fleet, features)
    )
    # the plan supplies facts that the resources don't show
    known = {row["name"] for row in (planned or {}).get("pools", [])}
    doubtful = tuple(
        pool.title for pool in pools if pool.offer_name not in known and _is_doubtful(pool)
    )
    return DeclaredFleet(fleet, offers, features, tuple(unknowns), doubtful)


def _read(document: Mapping[str, Any], titles: Sequence[str]) -> Fleet:
    """Return the fleet in a document. Raises PlannerError with the pools' names in the stack."""
    try:
        return read_fleet(document)
    except PlannerError as error:
        first, *others = (_with_titles(each, titles) for each in (error, *error.others))
        raise PlannerError(
            first.message, place=first.place, fix=first.fix, others=tuple(others)
        ) from None


def _with_titles(error: PlannerError, titles: Sequence[str]) -> PlannerError:
    place = with_titles(f"{error.place}: ", titles).removesuffix(": ")
    return PlannerError(
        with_titles(error.message, titles),
        place=Place(path=place),
        fix=with_titles(error.fix, titles),
    )


def _plugin_pools(planned: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the names of the plan's pools whose devices a device plugin serves."""
    rows: list[dict[str, Any]] = (planned or {}).get("pools", [])
    return frozenset(str(row["name"]) for row in rows if row.get("allocation", "dra") != "dra")


def _is_doubtful(pool: DeclaredPool) -> bool:
    """Return whether the pool's real nodes might accept pods that the predicted nodes don't accept,
    because a fact about the pool is unknown.
    """
    return (
        pool.machine is None
        or pool.count_max is None
        or pool.taints is None
        or pool.labels is None
        or None in pool.labels.values()
    )


def _row(
    pool: DeclaredPool, planned: dict[str, Any] | None, unknowns: list[str], region: str
) -> dict[str, Any] | None:
    """Return the pool in the form of a fleet, or None if too little is known."""
    rows: list[dict[str, Any]] = (planned or {}).get("pools", [])
    named = [row for row in rows if row.get("name") == pool.offer_name]
    base = dict(named[0]) if named else dict[str, Any]()
    machine = pool.machine or base.get("machine")
    limits: dict[str, Any] = base.get("count", {})
    # the initial count of a pool isn't its minimum in the fleet
    low = limits.get("min", pool.count_min)
    high = limits.get("max") if pool.count_max is None else pool.count_max
    if pool.machine is None or pool.count_max is None:
        what = "machine type" if pool.machine is None else "maximum node count"
        known = "the planned value is used instead" if base else "the plan omits this pool"
        unknowns.append(f"the {what} of {pool.title} isn't known yet, so {known}")
    if machine is None or high is None:
        return None
    # the actual labels determine which pods run on the nodes, even if the plan has other labels
    if pool.is_dra:
        base = {key: value for key, value in base.items() if key not in _ONLY_OF_PLUGINS}
    if pool.labels is not None:
        base["labels"] = {
            key: value for key, value in base.get("labels", {}).items() if key in pool.labels
        }
    base |= _places(pool, base, region)
    return {
        **base,
        "name": pool.offer_name,
        "machine": machine,
        "count": {"min": min(low or 0, high), "max": high},
    }


def _places(pool: DeclaredPool, base: Mapping[str, Any], region: str) -> dict[str, Any]:
    """Return the zone of the nodes if there is only one, and their maximum number of pods if the
    cloud allows setting it.
    """
    of_cloud, found = cloud(pool.cloud), dict[str, Any]()
    paths = of_cloud.pool
    most = pool.own.count(paths.max_pods, 0) if paths.max_pods else 0
    if not most and (set_at_boot := _MAX_PODS.search(pool.boot_script or "")):
        most = int(set_at_boot[1])
    if most and most in of_cloud.pods_of_a_node:
        found["maxPods"] = most
    zones = (pool.own.texts(paths.zones) or ()) if paths.zones else ()
    if (
        len(zones) == 1
        and "zones" not in base
        and region
        and of_cloud.region_of(zones[0] or "") == region
    ):
        found["zones"] = [zones[0]]
    return found


def _document(
    view: StackView,
    resources: Sequence[Resource],
    planned: dict[str, Any] | None,
    assumed: Mapping[str, Any],
    unknowns: list[str],
) -> dict[str, Any]:
    """Return the fleet's document without its pools."""
    document: dict[str, Any] = dict(planned or {})
    version = cluster_version(resources)
    if version:
        document["kubernetes"] = version
    versions = sorted({driver.version for driver in view.drivers if driver.version})
    if len(versions) == 1:
        drivers: dict[str, Any] = document.get("drivers", {})
        declared: Mapping[str, Any] = view.drivers[0].settings if len(view.drivers) == 1 else {}
        nvidia = {**drivers.get("nvidia", {}), **declared, "version": versions[0]}
        document["drivers"] = {**drivers, "nvidia": nvidia}
    if planned is not None:
        return document
    of_cloud = cloud(view.node_pools[0].cloud)
    if region := stack_region(resources):
        document["region"] = region
    titles = {"region": "region", "kubernetes": "Kubernetes version", "drivers": "driver version"}
    missing = {key: what for key, what in titles.items() if key not in document}
    if unset := [what for key, what in missing.items() if not assumed.get(key)]:
        raise PlannerError(f"this stack doesn't register a plan or set its {' and '.join(unset)}")
    if "drivers" in missing:
        unknowns.append(
            "the NVIDIA DRA driver version isn't declared, so the plan uses "
            f"{assumed['drivers']['nvidia']['version']}"
        )
    # this pool doesn't run claims, so any machine type is sufficient
    system = {"machine": of_cloud.system_machine}
    return {**assumed, **document, "cloud": of_cloud.name, "systemPool": system}


def cluster_version(resources: Sequence[Resource]) -> str:
    """Return "1.<minor>" of the stack's only cluster, or "" if it isn't known."""
    versions = {
        resource.props.text(of_cloud.cluster.version)
        for resource in resources
        if (of_cloud := cloud_of_cluster(resource)) is not None
    }
    if len(versions) != 1:
        return ""
    try:
        return f"1.{parse_version(versions.pop() or '')}"
    except PlannerError:
        return ""


def _assumed_region(
    name: str, rows: Sequence[Mapping[str, Any]], unknowns: list[str]
) -> dict[str, str]:
    """Return a region that has all machine types of the pools, in the form of a fleet, or an empty
    mapping. An environment variable can set the provider's region, so the stack doesn't show it.
    """
    used = {str(row["machine"]) for row in rows}
    offered = machines(name)
    regions = Counter(region for each in offered for region in each.regions)
    usable = [
        region
        for region in sorted(regions)
        if all(region in each.regions for each in offered if each.name in used and each.regions)
    ]
    if not usable:
        return {}
    chosen = max(usable, key=lambda region: regions[region])
    unknowns.append(f"the region isn't declared, so the plan uses {chosen}")
    return {"region": chosen}


def stack_region(resources: Sequence[Resource]) -> str:
    """Return the stack's region, of its cluster's cloud if it has one, or "" if it doesn't state a
    region.
    """
    clouds = {of_cloud.name for each in resources if (of_cloud := cloud_of_cluster(each))}
    for resource in resources:
        if of_cloud := cloud_of_cluster(resource):
            path = of_cloud.cluster.region
        elif of_cloud := cloud_of_provider(resource):
            path = of_cloud.provider_region
        else:
            continue
        if clouds and of_cloud.name not in clouds:
            continue
        if region := resource.props.text(path):
            return of_cloud.region_of(region) or region
    return ""


def _as_declared(offer: Offer, pool: DeclaredPool, fleet: Fleet) -> Offer:
    """Return the offer with the pool's declared labels and taints instead of the planned ones."""
    node, of_cloud = offer.node, cloud(fleet.cloud)
    if pool.labels is not None:
        ours = of_cloud.reserved_labels
        kept = {
            key: value
            for key, value in node.meta.labels.items()
            if key not in ours or key in pool.labels
        }
        declared = {key: value for key, value in pool.labels.items() if value is not None}
        node = replace(node, meta=replace(node.meta, labels={**kept, **declared}))
    if pool.taints is not None:
        nodes = fleet.nodes_of(fleet.pool(offer.name), fleet.machine(offer.machine))
        node = replace(
            node, taints=tuple(dict.fromkeys((*pool.taints, *of_cloud.added_taints(nodes))))
        )
    return replace(offer, node=node)
