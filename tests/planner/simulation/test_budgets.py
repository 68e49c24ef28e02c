"""Preempted pods if PodDisruptionBudgets protect pods: small clusters, one rule at a time."""

from __future__ import annotations

import pytest
from allocation_builders import node, shape
from clusters import bare, offer, offer_of, simulator, workload
from msgspec.structs import replace

from dra_planner.manifests import BoundPod
from dra_planner.model import (
    BudgetStatus,
    Container,
    DisruptionBudget,
    LabelSelector,
    ObjectMeta,
    PodSpec,
    Requirement,
    WorkloadRef,
)
from dra_planner.releases import features_of

HALF, WHOLE = {"cpu": 30_000}, {"cpu": 60_000}


def budget(app: str, *, status: BudgetStatus | None = None, **limit: int | str) -> DisruptionBudget:
    """A budget for the pods of one app: `least` must stay, or `most` may be missing."""
    selector = LabelSelector((Requirement("app", "In", (app,)),))
    return DisruptionBudget(
        meta=ObjectMeta(name=f"keep-{app}", namespace="default"),
        selector=selector,
        status=status,
        **limit,
    )


def served(
    app: str, pods: int, *, on: str = "", at: int = 0, kind: str = "Deployment", priority: int = 0
):
    where = {"kubernetes.io/hostname": on} if on else {}
    made = shape(requests=HALF, labels={"app": app}, node_selector=where, priority=priority)
    return workload(made, pods, name=app, kind=kind, at=at)


def high(at: int = 9, requests=HALF):
    return bare(shape(requests=requests, priority=100), f"high{at}", at)


def preempted(shapes, nodes, *budgets, **more) -> list[str]:
    """Return the apps whose pods had to go, in order."""
    outcome = simulator(shapes, nodes, budgets=budgets, **more).run()
    return [name.name.rpartition("-")[0] or name.name for name in outcome.preempted]


TWO_NODES = [offer("n1"), offer("n2")]


@pytest.mark.parametrize(
    ("limit", "gone"),
    [
        pytest.param({}, "b", id="an empty budget allows no disruption"),
        pytest.param({"least": 1}, "a", id="one disruption is allowed"),
        pytest.param({"least": 2}, "b", id="all pods must be available"),
        pytest.param({"most": 1}, "a", id="one pod may be unavailable"),
        pytest.param({"most": 0}, "b", id="no pod may be unavailable"),
        pytest.param({"least": "50%"}, "a", id="half of the pods must be available"),
        pytest.param({"least": "51%"}, "b", id="minimum percentages are rounded up"),
        pytest.param({"most": "1%"}, "a", id="maximum percentages are rounded up"),
        pytest.param({"most": "0%"}, "b", id="zero percent"),
        pytest.param({"least": "some"}, "b", id="no percentage"),
    ],
)
def test_preemption_respects_budgets(limit, gone):
    shapes = [served("b", 2, on="n2"), served("a", 2, on="n1", at=1), high()]
    assert preempted(shapes, TWO_NODES, budget("a", **limit), budget("b", least=0)) == [gone]
    assert preempted(shapes, TWO_NODES) == ["a"]


@pytest.mark.parametrize(
    ("kind", "limit", "gone"),
    [
        pytest.param("Job", {"most": 1}, "b", id="a Job has no scale subresource"),
        pytest.param("Job", {"least": 1}, "a", id="a count needs no scale subresource"),
        pytest.param("StatefulSet", {"most": 1}, "a", id="a StatefulSet has a scale subresource"),
    ],
)
def test_percentages_in_budgets_depend_on_the_owner(kind, limit, gone):
    shapes = [served("b", 2, on="n2"), served("a", 2, on="n1", at=1, kind=kind), high()]
    assert preempted(shapes, TWO_NODES, budget("a", **limit)) == [gone]


@pytest.mark.parametrize(("limit", "gone"), [({"most": 1}, "b"), ({"least": 1}, "a")])
def test_budgets_of_bare_pods_allow_counts_but_no_percentages(limit, gone):
    on_first = {"kubernetes.io/hostname": "n1"}
    alone = [
        bare(shape(requests=HALF, labels={"app": "a"}, node_selector=on_first), f"a-{at}", at)
        for at in range(1, 3)
    ]
    assert preempted(
        [served("b", 2, on="n2"), *alone, high()], TWO_NODES, budget("a", **limit)
    ) == [gone]


def test_budgets_are_violated_if_nothing_else_helps():
    """If preempting other pods doesn't help, protected pods are preempted."""
    shapes = [served("a", 2, on="n1"), high(requests=WHOLE)]
    assert preempted(shapes, [offer("n1")], budget("a", least=2)) == ["a", "a"]


def test_exhausted_budget_protects_the_next_pod():
    """The first victim leaves the budget empty: its Deployment makes another pod, which is
    pending.
    """
    shapes = [served("b", 2, on="n2"), served("a", 2, on="n1", at=1), high(8), high(9)]
    assert preempted(shapes, TWO_NODES, budget("a", most=1)) == ["a", "b"]


def test_pods_without_a_budget_are_preempted_before_less_important_ones():
    shapes = [served("a", 1, priority=1), served("b", 1, at=1, priority=5), high()]
    assert preempted(shapes, [offer("n1")]) == ["a"]
    # b is re-created and scheduled again
    assert preempted(shapes, [offer("n1")], budget("a", least=1)) == ["b", "a"]


def test_fewer_violations_are_better_than_lower_priorities():
    shapes = [
        served("a", 2, on="n1", priority=1),
        served("b", 2, on="n2", at=1, priority=50),
        high(requests=WHOLE),
    ]
    assert preempted(shapes, TWO_NODES) == ["a", "a"]
    assert preempted(shapes, TWO_NODES, budget("a", least=2)) == ["b", "b"]
    assert preempted(shapes, TWO_NODES, budget("a", least=1), budget("b", least=2)) == ["a", "a"]


@pytest.mark.parametrize(("minor", "gone"), [(36, "c"), (37, "b")])
def test_pod_of_two_budgets_counts_for_both_until_1_36(minor, gone):
    """From 1.37 on, if one budget is exhausted, later budgets aren't charged, so they still allow
    another disruption.
    """
    third = {"cpu": 20_000}
    labels = [{"app": "a", "tier": "x"}, {"app": "b", "tier": "x"}, {"app": "c"}]
    pods = [
        bare(shape(requests=third, labels=each, priority=9 - at), f"{each['app']}-0", at)
        for at, each in enumerate(labels)
    ]
    tier = LabelSelector((Requirement("tier", "In", ("x",)),))
    both = DisruptionBudget(
        meta=ObjectMeta(name="tier", namespace="default"), selector=tier, least=1
    )
    shapes = [*pods, high(requests=third)]
    budgets = budget("a", least=1), both, budget("c", least=1)
    assert preempted(shapes, [offer("n1")], *budgets, features=features_of(minor)) == [gone]


# -- pods that a cluster has


def running(app: str, on: str, name: str, *, started: str = "", ready: bool = True) -> BoundPod:
    spec = PodSpec(node_name=on, containers=(Container(name="c", requests=HALF),))
    meta = ObjectMeta(name=name, namespace="default", labels={"app": app})
    owner = WorkloadRef("Deployment", "default", app)
    return BoundPod(meta=meta, spec=spec, owner=owner, started=started, ready=ready)


def cluster(*pods: BoundPod):
    names = sorted({pod.spec.node_name for pod in pods})
    return [
        replace(offer_of(node(name)), pods=tuple(pod for pod in pods if pod.spec.node_name == name))
        for name in names
    ]


def gone_from(nodes, *budgets) -> list[str]:
    return [name.name for name in simulator([high()], nodes, budgets=budgets).run().preempted]


def test_budget_status_of_the_cluster_takes_precedence():
    nodes = cluster(
        *(
            running(app, on, f"{app}{at}")
            for app, on in (("a", "n1"), ("b", "n2"))
            for at in range(2)
        )
    )
    assert gone_from(nodes) == ["a1"]
    # one may go: it counts for the older one
    assert gone_from(nodes, budget("a", least=1)) == ["a0"]
    assert gone_from(
        nodes, budget("a", least=1, status=BudgetStatus(allowed=0, healthy=1, expected=2))
    ) == ["b1"]
    assert gone_from(
        nodes, budget("a", least=2, status=BudgetStatus(allowed=1, healthy=3, expected=3))
    ) == ["a0"]
    disrupted = BudgetStatus(allowed=0, healthy=0, expected=2, disrupted=frozenset({"a0", "a1"}))
    assert gone_from(nodes, budget("a", least=2, status=disrupted)) == ["a1"]


def test_unready_pods_are_unhealthy():
    pods = [running("a", "n1", "a0"), running("a", "n1", "a1", ready=False)]
    others = [running("b", "n2", f"b{at}") for at in range(2)]
    assert gone_from(cluster(*pods, *others), budget("a", least=1)) == ["b1"]


def test_most_recently_started_pods_are_preempted():
    early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"
    pods = [running("a", "n1", f"a{at}", started=early) for at in range(2)]
    others = [running("b", "n2", "b0", started=late), running("b", "n2", "b1", started=early)]
    assert gone_from(cluster(*pods, *others)) == ["b0"]
