"""Rules of volumes that combine files of several sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from dra_planner.manifests.validation.checks import between, needed
from dra_planner.manifests.validation.fields.formats import (
    SUBDOMAIN_LENGTH,
    dns_label,
    dns_subdomain,
    length_of,
    local_path,
    qualified_name,
)
from dra_planner.manifests.validation.fields.metadata import MAX_ANNOTATION_BYTES
from dra_planner.manifests.validation.pods.environment import (
    check_field_reference,
    check_resource_reference,
)
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table, each
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)

_SOURCES: Final = (
    "secret",
    "configMap",
    "downwardAPI",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)
_IN_FILES: Final = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.labels",
        "metadata.annotations",
        "metadata.uid",
    }
)
_KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_CERTIFICATE_PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")
_MODE: Final = between(0, 0o777)
_LEAST_TOKEN_SECONDS: Final = 600
_LEAST_CERTIFICATE_SECONDS: Final = 3600
_MOST_CERTIFICATE_SECONDS: Final = 91 * 24 * 3600
_MOST_OWN_SECONDS: Final = 24 * 3600  # maximum for Kubernetes' own signers
_CONFLICT: Final = "conflicting duplicate paths"


def _no_fields(data: Data, scope: Scope) -> Collection[str]:
    """Skip the files, which are checked with the volume, because the server reports errors at the
    volume's path.
    """
    return ()


def _check_downward_volume(data: Data, path: str, scope: Scope) -> Violations:
    for item, _ in each(data.get("items"), path):
        yield from check_downward_file(item, path, scope)


def check_downward_file(data: Data, path: str, scope: Scope) -> Violations:
    """Yield the errors in a downward API file. The server reports them at the parent of
    the list.
    """
    if not data.get("path"):
        yield required(f"{path}.path")
    yield from each_invalid(
        f"{path}.path", data.get("path") or "", local_path(data.get("path") or "")
    )
    field, resource = data.get("fieldRef"), data.get("resourceFieldRef")
    if field is not None:
        yield from check_field_reference(field, f"{path}.fieldRef", _IN_FILES)
        if resource is not None:
            yield invalid(
                path,
                "resource",
                "fieldRef and resourceFieldRef can not be specified simultaneously",
            )
    elif resource is not None:
        yield from check_resource_reference(
            resource, f"{path}.resourceFieldRef", needs_container=True
        )
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _MODE(data.get("mode"), f"{path}.mode", scope)


def _check_projected(data: Data, path: str, scope: Scope) -> Violations:
    taken: set[str] = set()
    for source, where in each(data.get("sources"), f"{path}.sources"):
        if sum(source.get(name) is not None for name in _SOURCES) > 1:
            yield forbidden(where, "may not specify more than 1 volume type per source")
        for item, _ in each((source.get("downwardAPI") or {}).get("items"), where):
            yield from check_downward_file(item, f"{where}.downwardAPI", scope)
        token = source.get("serviceAccountToken")
        if token is not None:
            if not token.get("path"):
                yield required(f"{path}.path")
            yield from each_invalid(
                f"{path}.path", token.get("path") or "", local_path(token.get("path") or "")
            )
        for file in _paths_of(source):
            if file in taken:
                yield invalid(path, file, _CONFLICT)
            taken.add(file)


def _paths_of(source: Data) -> Iterator[str]:
    """Return the files of a source. Files of tokens aren't compared."""
    for name in ("secret", "configMap", "downwardAPI"):
        for item, _ in each((source.get(name) or {}).get("items"), ""):
            if item.get("path"):
                yield item["path"]
    if source.get("clusterTrustBundle") is not None:
        yield source["clusterTrustBundle"].get("path") or ""
    certificate = source.get("podCertificate") or {}
    yield from (certificate[name] for name in _CERTIFICATE_PATHS if certificate.get(name))


def _check_token_seconds(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None and not _LEAST_TOKEN_SECONDS <= value <= 2**32:
        yield invalid(
            path,
            int(value),
            "may not specify a duration less than 10 minutes or larger than 2^32 seconds",
        )


def _check_trust_bundle(data: Data, path: str, scope: Scope) -> Violations:
    name, signer = data.get("name"), data.get("signerName")
    if name is not None and signer is not None:
        yield invalid(path, dict(data), "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            yield required(f"{path}.name", "must be a valid object name")
        yield from each_invalid(f"{path}.name", name, _trust_bundle_name(name))
        if data.get("labelSelector") is not None:
            yield invalid(
                f"{path}.labelSelector", None, "labelSelector must be unset if name is specified"
            )
    elif signer is not None:
        yield from _check_signer(signer, f"{path}.signerName", scope)
    else:
        yield required(path, "either name or signerName must be specified")
    file = data.get("path") or ""
    if not file:
        yield required(f"{path}.path")
    yield from each_invalid(f"{path}.path", file, local_path(file))


def _trust_bundle_name(name: str) -> list[str]:
    """Return the error in the name of a trust bundle: `example.com:signer:name`, or a subdomain."""
    signer, colon, rest = name.rpartition(":")
    if colon and not signer:
        return ['ClusterTrustBundle without signer name must not have ":" in its name']
    return dns_subdomain(rest if colon else name)


def _fields_of_bundle(data: Data, scope: Scope) -> Collection[str]:
    return (
        ("labelSelector",)
        if data.get("name") is None and data.get("signerName") is not None
        else ()
    )


def _check_signer(value: Any, path: str, scope: Scope) -> Violations:
    if not value:
        yield required(path)
        return
    domain, slash, name = value.partition("/")
    if not slash or "/" in name:
        yield invalid(
            path,
            value,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        )
        return
    if length_of(domain) > SUBDOMAIN_LENGTH:
        yield too_long(path, SUBDOMAIN_LENGTH)
    if (
        any(map(dns_label, domain.split(".")))
        or "." not in domain
        or any(map(dns_subdomain, name.split(".")))
    ):
        yield invalid(
            path,
            value,
            "must be a domain with at least two segments, and a name separated by a slash",
        )


def _check_certificate(data: Data, path: str, scope: Scope) -> Violations:
    yield from _check_signer(data.get("signerName"), f"{path}.signerName", scope)
    if (data.get("keyType") or "") not in _KEY_TYPES:
        yield not_supported(f"{path}.keyType", data.get("keyType") or "", _KEY_TYPES)
    seconds = data.get("maxExpirationSeconds")
    own = (data.get("signerName") or "").partition("/")[0]
    most = (
        _MOST_OWN_SECONDS
        if own == "kubernetes.io" or own.endswith(".kubernetes.io")
        else _MOST_CERTIFICATE_SECONDS
    )
    if seconds is not None and not _LEAST_CERTIFICATE_SECONDS <= seconds <= most:
        detail = (
            f"if provided, maxExpirationSeconds must be between {_LEAST_CERTIFICATE_SECONDS} "
            f"and {most}"
        )
        yield invalid(f"{path}.maxExpirationSeconds", int(seconds), detail)
    named = [name for name in _CERTIFICATE_PATHS if data.get(name)]
    for name in named:
        yield from each_invalid(f"{path}.{name}", data[name], local_path(data[name]))
    if not named:
        yield required(
            path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        )


def _check_user_annotations(value: Any, path: str, scope: Scope) -> Violations:
    for key in value or ():
        wrong = qualified_name(key.lower())
        yield from each_invalid(path, key, wrong)
        if not key:
            yield required(path)
        elif not wrong and "/" not in key:
            yield invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')
    if (
        sum(length_of(key) + length_of(text or "") for key, text in (value or {}).items())
        > MAX_ANNOTATION_BYTES
    ):
        yield too_long(path, MAX_ANNOTATION_BYTES)


PROJECTIONS: Final[Table] = {
    "core.DownwardAPIVolumeSource": StructRules(
        fields={"defaultMode": _MODE}, whole=(_check_downward_volume,), into=_no_fields
    ),
    "core.DownwardAPIProjection": StructRules(into=_no_fields),
    "core.ProjectedVolumeSource": StructRules(
        fields={"defaultMode": _MODE}, whole=(_check_projected,)
    ),
    "core.SecretProjection": StructRules(fields={"name": needed()}),
    "core.ConfigMapProjection": StructRules(fields={"name": needed()}),
    "core.ServiceAccountTokenProjection": StructRules(
        fields={"expirationSeconds": _check_token_seconds}
    ),
    "core.ClusterTrustBundleProjection": StructRules(
        whole=(_check_trust_bundle,), into=_fields_of_bundle
    ),
    "core.PodCertificateProjection": StructRules(
        fields={"userAnnotations": _check_user_annotations}, whole=(_check_certificate,)
    ),
}
