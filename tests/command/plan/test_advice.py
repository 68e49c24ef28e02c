"""Warnings of the rules in the plan's reports, about the objects that the plan places."""

from __future__ import annotations

from typing import Final

import pytest
from command_project import Done, Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
autoscaler: cluster-autoscaler
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools:
  - {name: l4, machine: g6.12xlarge, count: {min: 0, max: 4}}
  - {name: h100, machine: p5.48xlarge, count: {min: 0, max: 2}}
"""
REQUEST: Final = "{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}"
CONFIG: Final = (
    ", config: [{opaque: {driver: DRIVER, parameters: "
    "{apiVersion: resource.nvidia.com/v1beta1, kind: KIND}}}]"
)
USED: Final = "resources: {claims: [{name: gpu}]}"


def objects(
    request: str = REQUEST, config: str = "", container: str = USED, name: str = "serve"
) -> str:
    """Return a Deployment whose pods claim devices by a template."""
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}}}
spec: {{spec: {{devices: {{requests: [{request}]{config}}}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: main, image: registry.example/s:1, {container}}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: {name}}}]
      tolerations: [{{operator: Exists}}]
---
"""


def config(driver: str, kind: str) -> str:
    return CONFIG.replace("DRIVER", driver).replace("KIND", kind)


def device_class(name: str, expression: str) -> str:
    return f"""\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: {name}}}
spec: {{selectors: [{{cel: {{expression: "{expression}"}}}}]}}
---
"""


def server(flags: str) -> str:
    return f"command: [vllm, serve, m, {flags}], {USED}"


PLAIN: Final = objects()
IDLE: Final = objects(container="workingDir: /")
CASES: Final = {
    "configuration of another kind of device": (
        objects(config=config("gpu.nvidia.com", "MigDeviceConfig")),
        "configuration-ignored: ResourceClaimTemplate default/serve: kind MigDeviceConfig isn't "
        "valid for devices of DeviceClass",
    ),
    "configuration of another driver": (
        objects(config=config("gpu.nvidia.io", "GpuConfig")),
        "configuration-ignored: ResourceClaimTemplate default/serve: its configuration is for "
        "driver gpu.nvidia.io",
    ),
    "claim that no container uses": (
        IDLE,
        'claim-without-container: Deployment default/serve: no container uses claim "gpu"',
    ),
    "GPU by claim and by extended resource": (
        objects(container="resources: {claims: [{name: gpu}], limits: {nvidia.com/gpu: 1}}"),
        'device-requested-twice: Deployment default/serve: container "main" has a claim and also',
    ),
    "server that needs more GPUs than its claim has": (
        objects(container=server("--tensor-parallel-size, '4'")),
        "server-flags-differ-from-claim: Deployment default/serve: container \"main\" starts vLLM "
        "with --tensor-parallel-size 4, which needs 4 GPUs",
    ),
    "server that leaves a GPU idle": (
        objects(
            "{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}",
            container=server("-tp, '1'"),
        ),
        "server-flags-differ-from-claim: Deployment default/serve: container \"main\" starts vLLM "
        "with -tp 1, which uses 1 GPU",
    ),
    "server on two MIG devices": (
        objects(
            "{name: gpu, exactly: {deviceClassName: mig.nvidia.com, count: 2}}",
            container=server("-tp, '2'"),
        ),
        "server-flags-differ-from-claim: Deployment default/serve: container \"main\" starts vLLM "
        "with -tp 2, but its claim requests MIG devices",
    ),
    "class for devices of every driver": (
        device_class("any", "device.attributes['gpu.nvidia.com'].type == 'gpu'")
        + objects("{name: gpu, exactly: {deviceClassName: any}}"),
        'class-of-any-driver: DeviceClass "any" doesn\'t have a selector for device.driver',
    ),
}  # fmt: skip


def planned(project: Project, text: str, *words: str, fleet: str = FLEET) -> Done:
    project.write("fleet.yaml", fleet)
    project.write("m.yaml", text)
    return project.run("plan", "m.yaml", "--fleet", "fleet.yaml", *words)


def lines(done: Done) -> str:
    """Return the output as one line, because a terminal wraps it."""
    return " ".join(done.out.split())


@pytest.fixture
def fleet() -> str:
    mig = "  - {name: mig, machine: p5.48xlarge, count: {min: 0, max: 1}, mig: all-1g.10gb}\n"
    return FLEET + mig


@pytest.mark.parametrize(("text", "warning"), CASES.values(), ids=CASES)
def test_plan_shows_what_check_warns_about(
    project: Project, fleet: str, text: str, warning: str
) -> None:
    plan = planned(project, text, fleet=fleet)
    check = project.run("check", "m.yaml", "--fleet", "fleet.yaml")

    assert f"warning {warning}" in lines(check)
    assert f"warning {warning}" in lines(plan)
    assert plan.status == 0, "a warning doesn't change the exit status"


@pytest.mark.parametrize("form", ["json", "markdown", "html"])
def test_other_reports_show_the_same_warning(project: Project, form: str) -> None:
    done = planned(project, IDLE, "--format", form)

    assert "claim-without-container" in done.out
    assert done.status == 0


def test_plan_of_correct_objects_has_no_warning(project: Project) -> None:
    assert "warning" not in planned(project, PLAIN).out


def test_each_finding_appears_once(project: Project, fleet: str) -> None:
    """Several MIG devices in one container are one finding, with the nearest reason."""
    text, _ = CASES["server on two MIG devices"]
    plan = lines(planned(project, text, fleet=fleet))

    assert plan.count("warning server-flags-differ-from-claim") == 1
    assert "a CUDA process uses only one of them" not in plan


def test_other_containers_with_two_mig_devices_keep_their_note(
    project: Project, fleet: str
) -> None:
    request = "{name: gpu, exactly: {deviceClassName: mig.nvidia.com, count: 2}}"
    plan = lines(planned(project, objects(request), fleet=fleet))

    assert "gets 2 MIG devices, but a CUDA process uses only one of them" in plan


def test_demand_above_the_maximum_is_reported_only_by_the_plan(project: Project) -> None:
    scaler = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: serve}
spec:
  maxReplicas: 99
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: serve}
"""
    plan = planned(project, PLAIN + scaler).out

    assert "ceiling-does-not-fit" in plan
    assert "scaling-exceeds-pools" not in plan


def test_reasons_of_a_misfit_are_not_repeated(project: Project) -> None:
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'
    gpu = f"deviceClassName: gpu.nvidia.com, selectors: [{{cel: {{expression: '{selector}'}}}}]"
    plan = planned(project, objects(f"{{name: gpu, exactly: {{{gpu}}}}}"))

    assert 'use `quantity("81559Mi")` instead' in lines(plan)
    assert "selector-just-misses-a-gpu" not in plan.out


def test_findings_of_one_rule_are_grouped(project: Project) -> None:
    many = "".join(
        objects(container="workingDir: /", name=f"serve-{number}") for number in range(9)
    )
    plan = planned(project, many)

    assert plan.out.count("claim-without-container") == 1
    assert "`pulumi-dra check` lists 8 more of these" in lines(plan)
    answer = planned(project, many, "--format", "json").json
    codes = [each["code"] for each in answer["diagnostics"]]
    assert codes.count("claim-without-container") == 9, "programs get every finding"


@pytest.mark.parametrize(
    "settings",
    ["rules: {claim-without-container: disabled}\n",
     "exemptions: [{rule: claim-without-container, object: Deployment default/serve, "
     "reason: a sidecar uses it}]\n"],
    ids=["disabled", "exempted"],
)  # fmt: skip
def test_accepted_findings_are_left_out(project: Project, settings: str) -> None:
    project.write("pulumi-dra.yaml", settings)

    assert "claim-without-container" not in planned(project, IDLE).out


def test_invalid_configuration_does_not_prevent_a_plan(project: Project) -> None:
    project.write("pulumi-dra.yaml", "rules: {claim-without-containers: disabled}\n")
    done = planned(project, IDLE)

    assert done.out.startswith("✓ Fits")
    assert done.status == 0
    assert any("claim-without-containers" in each for each in (done.err, *done.notes))
