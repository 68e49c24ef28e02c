"""The named formats of Kubernetes.

Source of the behavior: kubernetes/apiserver:pkg/cel/library/format.go@v0.36.3,
kubernetes/apimachinery:pkg/util/validation/validation.go@v0.36.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any, Final

from dra_planner.cel.libraries.urls import is_request_uri
from dra_planner.cel.values import NONE, FormatValue, Optional

_LABEL: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_DNS_LABEL: Final = re.compile(_LABEL)
_SUBDOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_DNS_1035: Final = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_NAME: Final = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_UUID: Final = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_BASE64: Final = re.compile(
    r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIME: Final = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)


def _bounded(
    pattern: re.Pattern[str], limit: int, what: str, prefix: bool = False
) -> Callable[[str], list[str]]:
    def check(text: str) -> list[str]:
        problems = (
            [f"must be no more than {limit} characters"] if len(text.encode()) > limit else []
        )
        if prefix and len(text) > 1 and text.endswith("-"):
            text = text[:-2] + "a"
        if not pattern.fullmatch(text):
            problems.append(f"not a valid {what}")
        return problems

    return check


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    problems = _bounded(_NAME, 63, "qualified name")(name)
    if slash and ("/" in prefix or not prefix or _bounded(_SUBDOMAIN, 253, "subdomain")(prefix)):
        problems.append("not a valid prefix of a qualified name")
    return problems


def _label_value(text: str) -> list[str]:
    return _bounded(_NAME, 63, "label value")(text) if text else []


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text.replace("0000", "2000", 1) if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(parts) < 2 or not _is_date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return match is not None and int(match[1]) <= 23 and int(match[2]) <= 59 and int(match[3]) <= 59


def _checked(holds: Callable[[str], Any], problem: str) -> Callable[[str], list[str]]:
    return lambda text: [] if holds(text) else [problem]


_NO_URI: Final = "not a valid URI"
_CHECKS: Final[dict[str, tuple[str, Callable[[str], list[str]]]]] = {
    "dns1123Label": ("DNS1123Label", _bounded(_DNS_LABEL, 63, "DNS label")),
    "dns1123Subdomain": ("DNS1123Subdomain", _bounded(_SUBDOMAIN, 253, "DNS subdomain")),
    "dns1035Label": ("DNS1035Label", _bounded(_DNS_1035, 63, "DNS label")),
    "qualifiedName": ("QualifiedName", _qualified_name),
    "dns1123LabelPrefix": (
        "DNS1123LabelPrefix",
        _bounded(_DNS_LABEL, 63, "DNS label prefix", prefix=True),
    ),
    "dns1123SubdomainPrefix": (
        "DNS1123SubdomainPrefix",
        _bounded(_SUBDOMAIN, 253, "DNS subdomain prefix", prefix=True),
    ),
    "dns1035LabelPrefix": (
        "DNS1035LabelPrefix",
        _bounded(_DNS_1035, 63, "DNS label prefix", prefix=True),
    ),
    "labelValue": ("LabelValue", _label_value),
    "uri": ("URI", _checked(is_request_uri, _NO_URI)),
    "uuid": ("uuid", _checked(_UUID.fullmatch, "does not match the UUID format")),
    "byte": ("byte", _checked(_BASE64.fullmatch, "invalid base64")),
    "date": ("date", _checked(_is_date, "invalid date")),
    "datetime": ("datetime", _checked(_is_datetime, "invalid datetime")),
}


def _constant(key: str) -> Callable[[], FormatValue]:
    return lambda: FormatValue(_CHECKS[key][0], key)


def _named(name: str) -> Optional:
    return Optional(True, FormatValue(_CHECKS[name][0], name)) if name in _CHECKS else NONE


def _validate(value: FormatValue, text: str) -> Optional:
    problems = _CHECKS[value.key][1](text)
    return Optional(True, problems) if problems else NONE


def _validate_strictly(value: FormatValue, text: str) -> Optional:
    if value.key != "uri" or is_request_uri(text, strict=True):
        return _validate(value, text)
    return Optional(True, [_NO_URI])


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "format-validate": _validate,
    "format-named": _named,
    **{f"format.{key}": _constant(key) for key in _CHECKS},
}
STRICT_COLONS: Final[dict[str, Callable[..., Any]]] = {"format-validate": _validate_strictly}
