"""Updates of a workload that already exists in the cluster: its unchanged fields, and whether its
pods are replaced.

A missing field keeps its value in the cluster, where the API server has set defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.model import Figures, PodSet, PodTemplate, Workload
from dra_planner.quantity import QuantityError
from dra_planner.wording import counted

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def as_updated(
    pod_set: PodSet, before: PodSet, existing: Workload
) -> tuple[PodSet, tuple[str, ...]]:
    """Return the pod set of a workload after it's applied to the cluster, and notes about it.

    `before` is the pod set of the `existing` workload. A paused workload keeps its template. A
    manifest without replicas keeps the number of pods. A Job has at most its remaining pods.
    """
    notes: list[str] = []
    if not pod_set.is_counted and '"replicas":' not in existing.meta.annotations.get(
        _LAST_APPLIED, ""
    ):
        figures = _as_scaled(pod_set.figures, before.figures.steady)
        pod_set = replace(pod_set, figures=figures, rollout=before.rollout)
        notes.append(
            "its manifest doesn't set a replica count, so it keeps the count in the cluster"
        )
    if before.left is not None:
        pod_set = replace(pod_set, figures=pod_set.figures.at_most(before.left))
        notes.append(
            f"is already running in the cluster and still has {counted(before.left, 'pod')}"
        )
    is_kept = pod_set.rollout is not None and pod_set.rollout.kept >= pod_set.figures.steady > 0
    if is_kept and makes_other_pods(pod_set.template, before.template):
        pod_set = replace(pod_set, template=before.template)
        notes.append("is paused or partitioned, so its pods keep the previous template")
    return pod_set, tuple(notes)


def _as_scaled(figures: Figures, pods: int) -> Figures:
    """Return the figures of a workload without replicas in its manifest and with this number of
    pods in the cluster.

    If there is a scaler, the figures are within its limits.
    """
    if figures.floor == figures.ceiling == 1:
        return Figures(pods, pods, pods, None if figures.peak is None else pods + figures.peak - 1)
    most = pods if figures.ceiling is None else figures.ceiling
    return figures._replace(steady=min(max(pods, figures.floor), most))


def makes_other_pods(given: PodTemplate, before: PodTemplate) -> bool:
    """Return whether a new template replaces the pods of an earlier template.

    Annotations that only the cluster has stay, such as the annotation of `kubectl rollout restart`.
    """
    if given != replace(before, annotations=given.annotations):
        return True
    return bool(before.written) and not _is_within(given.written, before.written)


def _is_within(given: Any, there: Any) -> bool:
    """Return whether the cluster's object already contains all given fields."""
    if isinstance(given, Mapping):
        known: Mapping[str, Any] = there if isinstance(there, Mapping) else {}
        return all(_is_within(value, known.get(key)) for key, value in given.items())
    if isinstance(given, Sequence) and not isinstance(given, str):
        return not given or (isinstance(there, Sequence) and _is_list_within(given, there))
    return given == there or (there is None and not given) or _amount(given) == _amount(there)


def _is_list_within(given: Sequence[Any], there: Sequence[Any]) -> bool:
    if len(given) != len(there):
        return False
    members = (*given, *there)
    if all(isinstance(each, Mapping) and each.get("name") for each in members):
        named = {each["name"]: each for each in there}
        return all(_is_within(each, named.get(each["name"])) for each in given)
    return all(map(_is_within, given, there))


def _amount(value: Any) -> Any:
    """Return a quantity's amount in a normalized form, and other values as text."""
    try:
        return parse_quantity(value)
    except QuantityError:
        return str(value)
