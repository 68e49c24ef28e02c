"""Placeholders of templates, such as ${NAME}, in values that the API server rejects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from dra_planner.errors import ManifestError
from dra_planner.manifests.documents import ManifestDocument
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.field_paths import value_at
from dra_planner.manifests.validation.verdict import judge
from dra_planner.manifests.validation.violations import Violation
from dra_planner.releases import MAXIMUM_MINOR, features_of

PLACEHOLDER: Final = re.compile(
    r"\$\{[^{}]+\}|\$\([\w-]+\)|\$[A-Z]\w*|<[A-Za-z_][\w .-]*>|__[A-Z][A-Z_]*__|\{\{.*\}\}"
)
_NEWEST: Final = Context(
    features=features_of(MAXIMUM_MINOR), check_selector=lambda expression, features: None
)


def rejected_placeholder(documents: Iterable[ManifestDocument]) -> str:
    """Return the first placeholder in a value that the API server rejects, or "".

    The API server accepts placeholders in free text, such as arguments, so they don't make a
    manifest a template.
    """
    try:
        objects = read_objects(documents)
    except ManifestError:
        return ""
    for item in objects:
        for violation in judge(item, _NEWEST).violations:
            if found := PLACEHOLDER.search(_rejected_text(item, violation)):
                return found[0]
    return ""


def _rejected_text(item: KubernetesObject, violation: Violation) -> str:
    """Return the rejected value. The path of an alias, such as serviceAccount, isn't in the
    object, so the text of the violation quotes the value.
    """
    value = value_at(item.data, violation.field)
    if value is None:
        return violation.text
    return value if isinstance(value, str) else ""
