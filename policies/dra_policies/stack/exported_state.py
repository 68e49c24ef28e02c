"""Output of `pulumi stack export` → the resources of a stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dra_planner.errors import Place, PlannerError
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties, as_list, as_mapping, plain

_FIX = "pass the file that `pulumi stack export --file state.json` writes"
_SECRET = "4dabf18193072939515e22adb298388d"
"""Marker of a special value. Source:
pulumi/pulumi:sdk/go/common/resource/properties.go@v3.259.0.
"""


def resources_of_state(text: str, name: str) -> tuple[Resource, ...]:
    """Return the resources of an exported state, in its order, without secrets and IDs of assets.

    Raises PlannerError if the text isn't an export.
    """
    try:
        document = as_mapping(json.loads(text))
    except (ValueError, RecursionError):
        raise PlannerError("is not JSON", place=Place(name), fix=_FIX) from None
    rows = as_list((as_mapping((document or {}).get("deployment")) or {}).get("resources"))
    if rows is None:
        raise PlannerError("isn't a stack state", place=Place(name), fix=_FIX)
    return tuple(
        _resource(row) for each in rows if (row := as_mapping(each)) is not None and _is_there(row)
    )


def _is_there(row: Mapping[str, Any]) -> bool:
    return (
        isinstance(row.get("urn"), str)
        and isinstance(row.get("type"), str)
        and not row.get("delete")
    )


def _resource(row: Mapping[str, Any]) -> Resource:
    sources = as_mapping(row.get("propertyDependencies")) or {}
    return Resource(
        urn=row["urn"],
        type=row["type"],
        name=row["urn"].rpartition("::")[2],
        props=Properties(plain(_without_secrets(row.get("inputs") or {}), KeyError)),
        sources={
            key: tuple(urn for urn in as_list(urns) or () if isinstance(urn, str))
            for key, urns in sources.items()
        },
        provider=str(row.get("provider") or "").rpartition("::")[0],  # the resource's URN and ID
        depends_on=tuple(
            urn for urn in as_list(row.get("dependencies")) or () if isinstance(urn, str)
        ),
    )


def _without_secrets(value: Any) -> Any:
    """Return a value with an empty string for each marked value: secrets, assets, references."""
    if (mapping := as_mapping(value)) is not None:
        return (
            ""
            if _SECRET in mapping
            else {key: _without_secrets(item) for key, item in mapping.items()}
        )
    items = as_list(value)
    return value if items is None else [_without_secrets(item) for item in items]
