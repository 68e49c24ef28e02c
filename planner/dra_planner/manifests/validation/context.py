"""Inputs of a validation other than the object: the Kubernetes version and the existing objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from dra_planner.releases import Features


class SelectorRefusal(Struct, frozen=True):
    """The reason that the API server rejects a CEL selector.

    A selector that costs too much is "forbidden". Any other rejected selector is "invalid".
    """

    detail: str
    fix: str = ""
    is_forbidden: bool = False


CheckSelector = Callable[[str, Features], SelectorRefusal | None]
"""Compiles a CEL selector. Returns None if the API server of this version would accept it."""


class ExistingObjects(Struct, frozen=True, kw_only=True):
    """Objects that already exist. If `complete` is False, other objects may also exist."""

    namespaces: Mapping[str, Mapping[str, str]] = {}  # namespace labels by name
    priority_classes: Mapping[str, int] = {}
    # priority classes with preemptionPolicy Never; "" names the default
    non_preempting: frozenset[str] = frozenset()
    default_priority: str = ""  # the PriorityClass of pods that don't name one
    # extendedResourceName (or "") by DeviceClass
    classes: Mapping[str, str] = {}
    runtime_classes: frozenset[str] = frozenset()
    quotas: Sequence[Mapping[str, Any]] = ()
    complete: bool = False
    # critical priorities are allowed only in namespaces with a quota for them
    limited_priorities: bool = False


class Context(Struct, frozen=True, kw_only=True):
    """The Kubernetes version and the cluster for which an object is validated."""

    features: Features
    check_selector: CheckSelector
    cluster: ExistingObjects = field(default_factory=ExistingObjects)

    @property
    def minor(self) -> int:
        return self.features.minor
