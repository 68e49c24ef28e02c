"""Read limits and members of AKS properties from the Azure SDK's models and pulumi-azure-native."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from azure.mgmt.containerservice import models

from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Schema, TypeSpec

MODELS = {
    "azure-native:containerservice:AgentPool": models.AgentPool,
    "azure-native:containerservice:MaintenanceConfiguration": models.MaintenanceConfiguration,
    "azure-native:containerservice:ManagedCluster": models.ManagedCluster,
}
# Agent pools inside clusters are checked as pools.
_INSIDE = ("ManagedClusterAgentPoolProfile", "agentPoolProfiles")
_MARKS = {"[": "[]", "{": "{}"}
_SUFFIXES = {"list": "[]", "map": "{}"}


def azure_limits() -> Iterator[tuple[str, str, str, str]]:
    """Yield type, property, kind, and value of each limit in the models of the Azure SDK."""
    for token, model in MODELS.items():
        for path, kind, value in _limits(model, "", frozenset(_INSIDE)):
            yield token, path, kind, value


def azure_members() -> Iterator[tuple[str, str, str, str]]:
    """Yield type, property, "types", and the members of each object in the SDK, including its
    outputs. The types of members are `any`, because the provider converts values.
    """
    sdk = Sdk("azure-native")
    for token in MODELS:
        schema = sdk.resource(token)
        for path, names in _members(schema, schema.inputs, schema.outputs, ""):
            yield token, path, "types", "|".join(f"{name}:any" for name in sorted(names))


def _limits(model: Any, path: str, above: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    for attribute, described in model._attribute_map.items():
        here = path + described["key"].removeprefix("properties.")
        limits = getattr(model, "_validation", {}).get(attribute, {})
        if limits.get("readonly"):
            continue
        if limits.get("required") and path:
            yield path.rstrip("."), "required", here.rpartition(".")[2]
        for kind, suffix in (("range", "imum"), ("count", "_items")):
            low, high = limits.get(f"min{suffix}"), limits.get(f"max{suffix}")
            if low is not None or high is not None:
                texts = ("" if not each else str(each) for each in (low, high))
                yield here, kind, " to ".join(texts).strip()
        if "pattern" in limits:
            yield here, "pattern", limits["pattern"]
        name = described["type"].strip("[]{}")
        below = getattr(models, name, None)
        if hasattr(below, "_attribute_map") and name not in above:
            mark = _MARKS.get(described["type"][0], "")
            yield from _limits(below, f"{here}{mark}.", above | {name})


def _members(
    schema: Schema, inputs: Any, outputs: Any, path: str, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, set[str]]]:
    yield path, {*inputs, *outputs, *(("id", "urn") if not path else ())}
    for name, spec in inputs.items():
        suffix, below = _object(spec.type)
        if below in above or name in _INSIDE or below not in schema.objects:
            continue
        output = _object(outputs[name].type)[1] if name in outputs else ""
        here = f"{path}.{name}{suffix}".removeprefix(".")
        of_output = schema.objects.get(output, {})
        yield from _members(schema, schema.objects[below], of_output, here, (*above, below))


def _object(spec: TypeSpec) -> tuple[str, str]:
    """Return the suffix of a path and the name of the object that a type contains."""
    if spec.kind == "union":
        return next((found for each in spec.of if (found := _object(each))[1]), ("", ""))
    if spec.kind in _SUFFIXES:
        return _SUFFIXES[spec.kind], _object(spec.of[0])[1]
    return "", spec.object_name
