"""Rules of metadata: names, labels, annotations.

Source: kubernetes/apimachinery:pkg/api/validation/objectmeta.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.manifests.validation.fields.formats import (
    dns_label,
    dns_subdomain,
    label_value,
    length_of,
    path_segment,
    qualified_name,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    required,
    too_long,
)
from dra_planner.releases import Features

Data = Mapping[str, Any]
MAX_ANNOTATION_BYTES: Final = 256 * 1024
_LABEL_NAMES: Final = frozenset({"Namespace", "StatefulSet"})
# any name that can be part of a URL path
_SEGMENT_NAMES: Final = frozenset({"PodDisruptionBudget"})
# Metadata fields that users can't set in a template, each with whether an empty value counts as
# set, because Go distinguishes a nil list or pointer from an empty one. The server lowercases only
# the first letter of `UID`.
_NOT_IN_TEMPLATES: Final = {
    "name": False,
    "generateName": False,
    "namespace": False,
    "uid": False,
    "resourceVersion": False,
    "generation": False,
    "selfLink": False,
    "creationTimestamp": False,
    "deletionTimestamp": True,
    "deletionGracePeriodSeconds": True,
    "ownerReferences": True,
    "finalizers": True,
    "managedFields": True,
}
_GENERATED_STEM: Final = 58  # bytes of the prefix that remain in a generated name


def check_metadata(data: Data, kind: str, features: Features, path: str = "metadata") -> Violations:
    name, prefix = data.get("name") or "", data.get("generateName") or ""
    wrong = (
        dns_label
        if kind in _LABEL_NAMES
        else path_segment
        if kind in _SEGMENT_NAMES
        else dns_subdomain
    )
    if prefix:
        # If a prefix ends in a hyphen, the server checks it as if its last two characters were an
        # "a".
        stem = prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        # otherwise, only the generated name is checked
        if kind != "DeviceClass" or features.checks_prefix_of_class_names:
            yield from each_invalid(f"{path}.generateName", prefix, wrong(stem))
        name = name or prefix[:_GENERATED_STEM] + "xxxxx"
    if name:
        yield from each_invalid(f"{path}.name", name, wrong(name))
        if kind == "Namespace":  # its name is also stored in the label kubernetes.io/metadata.name
            yield from each_invalid(f"{path}.labels", name, label_value(name))
    elif not prefix:
        yield required(f"{path}.name", "name or generateName is required")
    namespace = data.get("namespace") or ""
    if namespace:
        yield from each_invalid(f"{path}.namespace", namespace, dns_label(namespace))
    yield from check_labels(data.get("labels") or {}, f"{path}.labels")
    yield from check_annotations(data.get("annotations") or {}, f"{path}.annotations")
    for index, reference in enumerate(data.get("ownerReferences") or ()):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not (reference or {}).get(field):
                yield invalid(f"{path}.ownerReferences[{index}].{field}", "", "must not be empty")


def check_labels(labels: Data, path: str) -> Violations:
    for key, value in labels.items():
        for detail in qualified_name(key):
            yield invalid(path, key, detail)
        for detail in label_value(value or ""):
            yield invalid(path, value, detail)


def check_annotations(annotations: Data, path: str) -> Violations:
    size = 0
    for key, value in annotations.items():
        for detail in qualified_name(key.lower()):
            yield invalid(path, key, detail)
        size += length_of(key) + length_of(value or "")
    if size > MAX_ANNOTATION_BYTES:
        yield too_long(path, MAX_ANNOTATION_BYTES)


def check_template_metadata(data: Data, path: str) -> Violations:
    """Check the metadata of a template, which can only have labels and annotations."""
    for field, even_empty in _NOT_IN_TEMPLATES.items():
        value = data.get(field)
        if value or (even_empty and value is not None):
            yield forbidden(f"{path}.{'uID' if field == 'uid' else field}", "cannot be set")
    yield from check_labels(data.get("labels") or {}, f"{path}.labels")
    yield from check_annotations(data.get("annotations") or {}, f"{path}.annotations")
