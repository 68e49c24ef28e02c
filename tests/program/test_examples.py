"""The project in `examples/platform-python` deploys as its README describes, with its saved
plan.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from dra_sandbox.engine import Engine
from installed_wheel import environment_with_wheel

PROJECT = Path(__file__).parents[2]


@pytest.mark.engine
@pytest.mark.xdist_group("gke")
def test_python_platform_deploys(tmp_path: Path) -> None:
    project = tmp_path / "platform"
    shutil.copytree(PROJECT / "examples/platform-python", project)
    python = environment_with_wheel(project / ".venv", tmp_path / "wheel")
    found = [
        python,
        "-c",
        "import pulumi_dra, dra_planner; print(pulumi_dra.__file__, dra_planner.__file__)",
    ]
    for path in subprocess.run(found, check=True, capture_output=True, text=True).stdout.split():
        assert Path(path).is_relative_to(project)
    engine = Engine(tmp_path / "work", project)
    engine.stack_init("dev")
    up = engine.up("dev", skip_preview=True)
    assert up.ok, up.output
    assert engine.outputs("dev")["poolMaxNodes"] == {"l4": 4}
    state = {resource["urn"].rpartition("::")[2]: resource for resource in engine.resources("dev")}
    scaling = state["gpus-l4-nodes"]["inputs"]["scalingConfig"]
    assert (scaling["minSize"], scaling["desiredSize"], scaling["maxSize"]) == (2, 2, 4)
    assert state["gpus-tenants-vision-devices"]["inputs"]["spec"]["hard"] == {
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "4"
    }
    program = project / "__main__.py"
    program.write_text(
        program.read_text().replace(
            '"labels": {"team": "vision"}', '"labels": {"team": "research"}'
        )
    )
    relabelled = engine.up("dev", skip_preview=True)
    assert relabelled.ok, relabelled.output
    assert {step.name: step.op for step in relabelled.steps if step.op != "same"} == {
        "gpus-l4-nodes": "update"
    }
    destroyed = engine.destroy("dev")
    assert destroyed.ok, destroyed.output
    assert engine.resources("dev") == []
