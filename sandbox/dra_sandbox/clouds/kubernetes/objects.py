"""Check Kubernetes objects as the provider does, and set their names and namespaces."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.kubernetes.backend import ClusterObjectKey
from dra_sandbox.clouds.kubernetes.kinds import CLUSTER_SCOPED, group_of
from dra_sandbox.clouds.naming import Autonamed, NameRefused
from dra_sandbox.clouds.property_checks import PropertyFailure, check_values
from dra_sandbox.clouds.sdk import Sdk, UnknownType
from dra_sandbox.clouds.sdk_schema import Schema
from dra_sandbox.clouds.wire_values import Value, Values, is_unknown

# The real provider uses this annotation to mark names that it generated
# (pulumi/pulumi-kubernetes:provider/pkg/metadata).
_AUTONAMED = "pulumi.com/autonamed"
_NAMES = Autonamed(suffix_length=8)
_NAME_LIMIT = 253
# Maps whose values are quantities: the API accepts numbers as values, but the SDK's types accept
# only strings.
_QUANTITIES = frozenset(
    {"limits", "requests", "hard", "capacity", "allocatable", "podFixed", "used"}
)


def schema_of(sdk: Sdk, token: str) -> Schema | None:
    """Return the schema of a built-in kind, or None for a custom resource. Raises UnknownType for a
    kind that its built-in group doesn't have.
    """
    try:
        return sdk.resource(token)
    except UnknownType:
        group = token.split(":")[1].rpartition("/")[0]
        if any(known.startswith(f"kubernetes:{group}/") for known in sdk.tokens()):
            raise
        return None


def check_object(schema: Schema | None, token: str, manifest: Values) -> Iterator[PropertyFailure]:
    """Return the problems of an object. Only the metadata of a custom resource can be checked."""
    if schema is not None:
        yield from check_values(schema, _with_text_quantities(manifest))
    _, api_version, kind = token.split(":")
    expected = {"apiVersion": api_version.removeprefix("core/"), "kind": kind.removesuffix("Patch")}
    metadata = manifest.get("metadata")
    if kind.endswith("Patch") and not (isinstance(metadata, dict) and metadata.get("name")):
        yield PropertyFailure(
            "metadata.name", "a patch must set metadata.name to identify the object"
        )
    for name, value in expected.items():
        if manifest.get(name) not in (None, value):
            yield PropertyFailure(name, f'expected "{value}", got "{manifest[name]}"')


def named_object(
    token: str,
    manifest: Values,
    old: Values,
    request: provider_pb2.CheckRequest,
    default_namespace: str,
) -> Values:
    """Return the object with a name and, for namespaced kinds, a namespace.

    Raises NameRefused if it can't generate the name.
    """
    _, api_version, kind = token.split(":")
    ready = copy.deepcopy(manifest)
    ready.setdefault("apiVersion", api_version.removeprefix("core/"))
    ready.setdefault("kind", kind.removesuffix("Patch"))
    metadata = ready.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        return ready
    if not metadata.get("name") and not metadata.get("generateName"):
        before = old.get("metadata") or {}
        kept = (
            before.get("name")
            if (before.get("annotations") or {}).get(_AUTONAMED) == "true"
            else None
        )
        metadata["name"] = kept or _NAMES.name(request, _NAME_LIMIT)
        metadata["annotations"] = {**(metadata.get("annotations") or {}), _AUTONAMED: "true"}
    if not metadata.get("namespace") and _has_namespace(ready["apiVersion"], ready["kind"]):
        metadata["namespace"] = default_namespace
    return ready


def _has_namespace(api_version: str, kind: str) -> bool:
    """Return True if objects of the kind are namespaced. False for custom kinds, whose scope is
    unknown.
    """
    group = group_of(api_version)
    return ("." not in group or group.endswith(".k8s.io")) and kind not in CLUSTER_SCOPED


def is_autonamed(manifest: Values) -> bool:
    """Return True if the provider generated the object's name."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    return isinstance(annotations, dict) and annotations.get(_AUTONAMED) == "true"


def key_of(manifest: Values) -> ClusterObjectKey:
    """Return the key of the object. Texts that are unknown in a preview stay unknown."""
    metadata = manifest.get("metadata") or {}
    return ClusterObjectKey(
        str(manifest.get("apiVersion", "")),
        str(manifest.get("kind", "")),
        str(metadata.get("namespace") or ""),
        str(metadata.get("name") or metadata.get("generateName") or ""),
    )


def _with_text_quantities(value: Value, name: str = "") -> Value:
    """Return the value with the numbers in maps of quantities converted to texts."""
    if isinstance(value, dict):
        if name in _QUANTITIES:
            return {key: _as_text(member) for key, member in value.items()}
        return {key: _with_text_quantities(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_text_quantities(member) for member in value]
    return value


def _as_text(value: Value) -> Value:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number and not is_unknown(value) else value


__all__ = ["NameRefused", "check_object", "is_autonamed", "key_of", "named_object", "schema_of"]
