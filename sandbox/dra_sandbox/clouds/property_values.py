"""Values that a provider accepts for a property, and values that it treats as equal.

Both are columns of the tables in `provider_rules.py`. `accepts` is a list of texts with `|` between
them, `>=N`, `N to M`, or the name of a format. `same` lists pairs `OLD~NEW`, or names a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from ipaddress import IPv4Network, ip_network

from dra_sandbox.clouds.wire_values import Value, is_unknown

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
_MINOR = re.compile(r"\d+\.\d+")
_ACCEPTS_LEAST = re.compile(r">=(\d+)")
_ACCEPTS_RANGE = re.compile(r"(\d+) to (\d+)")
_API = re.compile(r"^https?://[^/]+/(?:compute/)?(?:v1|beta|alpha)?/?")

# hashicorp/terraform-provider-google:google/tpgresource/service_scope.go@v7.45.0
_SCOPES = {
    "cloud-source-repos": "source.full_control",
    "cloud-source-repos-ro": "source.read_only",
    "compute-ro": "compute.readonly",
    "compute-rw": "compute",
    "logging-write": "logging.write",
    "monitoring-read": "monitoring.read",
    "monitoring-write": "monitoring.write",
    "service-control": "servicecontrol",
    "service-management": "service.management.readonly",
    "sql": "sqlservice",
    "sql-admin": "sqlservice.admin",
    "storage-full": "devstorage.full_control",
    "storage-ro": "devstorage.read_only",
    "storage-rw": "devstorage.read_write",
    "trace": "trace.append",
    "useraccounts-ro": "cloud.useraccounts.readonly",
    "useraccounts-rw": "cloud.useraccounts",
    "userinfo-email": "userinfo.email",
    **{each: each for each in ("bigquery", "cloud-platform", "datastore", "monitoring")},
    **{each: each for each in ("pubsub", "taskqueue")},
}


def rejection(accepts: str, value: Value) -> str | None:
    """Return the reason why the provider rejects the value, or None if the provider accepts it.

    Unknown values are accepted.
    """
    if not accepts or value is None or is_unknown(value):
        return None
    if least := _ACCEPTS_LEAST.fullmatch(accepts):
        is_less = isinstance(value, int | float) and value < int(least[1])
        return f"expected to be at least ({least[1]}), got {value:g}" if is_less else None
    if limits := _ACCEPTS_RANGE.fullmatch(accepts):
        low, high = map(int, limits.groups())
        is_outside = isinstance(value, int | float) and not low <= value <= high
        return (
            f"expected to be in the range ({low} - {high}), got {value:g}" if is_outside else None
        )
    if accepts in _FORMATS:
        described, is_valid = _FORMATS[accepts]
        return None if is_valid(str(value)) else f'"{value}" is not {described}'
    choices = accepts.split("|")
    if isinstance(value, str) and value not in choices:
        return f'"{value}" is not one of {", ".join(sorted(filter(None, choices)))}'
    return None


def are_same(same: str, old: Value, new: Value) -> bool:
    """Return True if the provider suppresses the difference between the values."""
    if comparison := _COMPARISONS.get(same):
        return comparison(old, new)
    left, right = ("" if each is None else each for each in (old, new))
    return f"{left}~{right}" in same.split()


def _is_date(text: str) -> bool:
    try:
        return "T" in text and datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _is_range(text: str, prefix: int | None = None, *, strict: bool = True) -> bool:
    try:
        found = ip_network(text, strict=strict)
    except ValueError:
        return False
    return "/" in text and (prefix is None or found.prefixlen == prefix)


_FORMATS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "date": ("a date in RFC 3339", _is_date),
    "HH:MM": ("a time (HH:mm)", lambda text: _TIME.fullmatch(text) is not None),
    "MINOR": ("in major.minor format", lambda text: _MINOR.fullmatch(text) is not None),
    "cidr": ("a range of addresses", lambda text: _is_range(text, strict=False)),
    "network": ("a network in CIDR notation", lambda text: not text or _is_range(text)),
    "network/28": ("a /28 network", lambda text: not text or _is_range(text, 28)),
}


def _are_links_same(old: Value, new: Value) -> bool:
    """Compare references to a resource. A name alone refers to it in any project."""
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    if "/" not in new:
        return old.rsplit("/", 1)[-1] == new
    return _API.sub("", old) == _API.sub("", new)


def _is_same_size(old: Value, new: Value) -> bool:
    """Compare a range with a size such as /20, for which the cloud chooses a range."""
    try:
        return str(new).startswith("/") and IPv4Network(str(old)).prefixlen == int(str(new)[1:])
    except ValueError:
        return False


def _scopes(value: Value) -> set[str]:
    names = value if isinstance(value, list) else []
    base = "https://www.googleapis.com/auth/"
    return {f"{base}{_SCOPES[name]}" if name in _SCOPES else str(name) for name in names}


_COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "link": _are_links_same,
    "case": lambda old, new: str(old).casefold() == str(new).casefold(),
    "size": _is_same_size,
    "scope": lambda old, new: bool(new) and _scopes(old) == _scopes(new),
}
