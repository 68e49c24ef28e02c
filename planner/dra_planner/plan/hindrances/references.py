"""Names of objects that aren't among the given ones: the API server rejects pods whose classes
don't exist.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator

from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.model import PodSpec
from dra_planner.plan.hindrances.hindrance import ClusterSituation, Hindrance


def find_missing_classes(situation: ClusterSituation) -> Iterator[Hindrance]:
    """Yield the PriorityClasses and RuntimeClasses that pods name and that nothing declares."""
    manifests = situation.manifests
    known = {
        "PriorityClass": {*manifests.priority_classes, *SYSTEM_PRIORITIES},
        "RuntimeClass": {*manifests.runtime_classes},
    }
    # all of a cluster: admission is evaluated
    if manifests.priority_classes.keys() >= SYSTEM_PRIORITIES.keys():
        known.pop("PriorityClass")
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        named = {pair for pods in workload.pod_sets for pair in _classes(pods.template.spec)}
        for kind, name in sorted(named):
            if kind in known and name not in known[kind]:
                yield Hindrance(
                    code="reference-not-found",
                    message=f"{workload.ref} names {kind} {name}, which isn't in the manifests; "
                    "without it, the API server rejects the pods",
                    fix=f"add the manifest of {kind} {name}{_near(name, known[kind])}",
                    place=workload.place,
                    workloads=(workload.ref,),
                    verdict="cannot-tell",
                )


def _classes(spec: PodSpec) -> Iterator[tuple[str, str]]:
    if spec.priority_class_name:
        yield "PriorityClass", spec.priority_class_name
    if spec.runtime_class_name:
        yield "RuntimeClass", spec.runtime_class_name


def _near(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, sorted(filter(None, known)), n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else ""
