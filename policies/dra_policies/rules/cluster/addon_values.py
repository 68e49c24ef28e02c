"""Configuration values of an add-on that its schema rejects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import as_mapping
from dra_policies.view.stack_view import DeclaredResource, StackView

_ADDON: Final = ":Addon"
_PROPERTY: Final = "configurationValues"
# The schema of this add-on has only texts as environment variables.
# Source: aws/amazon-vpc-cni-k8s issue 2272 (output of describe-addon-configuration)
_TEXTS_ONLY: Final = {"vpc-cni": "env"}


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
            yield _finding(each, f"its {_PROPERTY} isn't valid JSON: {error}", "correct the text")
            continue
        yield from _other_types(each, values)


def _other_types(addon: DeclaredResource, values: Any) -> Iterator[Finding]:
    key = _TEXTS_ONLY.get(addon.props.text("addonName") or "", "")
    for name, value in (as_mapping((as_mapping(values) or {}).get(key)) or {}).items():
        if value is not None and not isinstance(value, str):
            shown = json.dumps(value)
            yield _finding(
                addon,
                f"{key}.{name} in its {_PROPERTY} is {shown}, but the add-on accepts only texts",
                f'write "{shown}"',
            )


def _finding(addon: DeclaredResource, says: str, fix: str) -> Finding:
    return Finding(message=f'add-on "{addon.name}": {says}', fix=fix, urn=addon.urn)
