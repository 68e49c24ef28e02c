"""`pulumi-dra suggest` prints a fleet that is ready to commit."""

from __future__ import annotations

import json

import pytest
from command_project import EXAMPLES, Project

from dra_command.inputs.fleets.new_cluster import new_cluster_version
from dra_command.suggest.contract import SuggestOutput
from dra_planner.plan.suggestion import suggest


@pytest.mark.long
@pytest.mark.parametrize(
    ("region", "machines", "cloud"),
    [
        ("us-east-1", "g6.2xlarge,g6.12xlarge,g6e.12xlarge,p4d.24xlarge", "eks"),
        (
            "eastus",
            "Standard_NC4as_T4_v3,Standard_NC64as_T4_v3,Standard_NC48ads_A100_v4,Standard_NC8as_T4_v3",
            "aks",
        ),
    ],
)
def test_printed_fleet_fits_the_workloads(
    region: str, machines: str, cloud: str, project: Project
) -> None:
    words = [str(EXAMPLES / "workloads"), "--region", region]
    done = project.run("suggest", *words, "--machines", machines)
    assert done.status == 0
    assert done.out.startswith("# ")
    assert "4 machine types compared" in done.out
    assert f"kubernetes: '{new_cluster_version(cloud)}'" in done.out
    project.write("fleet.yaml", done.out)
    assert project.run("plan", words[0], "--fleet", "fleet.yaml").status == 0


def test_workloads_that_fit_no_machine_type_have_a_reason(project: Project) -> None:
    words = [str(EXAMPLES / "workloads-that-do-not-fit"), "--cloud", "eks", "--region", "us-east-1"]
    done = project.run("suggest", *words, "--machines", "g6.2xlarge")
    assert done.status == 1
    assert "no fleet of g6.2xlarge can run all workloads\n" in done.err
    assert done.out == ""


TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec:
  spec:
    devices:
      requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]
      config:
        - opaque:
            driver: gpu.nvidia.com
            parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, mode: fast}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations: [{operator: Exists}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
  containers: [{name: main, image: i, resources: {claims: [{name: gpu}]}}]
"""
BY_ANOTHER = POD.replace("spec:\n", "spec:\n  schedulerName: volcano\n")


def test_config_that_the_driver_always_rejects_is_reported(project: Project) -> None:
    project.write("pods.yaml", TEMPLATE + POD)
    done = project.run("suggest", "pods.yaml", "--region", "us-east-1", "--machines", "g6.2xlarge")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("no fleet of g6.2xlarge can run all workloads\nPod default/web\n")
    assert "→ remove mode\n" in done.err


def test_pods_of_another_scheduler_leave_the_verdict_open(project: Project) -> None:
    project.write("pods.yaml", TEMPLATE.partition("      config")[0] + BY_ANOTHER)
    done = project.run(
        "suggest", "pods.yaml", "--region", "us-east-1", "--machines", "g6.2xlarge,g6.12xlarge"
    )
    assert (done.status, done.out) == (3, "")
    assert done.err.startswith(
        "cannot tell whether a fleet of the 2 machine types compared can run all workloads\n"
    )
    assert "volcano" in done.err.lower()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-price", "cheap"], '"cheap" isn\'t a price'),
        (["--machines", "g6.3xlarge"], "g6.3xlarge"),
        (["--cloud", "moon"], "moon"),
        (["--cloud", "", "--region", "mars-1"], "mars-1"),
        (["--cloud", "", "--region", "us-east-1a"], "us-east-1a"),
    ],
)
def test_wrong_input_is_rejected(words: list[str], message: str, project: Project) -> None:
    done = project.run(
        "suggest", str(EXAMPLES / "workloads"), "--cloud", "eks", "--region", "us-east-1", *words
    )
    assert done.status == 2
    assert message in done.err


def test_json_contains_the_compared_fleets(project: Project) -> None:
    words = [str(EXAMPLES / "workloads"), "--region", "us-east-1", "--format", "json"]
    done = project.run(
        "suggest", *words, "--machines", "g6.2xlarge,g6.12xlarge,g6e.12xlarge,p4d.24xlarge"
    )
    assert (done.status, done.err) == (0, "")
    answer = json.loads(done.out)
    assert SuggestOutput.model_validate(answer).model_dump() == answer
    assert (answer["verdict"], answer["candidates"], answer["obstacles"]) == ("fits", 4, [])
    hourly = [each["hourly"] for each in (answer["best"], *answer["others"])]
    assert hourly == sorted(hourly)
    project.write("fleet.yaml", json.dumps(answer["best"]["fleet"]))
    assert project.run("plan", words[0], "--fleet", "fleet.yaml").status == 0


def unwrapped(text: str) -> str:
    """Return a fleet with each comment in one line."""
    return text.replace("\n#   ", " ")


def test_fleets_without_simulation_show_their_packing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output is the same as for many kinds of pods, for which only a few fleets are planned."""
    monkeypatch.setattr(suggest, "MOST_SIZED", 0)
    words = [str(EXAMPLES / "workloads"), "--region", "us-east-1"]
    words += ["--machines", "g6.2xlarge,g6.12xlarge,g6e.12xlarge,p4d.24xlarge"]
    answer = json.loads(project.run("suggest", *words, "--format", "json").out)
    assert answer["packed"]
    for each in answer["packed"]:
        assert answer["best"]["hourly"] <= each["hourly_bound"] <= each["hourly_packing"]
    first = answer["packed"][0]
    fleet = " + ".join(f"{each['nodes']} × {each['machine']}" for each in first["machines"])
    assert (
        f"# alternative: {fleet} for USD {first['hourly_packing']:,.2f} per hour in the best packing "
        "(not simulated), proven to cost at least "
    ) in unwrapped(project.run("suggest", *words).out)


def test_json_lists_workloads_that_fit_no_machine_type(project: Project) -> None:
    words = [
        str(EXAMPLES / "workloads-that-do-not-fit"),
        "--region",
        "us-east-1",
        "--format",
        "json",
    ]
    done = project.run("suggest", *words, "--machines", "g6.2xlarge")
    answer = json.loads(done.out)
    assert (done.status, answer["verdict"], answer["best"]) == (1, "does-not-fit", None)
    assert all(each["subject"] and each["reasons"] for each in answer["obstacles"])
    assert answer["obstacles"]


def test_wrong_input_is_an_error_in_json(project: Project) -> None:
    words = [str(EXAMPLES / "workloads"), "--region", "mars-1", "--format", "json"]
    done = project.run("suggest", *words)
    assert done.status == 2
    assert "mars-1" in json.loads(done.out)["error"]["message"]


SHARE = TEMPLATE.partition("      config")[0].replace(
    "deviceClassName: gpu.nvidia.com",
    "deviceClassName: gpu.nvidia.com, capacity: {requests: {memory: 8Gi}}",
)


def test_fleet_with_shares_explains_its_settings(project: Project) -> None:
    project.write("pods.yaml", SHARE + POD)
    done = project.run("suggest", "pods.yaml", "--region", "us-east-1", "--machines", "g6.xlarge")
    assert done.status == 0
    assert (
        "# the claims request a part of a GPU, so the fleet sets the driver's shares"
        in unwrapped(done.out)
    )
    assert "consumableShares: memory" in done.out


def test_chosen_version_that_ignores_fields_is_a_warning(project: Project) -> None:
    project.write("pods.yaml", SHARE + POD)
    words = ("--region", "us-east-1", "--machines", "g6.xlarge", "--kubernetes", "1.35")
    done = project.run("suggest", "pods.yaml", *words)
    assert (
        "# warning: ResourceClaimTemplate default/one: Kubernetes 1.35 drops the capacity field, because the "
        "DRAConsumableCapacity feature gate is off" in unwrapped(done.out)
    )
    notes = project.run("suggest", "pods.yaml", *words, "--format", "json").json["best"]["notes"]
    assert [each.partition(":")[0] for each in notes] == ["warning"]


def test_reasons_name_machine_types_instead_of_pools(project: Project) -> None:
    project.write("pods.yaml", TEMPLATE.partition("      config")[0] + POD)
    huge = (
        (project.root / "pods.yaml").read_text().replace("gpu.nvidia.com}", "vfio.gpu.nvidia.com}")
    )
    words = ("--region", "us-east-1", "--machines", "g6.2xlarge,p4d.24xlarge")
    done = project.run("suggest", "-", *words, stdin=huge)
    assert (done.status, done.out) == (1, "")
    assert "machine type g6.2xlarge" in done.err or "  g6.2xlarge" in done.err
    assert "g6-2xlarge" not in done.err
    assert "p4d-24xlarge" not in done.err


def test_limit_of_the_price_does_not_change_the_fix_for_a_missing_driver(project: Project) -> None:
    """Given a claim for a driver that the fleet lacks, when --max-price is set, then the fix still
    names the driver, because a higher price doesn't help.
    """
    pods = (TEMPLATE.partition("      config")[0] + POD).replace("gpu.nvidia.com", "neuron.aws.com")

    done = project.run("suggest", "-", "--region", "us-east-1", "--max-price", "2", stdin=pods)

    words = " ".join(done.err.split())
    assert "add a pool with devices for the AWS Neuron DRA driver" in words
    assert "change --max-price" not in words


def test_fix_names_the_option_that_excludes_the_machine_types(project: Project) -> None:
    """Given a price below every GPU with 80 GiB, when a claim needs one, then --max-price is the
    fix.
    """
    selector = (
        'selectors: [{cel: {expression: \'device.capacity["gpu.nvidia.com"].memory.compareTo('
        'quantity("70Gi")) >= 0\'}}]'
    )
    pods = (TEMPLATE.partition("      config")[0] + POD).replace(
        "deviceClassName: gpu.nvidia.com", f"deviceClassName: gpu.nvidia.com, {selector}"
    )
    words = ("suggest", "-", "--region", "us-east-1")

    done = project.run(*words, "--max-price", "2", stdin=pods)

    assert done.status == 1
    assert "change --max-price to include one of these machine types" in " ".join(done.err.split())
    assert "--verbose" not in done.err
