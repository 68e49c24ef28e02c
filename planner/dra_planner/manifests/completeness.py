"""Evidence that manifests contain all objects of their cluster, so that other objects don't exist.

A fleet declares it, or a snapshot of a cluster shows it for some kinds.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from dra_planner import clouds
from dra_planner.fleet import Fleet
from dra_planner.manifests.manifests import Manifests
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.manifests.workloads.volume_zones import NEEDS_DEFAULT_CLASS

GIVEN_NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
"""The namespaces of every cluster."""


def with_completeness(manifests: Manifests, fleet: Fleet) -> Manifests:
    """Return the manifests with the fleet's declaration that they're complete.

    The declaration has no effect if the manifests contain objects that might create others and
    that aren't read.
    """
    if fleet.manifests == "partial" or manifests.unread:
        return manifests
    cloud = clouds.cloud(fleet.cloud)
    provided = {("RuntimeClass", name) for name in cloud.runtime_classes}
    provided |= {("Namespace", name) for name in GIVEN_NAMESPACES}
    if cloud.default_storage_class != "":
        provided.add(NEEDS_DEFAULT_CLASS)
    return replace(manifests, is_complete=True, provided=frozenset(provided))


def defined_namespaces(manifests: Manifests) -> frozenset[str]:
    """Return the namespaces that the manifests or their controllers create."""
    created = (key.name for kind, key in manifests.declared if kind == "Namespace")
    return frozenset((*manifests.namespaces, *created))


def contains_all(manifests: Manifests, kind: str) -> bool:
    """Return whether the manifests contain every object of this kind in their cluster, except
    objects that the cluster provides. Secrets are rarely in manifests.
    """
    if manifests.is_complete and kind != "Secret":
        return True
    if kind == "PriorityClass":
        return manifests.priority_classes.keys() >= SYSTEM_PRIORITIES.keys()
    classes = manifests.runtime_classes.values()
    return kind == "RuntimeClass" and any(each.meta.uid for each in classes)


def is_missing(manifests: Manifests, kind: str, name: str) -> bool:
    """Return whether an object that the manifests don't contain certainly doesn't exist in their
    cluster.
    """
    return contains_all(manifests, kind) and (kind, name) not in manifests.provided
