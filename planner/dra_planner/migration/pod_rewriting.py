"""Rewrite one pod template so that its containers request a claim instead of extended resources."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dra_planner.documents.plain_values import indexed_blocks
from dra_planner.drivers.protocol.device_plugin import Counterpart
from dra_planner.migration.editor import Editor, Path
from dra_planner.migration.pod_templates import POD_CLAIMS, PodPart
from dra_planner.migration.pods import PodClaim


def rewrite_pods(
    editor: Editor,
    prefix: Path,
    part: PodPart,
    claim: PodClaim,
    counterparts: Mapping[str, Counterpart],
    *,
    template_name: str,
    device_parts: Sequence[Path],
) -> None:
    """Make a template's pods request a claim from `template_name`.

    This only removes the extended resources and the node selection for devices. Raises NotEditable.
    """
    pod: Path = (*prefix, *part.path)
    name = _claim_name(claim, counterparts, _names(part.spec.get("resourceClaims")))
    for container, path in part.containers.items():
        requests = claim.named.get(container, ())
        resources: Path = (*prefix, *path, "resources")
        if not requests:
            continue
        for section in ("limits", "requests"):
            for resource in counterparts:
                if isinstance(
                    editor.get((*resources, section)), Mapping
                ) and resource in editor.get((*resources, section)):
                    editor.remove((*resources, section, resource))
        if part.claims_field == POD_CLAIMS:
            editor.append(
                (*resources, "claims"), [{"name": name, "request": request} for request in requests]
            )
    for gone in device_parts:
        if editor.get((*pod, *gone)) is not None:
            editor.remove((*pod, *gone))
    entry = {"name": name} if part.claims_field == POD_CLAIMS else {}
    editor.append(
        (*pod, part.claims_field), [{**entry, "resourceClaimTemplateName": template_name}]
    )
    for key in sorted({each.toleration for each in counterparts.values()} - {""}):
        if not _tolerates(part.spec.get("tolerations"), key):
            toleration = {"key": key, "operator": "Exists", "effect": "NoSchedule"}
            editor.append((*pod, "tolerations"), [toleration])


def set_ray_gpus(editor: Editor, prefix: Path, part: PodPart, devices: int) -> str:
    """Set the number of GPUs on a pod that starts Ray, because KubeRay reads it only from limits.

    Return a note, or "". Nothing is set for the pod that submits a RayJob, because it doesn't start
    Ray.

    Source: ray-project/kuberay:ray-operator/controllers/ray/utils/resources.go@feeaf72.
    """
    owner: Path = (*prefix, *part.path[:-2])  # the group, which contains template.spec
    group = editor.get(owner)
    if not isinstance(group, Mapping) or "template" not in group:
        return ""
    started = group.get("rayStartParams")
    if isinstance(started, Mapping) and "num-gpus" in started:
        return ""
    editor.set((*owner, "rayStartParams", "num-gpus"), str(devices))
    return (
        "num-gpus is added, because KubeRay otherwise reads the number of GPUs from limits, which "
        "no longer contain GPUs"
    )


def claim_template(
    name: str, namespace: str, claim: PodClaim, labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the ResourceClaimTemplate of a pod's claim, in API form."""
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = dict(labels)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"spec": {"devices": {"requests": [dict(each) for each in claim.requests]}}},
    }


def template_name(
    owner: str,
    role: str,
    claim: PodClaim,
    counterparts: Mapping[str, Counterpart],
    taken: Collection[str],
) -> str:
    """Return a unique name for a claim template, made from the names of the workload, its role, and
    the devices.
    """
    nouns = {each.noun for each in counterparts.values()}
    noun = nouns.pop() if len(nouns) == 1 else "devices"
    plural = "s" if len(claim.requests) > 1 and noun in ("gpu",) else ""
    base = "-".join(each for each in (owner.rstrip("-"), role) if each)[: 250 - len(noun)]
    name, number = f"{base}-{noun}{plural}", 2
    while name in taken:
        name, number = f"{base}-{noun}{plural}-{number}", number + 1
    return name


def _claim_name(
    claim: PodClaim, counterparts: Mapping[str, Counterpart], taken: Collection[str]
) -> str:
    nouns = {each.noun for each in counterparts.values()}
    noun = nouns.pop() if len(nouns) == 1 else "devices"
    base = (
        "slice"
        if noun == "mig"
        else f"{noun}s"
        if len(claim.requests) > 1 and noun == "gpu"
        else noun
    )
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name


def _names(items: Any) -> set[str]:
    return {str(each.get("name")) for _, each in indexed_blocks(items)}


def _tolerates(tolerations: Any, key: str) -> bool:
    """Return whether tolerations cover a taint of this key with the effect NoSchedule and any
    value.
    """
    return any(
        each.get("operator") == "Exists"
        and each.get("key", key) in (key, "")
        and each.get("effect", "") in ("", "NoSchedule")
        for _, each in indexed_blocks(tolerations)
    )
