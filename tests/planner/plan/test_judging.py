"""One evaluation for each demand: its results for each shape and pool, and the code that uses
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from plan_builders import deployment, example, fleet, plan_of

from dra_planner.model import worst
from dra_planner.offers import predict_offers
from dra_planner.plan import Judgement, judge
from dra_planner.plan import planning as planning_module
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.explanation.claims import explain_claim
from dra_planner.plan.judgement import sized_demand
from dra_planner.releases import features_of
from dra_planner.sizing import Sizer
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: main, image: x}]}
"""
L4, H100 = ("g6.2xlarge", {"min": 0, "max": 4}), ("p5.48xlarge", {"min": 0, "max": 2})


def judgement_of(*pools: tuple[str, Any], gpus: int = 1, replicas: int = 1) -> Judgement:
    where = fleet(*pools)
    features = features_of(where.minor)
    demand = plan_of(where, deployment(gpus=gpus, replicas=replicas)).demand
    return judge(demand, predict_offers(where, features), fleet_classes(where, features), features)


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        (1, {"g6-2xlarge": ("fits", 1), "p5-48xlarge": ("fits", 8)}),
        (4, {"g6-2xlarge": ("does-not-fit", 0), "p5-48xlarge": ("fits", 2)}),
        (9, {"g6-2xlarge": ("does-not-fit", 0), "p5-48xlarge": ("does-not-fit", 0)}),
    ],
)
def test_each_pool_has_an_answer_for_each_shape(
    gpus: int, expected: dict[str, tuple[str, int]]
) -> None:
    judgement = judgement_of(L4, H100, gpus=gpus)
    (shape,) = judgement.demand.shapes
    answers = {
        each.offer.name: (each.verdict, each.pods_per_node) for each in judgement.answers(shape)
    }
    assert answers == expected


def test_answers_agree_with_the_sizing() -> None:
    judgement = judgement_of(L4, H100, gpus=4, replicas=2)
    (shape,) = judgement.demand.shapes
    (size,) = judgement.sizing.workloads
    assert dict(size.fits) == {each.offer.name: each.verdict for each in judgement.answers(shape)}
    assert (
        judgement.sizing.verdict
        == worst(each.verdict for each in judgement.sizing.workloads)
        == "fits"
    )


def test_pods_of_the_system_pool_need_a_fleet() -> None:
    where = fleet(L4)
    features = features_of(34)
    plan = plan_of(where, Source("pod.yaml", POD))
    offers, classes = predict_offers(where, features), fleet_classes(where, features)
    (shape,) = plan.demand.shapes
    with_fleet = judge(plan.demand, offers, classes, features, fleet=where)
    without = judge(plan.demand, offers, classes, features)
    assert [each.offer.name for each in with_fleet.answers(shape)] == ["system"]
    assert [size.verdict for size in with_fleet.sizing.workloads] == ["fits"]
    assert (without.answers(shape), without.sizing.workloads) == ((), ())


def counted(monkeypatch: pytest.MonkeyPatch, calls: Counter[str], home: Any, name: str) -> None:
    original: Callable[..., Any] = getattr(home, name)

    def call(*values: Any, **options: Any) -> Any:
        calls[name] += 1
        return original(*values, **options)

    monkeypatch.setattr(home, name, call)


def test_every_step_of_planning_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    # It sizes the changed fleet again.
    monkeypatch.setattr(planning_module, "with_joint_fix", lambda plan, replan: plan)
    for name in ("read_checked", "expand_claims", "predict_offers", "judge_with_guards"):
        counted(monkeypatch, calls, planning_module, name)
    counted(monkeypatch, calls, sized_demand, "set_aside")
    counted(monkeypatch, calls, Sizer, "size")
    plan = plan_of(fleet(L4), *example("workloads/job-two-gpus-each"))
    judged = dict(calls)
    assert plan.manifests is not None
    found = list(check_all(view_of(plan.manifests, plan.judgement.features, plan)))
    explanation = explain_claim(plan.judgement, "default/gpus")
    assert (explanation.verdict, any(each.code == "claim-fits-no-pool" for each in found)) == (
        "does-not-fit",
        True,
    )
    assert calls == judged, "rules and explanations only word the judgement"
    assert judged == {
        "read_checked": 1,
        "expand_claims": 1,
        "predict_offers": 1,
        "judge_with_guards": 1,
        "set_aside": 1,
        "size": 3,  # the least raise is looked for by two more
    }
