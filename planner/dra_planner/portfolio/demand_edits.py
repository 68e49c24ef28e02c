"""A scenario's edits of demand: scaled or removed workloads, before their claims are expanded."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal
from fnmatch import fnmatchcase

from msgspec.structs import replace

from dra_planner.errors import PlannerError
from dra_planner.manifests import Manifests
from dra_planner.model import Figures, PodSet, Workload, WorkloadRef
from dra_planner.portfolio.schema import Scaling, Scenario


def edit_manifests(manifests: Manifests, scenario: Scenario) -> Manifests:
    """Return the manifests of a scenario.

    Raises PlannerError if a pattern matches no workload. All figures of a workload are multiplied
    and rounded up. A bare pod is repeated with other names.
    """
    if scenario.remove_workloads:
        _check(manifests, scenario.remove_workloads, "removeWorkloads")
        patterns = scenario.remove_workloads
        manifests = replace(
            manifests,
            workloads=tuple(
                each for each in manifests.workloads if not is_named(each.ref, patterns)
            ),
            unresolved=tuple(
                each for each in manifests.unresolved if not is_named(each.workload, patterns)
            ),
        )
    if scenario.replicas is not None and scenario.replicas.factor != 1:
        scaling = scenario.replicas
        _check(manifests, scaling.workloads, "replicas.workloads")
        workloads = [scaled for each in manifests.workloads for scaled in _scaled(each, scaling)]
        unresolved = tuple(
            replace(each, figures=_times(each.figures, scaling.factor))
            if is_named(each.workload, scaling.workloads)
            else each
            for each in manifests.unresolved
        )
        manifests = replace(manifests, workloads=tuple(workloads), unresolved=unresolved)
    return manifests


def is_named(ref: WorkloadRef, patterns: Iterable[str]) -> bool:
    """Return whether one of the NAMESPACE/NAME patterns matches a workload.

    `*` matches all workloads.
    """
    return any(fnmatchcase(f"{ref.namespace}/{ref.name}", pattern) for pattern in patterns)


def _check(manifests: Manifests, patterns: Iterable[str], key: str) -> None:
    refs = [each.ref for each in manifests.workloads] + [
        each.workload for each in manifests.unresolved
    ]
    for pattern in patterns:
        if pattern != "*" and not any(is_named(ref, [pattern]) for ref in refs):
            names = ", ".join(sorted(f"{ref.namespace}/{ref.name}" for ref in refs)[:5])
            raise PlannerError(
                f'{key}: no workload matches "{pattern}"',
                fix=f"use one of this stack's workloads: {names}"
                if names
                else "add manifests with workloads to the stack",
            )


def _scaled(workload: Workload, scaling: Scaling) -> list[Workload]:
    if not is_named(workload.ref, scaling.workloads):
        return [workload]
    if workload.kind == "Pod":
        names = [
            workload.meta.name,
            *(f"{workload.meta.name}-{copy}" for copy in range(2, _up(scaling.factor) + 1)),
        ]
        copies = names[: _up(scaling.factor)]
        return [replace(workload, meta=replace(workload.meta, name=name)) for name in copies]
    return [
        replace(workload, pod_sets=tuple(_more(each, scaling.factor) for each in workload.pod_sets))
    ]


def _more(pods: PodSet, factor: Decimal) -> PodSet:
    return pods if pods.per_node else replace(pods, figures=_times(pods.figures, factor))


def _times(figures: Figures, factor: Decimal) -> Figures:
    floor, steady, ceiling, peak = (
        None if pods is None else _up(pods * factor) for pods in figures
    )
    return Figures(floor or 0, steady or 0, ceiling, peak)


def _up(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_CEILING))
