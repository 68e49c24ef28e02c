"""Rules of security contexts of the pod and its containers, and between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from dra_planner.manifests.validation.checks import (
    group_id,
    needed_choice,
    pointed_choice,
    pointed_format,
    user_id,
)
from dra_planner.manifests.validation.fields.formats import (
    descending_path,
    dns_subdomain,
    length_of,
)
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, each, join
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    each_invalid,
    forbidden,
    invalid,
    required,
    too_long,
)

_PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_MOST_PROFILE: Final = 4095
_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = re.compile(rf"({_SEGMENT}[./])*{_SEGMENT}", re.ASCII)
_MOST_SYSCTL: Final = 253
_OF_IPC: Final = frozenset(
    {
        "kernel.sem",
        "kernel.shm",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.msg",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
    }
)
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
# shareProcessNamespace is reported at the spec, and in earlier versions at the security context
_SHARE_PATHS_SINCE: Final = 37
# Fields that a pod for Windows can't have: fields of the spec, of its security context, and of a
# container's security context.
_NOT_ON_WINDOWS: Final = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_NOT_IN_WINDOWS_POD: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_NOT_IN_WINDOWS_CONTAINER: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_GMSA_BYTES: Final = 64 * 1024
_DOMAIN_BYTES: Final = 256
_USER_BYTES: Final = 104
_NET_BIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_WINDOWS_LABEL: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_WINDOWS_DOMAIN: Final = re.compile(rf"{_WINDOWS_LABEL}(?:\.{_WINDOWS_LABEL})*", re.ASCII)
_NOT_IN_USERS: Final = re.compile(r'["/\\:;|=,+*?<>@\[\]]')
_DOTS_AND_SPACES: Final = re.compile(r"[. ]+")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def containers_of(spec: Data, path: str) -> Iterator[tuple[Data, str]]:
    """Return every container of a pod with its path."""
    for field in _CONTAINERS:
        yield from each(spec.get(field), join(path, field))


def _check_seccomp(data: Data, path: str, scope: Scope) -> Violations:
    profile = data.get("localhostProfile")
    if data.get("type") == "Localhost":
        if profile is None:
            yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
        else:
            yield from each_invalid(f"{path}.localhostProfile", profile, descending_path(profile))
    elif profile is not None:
        yield invalid(
            f"{path}.localhostProfile", profile, "can only be set when seccomp type is Localhost"
        )


def _check_app_armor(data: Data, path: str, scope: Scope) -> Violations:
    kind, profile, path = data.get("type"), data.get("localhostProfile"), f"{path}.localhostProfile"
    detail = "must be set when AppArmor type is Localhost"
    if kind == "Localhost" and profile is None:
        yield required(path, detail)
    elif kind == "Localhost" and profile is not None:
        if profile != profile.strip():
            yield invalid(path, profile, "must not be padded with whitespace")
        elif not profile:
            yield required(path, detail)
        if length_of(profile) > _MOST_PROFILE:
            yield too_long(path, _MOST_PROFILE)
    elif kind in _PROFILES and profile is not None:
        yield invalid(path, profile, "can only be set when AppArmor type is Localhost")


def _check_escalation(data: Data, path: str, scope: Scope) -> Violations:
    if data.get("allowPrivilegeEscalation") is not False:
        return
    if data.get("privileged"):
        yield invalid(
            path,
            dict(data),
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
        )
    if "CAP_SYS_ADMIN" in ((data.get("capabilities") or {}).get("add") or ()):
        detail = (
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
        )
        yield invalid(path, dict(data), detail)


def _check_proc_mount(value: Any, path: str, scope: Scope) -> Violations:
    yield from _PROC_MOUNT(value, path, scope)
    if value == "Unmasked" and scope.pod.host_users:
        yield invalid(path, value, "`hostUsers` must be false to use `Unmasked`")


_PROC_MOUNT: Final = pointed_choice("Default", "Unmasked")


def _check_groups(value: Any, path: str, scope: Scope) -> Violations:
    for index, group in enumerate(value or ()):
        yield from group_id(group, f"{path}[{index}]", scope)


def _check_sysctls(value: Any, path: str, scope: Scope) -> Violations:
    names: set[str] = set()
    for item, where in each(value, path):
        name, where = item.get("name") or "", f"{where}.name"
        if not name:
            yield required(where)
        elif len(name) > _MOST_SYSCTL or not _SYSCTL.fullmatch(name):
            yield invalid(
                where, name, f"must have at most {_MOST_SYSCTL} characters and match regex"
            )
        elif name in names:
            yield duplicate(where, name)
        space, spec = _namespace_of(name), scope.pod.spec
        if space == "net" and spec.get("hostNetwork"):
            yield invalid(where, name, "may not be specified when 'hostNetwork' is true")
        if space == "ipc" and spec.get("hostIPC"):
            yield invalid(where, name, "may not be specified when 'hostIPC' is true")
        names.add(name)


def _namespace_of(sysctl: str) -> str:
    """Return the namespace to which a sysctl belongs. Source:
    kubernetes/component-helpers:node/util/sysctl/namespace.go@v0.36.3.
    """
    first = re.search(r"[./]", sysctl)
    if first is not None and first[0] == "/":
        sysctl = sysctl.translate({ord("/"): ".", ord("."): "/"})
    sysctl = sysctl.partition("*")[0]
    if sysctl in _OF_IPC or sysctl.startswith("fs.mqueue."):
        return "ipc"
    return "net" if sysctl.startswith("net.") else ""


def _check_windows_user(value: Any, path: str, scope: Scope) -> Violations:
    if value is None:
        return
    domain, backslash, user = value.rpartition("\\")
    if not value:
        yield invalid(path, value, "runAsUserName cannot be an empty string")
    elif _CONTROL.search(value):
        yield invalid(path, value, "runAsUserName cannot contain control characters")
    elif value.count("\\") > 1:
        yield invalid(path, value, "runAsUserName cannot contain more than one backslash")
    elif (
        length_of(domain) >= _DOMAIN_BYTES
        or (backslash and not (_NET_BIOS.fullmatch(domain) or _WINDOWS_DOMAIN.fullmatch(domain)))
        or not 0 < length_of(user) <= _USER_BYTES
        or _DOTS_AND_SPACES.fullmatch(user)
        or _NOT_IN_USERS.search(user)
    ):
        yield invalid(
            path,
            value,
            "runAsUserName must be a user of Windows, with a domain before it or without",
        )


def _check_gmsa(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None and not 0 < length_of(value) <= _GMSA_BYTES:
        yield invalid(
            path, value, "gmsaCredentialSpec cannot be an empty string, and must be under 64 KiB"
        )


def check_host_processes(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield the errors in containers that run as processes of a Windows host."""
    of_pod = _host_process(spec)
    count = total = 0
    for item, where in containers_of(spec, path):
        total += 1
        own = _host_process(item)
        if of_pod is not None and own is not None and of_pod != own:
            where = f"{where}.securityContext.windowsOptions.hostProcess"
            yield invalid(
                where, own, "pod hostProcess value must be identical if both are specified"
            )
        count += bool(of_pod if own is None else own)
    if not count:
        return
    if count != total:
        detail = (
            "If pod contains any hostProcess containers then all containers must be "
            "HostProcess containers"
        )
        yield invalid(path, "", detail)
    if not scope.pod.host_network:
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(join(path, "hostNetwork"), False, detail)


def _host_process(data: Data) -> bool | None:
    found: bool | None = ((data.get("securityContext") or {}).get("windowsOptions") or {}).get(
        "hostProcess"
    )
    return found


def check_host_namespaces(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield settings that conflict with a user namespace, or with shared processes."""
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        where = path if scope.minor >= _SHARE_PATHS_SINCE else join(path, "securityContext")
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(join(where, "shareProcessNamespace"), True, detail)
    if scope.pod.host_users:
        return
    detail = "when `hostUsers` is false"
    for field, shown in (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ):
        if spec.get(field):
            yield forbidden(join(path, shown), detail)
    for item, where in containers_of(spec, path):
        if item.get("volumeDevices"):
            yield forbidden(f"{where}.volumeDevices", detail)


def check_os(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield settings that conflict with the operating system of the pod."""
    name = scope.pod.os_name
    of_pod, where = spec.get("securityContext") or {}, join(path, "securityContext")
    if name == "linux":
        detail = "windows options cannot be set for a linux pod"
        yield from _forbid(of_pod, ("windowsOptions",), where, detail)
        for item, there in containers_of(spec, path):
            inner = item.get("securityContext") or {}
            yield from _forbid(inner, ("windowsOptions",), f"{there}.securityContext", detail)
    elif name == "windows":
        detail = "cannot be set for a windows pod"
        for field in _NOT_ON_WINDOWS:
            if spec.get(field) or (
                spec.get(field) is not None and field in ("hostUsers", "shareProcessNamespace")
            ):
                yield forbidden(join(path, field), detail)
        yield from _forbid(of_pod, _NOT_IN_WINDOWS_POD, where, detail)
        for item, there in containers_of(spec, path):
            inner = item.get("securityContext") or {}
            yield from _forbid(inner, _NOT_IN_WINDOWS_CONTAINER, f"{there}.securityContext", detail)


def _forbid(data: Data, names: Collection[str], path: str, detail: str) -> Violations:
    for name in names:
        value = data.get(name)
        if value is not None and not (name == "sysctls" and not value):
            yield forbidden(f"{path}.{name}", detail)


_SECCOMP: Final = StructRules(fields={"type": needed_choice(*_PROFILES)}, whole=(_check_seccomp,))
SECURITY: Final[Mapping[str, StructRules]] = {
    "core.PodSecurityContext": StructRules(
        fields={
            "fsGroup": group_id,
            "runAsUser": user_id,
            "runAsGroup": group_id,
            "supplementalGroups": _check_groups,
            "sysctls": _check_sysctls,
            "fsGroupChangePolicy": pointed_choice("OnRootMismatch", "Always"),
            "supplementalGroupsPolicy": pointed_choice("Merge", "Strict"),
            "seLinuxChangePolicy": pointed_choice("Recursive", "MountOption"),
        }
    ),
    "core.SecurityContext": StructRules(
        fields={"runAsUser": user_id, "runAsGroup": group_id, "procMount": _check_proc_mount},
        whole=(_check_escalation,),
    ),
    "core.SeccompProfile": _SECCOMP,
    "core.AppArmorProfile": StructRules(
        fields={"type": needed_choice(*_PROFILES)}, whole=(_check_app_armor,)
    ),
    "core.WindowsSecurityContextOptions": StructRules(
        fields={
            "gmsaCredentialSpecName": pointed_format(dns_subdomain),
            "gmsaCredentialSpec": _check_gmsa,
            "runAsUserName": _check_windows_user,
        }
    ),
}
