"""The meaning of manifests with claims: names of claims, templates, and requests are replaced by
their contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


def meaning(text: str) -> list[Any]:
    """Return the documents in a text in a form in which texts with the same meaning are equal, even
    if their names differ.
    """
    documents = [each for each in yaml.safe_load_all(text) if each]
    templates = {
        (each["metadata"].get("namespace"), each["metadata"]["name"]): each["spec"]["spec"][
            "devices"
        ]["requests"]
        for each in documents
        if each.get("kind") == "ResourceClaimTemplate"
    }
    others = [
        each for each in documents if each.get("kind") not in ("ResourceClaimTemplate", "ConfigMap")
    ]
    return sorted((_resolved(each, _namespace(each), templates) for each in others), key=repr)


def _namespace(item: Mapping[str, Any]) -> str | None:
    return (item.get("metadata") or {}).get("namespace")


def _resolved(data: Any, namespace: str | None, templates: Mapping[Any, Any]) -> Any:
    if isinstance(data, list):
        return [_resolved(each, namespace, templates) for each in data]
    if not isinstance(data, Mapping):
        return data
    found = {key: _resolved(value, namespace, templates) for key, value in data.items()}
    if "resourceClaims" in data:
        claims = {each["name"]: templates[namespace, each["resourceClaimTemplateName"]]
                  for each in data["resourceClaims"]}  # fmt: skip
        found = _with_claims(found, claims)
        found["resourceClaims"] = [
            [_devices(request) for request in claim] for claim in claims.values()
        ]
    return found


def _with_claims(data: Any, claims: Mapping[str, Any]) -> Any:
    """Return a pod spec in which containers refer to devices instead of claims and requests."""
    if isinstance(data, list):
        return [_with_claims(each, claims) for each in data]
    if not isinstance(data, Mapping):
        return data
    found = {key: _with_claims(value, claims) for key, value in data.items() if key != "claims"}
    if isinstance(data.get("claims"), list):
        found["claims"] = sorted(
            repr((position, _devices(request)))
            for each in data["claims"]
            for position, request in enumerate(claims[each["name"]])
            if request["name"] == each["request"]
        )
    return found


def _devices(request: Mapping[str, Any]) -> Mapping[str, Any]:
    exactly = {"count": 1, **request["exactly"]}
    exactly.pop("allocationMode", None)
    return exactly
