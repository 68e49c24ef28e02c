"""Formats of names and values. Each function returns the error, or nothing for a valid value.

Source of rules and wording: kubernetes/apimachinery:pkg/util/validation/validation.go@v0.36.3 and
pkg/api/validate/content.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII
)
_NAME_PART: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_LABEL_VALUE: Final = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_C_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NUMBER: Final = r"(0|[1-9][0-9]*)"
_PRERELEASE: Final = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = r"[0-9a-zA-Z-]+"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?",
    re.ASCII,
)

_LABEL_FORMAT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_FORMAT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_NAME_FORMAT: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_FORMAT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_PORT_CHARACTERS: Final = re.compile(r"[-a-z0-9]+", re.ASCII)
_PERCENT: Final = re.compile(r"[0-9]+%", re.ASCII)
_HEADER: Final = re.compile(r"[-A-Za-z0-9]+", re.ASCII)
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+", re.ASCII)
_LOOSE_PART: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_LOOSE_SUBDOMAIN: Final = re.compile(rf"{_LOOSE_PART}(\.{_LOOSE_PART})*", re.ASCII)
_LEADING_ZEROS: Final = re.compile(r"\b0+(?=[0-9])", re.ASCII)
_PORT_LENGTH: Final = 15

_IDENTIFIER_FORMAT: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')"
)


def length_of(text: str) -> int:
    """Return the length in bytes, as Go counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def dns_label(text: str) -> list[str]:
    faults = (
        [f"must be no more than {LABEL_LENGTH} characters"]
        if length_of(text) > LABEL_LENGTH
        else []
    )
    if not _LABEL.fullmatch(text):
        faults.append("must not contain dots" if _SUBDOMAIN.fullmatch(text) else _LABEL_FORMAT)
    return faults


def dns_subdomain(text: str) -> list[str]:
    faults = (
        [f"must be no more than {SUBDOMAIN_LENGTH} characters"]
        if length_of(text) > SUBDOMAIN_LENGTH
        else []
    )
    if not _SUBDOMAIN.fullmatch(text):
        faults.append(_SUBDOMAIN_FORMAT)
    return faults


def qualified_name(text: str) -> list[str]:
    """Return the error in a label key or resource name: `name` or `domain/name`."""
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
    faults = (
        [f"must be no more than {LABEL_LENGTH} bytes"] if length_of(text) > LABEL_LENGTH else []
    )
    if not _LABEL_VALUE.fullmatch(text):
        faults.append(_VALUE_FORMAT)
    return faults


def c_identifier(text: str) -> list[str]:
    return [] if _C_IDENTIFIER.fullmatch(text) else [_IDENTIFIER_FORMAT]


def port_name(text: str) -> list[str]:
    """Return the error in the name of a port."""
    faults = (
        [f"must be no more than {_PORT_LENGTH} characters"]
        if length_of(text) > _PORT_LENGTH
        else []
    )
    if not _PORT_CHARACTERS.fullmatch(text):
        faults.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        faults.append("must contain at least one letter (a-z)")
    if "--" in text:
        faults.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        faults.append("must not begin or end with a hyphen")
    return faults


def percentage(text: str) -> list[str]:
    if _PERCENT.fullmatch(text):
        return []
    detail = "a valid percent string must be a numeric string followed by an ending '%'"
    return [f"{detail} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"]


def http_header(text: str) -> list[str]:
    if _HEADER.fullmatch(text):
        return []
    detail = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [f"{detail} (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"]


def environment_name(text: str) -> list[str]:
    """Return the error in the name of an environment variable, as Kubernetes checks it
    since 1.34.
    """
    faults = [] if text else ["environment variable name must be non-empty"]
    if any(not " " <= character <= "~" or character == "=" for character in text):
        faults.append(
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        )
    return faults


def configuration_key(text: str) -> list[str]:
    """Return the error in a key of a ConfigMap or Secret."""
    faults = (
        [f"must be no more than {SUBDOMAIN_LENGTH} characters"]
        if length_of(text) > SUBDOMAIN_LENGTH
        else []
    )
    if not _KEY.fullmatch(text):
        detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        faults.append(f"{detail} (e.g. 'key.name', regex used for validation is '[-._a-zA-Z0-9]+')")
    if text in (".", ".."):
        faults.append(f"must not be '{text}'")
    elif text.startswith(".."):
        faults.append("must not start with '..'")
    return faults


def path_segment(text: str) -> list[str]:
    """Return the error in a name that becomes part of a URL path."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return [f"may not contain '{part}'" for part in ("/", "%") if part in text]


def loose_subdomain(text: str) -> list[str]:
    """Return the error in a subdomain that can have underscores."""
    faults = (
        [f"must be no more than {SUBDOMAIN_LENGTH} characters"]
        if length_of(text) > SUBDOMAIN_LENGTH
        else []
    )
    if not _LOOSE_SUBDOMAIN.fullmatch(text):
        detail = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
            "characters, '_', '-' or '.'"
        )
        faults.append(f"{detail}, and must start and end with an alphanumeric character")
    return faults


def ip_address(text: str, *, is_strict: bool) -> list[str]:
    """Return the error in an IP address. Before 1.36, leading zeros and IPv4 inside IPv6 were
    valid.
    """
    wrong = ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    if "%" in text or not text.isascii():
        return wrong
    loose = _LEADING_ZEROS.sub("", text) if ":" not in text else text
    try:
        address = ipaddress.ip_address(loose)
    except ValueError:
        return wrong
    faults = []
    if is_strict and loose != text:
        faults.append("must not have leading 0s")
    if is_strict and isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        faults.append("must not be an IPv4-mapped IPv6 address")
    return faults


def descending_path(text: str) -> list[str]:
    """Return the error in a path that must stay below its start."""
    faults = ["must be a relative path"] if text.startswith("/") else []
    return faults + without_backsteps(text)


def without_backsteps(text: str) -> list[str]:
    return ["must not contain '..'"] if ".." in text.split("/") else []


def local_path(text: str) -> list[str]:
    """Return the error in the path of a file in a volume."""
    faults = descending_path(text)
    if text.startswith("..") and not text.startswith("../"):
        faults.append("must not start with '..'")
    return faults


def semantic_version(text: str) -> list[str]:
    return (
        []
        if _SEMVER.fullmatch(text)
        else ["must be a string compatible with semver.org spec 2.0.0"]
    )


def is_native_resource(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended_resource(name: str) -> bool:
    """Return True if a resource name is the name of an extended resource. Source:
    kubernetes/kubernetes:pkg/apis/core/v1/helper/helpers.go@v1.36.3 (IsExtendedResourceName).
    """
    if is_native_resource(name) or name.startswith("requests."):
        return False
    return not qualified_name(f"requests.{name}")
