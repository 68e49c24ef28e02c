"""PodDisruptionBudgets: the number of pods that can be evicted at the same time, as specified, and
as last counted by a cluster.
"""

from __future__ import annotations

from msgspec import Struct

from dra_planner.model.objects import LabelSelector, ObjectKey, ObjectMeta


class BudgetStatus(Struct, frozen=True, kw_only=True):
    """The last status of a cluster's disruption controller. `disrupted` are the names of pods that
    are about to be evicted.
    """

    allowed: int
    healthy: int
    expected: int
    disrupted: frozenset[str] = frozenset()


class DisruptionBudget(Struct, frozen=True, kw_only=True):
    """A PodDisruptionBudget.

    At most one of `least` and `most` is set, as a count or a percentage ("50%"). `least` pods must
    stay, or `most` pods can be missing. `status` is None without a cluster.
    """

    meta: ObjectMeta
    selector: LabelSelector
    least: int | str | None = None
    most: int | str | None = None
    status: BudgetStatus | None = None

    @property
    def key(self) -> ObjectKey:
        return self.meta.key
