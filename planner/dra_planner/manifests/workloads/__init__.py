"""Workloads: from objects of many kinds to pods and how many of them there are."""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import parse_meta
from dra_planner.manifests.workloads.description import Reading, read_pod_sets
from dra_planner.manifests.workloads.kinds import KINDS
from dra_planner.model import Workload

__all__ = ["is_workload", "read_workload"]

_BY_NAME: Final = {(kind.group, kind.kind): kind for kind in KINDS}


def is_workload(item: KubernetesObject) -> bool:
    return (item.group, item.kind) in _BY_NAME


def read_workload(item: KubernetesObject) -> Workload:
    """Return the workload that an object of a known kind describes."""
    reading = Reading(item, _BY_NAME[item.group, item.kind])
    sets = read_pod_sets(reading)
    return Workload(
        kind=item.kind,
        api_version=item.api_version,
        meta=parse_meta(item.metadata, item.place),
        pod_sets=tuple(sets),
        assumptions=(*reading.kind.assumptions, *reading.assumptions),
        place=item.place,
    )
