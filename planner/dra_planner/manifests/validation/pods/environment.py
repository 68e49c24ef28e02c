"""Rules of environment variables, and of references to the pod's own fields."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.checks import always_formatted, formatted, named
from dra_planner.manifests.validation.fields.formats import (
    configuration_key,
    dns_label,
    dns_subdomain,
    environment_name,
    qualified_name,
    without_backsteps,
)
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table, each
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    invalid,
    not_supported,
    required,
)

_IN_VARIABLES: Final = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
# Fields to which a reference can point. The position of the reference determines which fields are
# valid.
_KNOWN: Final = _IN_VARIABLES | {
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
    "spec.host",
}
_SUBSCRIPT: Final = re.compile(r"(.+?)\['(.*)'\]", re.DOTALL)
_RESOURCES: Final = tuple(
    f"{which}.{name}"
    for which in ("limits", "requests")
    for name in ("cpu", "memory", "ephemeral-storage")
)
_HUGE_PAGES: Final = ("requests.hugepages-", "limits.hugepages-")
_SIZES: Final = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_VARIABLE_SOURCES: Final = (
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
)


def check_field_reference(data: Data, path: str, allowed: Collection[str]) -> Violations:
    """Yield the errors in a reference to a field of the pod. `allowed` are the valid fields."""
    field, version = data.get("fieldPath") or "", data.get("apiVersion") or "v1"
    if not field:
        yield required(f"{path}.fieldPath")
        return
    match = _SUBSCRIPT.fullmatch(field)
    whole = match[1] if match is not None else field
    if (
        version != "v1"
        or (whole not in _KNOWN and match is None)
        or (match is not None and not _takes_keys(whole))
    ):
        yield invalid(
            f"{path}.fieldPath", field, "error converting fieldPath: field label not supported"
        )
    elif match is not None:
        key = match[2].lower() if whole == "metadata.annotations" else match[2]
        yield from each_invalid(path, match[2], qualified_name(key))
    elif ("spec.nodeName" if whole == "spec.host" else whole) not in allowed:
        yield not_supported(f"{path}.fieldPath", whole, allowed)


def _takes_keys(field: str) -> bool:
    return field in ("metadata.annotations", "metadata.labels")


def check_resource_reference(data: Data, path: str, *, needs_container: bool) -> Violations:
    """Yield the errors in a reference to a resource amount of a container."""
    resource = data.get("resource") or ""
    if needs_container and not data.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    divisor = parse_quantity(data.get("divisor") or 0)
    known = ("1m", "1") if resource.endswith(".cpu") else _SIZES
    if (
        divisor.sign
        and (resource in _RESOURCES or resource.startswith(_HUGE_PAGES))
        and str(divisor) not in known
    ):
        yield invalid(
            f"{path}.divisor", resource, f"only divisor's values {', '.join(known)} are supported"
        )


def _check_value_from(data: Data, path: str, scope: Scope) -> Violations:
    source, path = data.get("valueFrom"), f"{path}.valueFrom"
    if source is None:
        return
    if source.get("fieldRef") is not None:
        yield from check_field_reference(source["fieldRef"], f"{path}.fieldRef", _IN_VARIABLES)
    if source.get("resourceFieldRef") is not None:
        where = f"{path}.resourceFieldRef"
        yield from check_resource_reference(
            source["resourceFieldRef"], where, needs_container=False
        )
    count = sum(source.get(name) is not None for name in _VARIABLE_SOURCES)
    if not count:
        yield invalid(
            path,
            "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
            "`secretKeyRef`",
        )
    elif data.get("value"):
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif count > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def check_sources(value: Any, path: str, scope: Scope) -> Violations:
    """Yield the errors in `envFrom` sources. The server reports them at the list."""
    for item, _ in each(value, path):
        count = sum(item.get(name) is not None for name in ("configMapRef", "secretRef"))
        if not count:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif count > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


_KEY_OF_OBJECT: Final = StructRules(
    fields={"name": always_formatted(dns_subdomain), "key": named(configuration_key)}
)


def _object_name(text: str) -> list[str]:
    """Check a name that the server treats as a prefix, so it can end in a dash."""
    return dns_subdomain(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


_OBJECT: Final = StructRules(fields={"name": named(_object_name)})
ENVIRONMENT: Final[Table] = {
    "core.EnvVar": StructRules(
        fields={"name": named(environment_name)}, whole=(_check_value_from,)
    ),
    "core.EnvFromSource": StructRules(fields={"prefix": formatted(environment_name)}),
    "core.ConfigMapEnvSource": _OBJECT,
    "core.SecretEnvSource": _OBJECT,
    "core.ConfigMapKeySelector": _KEY_OF_OBJECT,
    "core.SecretKeySelector": _KEY_OF_OBJECT,
    "core.FileKeySelector": StructRules(
        fields={
            "key": named(environment_name),
            "volumeName": named(dns_label),
            "path": named(without_backsteps),
        }
    ),
}
