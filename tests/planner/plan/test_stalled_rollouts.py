"""Rollouts of Deployments: never finished, finished one pod after another, or not started."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from plan_builders import fleet

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.judgement import demand_levels
from dra_planner.plan.judgement.rollouts.stalled import check_rollouts
from dra_planner.sources import Source

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  MORE
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: c, image: x, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      tolerations: [{operator: Exists}]
"""
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: team}
spec: {hard: HARD}
"""
SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: by-load}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 4}
"""


def web(replicas: int = 2, more: str = "", name: str = "web") -> str:
    given = {"NAME": name, "REPLICAS": str(replicas), "MORE": more}
    text = WEB
    for word, value in given.items():
        text = text.replace(word, value)
    return text


def plan(*documents: str, nodes: Any, **more: Any) -> Plan:
    sources = (Source("app.yaml", "---".join((CLAIM, *documents))),)
    return make_plan(PlanRequest(sources=sources, fleet=fleet(("g6.2xlarge", nodes)), **more))


def rolling(surge: int | str, unavailable: int | str) -> str:
    return f"strategy: {{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {unavailable}}}}}"


def severities(made: Plan) -> list[tuple[str, str]]:
    return [(each.severity, each.code) for each in made.beside]


@pytest.mark.parametrize(
    ("strategy", "replicas"),
    [
        pytest.param("", 2, id="the default strategy rounds to 0 unavailable pods"),
        pytest.param(rolling(1, 0), 4, id="no unavailable pod"),
        pytest.param(rolling(2, 0), 4, id="several additional pods"),
        pytest.param(rolling("10%", "10%"), 5, id="small shares"),
    ],
)
def test_rollout_without_free_device_is_an_error_although_the_pods_fit(
    strategy: str, replicas: int
) -> None:
    made = plan(web(replicas, strategy), nodes=replicas)

    assert made.running == "fits"
    assert severities(made) == [("error", "rollout-cannot-finish")]
    assert made.stalled == ("Deployment default/web",)
    (found,) = made.beside
    assert f'pool "g6-2xlarge" is fixed at {replicas} nodes' in found.message
    assert found.fix.startswith('set the count of pool "g6-2xlarge" to ')
    assert found.fix.endswith("or set the rollout's maxSurge to 0 and maxUnavailable to 1")


@pytest.mark.parametrize(
    ("hard", "limit"),
    [
        pytest.param("{pods: '2'}", "limits pods to 2", id="pods"),
        pytest.param(
            "{gpu.nvidia.com.deviceclass.resource.k8s.io/devices: '2'}", "to 2", id="devices"
        ),
    ],
)
def test_rollout_that_a_quota_stops_is_an_error(hard: str, limit: str) -> None:
    made = plan(web(), QUOTA.replace("HARD", hard), nodes=9)

    assert (made.running, severities(made)) == ("fits", [("error", "rollout-cannot-finish")])
    assert "ResourceQuota default/team limits" in made.beside[0].message
    assert limit in made.beside[0].message
    assert "to 3 (for peak demand)" in made.beside[0].fix


@pytest.mark.parametrize(
    ("strategy", "nodes", "why"),
    [
        pytest.param(rolling(1, 1), 4, "(maxUnavailable: 1 pod)", id="deletes a pod first"),
        pytest.param(rolling(2, 0), 5, "1 additional pod fits", id="starts one pod at a time"),
    ],
)
def test_rollout_that_finishes_with_fewer_additional_pods_is_a_note(
    strategy: str, nodes: int, why: str
) -> None:
    made = plan(web(4, strategy), nodes=nodes)

    assert severities(made) == [("note", "peak-does-not-fit")]
    assert why in made.beside[0].message


def test_two_rollouts_with_one_free_device_finish_one_after_the_other() -> None:
    made = plan(web(), web(name="api"), nodes=5)

    assert severities(made) == [("note", "peak-does-not-fit")]
    assert made.stalled == ()


def test_rollouts_with_the_same_cause_are_one_finding() -> None:
    names = [f"web-{letter}" for letter in "abcdef"]
    made = plan(*(web(1, name=name) for name in names), nodes=6)

    (found,) = made.beside
    assert made.stalled == tuple(f"Deployment default/{name}" for name in names)
    assert found.message.endswith(
        "The same applies to Deployment default/web-b, Deployment default/web-c, "
        "Deployment default/web-d, and 2 more"
    )


@pytest.mark.parametrize("strategy", ["strategy: {type: Recreate}", "paused: true"])
def test_deployment_that_adds_no_pods_has_no_finding(strategy: str) -> None:
    assert plan(web(2, strategy), nodes=2).beside == ()


def test_maximum_that_allows_the_rollout_is_a_warning() -> None:
    made = plan(web(), nodes={"min": 0, "max": 4})
    assert severities(made) == [("warning", "peak-exceeds-nodes")]


def test_scaler_beyond_the_pool_is_a_warning_in_addition_to_the_error() -> None:
    found = severities(plan(web(), SCALER, nodes=2))
    assert found == [("error", "rollout-cannot-finish"), ("warning", "ceiling-does-not-fit")]
    assert severities(plan(web(), SCALER, nodes=3)) == [("warning", "ceiling-does-not-fit")]


def test_plan_for_peak_demand_has_its_own_verdict() -> None:
    made = plan(web(), nodes=2, level="peak")
    assert (made.verdict, made.beside) == ("does-not-fit", ())


SYSTEM = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 1
  selector: {matchLabels: {app: api}}
  STRATEGY
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1200m}}}]}
"""


@pytest.mark.parametrize(
    ("strategy", "nodes", "stalled"),
    [
        pytest.param(rolling(1, 0), 1, ("Deployment default/api",), id="no room"),
        pytest.param(rolling(1, 0), 2, (), id="one more node"),
        pytest.param(rolling(0, 1), 1, (), id="deletes a pod first"),
    ],
)
def test_rollout_on_the_system_pool(strategy: str, nodes: int, stalled: tuple[str, ...]) -> None:
    on = fleet(("g6.2xlarge", 1))
    on = on.model_copy(update={"system_pool": on.system_pool.model_copy(update={"count": nodes})})
    source = Source("app.yaml", SYSTEM.replace("STRATEGY", strategy))
    made = make_plan(PlanRequest(sources=(source,), fleet=on))

    assert (made.running, made.stalled) == ("fits", stalled)
    if stalled:
        assert 'set the count of pool "system" to 2' in made.beside[0].fix


def test_rollouts_beyond_the_steps_are_reported_as_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sizing of two shapes on one pool needs two steps, so only one workload is checked."""
    other = web(1, name="api").replace("resources: {", "resources: {requests: {cpu: 1}, ")
    made = plan(web(1), other, nodes=2)
    assert made.stalled == ("Deployment default/api", "Deployment default/web")
    monkeypatch.setattr(demand_levels, "check_rollouts", partial(check_rollouts, steps=3))

    short = plan(web(1), other, nodes=2)

    (stalled,) = short.stalled
    (unchecked,) = {*made.stalled} - {stalled}
    (found,) = (each for each in short.beside if each.code == "rollouts-not-checked")
    assert (found.severity, found.subject) == ("warning", unchecked)
    assert found.message.endswith(f"steps: {unchecked}")
    assert (
        found.fix == "plan with --demand peak, which includes the additional pods of all rollouts"
    )
    assert not any("finishes anyway" in each.message for each in short.beside)


def test_rollouts_with_equal_needs_share_the_steps() -> None:
    names = ["a", "b", "c"]
    judgement = plan(*(web(1, name=name) for name in names), nodes=3).judgement

    assert len(check_rollouts(judgement, steps=1).stalled) == 3
    assert [each.name for each in check_rollouts(judgement, steps=0).unchecked] == names
