"""A cloud from another distribution, `nimbus/` on PYTHONPATH: planned, built, and checked, without
any other file for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct

from dra_sandbox.engine import Engine
from dra_sandbox.run_result import RunResult

NIMBUS = Path(__file__).parent / "nimbus"
PROJECT = Path(__file__).parents[2]
MANAGEMENT_CLUSTER = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "m", "cluster": {"server": "https://management.nimbus.example"}}],
    "users": [{"name": "m", "user": {"token": "none"}}],
    "contexts": [{"name": "m", "context": {"cluster": "m", "user": "m"}}],
    "current-context": "m",
}


def fleet(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((NIMBUS / "fleet.yaml").read_text())
    return {**found, **changes}


def pool(**changes: Any) -> list[dict[str, Any]]:
    return [{**fleet()["pools"][0], **changes}]


def command(*words: object, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    return run("-m", "dra_command", *words, folder=folder)


def run(*words: object, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    """Run this interpreter with the cloud on its path, and without other additions."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(NIMBUS)},
        capture_output=True,
        text=True,
    )


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"region": "oslo-hall1"}, '"oslo-hall1" is a zone; use region "oslo"'),
    ({"region": "eu-1"}, '"eu-1" isn\'t a region of Nimbus; use a region such as '),
    ({"autoscaler": "karpenter"}, "Nimbus doesn't support autoscaler: karpenter; use none"),
    ({"network": {"subnetIds": ["a"]}}, "Nimbus has no subnets; remove subnetIds"),
    (
        {"pools": pool(zones=["bergen-hall1"])},
        'zone "bergen-hall1" isn\'t in region oslo; use a zone such as "oslo-hall1"',
    ),
    (
        {"pools": pool(machine="ng2.l40")},
        'unknown Nimbus machine type "ng2.l40"; did you mean ng2.l40s?',
    ),
    (
        {"pools": pool(machine="g6.2xlarge")},
        'unknown Nimbus machine type "g6.2xlarge"; use a machine type that Nimbus offers, '
        "because only EKS offers g6.2xlarge",
    ),
    (
        {"pools": pool(machine="n1.small")},
        "Nimbus only leases racks with GPUs, and n1.small has none",
    ),
    ({"pools": pool(capacity="spot")}, "Nimbus doesn't offer spot; use on-demand or a lease"),
    (
        {"pools": pool(capacity={"reservation": "cr-1"})},
        '"cr-1" isn\'t the id of a lease (lease-…)',
    ),
    ({"pools": pool(name="twenty-eight-racks")}, "Nimbus allows at most 12 characters, not 18"),
    (
        {"pools": pool(reserved={"cpu": "1"})},
        "Nimbus sets the reserved resources itself; use daemonPods",
    ),
    (
        {"pools": pool(mig="all-1g.10gb")},
        "Nimbus doesn't support MIG with DRA (nimbus.example/gpus",
    ),
    (
        {"pools": pool(labels={"nimbus.example/a": "b"})},
        "Nimbus rejects labels with the prefix",
    ),
]
PLANS_EACH = """
import contextlib, io, json, sys
from dra_command.__main__ import main
errors = []
for fleet in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as error:
        status = main(["plan", "examples/workloads", "--fleet", fleet])
    errors.append([status, " ".join(error.getvalue().split())])
print(json.dumps(errors))
"""


def test_invalid_fleet_reports_the_clouds_own_message(tmp_path: Path) -> None:
    files = [tmp_path / f"{index}.yaml" for index in range(len(INVALID))]
    for file, (changes, _) in zip(files, INVALID, strict=True):
        file.write_text(yaml.safe_dump(fleet(**changes)))

    done = run("-c", PLANS_EACH, *files)

    assert done.returncode == 0, done.stderr
    for (status, errors), (changes, sentence) in zip(json.loads(done.stdout), INVALID, strict=True):
        assert status == 2, changes
        assert sentence in errors


def test_plan_uses_the_clouds_prices_and_node_counts() -> None:
    done = command(
        "plan", "examples/workloads", "--fleet", NIMBUS / "fleet.yaml", "--format", "json"
    )

    plan = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert plan["verdict"] == "fits"
    assert plan["pools"][0]["nodes"] == {"min": 12, "desired": 12, "max": 12}
    assert plan["cost"]["hourly"] == 42.0
    messages = [
        each["message"] for each in plan["diagnostics"] if each["code"] == "count-rounded-up"
    ]
    assert messages == [
        'pool "l40s": 10 nodes are enough, but Pulumi creates 12, because Nimbus leases racks of 4 '
        "nodes"
    ]


def test_unbuildable_node_count_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(
        yaml.safe_dump(fleet(pools=pool(count={"min": 0, "max": 7})))
    )

    for verb in ("plan", "check"):
        done = command(
            verb, "examples/workloads", "--fleet", tmp_path / "fleet.yaml", "--format", "json"
        )
        findings = [
            each
            for each in json.loads(done.stdout)["diagnostics"]
            if each["code"] == "count-does-not-divide"
        ]
        assert (done.returncode, json.loads(done.stdout)["verdict"]) == (1, "does-not-fit")
        assert [(each["message"], each["fix"]) for each in findings] == [
            (
                'pool "l40s": 7 nodes can\'t be created, because Nimbus leases racks of 4 nodes',
                "set the pool's maximum to 8",
            )
        ]


class Built(Struct, frozen=True):
    """One stack, planned with the command, and then built and checked."""

    up: RunResult
    resources: dict[str, dict[str, Any]]
    unlabelled: RunResult
    changed: RunResult
    destroyed: RunResult


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    engine = Engine(
        tmp_path_factory.mktemp("nimbus"), PROJECT, environment={"PYTHONPATH": str(NIMBUS)}
    )
    settings = engine.settings_folder / "Pulumi.nimbus-dev.yaml"
    config = {
        "kubernetes:kubeconfig": json.dumps(MANAGEMENT_CLUSTER),
        "nimbus:region": "oslo",
        "pulumi-dra:workloads": ["examples/workloads"],
        "pulumi-dra:fleet": fleet(),
    }
    settings.write_text(yaml.safe_dump({"config": config}))
    engine.stack_init("nimbus-dev")
    written = command("plan", "--stack", "nimbus-dev", "--write", folder=engine.view)
    assert written.returncode == 0, written.stderr
    up = engine.up("nimbus-dev", policy_pack=PROJECT / "policies", skip_preview=True)
    resources = {
        found["urn"].rpartition("::")[2]: found for found in engine.resources("nimbus-dev")
    }
    state = engine.export("nimbus-dev")
    nodes = next(
        each
        for each in state["deployment"]["resources"]
        if each["urn"].endswith("::dra-l40s-nodes")
    )
    for values in (nodes["inputs"], nodes["outputs"]):
        del values["spec"]["labels"]["nvidia.com/gpu.dra"]
    exported = engine.work_dir / "state.json"
    exported.write_text(json.dumps(state))
    unlabelled = engine.policy_analyze(exported, PROJECT / "policies")
    document = yaml.safe_load(settings.read_text())
    document["config"]["pulumi-dra:fleet"]["pools"][0]["count"] = {"min": 0, "max": 4}
    settings.write_text(yaml.safe_dump(document))
    command("plan", "--stack", "nimbus-dev", "--write", folder=engine.view)
    changed = engine.up("nimbus-dev", policy_pack=PROJECT / "policies", skip_preview=True)
    return Built(up, resources, unlabelled, changed, engine.destroy("nimbus-dev"))


@pytest.mark.engine
def test_engine_builds_the_plan(built: Built) -> None:
    assert built.up.ok, built.up.output
    nodes = built.resources["dra-l40s-nodes"]
    assert nodes["type"] == "kubernetes:nimbus.example/v1:NodePool"
    spec = nodes["inputs"]["spec"]
    assert (spec["machine"], spec["nodes"], spec["halls"]) == ("ng2.l40s", 12, ["oslo-hall1"])
    assert spec["labels"] == {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "l40s",
        "racks.example/leased": "whole",
    }
    assert spec["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert (
        built.resources["dra-driver-release"]["inputs"]["values"]["nvidiaDriverRoot"]
        == "/opt/nimbus/nvidia"
    )
    assert built.destroyed.ok, built.destroyed.output


@pytest.mark.engine
def test_pack_checks_the_clouds_pools(built: Built) -> None:
    """The pack finds nothing in a stack that matches its plan, and rejects a plan that doesn't fit
    its racks.
    """
    assert [each for each in built.up.violations if each.level == "mandatory"] == []
    assert not built.changed.ok
    assert {each.policy for each in built.changed.violations if each.level == "mandatory"} == {
        "pool-maximum-too-small"
    }


@pytest.mark.engine
def test_pack_compares_each_pool_with_the_plan(built: Built) -> None:
    """The state of the stack as it was built, without a label that was removed."""
    assert not built.unlabelled.ok
    assert "pool-differs-from-plan" in built.unlabelled.output
    assert (
        'nodes in rack pool "dra-l40s-nodes" don\'t have the label nvidia.com/gpu.dra'
        in built.unlabelled.output
    )
