"""Pods that use devices which they don't request from a device plugin."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dra_planner.documents.plain_values import block, blocks, labels
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.pods import VISIBLE_DEVICES
from dra_planner.migration.outcome import Result, TemplateOutcome
from dra_planner.migration.pod_templates import PodPart


def unlimited_outcome(item: KubernetesObject, part: PodPart) -> TemplateOutcome:
    """Return the result for pods that can access every GPU of their node without requesting any."""
    return TemplateOutcome(
        place=item.place,
        object=str(item),
        pods=part.role,
        result=Result.CANNOT,
        devices=0,
        reason=f"it doesn't request devices, but {VISIBLE_DEVICES} makes every GPU on its node "
        "visible to its containers",
        alternatives=(
            "If the container monitors all GPUs, use a claim with adminAccess and allocationMode All",
            "Request a claim for the GPUs that it uses",
        ),
    )


def fractional_outcome(item: KubernetesObject, annotation: str) -> TemplateOutcome:
    """Return the result for pods that request a part of a GPU with an annotation."""
    return TemplateOutcome(
        place=item.place,
        object=str(item),
        pods="",
        result=Result.CANNOT,
        devices=0,
        reason=f"its annotation {annotation} requests part of a GPU from KAI Scheduler, which "
        "rejects such pods on nodes where a DRA driver publishes the GPUs",
        alternatives=("Keep the pods in a pool with `allocation: device-plugin`",),
    )


def fraction_of_device(item: KubernetesObject) -> str:
    """Return the annotation with which pods of an object request a part of a GPU, or "" if there is
    none.
    """
    metadata = [item.metadata]
    spec: Any = item.data.get("spec")
    for key in ("jobTemplate", "template"):
        spec = block(spec, key)
        metadata.append(block(spec, "metadata"))
        spec = spec.get("spec") or item.data.get("spec")
    return next(
        (
            name
            for each in metadata
            for name in ("gpu-fraction", "gpu-memory")
            if name in labels(each.get("annotations"))
        ),
        "",
    )


def visible_notes(spec: Mapping[str, Any], claiming: Collection[str]) -> Iterator[str]:
    """Yield notes about a pod with a claim: containers without the claim that can still access
    every GPU, and a RuntimeClass that claims don't need.
    """
    names = [str(each.get("name", "")) for each in _containers(spec) if _shows_all(each)]
    if others := [name for name in names if name not in claiming]:
        yield (
            f"{VISIBLE_DEVICES} makes every GPU on the node visible to container {others[0]}, "
            "which doesn't have a claim. Remove the variable"
        )
    if spec.get("runtimeClassName") == "nvidia":
        yield (
            "claims don't need the nvidia RuntimeClass. If the target cluster doesn't have this "
            "RuntimeClass, remove runtimeClassName. Otherwise, the API server rejects the pods"
        )


def takes_all_devices(spec: Mapping[str, Any]) -> bool:
    """Return whether containers of a pod can access all GPUs of their node without a claim."""
    return not spec.get("resourceClaims") and any(map(_shows_all, _containers(spec)))


def _containers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for key in ("initContainers", "containers") for each in blocks(spec, key)]


def _shows_all(container: Mapping[str, Any]) -> bool:
    return any(
        variable.get("name") == VISIBLE_DEVICES
        and str(variable.get("value", "")) not in ("", "none", "void")
        for variable in blocks(container, "env")
    )
