"""Rules of the API server as tables: for each struct of the API, checks of its fields and of the
whole struct.

`check_struct` walks an object along the schema and applies the rules of every struct. The `Scope`
contains the context of a struct, such as the volumes of the pod or the container of a mount.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.manifests.schema import ApiType, fields_of
from dra_planner.manifests.validation.violations import Violations
from dra_planner.releases import Features

Data = Mapping[str, Any]


class PodFacts(Struct, frozen=True, kw_only=True):
    """Facts about a pod that the rules of its parts need."""

    is_pod: bool = False  # the object is a Pod, not a template
    is_whole: bool = True  # if False, a controller of another kind can add omitted fields
    spec: Data = {}
    labels: Data = {}
    annotations: Data = {}
    name: str = ""
    volumes: Data = {}  # the valid volumes, by name
    claims: frozenset[str] = frozenset()
    ignores_identity: bool = False  # a StatefulSet sets hostname and subdomain itself

    @property
    def restart_policy(self) -> str:
        return self.spec.get("restartPolicy") or "Always"

    @property
    def grace_seconds(self) -> int:
        seconds = self.spec.get("terminationGracePeriodSeconds")
        return 30 if seconds is None else int(seconds)

    @property
    def host_users(self) -> bool:
        return self.spec.get("hostUsers") is not False

    @property
    def host_network(self) -> bool:
        return bool(self.spec.get("hostNetwork"))

    @property
    def os_name(self) -> str | None:
        """The operating system in the pod's spec, or None if it isn't set."""
        os = self.spec.get("os")
        return None if os is None else os.get("name") or ""


class Scope(Struct, frozen=True, kw_only=True):
    """The context of a struct: the Kubernetes version, the pod, and the container."""

    features: Features
    pod: PodFacts = field(default_factory=PodFacts)
    container: Data = {}

    @property
    def minor(self) -> int:
        return self.features.minor

    def inside(self, container: Data) -> Scope:
        """Return the scope for the parts of a container."""
        return replace(self, container=container)


Check = Callable[[Any, str, Scope], Violations]
"""Yields the faults of a value (None if the field is unset) at a path."""


class StructRules(Struct, frozen=True):
    """The rules of one struct.

    `fields` are checks by field name, and `whole` are checks of the struct. `into` returns the
    fields to which their own rules apply, or None for all fields. `paths` maps fields to other
    names in the server's messages. `always` are structs that the server adds even if they're
    omitted.
    """

    fields: Mapping[str, Check | tuple[Check, ...]] = {}
    whole: tuple[Check, ...] = ()
    into: Callable[[Data, Scope], Collection[str]] | None = None
    paths: Mapping[str, str] = {}
    always: Collection[str] = ()


Table = Mapping[str, StructRules]
_NO_RULES: Final = StructRules()


def check_struct(data: Data, struct: str, path: str, scope: Scope, table: Table) -> Violations:
    """Yield the faults of a struct and of its nested structs."""
    rules = table.get(struct, _NO_RULES)
    for name, checks in rules.fields.items():
        where = join(path, rules.paths.get(name, name))
        for check in checks if isinstance(checks, tuple) else (checks,):
            yield from check(data.get(name), where, scope)
    for check in rules.whole:
        yield from check(data, path, scope)
    wanted = None if rules.into is None else rules.into(data, scope)
    for name, kind in _structs_in(struct, scope.minor):
        value = data.get(name)
        if value is None and name in rules.always:
            value = {}
        if value is not None and (wanted is None or name in wanted):
            yield from _check_inner(
                value, kind, join(path, rules.paths.get(name, name)), scope, table
            )


def _check_inner(value: Any, kind: ApiType, path: str, scope: Scope, table: Table) -> Violations:
    if kind.kind == "struct":
        yield from check_struct(value, kind.name, path, scope, table)
    elif kind.kind == "list" and kind.item is not None:
        for index, item in enumerate(value):
            yield from _check_inner(item or {}, kind.item, f"{path}[{index}]", scope, table)


@lru_cache(maxsize=1024)
def _structs_in(struct: str, minor: int) -> tuple[tuple[str, ApiType], ...]:
    """Return the fields of a struct that contain structs, either directly or in a list."""
    return tuple(
        (name, kind)
        for name, kind in fields_of(struct, minor).items()
        if kind.kind == "struct"
        or (kind.kind == "list" and kind.item is not None and kind.item.kind == "struct")
    )


def join(path: str, name: str) -> str:
    """Return the path of a field below a path."""
    return f"{path}.{name}" if path else name


def each(listed: Any, path: str) -> Iterator[tuple[Data, str]]:
    """Yield the structs of a list with their paths."""
    for index, item in enumerate(listed or ()):
        yield item or {}, f"{path}[{index}]"
