"""`pulumi-dra migrate`: its output, the files that it writes, and its exit status."""

from __future__ import annotations

import json
import subprocess

import pytest
from command_project import Project

from dra_command.migrate.contract import MigrateOutput
from dra_command.migrate.steps_contract import MigrateStepsOutput

DEPLOYMENT = """\
# keep this comment
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: serve}
spec:
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: model
          image: example/chat:1
          resources: {limits: {nvidia.com/gpu: 1}}
"""
KNATIVE = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: chat, namespace: serve}
spec: {template: {spec: {containers: [{image: example/chat:1, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
"""
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools: [{name: l4, machine: g6.2xlarge, count: {max: 2}}]
"""
OLD_FLEET = FLEET.replace("0.4.1}}", "25.8.1}}\ndevicePlugin: {version: 0.20.0}").replace(
    "g6.2xlarge,", "g6.2xlarge, allocation: device-plugin,"
)


def test_diff_is_printed_and_no_file_changes(project: Project) -> None:
    path = project.write("chat.yaml", DEPLOYMENT)

    done = project.run("migrate", "chat.yaml")

    assert done.status == 0
    assert "Deployment serve/chat: rewritten, 1 device per pod" in done.out
    assert "+      resourceClaims:" in done.out
    assert path.read_text() == DEPLOYMENT


def test_written_files_request_claims_that_plan_and_check_accept(project: Project) -> None:
    path = project.write("chat.yaml", DEPLOYMENT)
    project.write("fleet.yaml", FLEET)

    assert project.run("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--write").status == 0

    assert path.read_text().startswith("# keep this comment\n")
    assert project.run("plan", "chat.yaml", "--fleet", "fleet.yaml").status == 0
    assert project.run("migrate", "chat.yaml", "--fleet", "fleet.yaml").out.startswith(
        "Nothing to migrate"
    )


def test_diff_can_be_applied(project: Project) -> None:
    path = project.write("chat.yaml", DEPLOYMENT)
    patch = project.run("migrate", "chat.yaml", "--format", "diff").out

    subprocess.run(["git", "apply", "-"], input=patch, text=True, check=True, cwd=path.parent)

    assert "resourceClaimTemplateName: chat-gpu" in path.read_text()


def test_class_with_an_extended_resource_name_is_the_first_advice(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)
    project.write("service.yaml", KNATIVE)
    project.write("fleet.yaml", FLEET)

    done = project.run("migrate", "chat.yaml", "service.yaml", "--fleet", "fleet.yaml")

    assert done.status == 0
    assert "2 pod templates: 1 rewritten, 1 served" in done.out
    assert "gpu.nvidia.com (nvidia.com/gpu)" in done.out


def test_workload_that_cannot_migrate_exits_with_1(project: Project) -> None:
    project.write("service.yaml", KNATIVE)

    done = project.run("migrate", "service.yaml", "--quiet")

    assert done.status == 1
    assert "Knative's webhook rejects resourceClaims" in done.out


def test_json_matches_its_schema(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)

    done = project.run("migrate", "chat.yaml", "--format", "json")

    answer = MigrateOutput.model_validate_json(done.out)
    assert [each.result for each in answer.templates] == ["rewritten"]
    assert json.loads(done.out)["files"][0]["diff"].startswith("--- a/")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-", "--write"], "standard input"),
        (["chat.yaml", "--shared", "nvidia.com/gpu"], "nvidia.com/gpu=4"),
        (["chat.yaml", "--shared", "gpu=4"], "or nvidia.com/gpu=4?"),
        (["chat.yaml", "--shared", "tpu=2"], "did you mean google.com/tpu=2?"),
        (["chat.yaml", "--shared", "card=2"], "use one of these resources: amd.com/gpu, "),
        (["chat.yaml", "--mig-profile", "1g.5g"], "did you mean 1g.5gb?"),
        (["chat.yaml", "--mig-profile", "half"], "pulumi-dra catalog mig"),
        (["chat.yaml", "--kubernetes", "1.12"], "1.12"),
        ([], "this command needs manifests"),
    ],
)
def test_wrong_input_is_rejected(words: list[str], message: str, project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)

    done = project.run("migrate", *words)

    assert done.status == 2
    assert message in done.err


OLD_POOL = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
devicePlugin: {version: 0.20.0}
pools: [{name: l4, machine: g6.2xlarge, allocation: device-plugin, count: {max: 2}}]
"""


def test_steps_in_json_match_the_published_schema(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)
    project.write("fleet.yaml", OLD_POOL)

    done = project.run(
        "migrate", "chat.yaml", "--fleet", "fleet.yaml", "--steps", "--format", "json"
    )

    found = MigrateStepsOutput.model_validate_json(done.out)
    assert (done.status, found.is_safe, found.twins) == (0, True, {"l4": "l4-dra"})
    assert [step.kind for step in found.steps] == ["prepare", "move", "finish"]
    assert found.peak_hourly_usd == 2 * (found.steps[0].hourly_usd or 0)


def test_files_of_each_step_are_accepted_by_other_subcommands(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)
    project.write("fleet.yaml", OLD_POOL)
    words = ("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--steps", "--steps-folder", "steps")

    assert project.run(*words).status == 0

    step = project.root / "steps/02-move-chat"
    planned = project.run(
        "plan", str(step / "manifests.yaml"), "--fleet", str(step / "fleet-after.yaml"), "--quiet"
    )
    assert planned.status == 0
    assert "kubectl apply -f 02-move-chat/previous.yaml" in (step / "rollback.txt").read_text()


def test_unproven_steps_exit_with_a_failure(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT.replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 4"))
    project.write("fleet.yaml", OLD_POOL)

    done = project.run("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--steps")

    assert done.status == 1
    assert "aren't proven safe" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--steps",), "add --fleet FILE or --stack NAME"),
        (
            ("--steps", "--write", "--fleet", "fleet.yaml"),
            "use --steps-folder FOLDER to write each step's files",
        ),
    ],
)
def test_steps_need_a_fleet_and_write_no_manifests(
    project: Project, words: tuple[str, ...], message: str
) -> None:
    project.write("chat.yaml", DEPLOYMENT)
    project.write("fleet.yaml", OLD_POOL)

    done = project.run("migrate", "chat.yaml", *words)

    assert (done.status, message in done.err) == (2, True)


def test_steps_need_the_old_pools(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)
    project.write("fleet.yaml", FLEET)
    done = project.run("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--steps")
    assert (done.status, done.out) == (2, "")
    fix = (
        "add the current pools to the fleet with `allocation: device-plugin`, and set "
        "`devicePlugin` to the device plugin version in the cluster"
    )
    assert f"all pools in this fleet are DRA pools; {fix}" in done.err
    project.write("fleet.yaml", OLD_FLEET)
    done = project.run("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--steps")
    assert (done.status, done.err) == (0, "")


def test_first_step_lists_the_pools_that_it_creates(project: Project) -> None:
    project.write("chat.yaml", DEPLOYMENT)
    project.write("fleet.yaml", OLD_FLEET)
    done = project.run("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--steps")
    first = done.out.partition("1. Create the DRA pools")[2].partition("Run:")[0]
    assert [line.split()[0] for line in first.splitlines()[3:6]] == [
        "─" * len(first.splitlines()[3]),
        "l4",
        "l4-dra",
    ]


def test_time_sliced_replicas_get_settings_for_equal_shares(project: Project) -> None:
    """Applied, these settings let all pods move, with as many pods per GPU as before."""
    path = project.write(
        "chat.yaml", DEPLOYMENT.replace("spec:\n  sel", "spec:\n  replicas: 4\n  sel")
    )
    project.write("fleet.yaml", FLEET)
    words = ("migrate", "chat.yaml", "--fleet", "fleet.yaml", "--shared", "nvidia.com/gpu=4")
    text = " ".join(project.run(*words).out.split())
    assert "is one of 4 time-sliced replicas of a GPU, but each claim gets a whole GPU" in text
    assert "`drivers.nvidia.consumableShares=4` in the fleet" in text
    shares = "featureGates: {ConsumableShares: true}, consumableShares: 4"
    project.write("fleet.yaml", FLEET.replace("0.4.1", f"0.5.0, {shares}"))
    assert project.run(*words, "--write").status == 0
    assert "shares:" in path.read_text()
    plan = project.run("plan", "chat.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    assert [pool["count"]["packing"] for pool in plan["pools"]] == [1]
