"""Rules of probes and lifecycle hooks, and of their actions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.validation.checks import (
    choice,
    needed,
    not_negative,
    port_or_name,
    positive_if_set,
)
from dra_planner.manifests.validation.fields.formats import http_header
from dra_planner.manifests.validation.rules import Check, Data, Scope, StructRules, Table, each
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    required,
)

_OF_PROBES: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOKS: Final = ("exec", "httpGet", "tcpSocket", "sleep")
_SECONDS: Final = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)


def _one_handler(names: tuple[str, ...]) -> Check:
    def check(data: Any, path: str, scope: Scope) -> Violations:
        given = [name for name in names if data.get(name) is not None]
        if not given:
            yield required(path, "must specify a handler type")
        for name in given[1:]:
            yield forbidden(f"{path}.{name}", "may not specify more than 1 handler type")

    return check


def _first(names: tuple[str, ...]) -> Any:
    def into(data: Data, scope: Scope) -> Collection[str]:
        return [name for name in names if data.get(name) is not None][:1]

    return into


def check_probes(container: Data, path: str, scope: Scope) -> Violations:
    """Yield the errors that are specific to one kind of probe."""
    for name in ("livenessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None and (probe.get("successThreshold") or 1) != 1:
            yield invalid(
                f"{path}.{name}.successThreshold", int(probe["successThreshold"]), "must be 1"
            )
    readiness = container.get("readinessProbe")
    if readiness is not None and readiness.get("terminationGracePeriodSeconds") is not None:
        where = f"{path}.readinessProbe.terminationGracePeriodSeconds"
        yield invalid(
            where,
            int(readiness["terminationGracePeriodSeconds"]),
            "must not be set for readinessProbes",
        )


def _check_headers(value: Any, path: str, scope: Scope) -> Violations:
    for item, _ in each(value, path):
        yield from each_invalid(path, item.get("name") or "", http_header(item.get("name") or ""))


def _check_sleep(data: Data, path: str, scope: Scope) -> Violations:
    seconds, most = int(data.get("seconds") or 0), scope.pod.grace_seconds
    if not 0 <= seconds <= most:
        yield invalid(
            path,
            seconds,
            f"must be non-negative and less than terminationGracePeriodSeconds ({most})",
        )


PROBES: Final[Table] = {
    "core.Probe": StructRules(
        fields={
            **dict.fromkeys(_SECONDS, not_negative),
            "terminationGracePeriodSeconds": positive_if_set,
        },
        whole=(_one_handler(_OF_PROBES),),
        into=_first(_OF_PROBES),
    ),
    "core.LifecycleHandler": StructRules(whole=(_one_handler(_OF_HOOKS),), into=_first(_OF_HOOKS)),
    "core.ExecAction": StructRules(fields={"command": needed()}),
    "core.HTTPGetAction": StructRules(
        fields={
            "port": port_or_name,
            "scheme": choice("HTTP", "HTTPS"),
            "httpHeaders": _check_headers,
        }
    ),
    "core.TCPSocketAction": StructRules(fields={"port": port_or_name}),
    "core.GRPCAction": StructRules(fields={"port": port_or_name}),
    "core.SleepAction": StructRules(whole=(_check_sleep,)),
}
