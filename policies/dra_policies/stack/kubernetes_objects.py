"""Kubernetes resources of a stack → the text of their manifests, for the planner's reader.

Only objects related to devices are read: DRA objects, workloads that request devices, gangs,
quotas, and namespaces. An unknown value is omitted if placement doesn't depend on it (an image, an
environment variable). Otherwise, the object can't be evaluated yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.errors import PlannerError
from dra_planner.manifests import Manifests
from dra_planner.plan import read_checked
from dra_planner.releases import MINIMUM_MINOR, Features, features_of, parse_version
from dra_planner.sources import Source
from dra_planner.wording import listed, verb
from dra_policies.stack.declared_fleet import cluster_version
from dra_policies.stack.kueue_objects import is_queue, kueue_configurations
from dra_policies.stack.resource import Resource, namespace_of
from dra_policies.unknown_values import UNKNOWN, as_list, as_mapping, has_unknown, unknown_paths
from dra_policies.view.stack_view import StackView

KINDS: Final = frozenset(
    {
        "ResourceClaim",
        "ResourceClaimTemplate",
        "DeviceClass",
        "Namespace",
        "PodGroup",
        "LimitRange",
        "PriorityClass",
    }
)
SCALERS: Final = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})
_NO_OBJECTS: Final = ("helm.sh/", "yaml", "kustomize")
_WITHOUT_EFFECT: Final = frozenset(
    {
        "annotations",
        "args",
        "clusterIP",
        "command",
        "dnsConfig",
        "env",
        "envFrom",
        "generation",
        "hostAliases",
        "image",
        "imagePullPolicy",
        "imagePullSecrets",
        "lifecycle",
        "livenessProbe",
        "managedFields",
        "mountPath",
        "readinessProbe",
        "resourceVersion",
        "securityContext",
        "serviceAccount",
        "serviceAccountName",
        "startupProbe",
        "uid",
        "volumeMounts",
    }
)
_STATE_ONLY: Final = frozenset(
    {"status", "id", "__initialApiVersion", "__fieldManager", "__inputs"}
)
_DEEPEST: Final = 12


class ObjectText(Struct, frozen=True):
    """An object as text (the URN is the name of its source), or the paths of its unknown values."""

    urn: str
    title: str
    source: Source | None
    unknown: tuple[str, ...] = ()


_OF_PODS = (
    "pods",
    "count/pods",
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
)


def is_kubernetes_object(resource: Resource) -> bool:
    """Return whether a resource is a Kubernetes object related to devices."""
    parts = resource.type.split(":")
    if len(parts) != 3 or parts[0] != "kubernetes" or parts[1].startswith(_NO_OBJECTS):
        return False
    kind = parts[2]
    if kind.endswith(("List", "Patch")):
        return False
    if kind == "ResourceQuota":
        return _limits_pods(resource)
    return kind in KINDS or requests_devices(resource.props.values)


def _limits_pods(quota: Resource) -> bool:
    """Return whether a quota limits devices, claims, or pods and their requests, which include pods
    with claims.
    """
    hard = quota.props.mapping("spec.hard") or {}
    return any("resource.k8s.io" in key or "nvidia.com/" in key or key in _OF_PODS for key in hard)


def requests_devices(value: Any, depth: int = 0) -> bool:
    """Return whether a nested pod template uses claims or extended GPU resources."""
    # most values are texts, so this check comes first
    if isinstance(value, str) or depth > _DEEPEST:
        return False
    mapping = as_mapping(value)
    if mapping is None:
        return any(requests_devices(item, depth + 1) for item in as_list(value) or ())
    if mapping.get("resourceClaims"):
        return True
    if any(key.startswith("nvidia.com/") for key in as_mapping(mapping.get("limits")) or ()):
        return True
    return any(
        requests_devices(item, depth + 1) for item in mapping.values() if not isinstance(item, str)
    )


def named_claims(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the names of claims and claim templates that nested pods use."""
    if depth > _DEEPEST:
        return
    mapping = as_mapping(value) or {}
    for entry in as_list(mapping.get("resourceClaims")) or ():
        yield from (name for name in (as_mapping(entry) or {}).values() if isinstance(name, str))
    for item in (*mapping.values(), *(as_list(value) or ())):
        yield from named_claims(item, depth + 1)


def object_texts(
    objects: Sequence[Resource], resources: Sequence[Resource]
) -> Iterator[ObjectText]:
    """Yield the manifests of objects in order. `resources` are all resources that can be their
    namespace.
    """
    for resource in objects:
        _, group_version, kind = resource.type.split(":")
        document = {
            **{
                key: value for key, value in resource.props.values.items() if key not in _STATE_ONLY
            },
            "apiVersion": group_version.removeprefix("core/"),
            "kind": kind,
        }
        known = _without_effect(document)
        metadata = as_mapping(known.get("metadata"))
        if metadata is not None and metadata.get("namespace") is UNKNOWN:
            namespace = namespace_of(resource, "metadata.namespace", resources)
            known["metadata"] = metadata | {
                "namespace": namespace if namespace and "::" not in namespace else UNKNOWN
            }
        title = resource.title(kind)
        if not resource.props.values:  # the provider wasn't analyzed, and isn't configured yet
            yield ObjectText(resource.urn, title, None, ("all of it",))
            continue
        unknown = tuple(unknown_paths(known))
        if unknown:
            yield ObjectText(resource.urn, title, None, unknown)
        else:
            yield ObjectText(
                resource.urn,
                title,
                Source(resource.urn, json.dumps(known, indent=1, sort_keys=True)),
            )


def _without_effect(value: Any) -> Any:
    """Remove unknown values that don't affect placement."""
    mapping, items = as_mapping(value), as_list(value)
    if mapping is not None:
        known = {key: item for key, item in mapping.items() if item is not None}
        if known.get("image") is UNKNOWN:
            # of these fields, the only one that a container must have
            known["image"] = "not-known-yet"
        return {
            key: _without_effect(item)
            for key, item in known.items()
            if not (key in _WITHOUT_EFFECT and has_unknown(item))
        }
    return value if items is None else [_without_effect(item) for item in items]


def _scalers(resources: Sequence[Resource]) -> Iterator[Resource]:
    """Yield the scalers of workloads that request devices, and scalers whose target isn't in the
    stack.
    """
    scalers = [each for each in resources if is_scaler(each)]
    there = {
        (each.type.rpartition(":")[2], _namespace(each), each.props.text("metadata.name")): each
        for each in (resources if scalers else ())
    }
    for scaler in scalers:
        kind = scaler.props.text("spec.scaleTargetRef.kind", "Deployment")
        name = scaler.props.text("spec.scaleTargetRef.name")
        target = there.get((kind or "", _namespace(scaler), name))
        if target is None or is_kubernetes_object(target):
            yield scaler


def _namespace(resource: Resource) -> str | None:
    return resource.props.text("metadata.namespace", "default")


def is_scaler(resource: Resource) -> bool:
    """Return whether a resource changes the replicas of a workload."""
    return resource.type.startswith("kubernetes:") and resource.type.rpartition(":")[2] in SCALERS


def read_objects(view: StackView, resources: Sequence[Resource]) -> StackView:
    """Return the view with the objects among these resources, read as the API server would read
    them.

    The Kubernetes version is the cluster's, otherwise the plan's, otherwise the oldest with
    `resource.k8s.io/v1`.
    """
    objects = [each for each in resources if is_kubernetes_object(each)]
    if not objects and not any(map(is_scaler, resources)):
        return view
    queues = [each for each in resources if is_queue(each)]
    texts = tuple(object_texts([*objects, *queues, *_scalers(resources)], resources))
    if not texts:
        return view
    plan_file = view.record.plan_file if view.record else None
    version = cluster_version(resources) or (
        plan_file.kubernetes if plan_file else f"1.{MINIMUM_MINOR}"
    )
    features = features_of(parse_version(version))
    unknowns = (
        f"can't check {text.title}, because {listed(text.unknown[:3])} "
        f"{verb(len(text.unknown), 'are')} secret or not known yet"
        for text in texts
        if text.unknown
    )
    configured = [
        ObjectText(source.name, "Kueue", source) for source in kueue_configurations(resources)
    ]
    manifests, unreadable = _read([*texts, *configured], features)
    return replace(
        view,
        unknowns=(*view.unknowns, *unknowns, *unreadable),
        manifests=manifests,
        features=features,
        diagnostics=manifests.diagnostics,
    )


def _read(texts: Sequence[ObjectText], features: Features) -> tuple[Manifests, tuple[str, ...]]:
    """Return the contents of the texts, and a sentence about each text that can't be read."""
    try:
        return read_checked([text.source for text in texts if text.source], features), ()
    except PlannerError:  # this is rare, so the faulty object is determined only now
        faults = {text.urn: sentence for text in texts if (sentence := _fault(text, features))}
    sources = [text.source for text in texts if text.source and text.urn not in faults]
    return read_checked(sources, features), tuple(faults.values())


def _fault(text: ObjectText, features: Features) -> str:
    """Return why an object can't be read at all, or ""."""
    try:
        read_checked([text.source] if text.source else [], features)
    except PlannerError as error:
        return f"can't parse {text.title}: {error.message}"
    return ""
