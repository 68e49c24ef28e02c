"""Rules of ResourceClaims, ResourceClaimTemplates, and DeviceClasses.

Source: kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3, checked with
v1.34.3 and v1.35.4. The data is already decoded and defaulted, and the paths are the server's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.declarative_validation import declared
from dra_planner.manifests.validation.fields.formats import (
    is_extended_resource,
    label_value,
    length_of,
    qualified_name,
)
from dra_planner.manifests.validation.fields.lists import check_list, check_set, identity, name_of
from dra_planner.manifests.validation.fields.metadata import check_template_metadata
from dra_planner.manifests.validation.fields.names import (
    check_class_name,
    check_driver,
    check_label,
    check_qualified_attribute_name,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from dra_planner.releases import Features

Data = Mapping[str, Any]
RequestNames = Mapping[str, frozenset[str]]

MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8
MAX_SELECTORS: Final = 32
MAX_CONSTRAINTS: Final = 32
MAX_CONFIGURATIONS: Final = 32
MAX_EXPRESSION_BYTES: Final = 10240
MAX_PARAMETER_BYTES: Final = 10240
_ONE_FORM: Final = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but '
    "multiple fields are set"
)
_SAME_NAME: Final = 0.75  # minimum of difflib's ratio
_REFERENCE: Final = (
    "must be the name of a request in the claim or the name of a request and a "
    "subrequest separated by '/'"
)
_EXPECTED_ADMIN: Final = (
    "admin access to devices requires the "
    "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
)
ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"


def check_claim(data: Data, context: Context) -> Violations:
    yield from check_claim_spec(data.get("spec") or {}, "spec", context)


def check_template(data: Data, context: Context) -> Violations:
    spec = data.get("spec") or {}
    yield from check_template_metadata(spec.get("metadata") or {}, "spec.metadata")
    yield from check_claim_spec(spec.get("spec") or {}, "spec.spec", context)


def check_class(data: Data, context: Context) -> Violations:
    spec = data.get("spec") or {}
    yield from _check_selectors(spec, "spec", context)
    check = partial(_check_configuration, names=None, context=context)
    yield from check_list(
        spec.get("config") or (), MAX_CONFIGURATIONS, check, "spec.config", context.features
    )
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended_resource(name):
        yield invalid("spec.extendedResourceName", name, "must be a valid extended resource name")


def check_admin_access(data: Data, context: Context, labels: Mapping[str, str]) -> Violations:
    """Check that the namespace of a claim or template with admin access has the label.

    The path in the error is the server's.
    """
    spec = data.get("spec") or {}
    if data.get("kind") == "ResourceClaimTemplate":
        spec = spec.get("spec") or {}
    if labels.get(ADMIN_LABEL) == "true" or not context.features.admin_access:
        return
    for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if ((request or {}).get("exactly") or {}).get("adminAccess"):
            yield forbidden(f"spec.devices.requests[{index}].adminAccess", _EXPECTED_ADMIN)
            return  # the server reports only the first one


def check_claim_spec(spec: Data, path: str, context: Context) -> Violations:
    devices = spec.get("devices") or {}
    path = f"{path}.devices"
    requests = devices.get("requests") or ()
    names = _request_names(requests)
    features = context.features
    yield from check_set(
        requests,
        MAX_REQUESTS,
        partial(_check_request, context=context),
        name_of,
        f"{path}.requests",
        features,
        key_field="name",
    )
    yield from check_list(
        devices.get("constraints") or (),
        MAX_CONSTRAINTS,
        partial(_check_constraint, names=names, context=context),
        f"{path}.constraints",
        features,
    )
    yield from check_list(
        devices.get("config") or (),
        MAX_CONFIGURATIONS,
        partial(_check_configuration, names=names, context=context),
        f"{path}.config",
        features,
    )


def _request_names(requests: Any) -> RequestNames:
    return {
        name_of(request): frozenset(
            name_of(item) for item in (request or {}).get("firstAvailable") or ()
        )
        for request in requests
    }


def _check_request(data: Data | None, path: str, *, context: Context) -> Violations:
    data = data or {}
    yield from check_label(name_of(data), f"{path}.name")
    alternatives, exactly = data.get("firstAvailable") or (), data.get("exactly")
    if not alternatives and exactly is None:
        yield required(path, _ONE_FORM)
        return
    if alternatives and exactly is not None:
        yield invalid(path, None, f"{_ONE_FORM}, but multiple fields are set")
        if context.features.declared_validation:
            inside = chain(
                _check_alternatives(alternatives, path, context),
                _check_exact(exactly, f"{path}.exactly", context),
            )
            yield from declared(inside)
        if context.features.stops_at_whole_faults:
            return
    if alternatives:
        yield from _check_alternatives(alternatives, path, context)
    if exactly is not None:
        yield from _check_exact(exactly, f"{path}.exactly", context)


def _check_alternatives(alternatives: Sequence[Any], path: str, context: Context) -> Violations:
    check = partial(_check_alternative, context=context)
    where = f"{path}.firstAvailable"
    yield from check_set(
        alternatives, MAX_ALTERNATIVES, check, name_of, where, context.features, key_field="name"
    )


def _check_alternative(data: Data | None, path: str, *, context: Context) -> Violations:
    yield from check_label(name_of(data), f"{path}.name")
    yield from _check_exact(data or {}, path, context)


def _check_exact(data: Data, path: str, context: Context) -> Violations:
    yield from check_class_name(data.get("deviceClassName") or "", f"{path}.deviceClassName")
    yield from _check_selectors(data, path, context)
    mode, count = data.get("allocationMode") or "", int(data.get("count") or 0)
    if mode == "All" and count:
        yield invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")
    elif mode not in ("All", "ExactCount"):
        yield not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount"))
    for index, toleration in enumerate(data.get("tolerations") or ()):
        yield from _check_toleration(
            toleration or {}, f"{path}.tolerations[{index}]", context.features
        )


def _check_selectors(data: Data, path: str, context: Context) -> Violations:
    check = partial(_check_selector, context=context)
    yield from check_list(
        data.get("selectors") or (), MAX_SELECTORS, check, f"{path}.selectors", context.features
    )


def _check_selector(data: Data | None, path: str, *, context: Context) -> Violations:
    cel = (data or {}).get("cel")
    if cel is None:
        yield required(f"{path}.cel")
        return
    expression, path = cel.get("expression") or "", f"{path}.cel.expression"
    if length_of(expression) > MAX_EXPRESSION_BYTES:
        yield too_long(path, MAX_EXPRESSION_BYTES)
        return
    refusal = context.check_selector(expression, context.features)
    if refusal is not None:
        detail = refusal.detail
        violation = (
            forbidden(path, detail) if refusal.is_forbidden else invalid(path, expression, detail)
        )
        yield replace(violation, fix=refusal.fix)


def _check_toleration(data: Data, path: str, features: Features) -> Violations:
    key, value = data.get("key") or "", data.get("value") or ""
    if key:
        yield from each_invalid(f"{path}.key", key, qualified_name(key))
    operator = data.get("operator") or ""
    if operator == "Exists":
        if value:
            yield invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from each_invalid(f"{path}.value", value, label_value(value))
    else:
        yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))
    effect = data.get("effect") or ""
    if effect and effect not in features.device_taint_effects:
        yield not_supported(f"{path}.effect", effect, features.device_taint_effects)


def _check_constraint(
    data: Data | None, path: str, *, names: RequestNames, context: Context
) -> Violations:
    data = data or {}
    yield from _check_references(data, path, names, context)
    match, distinct = data.get("matchAttribute"), data.get("distinctAttribute")
    if match is not None:
        yield from check_qualified_attribute_name(match, f"{path}.matchAttribute", context.features)
    if distinct is not None and (match is None or context.features.checks_both_attributes):
        yield from check_qualified_attribute_name(
            distinct, f"{path}.distinctAttribute", context.features
        )
    if match is not None or distinct is not None:
        return
    if context.features.consumable_capacity:
        yield required(path, _ONE_ATTRIBUTE)
    else:
        yield required(f"{path}.matchAttribute")


def _check_references(data: Data, path: str, names: RequestNames, context: Context) -> Violations:
    check = partial(_check_reference, names=names)
    listed = data.get("requests") or ()
    yield from check_set(
        listed, MAX_REQUESTS, check, identity, f"{path}.requests", context.features
    )


def _check_reference(name: str | None, path: str, *, names: RequestNames) -> Violations:
    name = name or ""
    segments = name.split("/")
    if len(segments) > 2:
        yield invalid(path, name, _REFERENCE)
        return
    for segment in segments:
        yield from check_label(segment, path)
    if segments[0] not in names or (len(segments) == 2 and segments[1] not in names[segments[0]]):
        yield replace(invalid(path, name, _REFERENCE), fix=_intended_reference(name, names))


def _intended_reference(name: str, names: RequestNames) -> str:
    """Return the fix with the request that a reference probably means, or with all requests."""
    known = [
        *names,
        *(f"{request}/{way}" for request, ways in names.items() for way in sorted(ways)),
    ]
    near = known if len(known) == 1 else get_close_matches(name, known, 1, _SAME_NAME)
    if near:
        return f"use the request {near[0]}"
    return f"use one of these requests: {', '.join(known)}" if known else ""


def _check_configuration(
    data: Data | None, path: str, *, names: RequestNames | None, context: Context
) -> Violations:
    data = data or {}
    if names is not None:
        yield from _check_references(data, path, names, context)
    opaque, path = data.get("opaque"), f"{path}.opaque"
    if opaque is None:
        yield required(path)
        return
    yield from check_driver(opaque.get("driver") or "", f"{path}.driver", context.features)
    parameters, path = opaque.get("parameters"), f"{path}.parameters"
    if parameters is None:
        yield required(path)
    elif (
        length_of(json.dumps(parameters, separators=(",", ":"), ensure_ascii=False))
        > MAX_PARAMETER_BYTES
    ):
        yield too_long(path, MAX_PARAMETER_BYTES)
    elif not isinstance(parameters, Mapping):
        yield invalid(path, "<value omitted>", "must be a valid JSON object")
