"""The problem and the fix of a value with a wrong type, for example text that isn't a quantity."""

from __future__ import annotations

import re
from typing import Any, Final

from dra_planner.documents.yaml_advice import about_placeholder
from dra_planner.manifests.amount_units import corrected_amount, possible_amounts
from dra_planner.manifests.validation.field_paths import entry_at, value_at
from dra_planner.manifests.validation.violations import show
from dra_planner.quantity import WRONG_FORMAT

_AS_MAPPINGS: Final = {
    "resource.DeviceSelector": "use {cel: {expression: …}}",
    "resource.CELDeviceSelector": "use {expression: …}",
}
"""Types that guides often write as plain text, and their correct form."""
_IN_BRACKETS: Final = re.compile(r"[A-Z][A-Z0-9]*(?:[_ -][A-Z0-9]+)*")
_EXAMPLES: Final = {
    "cpu": '500m or "2"',
    "memory": "40Gi",
    "ephemeral-storage": "40Gi",
    "storage": "40Gi",
    "sizeLimit": "40Gi",
    "pods": '"2"',
}
"""Quantities for a resource or field. Amounts of extended resources are integers."""


def wrong_type_text(data: Any, path: str, text: str) -> str:
    """Return the problem with a value: its field, the value, and the text of the API server."""
    value = value_at(data, path)
    if text == WRONG_FORMAT:
        return f"{path} is {_shown(value)}, which isn't a valid quantity ({text})"
    if isinstance(value, str | int | float):
        return f"{path} is {_shown(value)}, which has the wrong type ({text})"
    return text


def wrong_type_fix(data: Any, path: str, text: str) -> str:
    """Return the fix for a value with a wrong type, or "" if none is known. `text` is the text of
    the API server.
    """
    key, value = entry_at(data, path)
    if isinstance(value, str) and (placeholder := about_placeholder(value)):
        return placeholder
    if text.endswith(WRONG_FORMAT):
        return _quantity_fix(str(key), value)
    if "unmarshal string" in text and text.endswith(("int64", "int32", "bool")):
        if re.fullmatch(r"\s*([+-]?\d+|true|false)\s*", str(value)):
            return "remove the quotes"
        return "use true or false" if text.endswith("bool") else "use an integer"
    if ("unmarshal number" in text or "unmarshal bool" in text) and text.endswith("string"):
        return "put the value in quotes, because YAML reads it as a number or boolean"
    if "of type []" in text:
        return "use a list, and begin each item with a hyphen"
    if (
        "unmarshal array" in text
        and isinstance(value, list)
        and len(value) == 1
        and _IN_BRACKETS.fullmatch(str(value[0]))
    ):
        return f"replace [{value[0]}] with a value, without the brackets"
    if "unmarshal array" in text:
        return "remove the hyphen, because this field is a single mapping"
    if text.endswith("of type core.ResourceClaim") and isinstance(value, str):
        return f"use {{name: {value}}}"
    for kind, fix in _AS_MAPPINGS.items():
        if text.endswith(f"of type {kind}"):
            return fix
    if "unmarshal string" in text:
        return "use a mapping with fields instead of text"
    return "use an integer" if "unmarshal number" in text else ""


def _quantity_fix(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else ""
    meant = corrected_amount(text)
    amounts = (meant,) if meant else possible_amounts(text)
    if amounts:
        return f'use {" or ".join(amounts)} instead of "{text}"'
    example = _EXAMPLES.get(name, '"2"' if "/" in name else '40Gi, 500m, or "2"')
    return f"set {name} to a quantity such as {example}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else show(value)
