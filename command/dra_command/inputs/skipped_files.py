"""Files among manifests that aren't manifests or aren't complete: values, charts, templates, and
patches.

The commands list and skip these files. The decision uses only evidence: the text of the file, and
the charts and kustomizations near the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct

from dra_command.inputs.distant_kustomizations import find_naming_folder
from dra_command.inputs.kustomization_changes import find_changes
from dra_command.inputs.placeholders import PLACEHOLDER, rejected_placeholder
from dra_planner.documents.plain_values import listed
from dra_planner.documents.yaml_advice import RENDER
from dra_planner.errors import ManifestError, PlannerError
from dra_planner.manifests.documents import read_documents
from dra_planner.sources import (
    KUSTOMIZATION_FILES,
    Source,
    is_pod_template,
    may_be_unfinished,
    read_file,
)

CHART_PART: Final = "part of the chart"
KUSTOMIZATION_PART: Final = "part of the kustomization"
TEMPLATE: Final = "a template"
SPARK_TEMPLATE: Final = "a Spark pod template"
KUBEADM_PATCH: Final = "a kubeadm patch"
KUBECONFIG: Final = "a kubeconfig"
_POD: Final = re.compile(r"""\bcontainers["']?:|\bkind["']?:\s*["']?(?:Deployment|\w+Set)\b""")
_BARE_POD: Final = re.compile(r"""\bkind["']?:\s*["']?Pod\b""")
_OBJECT: Final = re.compile(r"""["']?(apiVersion|kind)["']?\s*:""")
_IDENTITY: Final = frozenset({"apiVersion", "kind"})
_BODY: Final = frozenset({"metadata", "spec"})
_SHOUTED: Final = re.compile(r"[A-Z]+(?:[_ ][A-Z0-9]+)+")  # an object can't have such a name
_NAMESPACE_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_MAPPINGS: Final = frozenset({"labels", "limits", "requests", "nodeSelector"})
_REFERENCES: Final = frozenset({"namespace", "serviceAccountName", "claimName", "secretName"})
_SCALARS: Final = _REFERENCES | {"name", "replicas"}
_FREE_TEXT: Final = frozenset({"env", "args", "command", "data", "annotations"})
"""Keys whose values can contain any text."""
_PATCHES: Final = ("patches", "patchesStrategicMerge", "patchesJson6902")
_NO_MANIFESTS: Final = (
    "transformers",
    "generators",
    "configurations",
    "validators",
    "openapi",
    "crds",
)
# the controllers of these objects replace {{…}} themselves
_TEMPLATED: Final = ("argoproj.io/", "serving.kserve.io/", "tekton.dev/")
_HIGHEST: Final = 5  # number of folders above a file to search for its kustomization or chart
_WHOLE: Final = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_STATIC_PODS: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
"""Pods that kubeadm writes and patches (kubernetes/kubernetes:cmd/kubeadm/app/util/patches)."""


class SkippedFile(Struct, frozen=True, order=True):
    """Reason why a file is skipped: `what` the file is, its `root` (a chart or a kustomization),
    and how to check it instead.
    """

    what: str
    root: str
    file: str
    fix: str = ""


def skip_reason(source: Source) -> SkippedFile | None:
    """Return why a file is skipped. None for manifests, and for invalid files without such a
    reason.
    """
    name = source.name
    chart = _chart_of(name)
    if not _OBJECT.search(source.text) or os.path.basename(name).lower() == "chart.yaml":
        if chart:
            return _of_chart(chart, name)
        what = "a chart's values file" if "values" in os.path.basename(name) else "no manifest"
        return SkippedFile(what, "", name, "pass Kubernetes manifests instead of these files")
    if not any(key in source.text for key in _BODY) and (found := missing_object_reason(source)):
        return found
    kustomization = _kustomization_of(name)
    if kustomization and os.path.realpath(name) in kustomization.parts:
        return _of_kustomization(kustomization)
    if may_be_patch(source.text) and (folder := find_naming_folder(name, _folders(name), _parts)):
        return _of_kustomization(_Kustomization(folder, frozenset()))
    if (
        chart
        and "{{" in source.text
        and (_is_below_templates(name, chart) or not _is_readable(source))
    ):
        return _of_chart(chart, name)
    if not kustomization and not may_be_unfinished(source.text, name):
        return None
    try:
        documents, _ = read_documents([source])
    except ManifestError:
        return SkippedFile(TEMPLATE, "", name, RENDER) if "{{" in source.text else None
    for document in documents:
        if found := _of_document(document.data, name, kustomization):
            return found
    if PLACEHOLDER.search(source.text) and (placeholder := rejected_placeholder(documents)):
        return _of_template(placeholder, name)
    return None


def may_be_patch(text: str) -> bool:
    """Return whether a text contains only parts of pods or workloads."""
    is_whole = "image" in text and ("selector" in text or _BARE_POD.search(text) is not None)
    return _POD.search(text) is not None and not is_whole


def has_chart_defaults(name: str) -> bool:
    """Return whether a file contains the default values of a chart, which an installation can
    change.
    """
    folder, base = os.path.split(name)
    return base == "values.yaml" and os.path.isfile(os.path.join(folder, "Chart.yaml"))


def _is_below_templates(name: str, chart: str) -> bool:
    return os.path.relpath(name, chart).split(os.sep, 1)[0] == "templates"


def _is_readable(source: Source) -> bool:
    """Return whether a text is YAML. If so, braces in a container's arguments don't make it a
    template.
    """
    try:
        read_documents([source])
    except ManifestError:
        return False
    return True


def missing_object_reason(source: Source) -> SkippedFile | None:
    """Return why an unreadable file isn't an error: the file doesn't contain any manifests."""
    try:
        documents, _ = read_documents([source])
    except ManifestError:
        return None
    if any(_resembles_object(each.data) for each in documents):
        return None
    chart = _chart_of(source.name)
    return _of_chart(chart, source.name) if chart else SkippedFile("no manifest", "", source.name)


def _resembles_object(data: Any) -> bool:
    """Return whether a document is an object, possibly without its API version or kind. Files of
    other tools, for example indexes of Helm repositories, also contain one of these keys.
    """
    if not isinstance(data, Mapping) or _IDENTITY.isdisjoint(data):
        return False
    names = [data.get(key) for key in _IDENTITY]
    is_typed = all(isinstance(each, str) for each in names) and "/" not in str(data["kind"])
    return is_typed or not _BODY.isdisjoint(data)


def _of_document(data: Any, name: str, kustomization: _Kustomization | None) -> SkippedFile | None:
    if not isinstance(data, Mapping):
        return None
    if any(key == "$patch" for key, _ in _entries(data)) or data.get("apiVersion") == "builtin":
        return (
            _of_kustomization(kustomization)
            if kustomization
            else SkippedFile("part of a kustomization", "", name)
        )
    if kustomization and (
        _is_part(data) or (kustomization.sets_namespace and _is_unnamed_namespace(data))
    ):
        return _of_kustomization(kustomization)
    if _is_kubeconfig(data):
        return SkippedFile(KUBECONFIG, "", name)
    if data.get("kind") == "Pod" and _is_kubeadm_patch(data):
        return SkippedFile(KUBEADM_PATCH, "", name)
    if data.get("kind") == "Pod" and (_is_for_spark(data) or _is_unfinished_pod(data, name)):
        return SkippedFile(SPARK_TEMPLATE, "", name)
    is_apart = str(data.get("apiVersion", "")).startswith(_TEMPLATED)
    if not is_apart and (placeholder := _placeholder(data)):
        return _of_template(placeholder, name)
    return None


def _of_template(placeholder: str, name: str) -> SkippedFile:
    fix = f"render the template first, or replace `{placeholder}` with a value"
    return SkippedFile(TEMPLATE, "", name, fix)


def _of_chart(chart: str, name: str) -> SkippedFile:
    return SkippedFile(
        CHART_PART, chart, name, (f"run `helm template {chart} | pulumi-dra check -`")
    )


def _of_kustomization(found: _Kustomization) -> SkippedFile:
    return SkippedFile(KUSTOMIZATION_PART, found.folder, "", build_fix(found.folder))


def build_fix(folder: str) -> str:
    """Return how to check the objects of a folder's kustomization.

    kustomize builds a Component only as part of another kustomization, which contains the objects
    that the Component changes.
    """
    data = _data_of_kustomization(os.path.abspath(folder))
    if data is None:  # the file has another name, so kustomize doesn't find it
        return f"build the kustomization in {folder}, and pass its output to `pulumi-dra check -`"
    if data.get("kind") == "Component":
        return (
            "run `kustomize build DIR | pulumi-dra check -`, where DIR is a kustomization that "
            f"lists {folder} in its components"
        )
    return f"run `kustomize build {folder} | pulumi-dra check -`"


def _is_part(data: Mapping[str, Any]) -> bool:
    """Return whether a workload lacks a selector that its own kustomization, or another one that
    includes the workload, adds.
    """
    spec = data.get("spec")
    return data.get("kind") in _WHOLE and isinstance(spec, Mapping) and not spec.get("selector")


def _is_unnamed_namespace(data: Mapping[str, Any]) -> bool:
    """Return whether a Namespace has a name that no namespace can have: kustomize replaces it."""
    meta = data.get("metadata")
    name = str(meta.get("name")) if isinstance(meta, Mapping) else ""
    return data.get("kind") == "Namespace" and _NAMESPACE_NAME.fullmatch(name) is None


def _is_unfinished_pod(data: Mapping[str, Any], name: str) -> bool:
    """Return whether a file is named like a pod template and its pod doesn't have containers,
    because Spark adds them.
    """
    spec = data.get("spec")
    return is_pod_template(name) and isinstance(spec, Mapping) and "containers" not in spec


def _is_kubeadm_patch(data: Mapping[str, Any]) -> bool:
    """Return whether a control plane pod lacks an image, because kubeadm sets the image."""
    meta, spec = data.get("metadata"), data.get("spec")
    if not isinstance(meta, Mapping) or meta.get("name") not in _STATIC_PODS:
        return False
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    return isinstance(containers, list) and not any(
        isinstance(each, Mapping) and each.get("image") for each in containers
    )


def _is_kubeconfig(data: Mapping[str, Any]) -> bool:
    """Return whether a document configures a client, such as kubectl, instead of a cluster.

    Source: kubernetes/client-go:tools/clientcmd/api/v1/types.go@v0.36.0 (Config).
    """
    is_config = (data.get("apiVersion"), data.get("kind")) == ("v1", "Config")
    return is_config and not {"clusters", "contexts", "users"}.isdisjoint(data)


def _is_for_spark(data: Mapping[str, Any]) -> bool:
    spec = data.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    listed = (
        [each for each in containers if isinstance(each, Mapping)]
        if isinstance(containers, list)
        else []
    )
    return any(
        str(each.get("name")).startswith("spark-kubernetes-") and not each.get("image")
        for each in listed
    )


def _placeholder(data: Mapping[str, Any]) -> str:
    """Return the first name, count, or label that still contains a placeholder, or "". Commands can
    contain any text.
    """
    meta = data.get("metadata")
    named = [meta.get("name")] if isinstance(meta, Mapping) else []
    entries = [each for each in _entries(data) if each[0] in _SCALARS or each[0] in _MAPPINGS]
    named += [item for key, item in entries if key in _REFERENCES]
    for name in named:
        if isinstance(name, str) and _SHOUTED.fullmatch(name):
            return name
    for key, item in entries:
        values = [item] if key in _SCALARS else []
        if key in _MAPPINGS and _is_map(item):
            values = list(item.values())
        for value in values:
            if isinstance(value, str) and (found := PLACEHOLDER.search(value)):
                return found[0]
    return ""


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _entries(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield all keys with their values, in the order of the text. Recursive generators would pass
    each of the many entries of a CustomResourceDefinition through every level.
    """
    levels = [_items(data)]
    while levels:
        for key, item in levels[-1]:
            if key is not None:
                yield str(key), item
            if isinstance(item, dict | list) and key not in _FREE_TEXT:
                levels.append(_items(item))
                break
        else:
            levels.pop()


def _items(data: Any) -> Iterator[tuple[Any, Any]]:
    return iter(data.items()) if isinstance(data, dict) else ((None, each) for each in data)


class _Kustomization(Struct, frozen=True):
    folder: str
    parts: frozenset[str]  # real paths of its patches and of files that aren't manifests
    sets_namespace: bool = False


def _folders(name: str) -> Iterator[str]:
    """Yield the folder of a file and the folders above it, also those above the working
    directory.
    """
    folder = os.path.dirname(name) or "."
    for _ in range(_HIGHEST):
        yield folder
        above = os.path.dirname(os.path.abspath(folder))
        if above == os.path.abspath(folder):
            return
        folder = above if os.path.isabs(folder) else os.path.relpath(above)


def _chart_of(name: str) -> str:
    """Return the folder of the chart that a file belongs to, or ""."""
    return next(
        (folder for folder in _folders(name) if os.path.isfile(os.path.join(folder, "Chart.yaml"))),
        "",
    )


def _kustomization_of(name: str) -> _Kustomization | None:
    for folder in _folders(name):
        data = _data_of_kustomization(os.path.abspath(folder))
        if data is not None:
            parts = (os.path.realpath(os.path.join(folder, each)) for each in _parts(data))
            # the kustomizations that include a component can set its namespace
            sets_namespace = bool(data.get("namespace")) or data.get("kind") == "Component"
            return _Kustomization(folder, frozenset(parts), sets_namespace)
    return None


def kustomization_changes(source: Source) -> tuple[str, tuple[str, ...]] | None:
    """Return the folder of the kustomization that a manifest belongs to, and the changes that
    aren't visible in the manifest.
    """
    found = _kustomization_of(source.name)
    changes = _changes_of_kustomization(os.path.abspath(found.folder)) if found else ()
    return (found.folder, changes) if found and changes else None


@cache
def _changes_of_kustomization(folder: str) -> tuple[str, ...]:
    """Return the changes in a folder's kustomization that affect a plan, and its namespace."""
    for file in KUSTOMIZATION_FILES:
        path = os.path.join(folder, file)
        if os.path.isfile(path):
            documents, _ = read_documents([read_file(path)])
            data = documents[0].data if documents and isinstance(documents[0].data, Mapping) else {}
            namespace = ("namespace",) if data.get("namespace") else ()
            return (*dict.fromkeys(find_changes(folder, data)), *namespace)
    return ()


@cache
def _data_of_kustomization(folder: str) -> Mapping[str, Any] | None:
    """Return a folder's kustomization, which is empty if it can't be read. None if the folder
    doesn't have a kustomization.
    """
    for file in KUSTOMIZATION_FILES:
        path = os.path.join(folder, file)
        if not os.path.isfile(path):
            continue
        try:
            documents, _ = read_documents([read_file(path)])
        except PlannerError:
            return {}
        return documents[0].data if documents and isinstance(documents[0].data, Mapping) else {}
    return None


def _parts(data: Mapping[str, Any]) -> Iterator[str]:
    named = [
        entry.get("path") if isinstance(entry, Mapping) else entry
        for key in _PATCHES
        for entry in listed(data.get(key))
    ]
    named += [entry for key in _NO_MANIFESTS for entry in listed(data.get(key))]
    for path in named:
        # An inline patch has several lines, and a path never contains a null byte.
        if isinstance(path, str) and not {"\n", "\0"} & set(path):
            yield path
