"""What a verdict depends on beside the object: the release, and what the cluster already holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dra_planner.releases import Features


@dataclass(frozen=True, slots=True)
class SelectorRefusal:
    """Why the API server refuses a CEL selector; one that costs too much is forbidden, any other is
    invalid.
    """

    detail: str
    fix: str = ""
    is_forbidden: bool = False


CheckSelector = Callable[[str, Features], SelectorRefusal | None]
"""Compiles a CEL selector; None where the API server of that release would take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingObjects:
    """Objects that exist already. `complete` says that there are no others; else what is missing
    may exist.
    """

    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # name → labels
    priority_classes: Mapping[str, int] = field(default_factory=dict)
    # priority classes with preemptionPolicy Never; "" names the default
    non_preempting: frozenset[str] = frozenset()
    default_priority: str = ""  # the PriorityClass that pods have without naming one
    # DeviceClass → its extendedResourceName, "" for none
    classes: Mapping[str, str] = field(default_factory=dict)
    runtime_classes: frozenset[str] = frozenset()
    quotas: Sequence[Mapping[str, Any]] = ()
    complete: bool = False
    limited_priorities: bool = False  # critical priorities only in namespaces with a quota for them


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The release and the cluster that an object is judged against."""

    features: Features
    check_selector: CheckSelector
    cluster: ExistingObjects = field(default_factory=ExistingObjects)

    @property
    def minor(self) -> int:
        return self.features.minor
