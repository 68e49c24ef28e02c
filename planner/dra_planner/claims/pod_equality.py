"""Determine which pods are equal for the scheduler, and the ID of equal pods."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.manifests import render_claim_spec, render_pod_spec
from dra_planner.model import Container, DisruptionBudget, LabelSelector, PodSpec, ShapeClaim

ID_LENGTH: Final = 12


def visible_labels(
    pods: Iterable[PodSpec], budgets: Iterable[DisruptionBudget] = ()
) -> frozenset[str]:
    """Return the label keys that an (anti-)affinity or spread selector of these pods, or a budget,
    uses.
    """
    keys = {key for budget in budgets for key in _keys(budget.selector)}
    for pod in pods:
        preferred = (each.term for each in pod.preferred_pods)
        for term in (*pod.pod_affinity, *pod.pod_anti_affinity, *preferred):
            keys |= _keys(term.label_selector)
            keys.update(term.match_label_keys)
        for constraint in pod.topology_spread:
            keys |= _keys(constraint.label_selector)
            keys.update(constraint.match_label_keys)
    return frozenset(keys)


def _keys(selector: LabelSelector | None) -> set[str]:
    return set() if selector is None else {requirement.key for requirement in selector.requirements}


def strip(pod: PodSpec) -> PodSpec:
    """Return the pod without the names of its claims, because the shape contains the claims."""
    return replace(
        pod,
        resource_claims=(),
        scheduling_gates=(),
        pod_group="",
        runtime_class_name="",
        containers=tuple(_strip(container) for container in pod.containers),
        init_containers=tuple(_strip(container) for container in pod.init_containers),
    )


def _strip(container: Container) -> Container:
    return replace(container, claims=()) if container.claims else container


def shape_id(
    namespace: str,
    labels: Mapping[str, str],
    pod: PodSpec,
    claims: Iterable[ShapeClaim],
    per_node: bool,
) -> str:
    """Return the digest of everything that distinguishes a shape, equal in every run."""
    content: dict[str, Any] = {
        "namespace": namespace,
        "labels": dict(labels),
        "pod": render_pod_spec(pod),
        "claims": [
            {
                "name": claim.name,
                "spec": render_claim_spec(claim.spec),
                "shared": str(claim.shared or ""),
            }
            for claim in claims
        ],
        "perNode": per_node,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]
