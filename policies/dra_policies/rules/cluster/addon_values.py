"""Configuration values of an add-on that its schema rejects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from dra_planner.catalog.chart_values import chart_keys
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import DeclaredResource, StackView

_ADDON: Final = ":Addon"
_PROPERTY: Final = "configurationValues"
# The schema of this add-on has only texts as environment variables.
# Source: aws/amazon-vpc-cni-k8s issue 2272 (output of describe-addon-configuration)
_TEXTS_ONLY: Final = {"vpc-cni": "env"}
# The schema of this add-on has only keys of its chart, and rejects all other keys.
# Source: aws/amazon-vpc-cni-k8s issues 2491 and 3059
_CHARTS: Final = {"vpc-cni": "aws-vpc-cni"}
_ALIKE: Final = 0.8


def rejected_addon_values(view: StackView) -> Iterator[Finding]:
    """Yield add-ons whose values aren't JSON or YAML objects, or have another type than the add-on
    accepts.
    """
    for each in view.declared:
        text = each.props.text(_PROPERTY) if each.type.endswith(_ADDON) else None
        if not text or not text.lstrip().startswith("{"):  # YAML is accepted, too
            continue
        try:
            values = json.loads(text)
        except ValueError as error:
            yield _finding(
                each,
                f"its {_PROPERTY} isn't valid JSON: {error}",
                f"correct the JSON in {_PROPERTY}",
            )
            continue
        yield from _other_types(each, values)
        yield from _unknown_keys(each, values)


def _other_types(addon: DeclaredResource, values: Any) -> Iterator[Finding]:
    key = _TEXTS_ONLY.get(addon.props.text("addonName") or "", "")
    for name, value in (as_mapping((as_mapping(values) or {}).get(key)) or {}).items():
        if value is not None and not isinstance(value, str):
            shown = json.dumps(value)
            yield _finding(
                addon,
                f"{key}.{name} in {_PROPERTY} is {shown}, but the add-on accepts only strings",
                f'set {key}.{name} to the string "{shown}"',
            )


def _unknown_keys(addon: DeclaredResource, values: Any) -> Iterator[Finding]:
    """Yield keys that look misspelled, and keys that are names of the schema's definitions, because
    these start with a capital letter. A newer add-on can have other keys.
    """
    chart = _CHARTS.get(addon.props.text("addonName") or "", "")
    known = next((each.keys for each in chart_keys().get(chart, ()) if not each.path), ())
    for key in as_mapping(values) or {}:
        near = get_close_matches(key[:1].lower() + key[1:], known, n=1, cutoff=_ALIKE)
        if known and key not in known and (near or key[:1].isupper()):
            yield _finding(
                addon,
                f'the add-on doesn\'t accept the key "{key}" in {_PROPERTY}',
                f'use "{near[0]}"'
                if near
                else f'replace "{key}" with a key from the add-on\'s configuration schema',
            )


def _finding(addon: DeclaredResource, problem: str, fix: str) -> Finding:
    return Finding(message=f'add-on "{addon.name}": {problem}', fix=fix, urn=addon.urn)
