"""Resources by cluster, for stacks with several clusters, which are checked separately."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.planfile import RECORD_TYPE
from dra_policies.stack.pools import cloud_of_cluster, cloud_of_pool
from dra_policies.stack.resource import Resource

KUBERNETES: Final = "kubernetes:"
KUBERNETES_PROVIDER: Final = "pulumi:providers:kubernetes"


class Clusters(Struct, frozen=True):
    """Resources by cluster, and objects whose cluster isn't known."""

    groups: tuple[tuple[Resource, ...], ...]
    unplaced: tuple[Resource, ...] = ()


def clusters_of(resources: Sequence[Resource]) -> Clusters:
    """Return the resources by cluster, or all together if there is at most one cluster.

    Objects belong to the cluster in their provider's kubeconfig, pools belong to the cluster that
    they name, and a plan belongs to the clusters that are created after it. Other resources, such
    as a network, are in every group. If a stack creates no cluster, each Kubernetes provider
    represents one.
    """
    clusters = [each.urn for each in resources if cloud_of_cluster(each) is not None]
    anchors = clusters or [each.urn for each in resources if each.type == KUBERNETES_PROVIDER]
    if len(anchors) < 2:
        return Clusters((tuple(resources),))
    by_urn = {each.urn: each for each in resources}
    owners = {each.urn: _anchors_of(each, frozenset(anchors), by_urn) for each in resources}
    plans = _plans_of(anchors, by_urn)
    owners |= {urn: of for urn, of in plans.items() if of}
    unplaced = tuple(
        each for each in resources if each.type.startswith(KUBERNETES) and not owners[each.urn]
    )
    shared = [each for each in resources if each not in unplaced]
    return Clusters(
        tuple(
            tuple(each for each in shared if not owners[each.urn] or anchor in owners[each.urn])
            for anchor in anchors
        ),
        unplaced,
    )


def beside(resource: Resource, seen: Sequence[Resource]) -> tuple[Resource, ...]:
    """Return the resources that can be in the same cluster as an object. Another provider means
    another cluster.
    """
    provider = resource.provider
    return tuple(
        each
        for each in seen
        if not (
            provider
            and each.provider
            and each.type.startswith(KUBERNETES)
            and each.provider != provider
        )
    )


def _anchors_of(
    resource: Resource, anchors: frozenset[str], by_urn: Mapping[str, Resource]
) -> frozenset[str]:
    """Return the clusters that a resource belongs to. Empty if the clusters are unknown, or if the
    resource belongs to all of them.
    """
    if resource.urn in anchors:
        return frozenset((resource.urn,))
    if resource.type == RECORD_TYPE:
        return frozenset()
    if resource.type.startswith(KUBERNETES):
        start = [resource.provider]
    else:
        named = _cluster_named(resource, anchors, by_urn)
        start = [named] if named else [urn for urns in resource.sources.values() for urn in urns]
    found = _reached(start, anchors, by_urn)
    return found if len(found) == 1 else frozenset()


def _cluster_named(pool: Resource, anchors: Iterable[str], by_urn: Mapping[str, Resource]) -> str:
    """Return the cluster that a pool names in plain text, or "" if it names none of them."""
    of_cloud = cloud_of_pool(pool)
    if of_cloud is None:
        return ""
    name = pool.props.text(of_cloud.pool.cluster)
    named = [
        urn for urn in anchors if name and by_urn[urn].props.text(of_cloud.cluster.name) == name
    ]
    return named[0] if len(named) == 1 else ""


def _reached(
    start: Iterable[str], anchors: frozenset[str], by_urn: Mapping[str, Resource]
) -> frozenset[str]:
    """Return the clusters that outputs depend on. The search stops at each cluster."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [urn for urn in start if urn]
    while waiting:
        urn = waiting.pop()
        if urn in seen:
            continue
        seen.add(urn)
        if urn in anchors:
            found.add(urn)
            continue
        resource = by_urn.get(urn)
        waiting += (
            [other for urns in resource.sources.values() for other in urns] if resource else []
        )
    return frozenset(found)


def _plans_of(anchors: Iterable[str], by_urn: Mapping[str, Resource]) -> dict[str, frozenset[str]]:
    """Return the clusters of each plan: the clusters that are created after this plan, unless
    another plan comes between them.
    """
    plans = {urn for urn, each in by_urn.items() if each.type == RECORD_TYPE}
    owners: dict[str, set[str]] = {urn: set() for urn in plans}
    for anchor in anchors:
        seen: set[str] = set()
        waiting = [anchor]
        while waiting:
            urn = waiting.pop()
            if urn in seen:
                continue
            seen.add(urn)
            if urn in plans:
                owners[urn].add(anchor)
            elif urn in by_urn:
                resource = by_urn[urn]
                waiting += [
                    *resource.depends_on,
                    *(other for urns in resource.sources.values() for other in urns),
                ]
    return {urn: frozenset(of) for urn, of in owners.items()}
