"""A project that `init --stack` writes in an empty folder is previewed from the wheel."""

import os
import subprocess
from pathlib import Path

import pytest

from dra_sandbox.engine import Engine
from installed_wheel import environment_with_wheel

TOO_MANY_GPUS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: nine}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 9}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: nine}
spec:
  resourceClaims: [{name: gpus, resourceClaimName: nine}]
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: main, image: registry.example/nine, resources: {claims: [{name: gpus}]}}]
"""


def run(python: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "dra_command", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.engine
@pytest.mark.xdist_group("eks")
def test_stack_previews_with_the_packs_of_wheel_and_project(
    tmp_path: Path,
) -> None:
    python = environment_with_wheel(tmp_path / "venv", tmp_path / "wheel")
    code = "import dra_policies; print(dra_policies.__path__[0])"
    installed = subprocess.run(
        [python, "-I", "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert Path(installed).is_relative_to(tmp_path)
    written = run(python, tmp_path, "init", "platform", "--stack", "prod", "--region", "us-east-1")
    assert written.returncode == 0, written.stderr
    project = tmp_path / "platform"
    # as `pulumi install` makes it, from the wheel
    (project / ".venv").symlink_to(python.parents[1])
    assert run(python, project, "plan", "--stack", "prod", "--check", "--quiet").returncode == 0

    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # as in an activated environment
    engine = Engine(tmp_path / "work", project, environment={"PATH": path})
    engine.stack_init("prod")
    preview = engine.preview("prod", policy_pack=Path(installed) / "policy_pack")
    assert preview.ok, preview.output
    assert any(step.type == "pulumi-dra:index:CapacityPlan" for step in preview.steps)

    (project / "workloads/nine.yaml").write_text(TOO_MANY_GPUS)
    assert run(python, project, "plan", "--stack", "prod", "--write", "--quiet").returncode == 1
    engine = Engine(tmp_path / "work", project)  # copies the changed plan
    rejected = engine.preview("prod", policy_pack=engine.view / "policies")
    assert not rejected.ok
    assert "default/nine" in rejected.output
