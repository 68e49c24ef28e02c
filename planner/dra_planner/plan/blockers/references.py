"""References to objects that the manifests don't contain.

The API server rejects pods whose classes don't exist.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from dra_planner.claims.admission.missing_objects import EFFECTS
from dra_planner.claims.missing_claims import near_name
from dra_planner.manifests import STORAGE_CLASS
from dra_planner.manifests.completeness import is_missing
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.model import ObjectKey, PodSpec
from dra_planner.plan.blockers.blocker import FACT, Blocker, ClusterSituation, fact
from dra_planner.simulation.workloads.disruption_budgets import selects
from dra_planner.wording import either, listed

_ALIKE: Final = 0.8
_TYPO: Final = 2  # characters that only one of two names has


def find_missing_classes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the PriorityClasses and RuntimeClasses of pods that nothing defines."""
    manifests = situation.manifests
    known = {
        "PriorityClass": {*manifests.priority_classes, *SYSTEM_PRIORITIES},
        "RuntimeClass": {*manifests.runtime_classes},
    }
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        named = {pair for pods in workload.pod_sets for pair in _classes(pods.template.spec)}
        for kind, name in sorted(named):
            if name in known[kind]:
                continue
            if any(each == kind and key.name == name for each, key in manifests.refused):
                yield Blocker(
                    code="reference-not-found",
                    message=f'{workload.ref} refers to {kind} "{name}", which the API server '
                    "rejects, so it also rejects the pods",
                    fix=f'fix the errors in the manifest of {kind} "{name}"',
                    place=workload.place,
                    workloads=(workload.ref,),
                )
            elif not is_missing(manifests, kind, name):
                yield Blocker(
                    code="reference-not-found",
                    message=f'{workload.ref} refers to {kind} "{name}", which isn\'t in the '
                    f"manifests, so the API server rejects the pods until this {kind} exists",
                    fix=f'add a manifest for {kind} "{name}"{near_name(name, filter(None, known[kind]))}',
                    place=workload.place,
                    workloads=(workload.ref,),
                    verdict="cannot-tell",
                )


def find_missing_objects(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose pods refer to undefined objects.

    Other tools might create these objects, so this is a fact. If the manifests define an object of
    the kind and namespace with a similar name, the name is probably wrong.
    """
    manifests = situation.manifests
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        namespace = workload.meta.namespace
        needed = {pair for pods in workload.pod_sets for pair in pods.template.needs}
        missing = [
            (kind, name)
            for kind, name in sorted(needed)
            if kind != STORAGE_CLASS  # another finding reports these
            and (kind, ObjectKey(namespace, name)) not in manifests.declared
            and not is_missing(manifests, kind, name)  # its pods are rejected
        ]
        near = [
            hint for kind, name in missing if (hint := _nearest(situation, namespace, kind, name))
        ]
        if not missing:
            continue
        kinds = {kind for kind, _ in missing}
        needed_objects = listed(f'{kind} "{name}"' for kind, name in missing)
        one = len(missing) == 1
        effects = dict.fromkeys(effect for kind, effect in EFFECTS.items() if kind in kinds)
        consequence = " and ".join(effects)
        yield Blocker(
            code="reference-not-found" if near else FACT,
            message=f"{workload.ref} refers to {needed_objects}, which {'isn' if one else 'aren'}'t "
            f"in the manifests. Until {'it exists' if one else 'they exist'}, {consequence}",
            fix=f"did you mean {either(dict.fromkeys(near))}?"
            if near
            else f"create the {missing[0][0] if one else 'missing objects'} before the pods",
            place=workload.place,
            workloads=(workload.ref,),
            verdict="cannot-tell" if near else "fits",
        )


def find_idle_budgets(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield PodDisruptionBudgets that select no pod, if all pods of the manifests are known."""
    manifests = situation.manifests
    if not manifests.workloads or manifests.unresolved or manifests.unread:
        return
    pods = [
        (workload.meta.namespace, pod_set.template.labels)
        for workload in manifests.workloads
        for pod_set in workload.pod_sets
    ]
    pods += [(pod.meta.namespace, pod.meta.labels) for pod in manifests.bound_pods]
    for budget in manifests.budgets.values():
        if not any(selects(budget, namespace, labels) for namespace, labels in pods):
            yield fact(
                f"PodDisruptionBudget {budget.key} doesn't select any pod, so it has no effect",
                "correct its selector or namespace",
                place=budget.meta.place,
            )


def _nearest(situation: ClusterSituation, namespace: str, kind: str, name: str) -> str:
    """Return the defined object of that kind and namespace with the most similar name."""
    known = [
        key.name
        for declared, key in situation.manifests.declared
        if declared == kind and key.namespace == namespace
    ]
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE)
    return f"{kind} {near[0]}" if near and _is_typo(name, near[0]) else ""


def _is_typo(name: str, other: str) -> bool:
    """Return whether names differ by one changed, added, moved, or omitted character. Different
    objects often have names with the same ending.
    """
    blocks = difflib.SequenceMatcher(None, name, other).get_matching_blocks()
    return len(name) + len(other) - 2 * sum(each.size for each in blocks) <= _TYPO


def _classes(spec: PodSpec) -> Iterator[tuple[str, str]]:
    if spec.priority_class_name:
        yield "PriorityClass", spec.priority_class_name
    if spec.runtime_class_name:
        yield "RuntimeClass", spec.runtime_class_name
