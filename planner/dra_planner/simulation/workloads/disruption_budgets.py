"""The allowed disruptions of each PodDisruptionBudget, computed like in the disruption controller.

Pods on a node are healthy, unless the cluster reports that they aren't ready. If a budget in the
cluster has a status, the status is used together with later changes. Source of the behavior:
kubernetes/kubernetes:pkg/controller/disruption/disruption.go @v1.36.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.allocation.node.selectors import labels_match
from dra_planner.model import DemandLevel, DisruptionBudget, Member, ObjectKey, WorkloadRef
from dra_planner.offers import Offer
from dra_planner.records import equality
from dra_planner.simulation.cluster.cluster import Cluster
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.workloads.controllers import BARE_POD, Controller

_WITHOUT_SCALE: Final = frozenset({"Job", "CronJob", "DaemonSet", "JobSet"})
"""Kinds whose number of pods the disruption controller can't determine. Percentages of their pods
are unknown, so no pod may be evicted.
"""


@equality(unhashed=("scales", "owners"))
class Budget(Struct, frozen=True):
    """A compiled budget, with the numbers of the kinds of pods that it selects.

    `scales` is the number of these pods that each workload should have. `owners` are the owners of
    existing pods, without bare pods. `unready` are the existing pods that aren't ready.
    """

    own: DisruptionBudget
    kinds: frozenset[int]
    scales: Mapping[WorkloadRef, int]
    owners: Mapping[ObjectKey, WorkloadRef]
    unready: frozenset[ObjectKey]


class Allowance(Struct, frozen=True):
    """The number of pods of some kinds that can be evicted without a violation. `disrupted` pods
    are already counted as deleted.
    """

    kinds: frozenset[int]
    pods: int
    disrupted: frozenset[ObjectKey] = frozenset()


def compile_budgets(
    budgets: Iterable[DisruptionBudget],
    kinds: Sequence[PodKind],
    members: Sequence[tuple[Member, PodKind]],
    offers: Iterable[Offer],
    level: DemandLevel,
) -> tuple[Budget, ...]:
    """Return the budgets that select existing pods, or pods of this demand level."""
    selected = [
        (each, frozenset(kind.number for kind in kinds if _selects(each, kind))) for each in budgets
    ]
    if not any(numbers for _, numbers in selected):
        return ()
    bound = [pod for offer in offers for pod in offer.pods]
    made = {name: member.workload for member, _ in members for name in member.running}
    owners = {
        pod.meta.key: owner
        for pod in bound
        if (owner := made.get(pod.meta.key, pod.owner)) is not None
    }
    unready = frozenset(pod.meta.key for pod in bound if not pod.ready)
    there = Counter(owners.values())
    compiled: list[Budget] = []
    for own, numbers in selected:
        scales: Counter[WorkloadRef] = Counter()
        for member, kind in members:
            if kind.number in numbers:
                scales[member.workload] += member.figures.at(level) or 0
        compiled.append(Budget(own, numbers, {**there, **scales}, owners, unready))
    return tuple(each for each in compiled if each.kinds)


def selects(budget: DisruptionBudget, namespace: str, labels: Mapping[str, str]) -> bool:
    """Return whether a budget selects pods with these labels. Without a selector, it
    selects none.
    """
    selector = budget.selector
    return (
        bool(selector.requirements)
        and budget.meta.namespace == namespace
        and labels_match(selector, labels)
    )


def _selects(budget: DisruptionBudget, kind: PodKind) -> bool:
    """Return True if a budget selects such pods. It never selects running pods without labels."""
    is_bare = kind.shape is None and not kind.view.labels
    return not is_bare and selects(budget, kind.view.namespace, kind.view.labels)


class BudgetCounts:
    """Counts the pods of budgets as pods are added and removed."""

    def __init__(self, budgets: Sequence[Budget], cluster: Cluster) -> None:
        """Store the initial pods of a cluster."""
        self._budgets = budgets
        self._before = [self._margin(each, cluster, ()) for each in budgets]

    def left(self, cluster: Cluster, controllers: Sequence[Controller]) -> list[Allowance]:
        """Return the current allowed disruptions of each budget.

        `controllers` are the controllers that have started.
        """
        return [
            Allowance(
                each.kinds, self._allowed(each, before, cluster, controllers), _disrupted(each.own)
            )
            for each, before in zip(self._budgets, self._before, strict=True)
        ]

    def _allowed(
        self,
        budget: Budget,
        before: int | None,
        cluster: Cluster,
        controllers: Sequence[Controller],
    ) -> int:
        margin = self._margin(budget, cluster, controllers)
        if margin is None:
            return 0
        status = budget.own.status
        if status is not None and before is not None:
            counted = status.allowed if status.allowed else min(0, before)
            margin = counted + margin - before
        return max(0, margin)

    @staticmethod
    def _margin(budget: Budget, cluster: Cluster, controllers: Sequence[Controller]) -> int | None:
        """Return the number of healthy pods above the required number (negative if there are too
        few), or None if it's unknown.
        """
        placed = [
            name for name, each in cluster.pods.items() if each.pod.kind.number in budget.kinds
        ]
        workloads = {budget.owners[name] for name in placed if name in budget.owners}
        for each in controllers:
            if any(pod.kind.number in budget.kinds for pod in (*each.pods, *each.old)):
                workloads.add(each.workload)
        desired = _desired(budget, workloads)
        return (
            None
            if desired is None
            else sum(name not in budget.unready for name in placed) - desired
        )


def _desired(budget: Budget, workloads: Iterable[WorkloadRef]) -> int | None:
    """Return the required number of healthy pods, or None if it's unknown, so that no pod may be
    evicted.
    """
    made = [each for each in workloads if each.kind != BARE_POD]
    expected = sum(budget.scales.get(each, 0) for each in made)
    if any(each.kind in _WITHOUT_SCALE for each in made):
        expected = 0
    return desired_healthy(budget.own, expected)


def desired_healthy(budget: DisruptionBudget, expected: int) -> int | None:
    """Return the required number of healthy pods out of the expected pods.

    Returns None for a percentage of no pods, and for a budget without a limit. In both cases, no
    pod can be evicted.
    """
    least, most = budget.least, budget.most
    if isinstance(least, int):
        return least
    if not expected:
        return None
    if most is not None:
        missing = most if isinstance(most, int) else _share(most, expected)
        return None if missing is None else max(0, expected - missing)
    return None if least is None else _share(least, expected)


def _share(percentage: str, of: int) -> int | None:
    """Return a percentage of a number, rounded up, or None for an invalid text."""
    number = percentage.removesuffix("%")
    if number == percentage or not (number.isascii() and number.isdigit() and len(number) < 10):
        return None
    return -(-int(number) * of // 100)


def _disrupted(budget: DisruptionBudget) -> frozenset[ObjectKey]:
    names = budget.status.disrupted if budget.status is not None else ()
    return frozenset(ObjectKey(budget.meta.namespace, name) for name in names)
