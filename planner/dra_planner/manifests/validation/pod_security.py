"""Pod Security Standards: the settings that a namespace's level forbids.

Source: kubernetes/pod-security-admission:policy/check_*.go@v0.36.3 (latest version of each check).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from dra_planner.wording import named

Data = Mapping[str, Any]
POD_SECURITY: Final = "pod-security.kubernetes.io/"
"""Prefix of the namespace labels that set its levels."""
_BASELINE_CAPABILITIES: Final = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_RESTRICTED_VOLUMES: Final = frozenset(
    {
        "name",
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
        "image",
    }
)
_SAFE_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
    }
)
_SECCOMP: Final = ("RuntimeDefault", "Localhost")


def pod_security_faults(spec: Data, level: str) -> list[str]:
    """Return the settings of a pod that a level forbids, with the messages of the
    admission plugin.
    """
    if level not in ("baseline", "restricted"):
        return []
    checks = _BASELINE if level == "baseline" else (*_BASELINE, *_RESTRICTED)
    return [fault for check in checks for fault in check(spec)]


def _containers(spec: Data) -> list[Data]:
    return [
        item for field in ("initContainers", "containers") for item in spec.get(field) or () if item
    ]


def _security(item: Data) -> Data:
    return item.get("securityContext") or {}


def _named(items: list[str], singular: str) -> str:
    return named(singular, [f'"{item}"' for item in items])


def _where(spec: Data, bad: Callable[[Data], bool]) -> list[str]:
    return [str(item.get("name")) for item in _containers(spec) if bad(item)]


def _host_namespaces(spec: Data) -> Iterator[str]:
    used = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    if used:
        yield f"host namespaces ({', '.join(used)})"


def _host_ports(spec: Data) -> Iterator[str]:
    names = _where(
        spec, lambda item: any((port or {}).get("hostPort") for port in item.get("ports") or ())
    )
    if names:
        yield f"hostPort ({_named(names, 'container')} uses hostPort)"


def _host_path(spec: Data) -> Iterator[str]:
    names = [
        str(item.get("name"))
        for item in spec.get("volumes") or ()
        if (item or {}).get("hostPath") is not None
    ]
    if names:
        yield f"hostPath volumes ({_named(names, 'volume')})"


def _privileged(spec: Data) -> Iterator[str]:
    names = _where(spec, lambda item: bool(_security(item).get("privileged")))
    if names:
        yield (
            f"privileged ({_named(names, 'container')} must not set "
            "securityContext.privileged=true)"
        )


def _capabilities(spec: Data) -> Iterator[str]:
    names = _where(spec, lambda item: bool(_added(item) - _BASELINE_CAPABILITIES))
    if names:
        yield f"non-default capabilities ({_named(names, 'container')} must not include them)"


def _added(item: Data) -> set[str]:
    return set((_security(item).get("capabilities") or {}).get("add") or ())


def _seccomp(spec: Data) -> Iterator[str]:
    levels = [spec, *_containers(spec)]
    if any(
        (_security(item).get("seccompProfile") or {}).get("type") == "Unconfined" for item in levels
    ):
        yield "seccompProfile (must not be Unconfined)"


def _proc_mount(spec: Data) -> Iterator[str]:
    names = _where(spec, lambda item: _security(item).get("procMount") not in (None, "", "Default"))
    if names:
        yield f"procMount ({_named(names, 'container')} must not change it)"


def _sysctls(spec: Data) -> Iterator[str]:
    names = [str((item or {}).get("name")) for item in _security(spec).get("sysctls") or ()]
    if set(names) - _SAFE_SYSCTLS:
        yield f"forbidden sysctls ({', '.join(sorted(set(names) - _SAFE_SYSCTLS))})"


def _windows(spec: Data) -> Iterator[str]:
    levels = [spec, *_containers(spec)]
    if any((_security(item).get("windowsOptions") or {}).get("hostProcess") for item in levels):
        yield "hostProcess (must not be used)"


def _escalation(spec: Data) -> Iterator[str]:
    names = _where(spec, lambda item: _security(item).get("allowPrivilegeEscalation") is not False)
    if names:
        yield (
            f"allowPrivilegeEscalation != false ({_named(names, 'container')} must set "
            "securityContext.allowPrivilegeEscalation=false)"
        )


def _unrestricted(spec: Data) -> Iterator[str]:
    def bad(item: Data) -> bool:
        dropped = (_security(item).get("capabilities") or {}).get("drop") or ()
        return "ALL" not in dropped or bool(_added(item) - {"NET_BIND_SERVICE"})

    names = _where(spec, bad)
    if names:
        yield (
            f"unrestricted capabilities ({_named(names, 'container')} must set "
            'securityContext.capabilities.drop=["ALL"])'
        )


def _volume_types(spec: Data) -> Iterator[str]:
    names = [
        str(item.get("name"))
        for item in spec.get("volumes") or ()
        if item and {key for key, value in item.items() if value is not None} - _RESTRICTED_VOLUMES
    ]
    if names:
        yield f"restricted volume types ({_named(names, 'volume')})"


def _non_root(spec: Data) -> Iterator[str]:
    whole = _security(spec).get("runAsNonRoot")

    def bad(item: Data) -> bool:
        own = _security(item).get("runAsNonRoot")
        return own is False or (own is None and whole is not True)

    names = _where(spec, bad)
    if names:
        yield (
            f"runAsNonRoot != true (pod or {_named(names, 'container')} must set "
            "securityContext.runAsNonRoot=true)"
        )
    if any(_security(item).get("runAsUser") == 0 for item in (spec, *_containers(spec))):
        yield "runAsUser=0 (must not be set)"


def _seccomp_set(spec: Data) -> Iterator[str]:
    whole = (_security(spec).get("seccompProfile") or {}).get("type")

    def bad(item: Data) -> bool:
        own = (_security(item).get("seccompProfile") or {}).get("type")
        return (own or whole) not in _SECCOMP

    names = _where(spec, bad)
    if names:
        yield (
            f"seccompProfile (pod or {_named(names, 'container')} must set "
            "securityContext.seccompProfile.type to "
            '"RuntimeDefault" or "Localhost")'
        )


_BASELINE: Final[tuple[Callable[[Data], Iterator[str]], ...]] = (
    _host_namespaces,
    _host_ports,
    _host_path,
    _privileged,
    _capabilities,
    _seccomp,
    _proc_mount,
    _sysctls,
    _windows,
)
_RESTRICTED: Final[tuple[Callable[[Data], Iterator[str]], ...]] = (
    _escalation, _unrestricted, _volume_types, _non_root, _seccomp_set,
)  # fmt: skip
