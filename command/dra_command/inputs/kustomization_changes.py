"""Changes in a kustomization that affect a plan, for kustomizations that can't be built."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.stream import split_stream
from dra_planner.documents.yaml_reader import Fault, read_yaml

_PATCHES: Final = ("patches", "patchesStrategicMerge", "patchesJson6902")
_CODE: Final = ("generators", "transformers", "helmCharts", "helmChartInflationGenerator")
_QUEUE: Final = "kueue.x-k8s.io/"
_WITHOUT_PODS: Final = frozenset(
    {
        "Certificate",
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "CustomResourceDefinition",
        "Gateway",
        "HTTPRoute",
        "Ingress",
        "Issuer",
        "NetworkPolicy",
        "PodMonitor",
        "PrometheusRule",
        "Role",
        "RoleBinding",
        "Secret",
        "Service",
        "ServiceAccount",
        "ServiceMonitor",
    }
)
"""Kinds for which a patch doesn't change what pods request."""
_WITHOUT_EFFECT: Final = frozenset(
    {
        "annotations",
        "args",
        "command",
        "env",
        "envFrom",
        "image",
        "imagePullPolicy",
        "imagePullSecrets",
        "lifecycle",
        "livenessProbe",
        "ports",
        "progressDeadlineSeconds",
        "readinessProbe",
        "revisionHistoryLimit",
        "startupProbe",
        "terminationGracePeriodSeconds",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "workingDir",
    }
)
"""Fields of workloads that neither the scheduler nor a quota reads."""
_IDENTITY: Final = frozenset({"apiVersion", "kind", "metadata.name", "metadata.namespace"})


def find_changes(folder: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes in a folder's kustomization that affect the number of pods, or the devices
    and nodes that the pods request, worded as in a message.
    """
    for key in _CODE:
        if data.get(key):
            yield key
    for each in _list(data, "replicas"):
        yield f"replicas of {_text(each, 'name') or 'a workload'}"
    for each in _list(data, "replacements"):
        yield from _of_replacement(each)
    if any(_QUEUE in key for key in _label_keys(data)):
        yield "the label of a queue"
    for key in _PATCHES:
        for each in _list(data, key):
            yield from _of_patch(folder, each)


def _of_patch(folder: str, entry: Any) -> Iterator[str]:
    """Yield the changes of one patch, which is in the kustomization itself or in a separate
    file.
    """
    target = entry.get("target") if isinstance(entry, Mapping) else None
    target = target if isinstance(target, Mapping) else {}
    if target.get("kind") in _WITHOUT_PODS:
        return
    written = entry.get("patch") if isinstance(entry, Mapping) else entry
    named = entry.get("path") if isinstance(entry, Mapping) else entry
    if isinstance(written, str) and "\n" in written.strip():
        text: str | None = written
    elif isinstance(named, str) and "\0" not in named:
        text = _read(os.path.join(folder, named))
    else:
        text = written if isinstance(written, str) else None
    found = _documents(text) if text is not None else None
    if found is None:
        yield f"the patch {named}" if isinstance(named, str) else "a patch"
        return
    for patch in found:
        yield from (
            _of_operations(patch, target) if isinstance(patch, list) else _of_merge(patch, target)
        )


def _of_operations(patch: list[Any], target: Mapping[str, Any]) -> Iterator[str]:
    for each in patch:
        path = _text(each, "path")
        words = [word for word in path.split("/") if word and word != "-" and not word.isdigit()]
        if not words or not _WITHOUT_EFFECT.intersection(words):
            yield f"{words[-1] if words else 'a patch'} of {_title(target)}"


def _of_merge(patch: Any, target: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(patch, Mapping):
        return
    kind = _text(patch, "kind") or _text(target, "kind")
    if kind in _WITHOUT_PODS:
        return
    meta = patch.get("metadata")
    name = _text(target, "name") or _text(meta, "name")
    title = _title({"kind": kind, "name": name})
    for path in _leaves(patch, ""):
        words = path.split(".")
        if path in _IDENTITY or _WITHOUT_EFFECT.intersection(words):
            continue
        if path.startswith("metadata.labels.") and _QUEUE not in path:
            continue
        if words[-1] == "$patch":
            yield f"$patch of {title}"
        elif words[-1] != "name":  # the key that identifies an item of a list
            yield f"{_shown(words)} of {title}"


def _of_replacement(entry: Any) -> Iterator[str]:
    targets = _list(entry, "targets") if isinstance(entry, Mapping) else []
    paths = [path for each in targets for path in _list(each, "fieldPaths")]
    for path in paths:
        words = str(path).split(".")
        if not _WITHOUT_EFFECT.intersection(words):
            yield f"a replacement of {path}"
    if not paths:
        yield "replacements"


def _shown(words: list[str]) -> str:
    """Return the field that a path refers to, below the spec of a pod or object."""
    start = max((words.index(each) + 1 for each in ("spec",) if each in words), default=0)
    below = words[start:]
    if below[:2] == ["template", "spec"]:
        below = below[2:]
    return ".".join(below[:3]) or words[-1]


def _leaves(data: Any, path: str) -> Iterator[str]:
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list) and data:
        for each in data:
            yield from _leaves(each, path)
    else:
        yield path


def _title(target: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (_text(target, "kind"), _text(target, "name")))) or "workloads"


def _label_keys(data: Mapping[str, Any]) -> Iterator[str]:
    common = data.get("commonLabels")
    pairs = [each.get("pairs") for each in _list(data, "labels") if isinstance(each, Mapping)]
    for labels in (common, *pairs):
        if isinstance(labels, Mapping):
            yield from map(str, labels)


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def _documents(text: str) -> list[Any] | None:
    """Return the documents of a patch, or None if a document can't be read."""
    try:
        return [read_yaml(document)[0] for document, _ in split_stream(text) if document.strip()]
    except Fault:
        return None


def _text(data: Any, key: str) -> str:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, str) else ""


def _list(data: Any, key: str) -> list[Any]:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, list) else []
