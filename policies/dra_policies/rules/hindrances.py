"""What the planner knows of pods that never run, in the form that rules find things in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from dra_planner.drivers.nvidia import NvidiaDriver
from dra_planner.plan.hindrances import ClusterSituation, Hindrance
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import NvidiaInUse, StackView

REMARKS: Final = frozenset({"queue-decides", "worth-knowing"})
"""Ids of rules whose findings aren't violations."""
Finder = Callable[[ClusterSituation], Iterable[Hindrance]]


def tell(code: str, *finders: Finder) -> Callable[[StackView], Iterator[Finding]]:
    """Return the check of the rule with this id: it tells what finders of the planner find under
    it.
    """

    def check(view: StackView) -> Iterator[Finding]:
        situation = situation_of(view)
        found = (
            (each for find in finders for each in find(situation)) if situation is not None else ()
        )
        for each in dict.fromkeys(found):
            if each.code != code:
                continue
            yield Finding(
                message=each.message,
                fix=each.fix,
                place=each.place,
                about=str(each.workloads[0]) if each.workloads else "",
                certain=each.verdict != "cannot-tell",
                remark=each.verdict == "fits" and each.code in REMARKS,
            )

    return check


def tell_of_clusters(
    code: str, *finders: Finder, needs_pools: bool = True
) -> Callable[[StackView], Iterator[Finding]]:
    """Return the same for what only the objects of a whole cluster show; a stack may be a part of
    one.
    """
    check = tell(code, *finders)

    def of_clusters(view: StackView) -> Iterator[Finding]:
        is_asked = not view.expects_record and (view.judgement is not None or not needs_pools)
        return check(view) if is_asked else iter(())

    return of_clusters


def situation_of(view: StackView) -> ClusterSituation | None:
    """Return what a view knows of a cluster; None without manifests."""
    if view.manifests is None or view.features is None:
        return None
    return ClusterSituation(
        manifests=view.manifests,
        features=view.features,
        classes=view.classes,
        offers=view.judgement.offers if view.judgement is not None else (),
        nvidia=None if view.nvidia is None else _options(view.nvidia),
    )


def _options(in_use: NvidiaInUse) -> NvidiaDriver:
    settings = in_use.settings
    return NvidiaDriver.model_construct(
        version=in_use.version,
        feature_gates=dict(settings.gates),
        compute_domains=settings.compute_domains,
    )
