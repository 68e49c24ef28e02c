"""The objects in a pod's namespace without which the pod doesn't start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import blocks

Needed = tuple[str, str]
"""A kind and a name."""

_GIVEN: Final = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})
"""Objects that exist in every namespace."""


def needed_objects(spec: Mapping[str, Any]) -> tuple[Needed, ...]:
    """Return the objects that the spec of a pod names and that aren't optional, sorted.

    If a ServiceAccount is missing, the API server rejects the pod. If a PersistentVolumeClaim is
    missing, the pod stays pending. If a ConfigMap or Secret is missing, the pod stays in
    ContainerCreating.
    """
    return tuple(sorted(set(_named(spec)) - _GIVEN))


def _named(spec: Mapping[str, Any]) -> Iterator[Needed]:
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if isinstance(account, str):
        yield "ServiceAccount", account
    for volume in blocks(spec, "volumes"):
        yield from _of_volume(volume)
    for kind in ("containers", "initContainers"):
        for container in blocks(spec, kind):
            for source in blocks(container, "envFrom"):
                yield from _one(source.get("configMapRef"), "ConfigMap", "name")
                yield from _one(source.get("secretRef"), "Secret", "name")
            for variable in blocks(container, "env"):
                value = variable.get("valueFrom")
                if isinstance(value, Mapping):
                    yield from _one(value.get("configMapKeyRef"), "ConfigMap", "name")
                    yield from _one(value.get("secretKeyRef"), "Secret", "name")


def _of_volume(volume: Mapping[str, Any]) -> Iterator[Needed]:
    yield from _one(volume.get("persistentVolumeClaim"), "PersistentVolumeClaim", "claimName")
    yield from _one(volume.get("configMap"), "ConfigMap", "name")
    yield from _one(volume.get("secret"), "Secret", "secretName")
    for source in blocks(volume.get("projected"), "sources"):
        yield from _one(source.get("configMap"), "ConfigMap", "name")
        yield from _one(source.get("secret"), "Secret", "name")


def _one(reference: Any, kind: str, key: str) -> Iterator[Needed]:
    if isinstance(reference, Mapping) and not reference.get("optional"):
        name = reference.get(key)
        if isinstance(name, str) and name:
            yield kind, name
