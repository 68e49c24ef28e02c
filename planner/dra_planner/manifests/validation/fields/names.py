"""Names in DRA objects: drivers, pools, devices, requests, and attributes."""

from __future__ import annotations

from dra_planner.manifests.validation.fields.formats import (
    c_identifier,
    dns_label,
    dns_subdomain,
    length_of,
)
from dra_planner.manifests.validation.violations import (
    Violation,
    Violations,
    each_invalid,
    invalid,
    required,
    too_long,
)
from dra_planner.releases import Features

DRIVER_LENGTH = 63
POOL_LENGTH = 253
IDENTIFIER_LENGTH = 32


def check_label(name: str, path: str) -> Violations:
    yield from each_invalid(path, name, dns_label(name))


def check_subdomain(name: str, path: str) -> Violations:
    yield from each_invalid(path, name, dns_subdomain(name))


def check_driver(name: str, path: str, features: Features) -> Violations:
    """Check a driver name: a DNS subdomain of at most 63 bytes. Upper case is accepted."""
    if not name:
        yield required(path)
        if features.stops_at_whole_faults:
            return
    if length_of(name) > DRIVER_LENGTH:
        yield too_long(path, DRIVER_LENGTH)
    yield from each_invalid(path, name, dns_subdomain(name.lower()))


def check_pool(name: str, path: str) -> Violations:
    if not name:
        yield required(path)
        return
    if length_of(name) > POOL_LENGTH:
        yield too_long(path, POOL_LENGTH)
    for part in name.split("/"):
        yield from check_subdomain(part, path)


def check_class_name(name: str, path: str) -> Violations:
    if name:
        yield from check_subdomain(name, path)
    else:
        yield required(path)


def check_attribute_name(name: str, path: str, features: Features) -> Violations:
    """Check `identifier` or `domain/identifier`. If there are two or more slashes, no version
    checks the text.
    """
    parts = name.split("/")
    if not name and not features.empty_is_invalid:
        yield required(path, "name required")
    elif len(parts) == 1:
        yield from _check_identifier(name, path)
    elif len(parts) == 2:
        domain, identifier = parts
        if domain:
            yield from check_driver(domain, path, features)
        else:
            yield _empty(path, "the domain must not be empty", features)
        if identifier:
            yield from _check_identifier(identifier, path)
        else:
            yield _empty(path, "the name must not be empty", features)


def check_qualified_attribute_name(name: str, path: str, features: Features) -> Violations:
    yield from check_attribute_name(name, path, features)
    domain, _, identifier = name.partition("/")
    if (
        features.lower_case_attribute_domains
        and identifier
        and "/" not in identifier
        and domain != domain.lower()
    ):
        for detail in dns_subdomain(domain):
            yield invalid(path, domain, f"prefix: {detail}")
    if "/" not in name and (name or features.empty_is_invalid):
        detail = "a fully qualified name must be a domain and a name separated by a slash"
        yield invalid(path, name, detail if features.empty_is_invalid else "must include a domain")


def _empty(path: str, detail: str, features: Features) -> Violation:
    return invalid(path, "", detail) if features.empty_is_invalid else required(path, detail)


def _check_identifier(name: str, path: str) -> Violations:
    if length_of(name) > IDENTIFIER_LENGTH:
        yield too_long(path, IDENTIFIER_LENGTH)
    yield from each_invalid(path, name, c_identifier(name))
