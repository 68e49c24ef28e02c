"""`explain --pod`: the result of each pool for a pod, the workloads that use the requested devices,
and the smallest change. The expected values were computed manually.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_project import Project
from pod_manifests import DEPLOYMENT, FLEET, ROOT, big, deployment


@pytest.fixture
def given(project: Project) -> Project:
    project.write("fleet.yaml", FLEET)
    return project


def explained(project: Project, pod: str, *words: str) -> dict[str, Any]:
    done = project.run(
        "explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", pod, *words, "--format", "json"
    )
    assert done.status != 2, done.err
    return done.json


def test_fitting_pod_is_explained_with_its_devices(given: Project) -> None:
    given.write("m.yaml", deployment("web"))
    (pod,) = explained(given, "web-0")["pods"]
    assert (pod["verdict"], pod["workload"], pod["placed"], pod["pending"]) == (
        "fits",
        "Deployment default/web",
        1,
        0,
    )
    assert pod["claims"] == ["default/web-gpu"]
    assert pod["pools"][0]["devices"] == [{"request": "gpu/gpu", "device": "gpu-0"}]
    assert (
        given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--claim", pod["claims"][0]).status
        == 0
    )


@pytest.mark.parametrize("name", ["default/web", "web", "web-0", "web-3"])
def test_pod_can_be_named_by_its_workload(given: Project, name: str) -> None:
    given.write("m.yaml", deployment("web", replicas=4))
    assert explained(given, name)["pods"][0]["workload"] == "Deployment default/web"


def test_pending_pod_is_explained_with_device_owners_and_a_maximum(
    given: Project,
) -> None:
    """Three nodes have one GPU each, and other pods use two of them, so one of two pods is
    pending.
    """
    given.write("m.yaml", deployment("other", replicas=2) + deployment("web", replicas=2))
    (pod,) = explained(given, "web")["pods"]
    assert pod["verdict"] == "does-not-fit"
    assert pod["pools"][0]["verdict"] == "fits"
    assert {(each["workload"], each["pods"]) for each in pod["holders"]} <= {
        ("Deployment default/other", 2),
        ("Deployment default/web", 1),
        ("Deployment default/web", 2),
        ("Deployment default/other", 1),
    }
    assert sum(each["pods"] for each in pod["holders"]) == 3
    (needed,) = {
        int(found)
        for each in pod["pending_reasons"]
        for found in re.findall(r"to (\d+)", each["fix"])
    }
    assert explained(given, "web", "--what-if", f"pools.l4.count.max={needed}")["verdict"] == "fits"
    assert explained(given, "web", "--what-if", "pools.l4.count.max=3")["verdict"] == "does-not-fit"


def test_what_if_compares_the_same_pool_before_and_after(given: Project) -> None:
    """An l4 node doesn't have two GPUs, regardless of the pool's maximum. Another pool, which isn't
    explained, has two.
    """
    given.write("m.yaml", deployment("two", count=2))
    given.write(
        "fleet.yaml", f"{FLEET}  - {{name: four, machine: g6.12xlarge, count: {{max: 1}}}}\n"
    )
    on_all = explained(given, "two", "--what-if", "pools.l4.count.max=4")
    on_one = explained(given, "two", "--pool", "l4", "--what-if", "pools.l4.count.max=4")
    assert (on_all["verdict"], on_all["what_if"]["verdict_before"]) == ("fits", "fits")
    assert (on_one["verdict"], on_one["what_if"]["verdict_before"]) == (
        "does-not-fit",
        "does-not-fit",
    )


def test_smallest_change_makes_the_pod_fit(given: Project) -> None:
    given.write("m.yaml", deployment("two", count=2))
    (pod,) = explained(given, "two")["pods"]
    (edit,) = pod["pools"][0]["edits"]
    assert edit["kind"] == "lower-count"
    given.write("m.yaml", deployment("two", count=1))
    assert explained(given, "two")["verdict"] == "fits"


def test_machine_types_are_suggested_before_smaller_requests(given: Project) -> None:
    given.write("m.yaml", big())
    out = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", "web").out
    assert out.index("add a pool with one of these machine types") < out.index(
        "if 23034Mi is enough"
    )
    plan = given.run("plan", "m.yaml", "--fleet", "fleet.yaml").out
    assert plan.index("add a pool with one of these machine types") < plan.index(
        "if 23034Mi is enough"
    )
    reasons = given.run("plan", "m.yaml", "--fleet", "fleet.yaml", "--format", "json").json[
        "workloads"
    ][0]["reasons"]
    assert [each["code"] for each in reasons] == ["pool-missing", "selector-mismatch"]


def test_plan_and_explanation_of_its_pods_agree(given: Project) -> None:
    given.write(
        "m.yaml",
        deployment("a", replicas=3) + deployment("b", replicas=2) + deployment("c", count=2),
    )
    plan = given.run("plan", "m.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    for workload in plan["workloads"]:
        (pod,) = explained(given, workload["name"])["pods"]
        assert (pod["verdict"], pod["placed"], pod["pending"]) == (
            workload["verdicts"]["steady"], workload["placed"], workload["pending"],
        )  # fmt: skip


def test_pod_with_an_impossible_claim_is_explained(given: Project) -> None:
    given.write(
        "m.yaml",
        deployment("web").replace(
            "resourceClaimTemplateName: web", "resourceClaimTemplateName: wbe"
        ),
    )
    (pod,) = explained(given, "web")["pods"]
    assert (pod["verdict"], pod["pools"]) == ("cannot-tell", [])
    assert "wbe" in pod["pending_reasons"][0]["message"]


def test_each_template_of_a_workload_is_explained(given: Project) -> None:
    template = deployment("web").split("---\n")[0].replace("COUNT", "1")
    pod = (
        "{spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}], resourceClaims: [{name: "
        "gpu, "
        "resourceClaimTemplateName: web}], containers: [{name: main, image: registry.example/t:1, "
        "resources: "
        "{claims: [{name: gpu}]}}]}}"
    )
    lone = "{spec: {containers: [{name: main, image: registry.example/t:1}]}}"
    given.write(
        "m.yaml",
        f"{template}---\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: "
        "train}\nspec:\n"
        f"  pytorchReplicaSpecs:\n    Master: {{replicas: 1, template: {lone}}}\n"
        f"    Worker: {{replicas: 2, template: {pod}}}\n",
    )
    assert sorted(len(each["claims"]) for each in explained(given, "train")["pods"]) == [0, 1]


def test_text_explains_the_pod(given: Project) -> None:
    given.write("m.yaml", deployment("other", replicas=3) + deployment("web"))
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", "web")
    assert done.status == 1
    assert done.out.startswith(
        "pod default/web of Deployment default/web does not fit\n  0 of 1 pod of the workload"
    )
    assert "Deployment default/other has 3 pods on l4" in done.out
    quiet = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", "web", "--quiet")
    assert quiet.out == "pod default/web of Deployment default/web does not fit\n"


def test_answer_has_the_fields_of_its_schema(given: Project) -> None:
    given.write("m.yaml", deployment("web"))
    schema = json.loads((ROOT / "docs" / "schema" / "explain-pod.json").read_text(encoding="utf-8"))
    assert set(explained(given, "web")) == set(schema["required"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pod", "wbe"), 'no workload has a pod "default/wbe"; did you mean "default/web"?'),
        (("--pod", ""), 'no workload has a pod "'),
        (("--pod", "web-7"), 'no workload has a pod "'),
        (
            ("--pod", "web", "--pool", "h100"),
            'pool "h100" isn\'t in the plan; use pool l4',
        ),
        (("--pod", "web", "--format", "html"), "--pod doesn't support --format html"),
        (("--pod", "web", "--claim", "web-0-gpu"), "not allowed with argument"),
        (("--pod", "web", "--what-if", "pools.l4"), "\" doesn't set a value"),
    ],
)
def test_wrong_arguments_are_rejected(given: Project, words: tuple[str, ...], message: str) -> None:
    given.write("m.yaml", deployment("web"))
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", *words)
    assert done.status == 2
    assert message in done.err


def test_plan_suggests_explain_for_all_required_changes(tmp_path: Path) -> None:
    """The reason is the taint, as for the scheduler. The fix adds a pool with enough CPUs and
    devices, and `explain` lists what the existing pool needs.
    """
    project = Project(tmp_path)
    project.write("fleet.yaml", FLEET)
    pod = DEPLOYMENT.replace("NAME", "big").replace("COUNT", "2").replace("REPLICAS", "1")
    pod = pod.replace("      tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n", "")
    project.write(
        "pod.yaml", pod.replace("resources: {claims", "resources: {requests: {cpu: 9}, claims")
    )
    plan = project.run("plan", "pod.yaml", "--fleet", "fleet.yaml")
    (command,) = [
        line.partition(": ")[2]
        for line in plan.err.splitlines()
        if line.startswith("all required changes")
    ]
    assert command == "pulumi-dra explain pod.yaml --fleet fleet.yaml --pod default/big"
    reason, _, fix = plan.out.partition("Workloads")[0].partition("→")
    assert ("cpu" in reason, "add a pool with machine type" in fix) == (False, True)
    explained = project.run(*command.split()[1:]).out
    assert [change for change in ("1. add to", "2. ", "3. ") if change in explained] == [
        "1. add to",
        "2. ",
        "3. ",
    ]


def test_change_for_all_workloads_is_the_plans_joint_fix(given: Project) -> None:
    """Two workloads lack nodes, so both explanations end with the plan's joint change."""
    given.write("m.yaml", deployment("other", replicas=4) + deployment("web", replicas=3))
    plan = given.run("plan", "m.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    assert plan["joint_fix"]["steps"]
    assert explained(given, "web")["joint_fix"] == plan["joint_fix"]
    claim = ("explain", "m.yaml", "--fleet", "fleet.yaml", "--claim", "default/web-gpu")
    assert given.run(*claim, "--format", "json").json["joint_fix"] == plan["joint_fix"]
    (step,) = plan["joint_fix"]["steps"]
    for words in (claim, ("explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", "default/web")):
        for form in ((), ("--format", "markdown"), ("--format", "html"))[
            : 3 if "--claim" in words else 1
        ]:
            shown = given.run(*words, *form)
            assert "This change makes all workloads fit at steady demand" in shown.out
            assert re.search(step.replace('"', '(?:"|&#34;|&quot;)'), shown.out), shown.out


def test_fitting_pod_has_no_change(given: Project) -> None:
    given.write("m.yaml", deployment("web"))
    assert explained(given, "web")["joint_fix"] is None


def test_explanation_repeats_the_plans_warnings(given: Project) -> None:
    """A claim for a part of a GPU gets a whole GPU, and a rollout needs a fourth node."""
    part = "capacity: {requests: {memory: 7Gi}}, deviceClassName"
    given.write("m.yaml", deployment("web", replicas=3).replace("deviceClassName", part))
    planned = given.run("plan", "m.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    warnings = {each["message"] for each in planned["diagnostics"] if each["severity"] != "note"}
    (pod,) = explained(given, "web")["pods"]
    assert {each["message"] for each in pod["pending_reasons"]} == warnings
    assert {each["code"] for each in pod["pending_reasons"]} == {
        "device-not-shared",
        "rollout-cannot-finish",
    }
    assert pod["verdict"] == "does-not-fit"


def test_next_command_is_complete(given: Project) -> None:
    given.write("m.yaml", deployment("web"))
    words = ("explain", "m.yaml", "--fleet", "fleet.yaml")
    done = given.run(*words, "--pod", "web", "--what-if", "kubernetes=1.36")
    command = done.err.partition("all conditions: pulumi-dra ")[2].strip()
    assert command == (
        "explain m.yaml --fleet fleet.yaml --what-if kubernetes=1.36 --claim default/web-gpu"
    )
    assert given.run(*command.split()).status == 0
    assert "term by term" not in given.run(*words, "--pod", "web", "--quiet").err


def test_workload_that_the_api_server_rejects_is_explained(given: Project) -> None:
    given.write("m.yaml", deployment("web").replace("{matchLabels: {app: web}}", "{}"))
    (pod,) = explained(given, "web")["pods"]
    assert (pod["pod"], pod["workload"]) == ("default/web", "Deployment default/web")
    assert (pod["verdict"], pod["pools"]) == ("does-not-fit", [])
    assert "spec.selector" in pod["pending_reasons"][0]["message"]
    text = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", "web")
    assert text.status == 1
    assert "placed" not in text.out


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("web-6d5f7c9d8-abcde", True),
        ("default/web-6d5f7c9d8-x7k2p", True),
        ("other/web-6d5f7c9d8-x7k2p", False),
        ("web-abcde", False),
        ("webs-6d5f7c9d8-abcde", False),
    ],
)
def test_name_generated_by_a_controller_is_recognized(
    given: Project, name: str, is_known: bool
) -> None:
    given.write("m.yaml", deployment("web"))
    words = ("explain", "m.yaml", "--fleet", "fleet.yaml", "--pod", name)
    done = given.run(*words)
    assert (done.status == 0) is is_known
    assert ("of Deployment default/web fits" in done.out) is is_known


def test_workload_with_a_generated_looking_name_takes_precedence(given: Project) -> None:
    given.write("m.yaml", deployment("web") + deployment("web-a1-abcde"))
    (pod,) = explained(given, "web-a1-abcde")["pods"]
    assert pod["workload"] == "Deployment default/web-a1-abcde"
