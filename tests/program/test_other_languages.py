"""The components in other languages: used through their schema and constructed by the engine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner import planfile
from dra_planner.fleet import read_fleet
from dra_sandbox.engine import Engine
from pulumi_dra.component_host import schema_text

PROJECT = Path(__file__).parents[2]
PUBLISHED = PROJECT / "docs" / "schema" / "components.json"

# What an SDK generated from the schema does, in any language: plain values across, a URN and
# outputs back.
PROGRAM = """
import pulumi

class Remote(pulumi.ComponentResource):
    def __init__(self, kind, name, props, outputs):
        super().__init__(f"pulumi-dra:index:{kind}", name, {**props, **dict.fromkeys(outputs)}, None, True)

platform = Remote(
    "DraPlatform",
    "dra",
    {"plan": open("plan.json").read(), "tags": {"team": "vision"}},
    ["clusterName", "kubeconfigJson", "verdict", "poolMaxNodes"],
)
pulumi.export("cluster", platform.clusterName)
pulumi.export("kubeconfig", platform.kubeconfigJson)
pulumi.export("verdict", platform.verdict)
pulumi.export("maximum", platform.poolMaxNodes)
"""


def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(schema_text())
    return schema


def test_published_schema_is_up_to_date() -> None:
    """`make docs` updates it; review the difference, because it changes an interface in six
    languages.
    """
    assert schema_text() == PUBLISHED.read_text(encoding="utf-8")


def test_every_input_and_output_has_a_description() -> None:
    bare = []
    schema = _schema()
    for token, component in schema["resources"].items():
        for group in ("inputProperties", "properties"):
            bare += [
                f"{token}.{name}"
                for name, p in component[group].items()
                if not p.get("description")
            ]
    for token, kind in schema["types"].items():
        bare += [
            f"{token}.{name}" for name, p in kind["properties"].items() if not p.get("description")
        ]
    assert bare == []


def test_schema_has_no_dependencies() -> None:
    assert not _schema().get("dependencies")


def other_project(folder: Path, program: str, components: Path = PROJECT / "components") -> Engine:
    """Return an engine for a project that uses the components only through their schema."""
    project = folder / "project"
    project.mkdir()
    (project / "__main__.py").write_text(program)
    plugins = {"providers": [{"name": "pulumi-dra", "path": str(components)}]}
    (project / "Pulumi.yaml").write_text(
        yaml.safe_dump({"name": "other", "runtime": "python", "plugins": plugins})
    )
    (project / "Pulumi.dev.yaml").write_text(
        yaml.safe_dump({"config": {"aws:region": "us-east-1"}})
    )
    engine = Engine(folder / "work", project)
    engine.stack_init("dev")
    return engine


def test_plugin_for_other_languages_is_this_checkout_with_all_clouds() -> None:
    """Pulumi installs a plugin in Python in this way: with pip, in the folder of the components."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--no-build-isolation",
        "--quiet",
    ]
    done = subprocess.run(
        [*command, "--report", "-", "--requirement", "requirements.txt"],
        cwd=PROJECT / "components",
        capture_output=True,
        text=True,
        check=True,
    )
    (installed,) = json.loads(done.stdout)["install"]
    assert installed["metadata"]["name"] == "pulumi-dra"
    assert sorted(installed["requested_extras"]) == ["aws", "azure", "gcp"]
    assert installed["download_info"]["url"] == PROJECT.as_uri()


@pytest.mark.engine
@pytest.mark.xdist_group("eks")
def test_copy_of_the_folder_works_in_other_languages(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "components"
    shutil.copytree(PROJECT / "components", copy, ignore=shutil.ignore_patterns("__pycache__"))
    engine = other_project(tmp_path, 'print("nothing")', copy)
    schema = engine.package_schema(copy)
    assert schema["resources"].keys() == _schema()["resources"].keys()


@pytest.mark.engine
@pytest.mark.xdist_group("eks")
def test_wrong_inputs_are_reported_in_another_language(tmp_path: Path) -> None:
    program = "\n".join(PROGRAM.split("\n")[:7])
    program += (
        '\nRemote("DraDriver", "driver", {"version": "25.3.0", "platform": "azure", '
        '"maxNodes": 4}, [])\n'
    )
    preview = other_project(tmp_path, program).preview("dev")
    assert not preview.ok
    assert 'DraDriver "driver" has 2 wrong inputs:' in preview.output
    assert "version: version 25.3.0 of the NVIDIA DRA driver can't be installed" in preview.output
    assert 'platform: must be aks, eks, gke, or gpu-operator, not "azure"' in preview.output
    assert "Traceback" not in preview.output
    assert "component_host.py" not in preview.output


@pytest.mark.engine
@pytest.mark.xdist_group("eks")
def test_program_in_another_language_builds_the_platform(tmp_path: Path, plan_of: Any) -> None:
    settings = yaml.safe_load((PROJECT / "stacks/Pulumi.eks-dev.yaml").read_text())["config"]
    fleet = read_fleet(settings["pulumi-dra:fleet"])
    engine = other_project(tmp_path, PROGRAM)
    (engine.view / "fleet.yaml").write_text(yaml.safe_dump(settings["pulumi-dra:fleet"]))
    (engine.view / "plan.json").write_text(planfile.file_text(plan_of(fleet)))

    up = engine.up("dev", skip_preview=True)
    assert up.ok, up.output
    names = [resource["urn"].rpartition("::")[2] for resource in engine.resources("dev")]
    assert {
        "dra-plan",
        "dra-cluster-cluster",
        "dra-l4-nodes",
        "dra-h100-nodes",
        "dra-driver-release",
    } <= set(names)
    outputs = engine.outputs("dev")
    assert outputs["verdict"] == "fits"
    assert outputs["maximum"] == {"l4": 4, "h100": 8}
    assert "get-token" in outputs["kubeconfig"]
    assert engine.destroy("dev").ok
    assert engine.resources("dev") == []
