"""PodDisruptionBudgets: how many pods may go at once, as they are written and as a cluster last
counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_planner.model.objects import LabelSelector, ObjectKey, ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStatus:
    """What the disruption controller of a cluster last counted; `disrupted` are names of pods that
    are about to go.
    """

    allowed: int
    healthy: int
    expected: int
    disrupted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudget:
    """A PodDisruptionBudget; of `least` and `most` at most one is given, as a count or a percentage
    ("50%").

    `least` pods must stay, or `most` may be missing. `status` is None where no cluster has counted.
    """

    meta: ObjectMeta
    selector: LabelSelector
    least: int | str | None = None
    most: int | str | None = None
    status: BudgetStatus | None = None

    @property
    def key(self) -> ObjectKey:
        return self.meta.key
