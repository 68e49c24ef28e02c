"""Rules of containers: rules of all containers, and restrictions of init and ephemeral
containers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.validation.checks import (
    between,
    choice,
    named,
    strict_choice,
)
from dra_planner.manifests.validation.fields.formats import dns_label, port_name
from dra_planner.manifests.validation.pods.environment import check_sources
from dra_planner.manifests.validation.pods.gates import RESTART_ALL, RESTART_RULES
from dra_planner.manifests.validation.pods.mounts import check_devices, check_mounts
from dra_planner.manifests.validation.pods.probes import check_probes
from dra_planner.manifests.validation.pods.resources import check_resources
from dra_planner.manifests.validation.rules import (
    Data,
    Scope,
    StructRules,
    Table,
    check_struct,
    each,
)
from dra_planner.manifests.validation.violations import (
    Violation,
    Violations,
    duplicate,
    each_invalid,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
    too_many,
)

_PULL: Final = ("Always", "IfNotPresent", "Never")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_RESTARTS: Final = ("Always", "Never", "OnFailure")
_RESIZED: Final = ("cpu", "memory")
_RESIZES: Final = ("NotRequired", "RestartContainer")
_MOST_RULES: Final = 20
_MOST_CODES: Final = 255
_NOT_IN_EPHEMERAL: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "lifecycle",
    *_PROBES,
)


def check_containers(spec: Data, path: str, scope: Scope, table: Table) -> Violations:
    """Yield the errors in the containers that run as long as the pod."""
    containers, path = spec.get("containers") or (), f"{path}.containers"
    if not containers:
        if scope.pod.is_whole:
            yield required(path)
        return
    names: set[str] = set()
    for item, where in each(containers, path):
        inner = scope.inside(item)
        yield from check_struct(item, "core.Container", where, inner, table)
        name = item.get("name") or ""
        if name in names:
            yield duplicate(f"{where}.name", name)
        names.add(name)
        yield from check_probes(item, where, inner)
        if scope.minor >= RESTART_RULES:
            yield from _check_restarts(item, where, scope)
        elif item.get("restartPolicy") is not None:
            yield forbidden(f"{where}.restartPolicy", "may not be set for non-init containers")
    yield from _check_host_ports(containers, path, scope)


def check_init_containers(spec: Data, path: str, scope: Scope, table: Table) -> Violations:
    """Yield the errors in the init containers."""
    path = f"{path}.initContainers"
    names = {item.get("name") or "" for item, _ in each(spec.get("containers"), "")}
    for item, where in each(spec.get("initContainers"), path):
        inner, restarts = scope.inside(item), item.get("restartPolicy") == "Always"
        yield from check_struct(item, "core.Container", where, inner, table)
        name = item.get("name") or ""
        if name in names:
            yield duplicate(f"{where}.name", name)
        elif name:
            names.add(name)
        yield from _check_host_ports([item], path, scope)
        yield from _check_init_restarts(item, where, scope)
        if restarts:
            yield from check_probes(item, where, inner)
        else:
            for field in ("lifecycle", *_PROBES):
                if item.get(field) is not None:
                    detail = "may not be set for init containers without restartPolicy=Always"
                    yield forbidden(f"{where}.{field}", detail)
        for policy, there in each(item.get("resizePolicy"), f"{where}.resizePolicy"):
            if (
                scope.minor >= RESTART_ALL
                and not restarts
                and policy.get("restartPolicy") == "RestartContainer"
            ):
                detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                yield invalid(f"{there}.restartPolicy", "RestartContainer", detail)


def check_ephemeral_containers(spec: Data, path: str, scope: Scope, table: Table) -> Violations:
    """Yield the errors in ephemeral containers."""
    path = f"{path}.ephemeralContainers"
    others = {
        item.get("name") or ""
        for field in ("containers", "initContainers")
        for item, _ in each(spec.get(field), "")
    }
    names = set(others)
    for item, where in each(spec.get("ephemeralContainers"), path):
        yield from check_struct(item, "core.EphemeralContainer", where, scope.inside(item), table)
        yield from check_image_of_pod(item, where)
        name, target = item.get("name") or "", item.get("targetContainerName") or ""
        if name in names:
            yield duplicate(f"{where}.name", name)
        names.add(name)
        if target and target not in others:
            yield not_found(f"{where}.targetContainerName", target)
        detail = "cannot be set for an Ephemeral Container"
        for field in _NOT_IN_EPHEMERAL:
            value = item.get(field)
            if value is not None and (
                field != "resources" or any(part is not None for part in value.values())
            ):
                yield forbidden(f"{where}.{field}", detail)
        for mount, there in each(item.get("volumeMounts"), f"{where}.volumeMounts"):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    yield forbidden(f"{there}.{field}", detail)


def check_image_of_pod(container: Data, path: str) -> Violations:
    """Yield a violation if the image has surrounding spaces, which are allowed in templates."""
    image = container.get("image") or ""
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _check_image(value: Any, path: str, scope: Scope) -> Violations:
    if not value and scope.pod.is_whole:
        yield required(path)


def _check_amounts(value: Any, path: str, scope: Scope) -> Violations:
    resources = value or {}
    # a pod's limits replace missing requests, except for fields that SetDefaults_Pod doesn't check
    defaulted = scope.pod.is_pod and ".ephemeralContainers[" not in path
    if defaulted and resources.get("limits"):
        resources = {
            **resources,
            "requests": {**resources["limits"], **(resources.get("requests") or {})},
        }
    yield from check_resources(resources, path, scope.pod.claims)


def _check_ports(value: Any, path: str, scope: Scope) -> Violations:
    names: set[str] = set()
    for item, where in each(value, path):
        name = item.get("name") or ""
        wrong = port_name(name) if name else []
        yield from each_invalid(f"{where}.name", name, wrong)
        if name and not wrong:
            if name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)
        if not item.get("containerPort"):
            yield required(f"{where}.containerPort")
        else:
            yield from _PORT(item["containerPort"], f"{where}.containerPort", scope)
        if host := _host_port(item, scope, path):
            yield from _PORT(host, f"{where}.hostPort", scope)


_PORT: Final = between(1, 65535)


def _check_host_ports(containers: Any, path: str, scope: Scope) -> Violations:
    """Check that each host port is used only once."""
    taken: set[str] = set()
    for item, where in each(containers, path):
        for port, there in each(item.get("ports"), f"{where}.ports"):
            number = _host_port(port, scope, path)
            if not number:
                continue
            text = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{int(number)}"
            if text in taken:
                yield duplicate(f"{there}.hostPort", text)
            taken.add(text)


def _host_port(port: Data, scope: Scope, path: str) -> int:
    """Return the host port. In the host's network, it's the port of the container, except for
    ephemeral containers.
    """
    own = scope.pod.is_pod and scope.pod.host_network and ".ephemeralContainers[" not in path
    return int(port.get("hostPort") or (port.get("containerPort") if own else 0) or 0)


def _check_resizing(value: Any, path: str, scope: Scope) -> Violations:
    """Check resize policies. The server reports errors in an item at the list."""
    names: set[str] = set()
    for item, where in each(value, path):
        name, policy = item.get("resourceName") or "", item.get("restartPolicy") or ""
        if name in names:
            yield duplicate(where, name)
        names.add(name)
        for text, known in ((name, _RESIZED), (policy, _RESIZES)):
            if not text:
                yield required(path)
            elif text not in known:
                yield not_supported(path, text, known)
        if scope.pod.restart_policy == "Never" and policy != "NotRequired":
            yield invalid(path, policy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _check_init_restarts(container: Data, path: str, scope: Scope) -> Violations:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules")
    if policy is None:
        if rules and scope.minor >= RESTART_RULES:
            yield required(
                f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used"
            )
    elif scope.minor < RESTART_RULES:
        if policy != "Always":
            yield not_supported(f"{path}.restartPolicy", policy, ("Always",))
    elif policy == "Always" and scope.minor < RESTART_ALL:
        if rules:
            detail = (
                "restartPolicyRules are not allowed for init containers with restart policy Always"
            )
            yield forbidden(f"{path}.restartPolicyRules", detail)
    else:
        yield from _check_restarts(container, path, scope)


def _check_restarts(container: Data, path: str, scope: Scope) -> Violations:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None and rules:
        yield required(
            f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used"
        )
    elif policy is not None and policy not in _RESTARTS:
        yield not_supported(f"{path}.restartPolicy", policy, _RESTARTS)
    if len(rules) > _MOST_RULES:
        yield _too_many(f"{path}.restartPolicyRules", len(rules), _MOST_RULES, scope)
    actions = ("Restart", "RestartAllContainers") if scope.minor >= RESTART_ALL else ("Restart",)
    for rule, where in each(rules, f"{path}.restartPolicyRules"):
        yield from strict_choice(*actions)(rule.get("action"), f"{where}.action", scope)
        codes = rule.get("exitCodes")
        if codes is None:
            yield required(f"{where}.exitCodes", "must be specified")
            continue
        yield from _OPERATOR(codes.get("operator"), f"{where}.exitCodes.operator", scope)
        values = codes.get("values") or ()
        if len(values) > _MOST_CODES:
            yield _too_many(f"{where}.exitCodes.values", len(values), _MOST_CODES, scope)


_OPERATOR: Final = strict_choice("In", "NotIn")


def _too_many(path: str, count: int, most: int, scope: Scope) -> Violation:
    return too_many(path, count, most) if scope.minor >= RESTART_ALL else too_long(path, most)


def _fields_of_container(data: Data, scope: Scope) -> Collection[str]:
    """Return the rules for a container's fields. Init containers that end can't have probes and
    hooks. Ports, mounts, and resize policies are checked as lists.
    """
    found = ["env", "envFrom", "securityContext"]
    if _is_first(data, scope) and data.get("restartPolicy") != "Always":
        return found
    return [*found, "lifecycle", *_PROBES]


def _is_first(data: Data, scope: Scope) -> bool:
    return any(item is data for item in scope.pod.spec.get("initContainers") or ())


_CONTAINER: Final = {
    "name": named(dns_label),
    "image": _check_image,
    "terminationMessagePolicy": choice("File", "FallbackToLogsOnError"),
    "imagePullPolicy": choice(*_PULL),
    "ports": _check_ports,
    "envFrom": check_sources,
    "volumeMounts": check_mounts,
    "volumeDevices": check_devices,
    "resources": _check_amounts,
    "resizePolicy": _check_resizing,
}
_PROTOCOL: Final = choice("TCP", "UDP", "SCTP")


def _check_protocols(data: Data, path: str, scope: Scope) -> Violations:
    for item, where in each(data.get("ports"), f"{path}.ports"):
        yield from _PROTOCOL(item.get("protocol"), f"{where}.protocol", scope)


CONTAINERS: Final[Table] = {
    "core.Container": StructRules(
        fields=_CONTAINER, whole=(_check_protocols,), into=_fields_of_container
    ),
    "core.EphemeralContainer": StructRules(
        fields=_CONTAINER,
        whole=(_check_protocols,),
        into=lambda data, scope: ("env", "envFrom", "securityContext"),
    ),
}
