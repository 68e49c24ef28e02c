"""Rules of a pod's host name and DNS settings."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.manifests.validation.fields.formats import (
    dns_subdomain,
    ip_address,
    length_of,
    loose_subdomain,
)
from dra_planner.manifests.validation.pods.gates import STRICT_ADDRESSES
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table, each, join
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    required,
    too_long,
)

_MOST_SERVERS: Final = 3
_MOST_PATHS: Final = 32
_MOST_CHARACTERS: Final = 2048
_MOST_HOST_NAME: Final = 64


def check_name_service(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield the errors in the DNS settings of a pod."""
    config, path = spec.get("dnsConfig"), join(path, "dnsConfig")
    servers, searches = (
        (config or {}).get("nameservers") or (),
        (config or {}).get("searches") or (),
    )
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not servers:
            yield required(
                f"{path}.nameservers",
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            )
            return
    if len(servers) > _MOST_SERVERS:
        yield invalid(
            f"{path}.nameservers",
            list(servers),
            f"must not have more than {_MOST_SERVERS} nameservers",
        )
    for index, server in enumerate(servers):
        yield from _check_address(server or "", f"{path}.nameservers[{index}]", scope)
    if len(searches) > _MOST_PATHS:
        yield invalid(
            f"{path}.searches",
            list(searches),
            f"must not have more than {_MOST_PATHS} search paths",
        )
    if length_of(" ".join(text or "" for text in searches)) > _MOST_CHARACTERS:
        yield invalid(
            f"{path}.searches",
            list(searches),
            f"must not have more than {_MOST_CHARACTERS} characters",
        )
    for index, search in enumerate(searches):
        if search != ".":
            name = (search or "").removesuffix(".")
            yield from each_invalid(f"{path}.searches[{index}]", name, loose_subdomain(name))
    for item, where in each((config or {}).get("options"), f"{path}.options"):
        if not item.get("name"):
            yield required(where, "must not be empty")


def _check_address(value: str, path: str, scope: Scope) -> Violations:
    yield from each_invalid(
        path, value, ip_address(value, is_strict=scope.minor >= STRICT_ADDRESSES)
    )


def _check_ip(value: Any, path: str, scope: Scope) -> Violations:
    yield from _check_address(value or "", path, scope)


def _check_host_names(value: Any, path: str, scope: Scope) -> Violations:
    for index, name in enumerate(value or ()):
        yield from each_invalid(f"{path}[{index}]", name or "", dns_subdomain(name or ""))


def check_host_name(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield the errors in a host name that replaces the pod's host name."""
    name, path = spec.get("hostnameOverride"), join(path, "hostnameOverride")
    if name is None:
        return
    if spec.get("setHostnameAsFQDN"):
        yield forbidden(path, "may not be specified when setHostnameAsFQDN is true")
    if scope.pod.host_network:
        yield forbidden(path, "may not be specified when hostNetwork is true")
    if length_of(name) > _MOST_HOST_NAME:
        yield too_long(path, _MOST_HOST_NAME)
    yield from each_invalid(path, name, dns_subdomain(name))


def check_host_ports(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield a violation for each host port that differs from the container's port in the host's
    network.
    """
    if not scope.pod.host_network:
        return
    for item, where in each(spec.get("containers"), join(path, "containers")):
        for port, there in each(item.get("ports"), f"{where}.ports"):
            host, own = port.get("hostPort") or 0, port.get("containerPort") or 0
            if host and host != own:
                detail = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(f"{there}.hostPort", int(host), detail)


NETWORK: Final[Table] = {
    "core.HostAlias": StructRules(fields={"ip": _check_ip, "hostnames": _check_host_names})
}
