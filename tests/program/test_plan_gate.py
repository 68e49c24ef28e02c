"""The gate of a plan: the engine creates its objects, and a real API server enforces it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_sandbox.control_plane import ApiRejection, ApiServer, Settings, control_plane
from dra_sandbox.engine import Engine

ROOT = Path(__file__).parents[2]
KINDS = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ResourceQuota")
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://cluster.example"}}],
    "users": [{"name": "u", "user": {"token": "a-token"}}],
}
PROGRAM = f"""\
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

from pulumi_dra import PlanGate

cluster = k8s.Provider("gpu", kubeconfig={json.dumps(KUBECONFIG)!r})
plan = Path(__file__).with_name("plan.json").read_text()
gate = PlanGate("gate", {{"plan": plan}}, pulumi.ResourceOptions(providers=[cluster]))
pulumi.export("policies", gate.policy_names)
pulumi.export("namespaces", gate.quota_namespaces)
"""


@pytest.mark.engine
@pytest.mark.control_plane
def test_policies_of_the_engine_are_enforced_by_an_api_server(tmp_path: Path) -> None:
    require_enforcement(created_by_the_engine(tmp_path))


@pytest.mark.control_plane
def test_policies_of_the_command_are_enforced_by_an_api_server(tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    words = ("plan", "--stack", "eks-dev", "--gate", str(path), "--quiet")
    subprocess.run([sys.executable, "-m", "dra_command", *words], cwd=ROOT, check=True)
    require_enforcement(list(yaml.safe_load_all(path.read_text(encoding="utf-8"))))


def require_enforcement(objects: list[dict[str, Any]]) -> None:
    """Create the objects in an API server, and require that it admits only objects of the plan."""
    assert [each["kind"] for each in objects].count("ValidatingAdmissionPolicy") == 3
    with control_plane(Settings(36, scheduling=False)) as plane:
        server = ApiServer.of(plane)
        for each in objects:
            server.create(each)
        until = time.monotonic() + 60
        while not is_rejected(server, f"probe-{time.monotonic_ns()}", "unplanned"):
            assert time.monotonic() < until, "the policies are not active"
            time.sleep(0.3)
        assert not is_rejected(server, "planned", "gpu.nvidia.com")


def created_by_the_engine(folder: Path) -> list[dict[str, Any]]:
    """Return the objects of a stack, in the order of their dependencies."""
    project = folder / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: gate\nruntime: python\n")
    (project / "__main__.py").write_text(PROGRAM)
    shutil.copy(ROOT / "stacks/eks-dev.plan.json", project / "plan.json")
    engine = Engine(folder / "work", project)
    engine.stack_init("dev")
    up = engine.up("dev", skip_preview=True)
    assert up.ok, up.output
    outputs = engine.outputs("dev")
    assert outputs["policies"] == [
        f"pulumi-dra-gate-{name}" for name in ("claims", "templates", "device-plugins")
    ]
    assert outputs["namespaces"] == ["default"]
    inputs = [each["inputs"] for each in engine.resources("dev") if "inputs" in each]
    objects = [each for each in inputs if each.get("kind") in KINDS]
    assert engine.destroy("dev").ok
    return sorted(objects, key=lambda each: KINDS.index(each["kind"]))


def is_rejected(server: ApiServer, name: str, device_class: str) -> bool:
    request = {"name": "gpu", "exactly": {"deviceClassName": device_class}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": [request]}},
    }
    try:
        server.create(claim)
    except ApiRejection as error:
        return "The plan doesn't have this DeviceClass" in str(error)
    return False
