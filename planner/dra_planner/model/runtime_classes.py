"""RuntimeClasses and their additions to pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dra_planner.model.objects import Amounts, ObjectMeta
from dra_planner.model.pods import Toleration


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeClass:
    """The parts of a RuntimeClass that change a pod; `overhead` is None if the class doesn't define
    any.
    """

    meta: ObjectMeta
    overhead: Amounts | None = field(default=None, hash=False)
    node_selector: Mapping[str, str] = field(default_factory=dict, hash=False)
    tolerations: tuple[Toleration, ...] = ()
