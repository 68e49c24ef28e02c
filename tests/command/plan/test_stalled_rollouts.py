"""A rollout that never finishes: the same severity and exit status in every subcommand."""

from __future__ import annotations

import re

import pytest
from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools: [{name: l4, machine: g6.2xlarge, count: MOST}]
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
"""
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  selector: {matchLabels: {app: NAME}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: LESS}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: c, image: registry.example/c, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      tolerations: [{operator: Exists}]
---
"""
RULE = "rollout-cannot-finish"


@pytest.fixture
def given(project: Project) -> Project:
    """Return a project with two nodes for the pods of two Deployments, of which only one can delete
    a pod first.
    """
    project.write("fleet.yaml", FLEET.replace("MOST", "2"))
    stuck = WEB.replace("NAME", "stuck").replace("LESS", "0")
    project.write("m.yaml", CLAIM + stuck + WEB.replace("NAME", "other").replace("LESS", "1"))
    return project


def test_check_and_plan_fail_although_the_pods_fit(given: Project) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml")
    plan, check = given.run("plan", *words), given.run("check", *words)

    assert (plan.status, check.status) == (1, 1)
    headline = "✕ All pods fit, but 1 rollout never finishes: all 2 workloads on 2 GPU nodes"
    assert plan.out.startswith(headline)
    for done in (plan, check):
        assert f"error {RULE}: Deployment default/stuck can run, but" in " ".join(done.out.split())


def test_json_verdict_includes_the_rollout(given: Project) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml", "--format", "json")
    answer = given.run("plan", *words).json

    assert answer["verdict"] == "does-not-fit"
    assert {each["verdicts"]["steady"] for each in answer["workloads"]} == {"fits"}
    assert {each["code"] for each in answer["diagnostics"] if each["severity"] == "error"} == {RULE}


@pytest.mark.parametrize(("name", "status"), [("stuck", 1), ("other", 0)])
def test_explain_fails_only_for_the_workload_with_the_rollout(
    given: Project, name: str, status: int
) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml")
    pod = given.run("explain", *words, "--pod", name)
    claim = given.run("explain", *words, "--claim", f"default/{name}-gpu")

    assert (pod.status, claim.status) == (status, status)
    assert ("its rollouts never finish" in pod.out) == bool(status)
    assert ("its rollouts never finish" in claim.out) == bool(status)


def test_html_and_the_comment_have_the_sign_of_a_failure(given: Project) -> None:
    words = ("plan", "m.yaml", "--fleet", "fleet.yaml", "--format")
    page, comment = given.run(*words, "html"), given.run(*words, "markdown")

    assert (page.status, comment.status) == (1, 1)
    assert '<h1 class="does-not-fit">' in page.out
    assert "All pods fit, but 1 rollout never finishes</h1>" in page.out
    assert "✕ does not fit, 1 rollout never finishes" in comment.out


@pytest.mark.parametrize("options", [(), ("--format", "json")])
def test_pool_fails_with_the_rollouts_of_its_workloads(
    given: Project, options: tuple[str, ...]
) -> None:
    pools = "pools: [{name: empty, machine: g6.2xlarge, count: 0}, "
    given.write("fleet.yaml", FLEET.replace("MOST", "2").replace("pools: [", pools))
    words = ("explain", "m.yaml", "--fleet", "fleet.yaml", *options, "--pool")
    done = given.run(*words, "l4")

    assert done.status == 1
    if options:
        assert done.json["verdict"] == "does-not-fit"
        reasons = {each["workload"]: each["reasons"] for each in done.json["workloads"]}
        assert [each["code"] for each in reasons["Deployment default/stuck"]] == [RULE]
        assert reasons["Deployment default/other"] == []
    else:
        assert "fits all workloads that can run in it, but 1 rollout never finishes" in done.out


def test_sarif_reports_an_error(given: Project) -> None:
    words = ("check", "m.yaml", "--fleet", "fleet.yaml", "--format", "sarif")
    done = given.run(*words)

    assert done.status == 1
    found = done.json["runs"][0]["results"]
    assert [each["level"] for each in found if each["ruleId"] == RULE] == ["error"]


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("--format", "html")])
def test_portfolio_fails_if_a_rollout_never_finishes(
    given: Project, options: tuple[str, ...]
) -> None:
    given.write(
        "portfolio.yaml",
        """\
stacks: [{name: a, fleet: fleet.yaml, workloads: [m.yaml]}]
scenarios: [{name: less, replicas: 0}]
""",
    )
    words = ("portfolio", "portfolio.yaml", *options)
    done = given.run(*words)

    assert done.status == 1
    if "json" in options:
        assert done.json["verdict"] == "does-not-fit"
        cells = [(each["outcome"], each["stalled"]) for each in done.json["cells"]]
        assert cells == [("does-not-fit", 1), ("fits", 0)]
    else:
        assert "1 of 2 cells fit, 1 does not" in done.out
        cells = re.findall(r"<td class='[^>]*><a .*?aria-hidden='true'>(.)<", done.out)
        assert cells == ["✕", "✓"] if options else "\na  ✕✓\n" in done.out
    if "html" in options:
        assert re.findall("<rect class='([^']*)'", done.out) == ["does-not-fit", "fits"]
        assert "blue: fits · red: does not fit<" in done.out


def test_matrix_fails_if_a_rollout_never_finishes(given: Project) -> None:
    words = ("plan", "m.yaml", "--fleet", "fleet.yaml", "--matrix")

    stalled = given.run(*words, "pools.l4.count=2,3")
    assert stalled.status == 1
    assert "1 of 2 combinations fit." in stalled.out
    assert "its rollouts never finish" in stalled.out
    assert given.run(*words, "pools.l4.count=3,4").status == 0
