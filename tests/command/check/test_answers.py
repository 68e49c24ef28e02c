"""Facts that `check` reports about itself: the rules that ran, the Kubernetes version, and the
machine-readable formats.
"""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from command_project import Done, Project

from dra_planner.releases import MAXIMUM_MINOR
from dra_policies.rules import ON

TAKES_ALL = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: nine}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 9}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  tolerations: [{operator: Exists}]
  resourceClaims: [{name: c, resourceClaimTemplateName: nine}]
  containers: [{name: main, image: i, resources: {claims: [{name: c}]}}]
"""
UNUSED = TAKES_ALL.replace("count: 9", "count: 1").replace("{claims: [{name: c}]}", "{}")
SCALED = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: NAME}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      tolerations: [{operator: Exists}]
      resourceClaims: [{name: c, resourceClaimTemplateName: nine}]
      containers: [{name: main, image: i, resources: {claims: [{name: c}]}}]
"""


def checked(project: Project, *words: str) -> Done:
    return project.run("check", *words)


def test_without_pools_the_number_of_skipped_rules_is_printed(project: Project) -> None:
    done = checked(project, "workloads", "--kubernetes", "1.35")

    assert done.status == 0
    assert done.out.startswith("No findings: ")
    text = " ".join(done.out.split())
    assert "for Kubernetes 1.35; " in text
    assert "more need --stack, --fleet, or --observed; " in text
    assert "more check resources in a Pulumi program, so only the policy pack runs them." in text


def test_without_a_version_the_newest_one_is_used_and_printed(project: Project) -> None:
    text = " ".join(checked(project, "workloads").out.split())
    newest = "(the newest known; --kubernetes sets another version)"
    assert f"for Kubernetes 1.{MAXIMUM_MINOR} {newest}; " in text
    given = " ".join(checked(project, "workloads", "--stack", "dev").out.split())
    assert "the newest known" not in given


def test_with_pools_only_rules_for_stacks_are_skipped(project: Project) -> None:
    done = checked(project, "--stack", "dev")

    text = " ".join(done.out.split())
    assert "need --stack" not in text
    assert "more check resources in a Pulumi program, so only the policy pack runs them." in text


def test_json_lists_checked_and_skipped_rules(project: Project) -> None:
    alone = checked(project, "workloads", "--format", "json").json
    on_pools = checked(project, "--stack", "dev", "--format", "json").json

    for answer in (alone, on_pools):
        named = [*answer["judged"], *(each["rule"] for each in answer["skipped"])]
        assert sorted(named) == sorted(rule.id for rule in ON)
    assert on_pools["kubernetes"] == "1.34"
    assert "claim-fits-no-pool" in on_pools["judged"]
    assert {
        "rule": "claim-fits-no-pool",
        "why": "needs --stack, --fleet, or --observed",
    } in alone["skipped"]


def test_junit_has_a_case_per_finding_and_skipped_rules(project: Project) -> None:
    project.write("workloads/nine.yaml", TAKES_ALL)
    project.write(
        "workloads/unused.yaml", UNUSED.replace("nine", "one").replace("name: p}", "name: q}")
    )

    suite = ElementTree.fromstring(
        checked(project, "workloads", "--stack", "dev", "--format", "junit").out
    )[0]

    cases = {case.attrib["name"]: case for case in suite}
    assert len(cases) == len(suite) == int(suite.attrib["tests"])
    failed = [name for name, case in cases.items() if case.find("failure") is not None]
    skipped = [name for name, case in cases.items() if case.find("skipped") is not None]
    assert failed == ["claim-fits-no-pool workloads/nine.yaml:7"]
    assert suite.attrib["failures"] == "1"
    assert (skipped, "plan-record-missing" in cases) == ([], False)  # only the pack can run it
    assert any(name.startswith("claim-without-container workloads/unused.yaml") for name in cases)


def test_junit_skips_rules_that_need_pools(project: Project) -> None:
    suite = ElementTree.fromstring(checked(project, "workloads", "--format", "junit").out)[0]
    skipped = [case.attrib["name"] for case in suite if case.find("skipped") is not None]
    assert "claim-fits-no-pool" in skipped
    assert len(skipped) == int(suite.attrib["skipped"])


def test_sarif_has_a_place_and_fingerprint_for_every_finding(project: Project) -> None:
    project.write("workloads/nine.yaml", TAKES_ALL)
    log = json.loads(checked(project, "workloads", "--stack", "dev", "--format", "sarif").out)
    project.write("workloads/nine.yaml", "# a line more" + TAKES_ALL)
    moved = json.loads(checked(project, "workloads", "--stack", "dev", "--format", "sarif").out)

    (run,) = log["runs"]
    prints = [result["partialFingerprints"] for result in run["results"]]
    assert prints
    assert prints == [result["partialFingerprints"] for result in moved["runs"][0]["results"]]
    assert all(
        result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
        for result in run["results"]
    )
    for rule in run["tool"]["driver"]["rules"]:
        if "help" in rule:
            assert rule["helpUri"].startswith("https://")
            assert "**Fix:**" in rule["help"]["markdown"]


def test_fault_is_reported_once(project: Project) -> None:
    refused = TAKES_ALL.replace("resource.k8s.io/v1", "resource.k8s.io/v1beta1")
    project.write("all/nine.yaml", refused.replace("count: 9", "count: 1"))

    found = checked(project, "all", "--stack", "dev", "--format", "json").json["diagnostics"]

    assert [each["code"] for each in found] == ["version-not-served"]


def test_other_faults_of_an_object_are_reported_with_its_version(project: Project) -> None:
    refused = TAKES_ALL.replace("resource.k8s.io/v1", "resource.k8s.io/v1beta1")
    project.write("all/nine.yaml", refused)

    found = checked(project, "all", "--stack", "dev", "--format", "json").json["diagnostics"]

    assert [each["code"] for each in found] == ["version-not-served", "claim-fits-no-pool"]
    assert found[1]["message"].startswith("in v1: claim default/p-c ")


@pytest.mark.parametrize(
    ("fail_on", "status"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)]
)
def test_fail_on_sets_the_severity_that_fails(project: Project, fail_on: str, status: int) -> None:
    project.write("all/unused.yaml", UNUSED)

    assert checked(project, "all", "--fail-on", fail_on).status == status


def test_fail_on_never_always_succeeds(project: Project) -> None:
    project.write("workloads/nine.yaml", TAKES_ALL)
    assert checked(project, "workloads", "--stack", "dev", "--fail-on", "never").status == 0
    assert checked(project, "workloads", "--stack", "dev").status == 1


def test_explain_prints_a_rule(project: Project) -> None:
    done = checked(project, "--explain", "request-not-in-claim")

    assert done.status == 0
    assert done.out.startswith("request-not-in-claim (mandatory; only needs manifests)\n")
    assert "Fix: " in done.out
    assert "More: https://" in done.out


def test_scalers_that_exceed_the_same_pools_are_one_finding(project: Project) -> None:
    project.write("all/claim.yaml", TAKES_ALL.replace("count: 9", "count: 1").partition("---")[0])
    for name in ("a", "b", "c", "d"):
        project.write(f"all/{name}.yaml", SCALED.replace("NAME", name))

    found = checked(project, "all", "--stack", "dev", "--format", "json").json["diagnostics"]

    assert [each["code"] for each in found] == ["rollout-cannot-finish", "scaling-exceeds-pools"]
    assert all("Deployment default/d" in each["message"] for each in found)
