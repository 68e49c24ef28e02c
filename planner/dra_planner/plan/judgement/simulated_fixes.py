"""Fixes found by the simulation, as a sentence and as a patch of the fleet or of the manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from dra_planner.manifests import Manifests, render_pod_spec
from dra_planner.model import PodSet
from dra_planner.offers import Offer
from dra_planner.plan.judgement.kustomize import component, patch_target, spec_path
from dra_planner.simulation import PREFER_OTHERS, Fix, PodSetRef, prefer_others
from dra_planner.simulation.sizing.fixes import pin_pod
from dra_planner.sizing import hourly_usd
from dra_planner.wording import counted, listed, named

_MOST_NAMED = 4


def fix_sentence(fix: Fix, offers: Iterable[Offer] = ()) -> str:
    """Return the change of a fix, as an imperative.

    With the fleet's offers, it includes the maximums that the cloud needs to build the fix's nodes.
    """
    raises = raise_sentence(raised_maximums(fix, offers))
    return ", and ".join(filter(None, (change_sentence(fix), raises)))


def raised_maximums(fix: Fix, offers: Iterable[Offer]) -> dict[str, int]:
    """Return the maximums that a fix raises, by pool.

    These include pools whose maximum is sufficient, but not a count that the cloud can build, and
    pools that need more nodes only during rollouts.
    """
    raised = {pool: fix.counts[pool] for pool in fix.pools if fix.kind == "maximum"}
    for offer in offers:
        nodes = offer.buildable(fix.counts.get(offer.name, 0))
        if nodes > offer.count_max:
            raised[offer.name] = nodes
    for pool, nodes in fix.rollouts.items():
        raised[pool] = max(nodes, raised.get(pool, 0))
    return raised


def raise_sentence(maximums: Mapping[str, int]) -> str:
    """Return the imperative that raises the maximums of pools, or "" without pools."""
    raised = [f'of pool "{pool}" to {nodes}' for pool, nodes in maximums.items()]
    return f"raise the maximum {' and that '.join(raised)}" if raised else ""


def change_sentence(fix: Fix) -> str:
    """Return the change of a fix other than maximums, or ""."""
    match fix.kind:
        case "taint":
            return (
                f"add the taint {PREFER_OTHERS} to {_pools(fix.pools)}, so that pods use other "
                "pools first"
            )
        case "affinity":
            by_pools: dict[tuple[str, ...], list[str]] = {}
            for ref, pools in fix.pins.items():
                by_pools.setdefault(pools, []).append(str(ref.workload))
            targets = (
                f"{_some(dict.fromkeys(refs))} to {_pools(pools)}"
                for pools, refs in by_pools.items()
            )
            return f"use node affinity to restrict {listed(targets)}"
        case "profile":
            return (
                "use a scheduler that prefers full nodes (MostAllocated, or on GKE the "
                "autoscaling profile optimize-utilization), and set schedulerProfile to "
                "most-allocated in the fleet"
            )
        case "maximum":
            return ""
        case "guards":
            kinds = fix.guards.kinds
            return (
                f"set placement to guided in the fleet, which adds {counted(len(kinds), 'guard')} "
                f"({listed(kinds)})"
            )


def fix_result(fix: Fix, offers: tuple[Offer, ...]) -> str:
    """Return the simulated result of a fix: the number of nodes in all pools, and their price if
    it's known. The cloud can build these numbers of nodes.
    """
    built = {offer.name: offer.buildable(fix.counts[offer.name]) for offer in offers}
    price = hourly_usd(built, offers)
    cost = "" if price is None else f", USD {price:,.2f} per hour"
    return f"{counted(sum(built.values()), 'node')}{cost}"


def saved_usd(fix: Fix, counts: Mapping[str, int], offers: Iterable[Offer]) -> Decimal | None:
    """Return the savings of a fix per hour compared with building `counts`, or None if a price is
    unknown.
    """
    fewer = {offer: counts[offer.name] - fix.counts[offer.name] for offer in offers}
    if any(nodes and offer.hourly_usd is None for offer, nodes in fewer.items()):
        return None
    return sum(
        (nodes * (offer.hourly_usd or Decimal(0)) for offer, nodes in fewer.items()), Decimal(0)
    )


def fix_patch(
    fix: Fix, manifests: Manifests, offers: Iterable[Offer] = ()
) -> dict[str, Any] | None:
    """Return a fix as a document: keys to merge into the fleet, or a kustomize Component that
    patches manifests.

    With the fleet's offers, a change of the fleet includes the maximums that the cloud needs to
    build the fix's nodes. Returns None if a controller generates the template to change.
    """
    if fix.kind == "affinity":
        return _component(fix, manifests)
    keys: dict[str, Any] = {}
    pools: dict[str, dict[str, Any]] = {}
    match fix.kind:
        case "taint":
            pools = {pool: {"taints": prefer_others_rows(1)} for pool in fix.pools}
        case "maximum":
            pass
        case "profile":
            keys = {"schedulerProfile": "most-allocated"}
        case "guards":
            keys = {"placement": "guided"}
    for pool, nodes in raised_maximums(fix, offers).items():
        pools.setdefault(pool, {})["count"] = {"max": nodes}
    rows = [{"name": pool, **row} for pool, row in pools.items()]
    return {**keys, "pools": rows} if rows else keys


def prefer_others_rows(level: int) -> list[dict[str, str]]:
    """Return this number of taints that make pods prefer other pools, in the form of a fleet
    document.
    """
    return [
        {"key": each.key, "value": each.value, "effect": each.effect}
        for each in prefer_others(level)
    ]


def pools_to_taint(fixes: Iterable[Fix]) -> tuple[str, ...]:
    """Return the pools that pods should use last, from the first fix that names pools.

    Returns an empty result if no fix names pools.
    """
    return next((fix.pools for fix in fixes if fix.kind == "taint"), ())


def is_for_manifests(patch: Mapping[str, Any]) -> bool:
    """Return whether a patch changes manifests. Otherwise, it changes the fleet."""
    return "kind" in patch


def _component(fix: Fix, manifests: Manifests) -> dict[str, Any] | None:
    patches: list[dict[str, Any]] = []
    for workload in manifests.workloads:
        for pods in workload.pod_sets:
            pools = fix.pins.get(PodSetRef(workload.ref, pods.name))
            if pools is None:
                continue
            path = spec_path(workload, pods)
            if path is None:
                return None
            patches.append(
                {"target": patch_target(workload), "patch": [_operation(path, pods, pools)]}
            )
    return component(patches)


def _operation(path: str, pods: PodSet, pools: tuple[str, ...]) -> dict[str, Any]:
    pinned = render_pod_spec(pin_pod(pods.template.spec, pools))
    key = "nodeSelector" if len(pools) == 1 else "affinity"
    return {"op": "add", "path": f"{path}/{key}", "value": pinned[key]}


def _pools(names: Iterable[str]) -> str:
    return named("pool", [f'"{name}"' for name in names], " and ")


def _some(names: Iterable[str]) -> str:
    all_names = list(names)
    more = len(all_names) - _MOST_NAMED
    return ", ".join(all_names[:_MOST_NAMED]) + (
        f" and {counted(more, 'other workload')}" if more > 0 else ""
    )
