"""An example from public guides for AKS: two pods, each with its own GPU, and one T4 machine."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from command_project import EXAMPLES, Project

PODS = str(EXAMPLES / "workloads" / "two-pods.yaml")
FLEET = EXAMPLES / "one-t4" / "fleet.yaml"


def fleet(count: Any) -> str:
    document = yaml.safe_load(FLEET.read_text())
    document["pools"][0]["count"] = count
    return yaml.safe_dump(document)


def test_one_of_two_pods_fits_and_the_fix_adds_one_node(project: Project) -> None:
    done = project.run("plan", PODS, "--fleet", str(FLEET), "--format", "json")

    placed = {each["name"]: (each["placed"], each["pending"]) for each in done.json["workloads"]}
    assert (done.status, done.json["verdict"]) == (1, "does-not-fit")
    assert placed == {"first": (1, 0), "second": (0, 1)}
    fixes = [reason["fix"] for each in done.json["workloads"] for reason in each["reasons"]]
    assert fixes == ['set the count of pool "t4" to 2 (1 more node, USD 0.53 more per hour)']


@pytest.mark.parametrize(
    "count", [2, {"min": 0, "max": 4}], ids=["after the fix", "a larger maximum"]
)
def test_both_pods_run_on_two_nodes(project: Project, count: Any) -> None:
    project.write("fleet.yaml", fleet(count))
    done = project.run("plan", PODS, "--fleet", "fleet.yaml", "--format", "json")

    assert (done.status, done.json["verdict"]) == (0, "fits")
    assert done.json["pools"][0]["nodes"]["desired"] == 2
    assert done.json["cost"]["hourly"] == pytest.approx(2 * 0.526)


def test_pools_that_can_exceed_their_pod_range_are_rejected(
    project: Project,
) -> None:
    """A /24 of 10.244.0.0/16 for each node. Nodes that an autoscaler can add also count, as in
    Azure.
    """

    def planned(count: int, **change: Any) -> Any:
        document = yaml.safe_load(fleet({"min": 0, "max": count})) | change
        project.write("fleet.yaml", yaml.safe_dump(document))
        return project.run("plan", PODS, "--fleet", "fleet.yaml")

    done = planned(300, autoscaler="cluster-autoscaler")
    assert done.status == 2
    assert (
        "303 nodes, including one for upgrades, need 77568 addresses, but the pod range" in done.err
    )
    fix = (
        "; lower the pools' counts, or set a larger podsCidr in the cluster and an equally large "
        "pod-addresses quota in the fleet"
    )
    assert fix in done.err
    assert planned(253, autoscaler="cluster-autoscaler").status == 0
    quota = {"name": "pods", "unit": "pod-addresses", "limit": 2**18}
    assert planned(300, autoscaler="cluster-autoscaler", quotas=[quota]).status == 0
    assert planned(300).status == 0, "without an autoscaler the plan's two nodes are built"


def test_text_starts_with_the_verdict(project: Project) -> None:
    lines = project.run("plan", PODS, "--fleet", str(FLEET)).out.splitlines()

    assert lines[0] == "✕ Does not fit: 1 of 2 pods pending in 1 of 2 workloads"
    assert lines[1].strip().startswith("AKS eastus · Kubernetes 1.35")
    assert any(
        'set the count of pool "t4" to 2 (1 more node, USD 0.53 more per hour)' in line
        for line in lines
    )


def test_header_contains_the_command_to_plan_it() -> None:
    command = (
        "#   pulumi-dra plan examples/workloads/two-pods.yaml --fleet examples/one-t4/fleet.yaml"
    )
    assert command in FLEET.read_text().splitlines()
