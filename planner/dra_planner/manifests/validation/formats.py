"""Formats of names and values: each function returns what is wrong, nothing where all is well.

Source of rules and wording: kubernetes/apimachinery:pkg/util/validation/validation.go@v0.36.3 and
pkg/api/validate/content.
"""

from __future__ import annotations

import re
from typing import Final

LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_NAME_PART: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_C_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NUMBER: Final = r"(0|[1-9][0-9]*)"
_PRERELEASE: Final = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = r"[0-9a-zA-Z-]+"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII
)

_LABEL_FORMAT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_FORMAT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_NAME_FORMAT: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_FORMAT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_IDENTIFIER_FORMAT: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')"
)


def length_of(text: str) -> int:
    """Return the length in bytes, as Go counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def dns_label(text: str) -> list[str]:
    faults = [f"must be no more than {LABEL_LENGTH} characters"] if length_of(text) > LABEL_LENGTH else []
    if not _LABEL.fullmatch(text):
        faults.append("must not contain dots" if _SUBDOMAIN.fullmatch(text) else _LABEL_FORMAT)
    return faults


def dns_subdomain(text: str) -> list[str]:
    faults = [f"must be no more than {SUBDOMAIN_LENGTH} characters"] if length_of(text) > SUBDOMAIN_LENGTH else []
    if not _SUBDOMAIN.fullmatch(text):
        faults.append(_SUBDOMAIN_FORMAT)
    return faults


def qualified_name(text: str) -> list[str]:
    """Return what is wrong with a label key or resource name: `name` or `domain/name`."""
    parts = text.split("/")
    if len(parts) > 2:
        return [
            "a qualified name " + _NAME_FORMAT.removeprefix("name part ")
            + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]  # fmt: skip
    faults: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            faults.append("prefix part must be non-empty")
        else:
            faults += [f"prefix part {fault}" for fault in dns_subdomain(parts[0])]
    name = parts[-1]
    if not name:
        faults.append("name part must be non-empty")
    elif length_of(name) > LABEL_LENGTH:
        faults.append(f"name part must be no more than {LABEL_LENGTH} characters")
    if not _NAME_PART.fullmatch(name):
        faults.append(_NAME_FORMAT)
    return faults


def label_value(text: str) -> list[str]:
    faults = [f"must be no more than {LABEL_LENGTH} bytes"] if length_of(text) > LABEL_LENGTH else []
    if not _LABEL_VALUE.fullmatch(text):
        faults.append(_VALUE_FORMAT)
    return faults


def c_identifier(text: str) -> list[str]:
    return [] if _C_IDENTIFIER.fullmatch(text) else [_IDENTIFIER_FORMAT]


def semantic_version(text: str) -> list[str]:
    return [] if _SEMVER.fullmatch(text) else ["must be a string compatible with semver.org spec 2.0.0"]


def is_native_resource(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended_resource(name: str) -> bool:
    """Source: kubernetes/kubernetes:pkg/apis/core/v1/helper/helpers.go@v1.36.3 (IsExtendedResourceName)."""
    if is_native_resource(name) or name.startswith("requests."):
        return False
    return not qualified_name(f"requests.{name}")
