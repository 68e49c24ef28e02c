"""The planner's findings about pods that never run, in the form of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dra_planner.drivers.nvidia import NvidiaDriver
from dra_planner.plan.blockers import ClusterSituation, Finder, find_blockers
from dra_planner.plan.blockers.blocker import cloud_of, is_guided
from dra_planner.plan.blockers.topology.unmet_affinity import system_nodes_of
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import NvidiaInUse, StackView


def planner_check(code: str, *finders: Finder) -> Callable[[StackView], Iterator[Finding]]:
    """Return the check of the rule with this ID, which reports the planner's findings of
    that kind.
    """

    def check(view: StackView) -> Iterator[Finding]:
        situation = situation_of(view)
        if situation is None:
            return
        for each in find_blockers(situation, finders):
            if each.code != code:
                continue
            yield Finding(
                message=each.message,
                fix=each.fix,
                place=each.place,
                about=str(each.workloads[0]) if each.workloads else "",
                certain=each.verdict != "cannot-tell",
                remark=each.is_remark,
            )

    return check


def cluster_check(
    code: str, *finders: Finder, needs_pools: bool = True
) -> Callable[[StackView], Iterator[Finding]]:
    """Return the same check for findings that require all objects of a cluster, because a stack can
    contain only some of them.
    """
    check = planner_check(code, *finders)

    def of_clusters(view: StackView) -> Iterator[Finding]:
        applies = not view.expects_record and (view.judgement is not None or not needs_pools)
        return check(view) if applies else iter(())

    return of_clusters


def situation_of(view: StackView) -> ClusterSituation | None:
    """Return a view's facts about a cluster, or None without manifests."""
    if view.manifests is None or view.features is None:
        return None
    return ClusterSituation(
        manifests=view.manifests,
        features=view.features,
        classes=view.classes,
        offers=view.judgement.offers if view.judgement is not None else (),
        system=None if view.judgement is None else system_nodes_of(view.judgement),
        nvidia=None if view.nvidia is None else _options(view.nvidia),
        cloud=None if view.judgement is None else cloud_of(view.judgement),
        is_guided=view.judgement is not None and is_guided(view.judgement),
    )


def _options(in_use: NvidiaInUse) -> NvidiaDriver:
    settings = in_use.settings
    return NvidiaDriver.model_construct(
        version=in_use.version,
        feature_gates=dict(settings.gates),
        compute_domains=settings.compute_domains,
    )
