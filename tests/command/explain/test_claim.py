"""explain: the search for one claim as a tree, and the changes that make the claim fit."""

from __future__ import annotations

import pytest
from command_project import EXAMPLES, Project
from pod_manifests import FLEET, deployment

VOLTA = (EXAMPLES / "workloads-that-do-not-fit" / "tesla-volta.yaml").read_text(encoding="utf-8")


def test_explanation_starts_with_the_verdict_and_counts_devices(project: Project) -> None:
    done = project.run(
        "explain", "-", "--stack", "dev", "--claim", "default/tesla-volta-gpu", stdin=VOLTA
    )
    assert done.status == 1
    assert "claim default/tesla-volta-gpu of Pod default/tesla-volta does not fit" in done.out
    assert done.out.splitlines()[2:] == [
        "no pool in this fleet fits the pod",
        (
            "  → add a pool with machine type p3dn.24xlarge (8 × Tesla V100-SXM2-32GB, 32 "
            "GiB each, USD 31.21 per hour)"
        ),
        "",
        "pool l4 (g6.2xlarge) does not fit",
        "  request gpu: 1 device",
        "    1 device on the node",
        "    − 1 fails the selector",
        '      ✕ device.attributes["gpu.nvidia.com"].brand == "Tesla"   (0 of 1 passes)',
        "          brand: Nvidia",
        '      ✕ device.attributes["gpu.nvidia.com"].architecture == "Volta"   (0 of 1 passes)',
        "          architecture: Ada Lovelace",
        '      ✓ device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("10Gi"))',
        "    = 0 left",
        ("  → smallest change that makes the pod fit (removes a requirement of the pod): remove"),
        (
            '    `device.attributes["gpu.nvidia.com"].brand == "Tesla"` and '
            '`device.attributes["gpu.nvidia.com"].architecture =='
        ),
        ('    "Volta"` from request "gpu"'),
    ]


def test_suitable_machine_types_are_suggested(project: Project) -> None:
    large = (
        VOLTA.replace("Tesla", "Nvidia").replace("Volta", "Ada Lovelace").replace("10Gi", "40Gi")
    )
    words = ("explain", "-", "--stack", "dev", "--claim", "default/tesla-volta-gpu")
    assert (
        "→ add a pool with machine type g6e.xlarge (1 × NVIDIA L40S"
        in project.run(*words, stdin=large).out
    )
    assert (
        project.run(*words, "--format", "json", stdin=large).json["missing"]["code"]
        == "pool-missing"
    )


def test_claim_is_explained_in_json(project: Project) -> None:
    words = (
        "explain",
        "workloads",
        "--stack",
        "dev",
        "--claim",
        "default/first-gpu",
        "--pool",
        "l4",
    )
    answer = project.run(*words, "--format", "json").json
    assert (answer["verdict"], answer["claim"], len(answer["pools"])) == (
        "fits",
        "default/first-gpu",
        1,
    )
    ((way,),) = answer["pools"][0]["requests"]
    assert (way["request"], way["wanted"], way["seen"], way["left"]) == ("gpu", 1, 1, 1)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_format_names_the_changes_of_what_if(form: str, project: Project) -> None:
    words = ("explain", "workloads", "--stack", "dev", "--claim", "default/first-gpu")
    text = project.run(*words, "--what-if", "pools.l4.count.max=8", "--format", form).out
    assert "ith pools.l4.count.max=8; without this change, the result is: fits" in text


def test_claim_can_be_named_by_its_unique_entry_in_a_pod(project: Project) -> None:
    done = project.run("explain", "-", "--stack", "dev", "--claim", "default/gpu", stdin=VOLTA)
    assert "claim default/tesla-volta-gpu of Pod default/tesla-volta does not fit" in done.out


def test_unknown_claim_or_pool_gets_suggestions(project: Project) -> None:
    done = project.run("explain", "workloads", "--stack", "dev", "--claim", "default/frist-gpu")
    assert done.status == 2
    assert 'did you mean "default/first-gpu"?' in done.err
    done = project.run(
        "explain", "workloads", "--stack", "dev", "--claim", "default/first-gpu", "--pool", "a100"
    )
    assert "use pool l4" in done.err


GREEDY = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: greedy}
spec:
  containers: [{name: main, image: x, resources: {claims: [{name: two}]}}]
  resourceClaims: [{name: two, resourceClaimTemplateName: two}]
"""


def test_smallest_set_of_changes_is_printed(project: Project) -> None:
    words = ("explain", "-", "--stack", "dev", "--claim", "greedy-two")
    out = project.run(*words, stdin=GREEDY).out
    assert "smallest set of changes found that makes the pod fit:" in out
    edits = project.run(*words, "--format", "json", stdin=GREEDY).json["pools"][0]["edits"]
    assert sorted(each["kind"] for each in edits) == ["lower-count", "tolerate"]
    fixed = GREEDY.replace("count: 2", "count: 1").replace(
        "spec:\n  containers", "spec:\n  tolerations: [{operator: Exists}]\n  containers"
    )
    done = project.run(*words, stdin=fixed)
    assert done.status == 0
    assert "✓ gpus gets gpu-0" in done.out


def test_devices_with_the_same_error_are_counted_together(project: Project) -> None:
    project.write("four.yaml", FLEET.replace("g6.2xlarge", "g6.12xlarge"))
    selector = (
        "selectors: [{cel: {expression: 'device.attributes[\"gpu.nvidia.com\"].color == 1'}}]"
    )
    pods = GREEDY.replace("count: 2", f"count: 2, {selector}")
    done = project.run("explain", "-", "--fleet", "four.yaml", "--claim", "greedy-two", stdin=pods)
    steps = [line for line in done.out.splitlines() if "scheduling attempt" in line]
    assert len(steps) == 1
    assert steps[0].startswith("    − 4 fail the scheduling attempt: ")


def test_full_pool_is_explained_if_an_empty_node_would_fit(project: Project) -> None:
    project.stack("{min: 0, max: 4}", "1")
    words = ("explain", "--stack", "dev", "--claim")
    done = project.run(*words, "default/second-gpu")
    assert done.status == 1
    assert "claim default/second-gpu of Pod default/second does not fit" in done.out
    assert "· Pod default/first uses devices of l4 (1 pod)" in done.out
    (holder,) = project.run(*words, "default/second-gpu", "--format", "json").json["holders"]
    assert holder == {"pool": "l4", "workload": "Pod default/first", "pods": 1}
    assert project.run(*words, "default/first-gpu").status == 0
    assert "the pod fits on a node, but not all pods fit in the pools at the same time" in done.out
    assert 'pool "l4" is fixed at 1 node' in done.out


CLUSTER = """\
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, node.kubernetes.io/instance-type: g6.2xlarge}
status:
  allocatable: {cpu: 7910m, memory: 30Gi, pods: "58", ephemeral-storage: 180Gi}
  nodeInfo: {kubeletVersion: v1.34.2}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: device.driver == "gpu.nvidia.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
status:
  allocation:
    devices: {results: [{request: gpu, driver: gpu.nvidia.com, pool: n1, device: gpu-0}]}
  reservedFor: [{resource: pods, name: other, uid: "1"}]
---
"""


def test_devices_in_use_on_a_real_node_are_counted(project: Project) -> None:
    slices = project.run(
        "slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--node-name", "n1"
    ).out
    node, _, _ = CLUSTER.partition("---")
    twin = f"{node}---\n{slices}".replace("n1", "n2")
    project.write("cluster.yaml", f"{CLUSTER}{slices}---\n{twin}")
    done = project.run(
        "explain", "workloads", "--observed", "cluster.yaml", "--claim", "first-gpu", "--pool", "n1"
    )
    assert done.status == 1
    assert "− 1 is taken" in done.out
    assert "smallest change that makes the pod fit: add one more node like n1" in done.out
    both = project.run("explain", "workloads", "--observed", "cluster.yaml", "--claim", "first-gpu")
    assert both.status == 0
    assert "✓ gpu gets gpu-0" in both.out


def test_equal_nodes_are_explained_together(project: Project) -> None:
    slices = project.run(
        "slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--node-name", "n1"
    ).out
    first = f"{CLUSTER}{slices}"
    others = [
        f"{CLUSTER.partition('---')[0]}---\n{slices}".replace("n1", f"n{number}")
        for number in range(2, 10)
    ]
    project.write("cluster.yaml", "---\n".join([first, *others]))
    words = ("explain", "-", "--observed", "cluster.yaml", "--claim", "default/tesla-volta-gpu")
    out = project.run(*words, stdin=VOLTA).out
    assert "nodes n2, n3, n4, n5, n6, n7 and 2 more (g6.2xlarge) does not fit" in out
    assert out.count('brand == "Tesla"   (0 of 1 passes)') == 2
    assert "n8, n9" in project.run(*words, "--verbose", stdin=VOLTA).out


def test_plan_suggests_explain_for_every_misfit(project: Project) -> None:
    second = VOLTA.replace("name: tesla-volta\n", "name: second\n").partition("---\n")[2]
    project.write("volta.yaml", f"{VOLTA}---\n{second}")
    plan = project.run("plan", "volta.yaml", "--stack", "dev")
    commands = [
        line.partition(": ")[2]
        for line in plan.err.splitlines()
        if line.startswith("all conditions")
    ]
    expected = [
        f"pulumi-dra explain volta.yaml --stack dev --claim default/{pod}-gpu"
        for pod in ("second", "tesla-volta")
    ]
    assert commands == expected
    for command in commands:
        done = project.run(*command.split()[1:])
        assert (done.status, "does not fit" in done.out) == (1, True)
    assert "all conditions" not in project.run("plan", "workloads", "--stack", "dev").err


@pytest.mark.parametrize(
    ("change", "verdict", "words"),
    [
        (
            ("{name: gpu, exactly", "{name: Gpu, exactly"),
            "does-not-fit",
            "RFC 1123 label",
        ),
        (
            (
                "metadata: {name: web}\nspec: {spec",
                "metadata: {name: web, namespace: ml}\nspec: {spec",
            ),
            "cannot-tell",
            "The manifests contain web only in namespace ml",
        ),
    ],
    ids=["rejected", "in another namespace"],
)
@pytest.mark.parametrize("name", ["default/web", "web-web"])
def test_rejected_or_misplaced_template_is_explained(
    project: Project, change: tuple[str, str], verdict: str, words: str, name: str
) -> None:
    project.write("fleet.yaml", FLEET)
    project.write("m.yaml", deployment("web").replace(*change))
    given = ("explain", "m.yaml", "--fleet", "fleet.yaml", "--claim", name)
    found = project.run(*given, "--format", "json").json
    assert (found["verdict"], found["pools"]) == (verdict, [])
    text = project.run(*given)
    assert words in " ".join(text.out.split())
    assert "too small" not in text.out


@pytest.mark.parametrize("name", ["web-gpu", "default/web-gpu", "default/web-0-gpu", "gpu"])
def test_claim_with_a_missing_template_is_named_by_its_entry(project: Project, name: str) -> None:
    """Given a workload without its template, and another claim with a similar name."""
    project.write("fleet.yaml", FLEET)
    project.write("m.yaml", deployment("web").partition("---\n")[2])

    found = project.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--claim", name)

    assert found.status == 3
    assert "ResourceClaimTemplate default/web isn't in the manifests" in found.out
