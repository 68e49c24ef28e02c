"""RuntimeClasses and their additions to pods."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.model.objects import Amounts, ObjectMeta
from dra_planner.model.pods import Toleration
from dra_planner.records import equality


@equality(unhashed=("overhead", "node_selector"))
class RuntimeClass(Struct, frozen=True, kw_only=True):
    """The parts of a RuntimeClass that change a pod.

    `overhead` is None if the class doesn't define any.
    """

    meta: ObjectMeta
    overhead: Amounts | None = None
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
