"""plan --matrix and explain --what-if: the same workloads on fleets with other values."""

from __future__ import annotations

import pytest
from command_project import Project

FIVE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: five}
spec:
  replicas: 5
  selector: {matchLabels: {app: five}}
  template:
    metadata: {labels: {app: five}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: c, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
"""


def test_matrix_is_a_table_of_verdicts_and_counts(project: Project) -> None:
    done = project.run(
        "plan",
        "-",
        "--stack",
        "dev",
        "--matrix",
        "pools.l4.count.max=4,5",
        "driver=25.8.1,0.4.1",
        stdin=FIVE,
    )
    assert done.status == 1
    assert done.out.splitlines()[:7] == [
        "2 of 4 combinations fit.",
        "",
        "pools.l4.count.max  driver  verdict       pending      l4  USD/h",
        "────────────────────────────────────────────────────────────────",
        "4                   25.8.1  does not fit        1  4 of 4   3.91",
        "4                   0.4.1   does not fit        1  4 of 4   3.91",
        "5                   25.8.1  fits                0  5 of 5   4.89",
    ]
    both = "pools.l4.count.max=4, driver=25.8.1; pools.l4.count.max=4, driver=0.4.1"
    assert both in done.out.splitlines()
    fix = '→ raise the maximum of pool "l4" to 7 (at declared replicas, 1 more node, USD 0.98'
    assert done.out.count(fix) == 1


def test_every_cell_equals_its_own_plan(project: Project) -> None:
    matrix = project.run(
        "plan",
        "-",
        "--stack",
        "dev",
        "--matrix",
        "kubernetes=1.34,1.36",
        "pools.l4.count.max=4,5",
        "--format",
        "json",
        stdin=FIVE,
    ).json
    assert (matrix["verdict"], matrix["axes"]) == (
        "does-not-fit",
        ["kubernetes", "pools.l4.count.max"],
    )
    for row in matrix["combinations"]:
        kubernetes, most = (each["value"] for each in row["settings"])
        project.stack('kubernetes: "1.34"', f'kubernetes: "{kubernetes}"')
        stack = project.root / "stacks/Pulumi.dev.yaml"
        stack.write_text(
            stack.read_text(encoding="utf-8").replace("max: 4", f"max: {most}"), encoding="utf-8"
        )
        alone = project.run("plan", "-", "--stack", "dev", "--format", "json", stdin=FIVE).json
        assert row["plan"] == alone
        assert row["verdict"] == alone["verdict"]
        assert row["error"] is None


def test_invalid_fleet_is_a_row_with_its_reason(project: Project) -> None:
    words = (
        "plan",
        "workloads",
        "--stack",
        "dev",
        "--matrix",
        "pools.l4.machine=g6.2xlarge,g6.3xlarge",
    )
    done = project.run(*words)
    assert done.status == 1
    assert "g6.3xlarge refused" in " ".join(done.out.split())
    assert 'unknown EKS machine type "g6.3xlarge"' in done.out
    refused = project.run(*words, "--format", "json").json["combinations"][1]
    assert (refused["verdict"], refused["plan"]) == (None, None)
    assert refused["error"]["path"] == "pools[0].machine"
    assert "<td" in project.run(*words, "--format", "html").out
    assert "| g6.3xlarge | refused |" in project.run(*words, "--format", "markdown").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kuberntes=1.34",), 'did you mean "kubernetes"?'),
        (
            ("kubernetes=1.34", "kubernetes=1.35"),
            "list all values of kubernetes together: kubernetes=A,B",
        ),
        (("kubernetes=1.34", "--kubernetes", "1.36"), "add kubernetes=VERSION,VERSION to --matrix"),
        (("kubernetes=1.34", "--write"), "remove --write"),
        (
            (f"pools.l4.count.max={','.join(map(str, range(1, 102)))}",),
            "but the limit is 100",
        ),
    ],
)
def test_matrix_without_effect_is_rejected(
    project: Project, words: tuple[str, ...], message: str
) -> None:
    done = project.run("plan", "workloads", "--stack", "dev", "--matrix", *words)
    assert done.status == 2
    assert message in done.err


def test_what_if_explains_the_changed_fleet(project: Project) -> None:
    words = ("explain", "-", "--stack", "dev", "--claim", "default/five-gpu")
    assert project.run(*words, stdin=FIVE).status == 1
    done = project.run(*words, "--what-if", "pools.l4.count.max=8", stdin=FIVE)
    assert done.status == 0
    assert done.out.splitlines()[:2] == [
        "claim default/five-gpu of Deployment default/five fits",
        "with pools.l4.count.max=8; without this change, the result is: does not fit",
    ]
    answer = project.run(
        *words, "--what-if", "pools.l4.count.max=8", "--format", "json", stdin=FIVE
    ).json
    assert answer["what_if"] == {
        "changes": ["pools.l4.count.max=8"],
        "verdict_before": "does-not-fit",
    }
    assert project.run(*words, "--format", "json", stdin=FIVE).json["what_if"] is None


def test_what_if_can_add_a_pool(project: Project) -> None:
    words = ("explain", "-", "--stack", "dev", "--claim", "default/five-gpu", "--pool", "h100")
    done = project.run(
        *words, "--what-if", "pools.h100={machine: p5.48xlarge, count: 1}", stdin=FIVE
    )
    assert (done.status, done.out.count("pool h100 (p5.48xlarge) fits")) == (0, 1)


def test_what_if_does_not_support_snapshots(project: Project) -> None:
    project.write("cluster.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n")
    done = project.run(
        "explain",
        "-",
        "--observed",
        "cluster.yaml",
        "--claim",
        "a/b",
        "--what-if",
        "kubernetes=1.36",
        stdin=FIVE,
    )
    assert (done.status, "--what-if changes a fleet, not a snapshot" in done.err) == (2, True)


def test_each_workload_that_does_not_fit_has_its_reason(project: Project) -> None:
    both = FIVE + "---\n" + FIVE.partition("---\n")[2].replace("five", "more")
    words = ("plan", "-", "--stack", "dev", "--matrix", "pools.l4.count.max=0,20")
    done = project.run(*words, stdin=both)
    for name in ("five", "more"):
        assert done.out.count(f"  Deployment default/{name}: ") == 1
    assert done.out.count("pools.l4.count.max=0\n") == 1


def test_plan_with_what_if_suggests_the_matrix(project: Project) -> None:
    done = project.run("plan", "-", "--stack", "dev", "--what-if", "pools.l4.count.max=0")
    assert done.status == 2
    assert "use --matrix, or `pulumi-dra explain` with --what-if" in done.err


URGENT = """\
apiVersion: v1
kind: Pod
metadata: {name: urgent}
spec:
  priorityClassName: gpu-high
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
  containers: [{name: c, image: registry.example/c:1}]
"""
PRIORITY = """\
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gpu-high}
value: 100
"""


@pytest.mark.parametrize(
    ("manifests", "verdicts", "status"),
    [
        pytest.param(URGENT, ["cannot-tell", "does-not-fit"], 1, id="without the class"),
        pytest.param(URGENT + PRIORITY, ["fits", "fits"], 0, id="with the class"),
    ],
)
def test_partial_and_complete_manifests_differ_only_for_missing_objects(
    project: Project, manifests: str, verdicts: list[str], status: int
) -> None:
    axis = "manifests=partial,complete"
    done = project.run(
        "plan", "-", "--stack", "dev", "--matrix", axis, "--format", "json", stdin=manifests
    )
    assert [each["verdict"] for each in done.json["combinations"]] == verdicts
    assert done.status == status


def test_unknown_completeness_is_refused_in_its_combination(project: Project) -> None:
    axis = "manifests=partial,some"
    done = project.run("plan", "-", "--stack", "dev", "--matrix", axis, stdin=URGENT + PRIORITY)
    assert 'must be partial or complete, not "some" (with manifests=some)' in done.out
    assert done.status == 1
