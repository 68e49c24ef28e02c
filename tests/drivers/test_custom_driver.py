"""A driver from another distribution, `widget/` on PYTHONPATH: planned, checked, and built, without
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

from dra_sandbox.engine import Engine
from dra_sandbox.run_result import RunResult

WIDGET = Path(__file__).parent / "widget"
PROJECT = Path(__file__).parents[2]
WORKLOADS = WIDGET / "workloads.yaml"
STACK = "widget-dev"


def fleet(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((WIDGET / "fleet.yaml").read_text())
    return {**found, **changes}


def command(*words: object, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    """Run the command with the driver on its path, and without other additions."""
    return subprocess.run(
        [sys.executable, "-m", "dra_command", *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(WIDGET)},
        capture_output=True,
        text=True,
    )


def answer(
    verb: str, document: dict[str, Any], tmp_path: Path, manifests: Path = WORKLOADS
) -> dict[str, Any]:
    (tmp_path / "fleet.yaml").write_text(yaml.safe_dump(document))
    done = command(verb, manifests, "--fleet", tmp_path / "fleet.yaml", "--format", "json")
    result: dict[str, Any] = json.loads(done.stdout or done.stderr)
    return result


def test_widget_claims_are_planned(tmp_path: Path) -> None:
    plan = answer("plan", fleet(), tmp_path)

    assert plan["verdict"] == "fits"
    # two widgets on each m7i.4xlarge, two for each pod
    assert plan["pools"][0]["nodes"]["desired"] == 3
    assert plan["pools"][0]["devices"] == {"total": 6, "used": 6, "stranded": 0}


def test_widget_devices_are_named_in_the_report(tmp_path: Path) -> None:
    done = command("plan", WORKLOADS, "--fleet", WIDGET / "fleet.yaml")

    assert "6 widgets" in done.stdout


def test_config_that_the_driver_rejects_is_found(tmp_path: Path) -> None:
    manifests = tmp_path / "workloads.yaml"
    manifests.write_text(WORKLOADS.read_text().replace("kind: WidgetConfig", "kind: GadgetConfig"))

    found = answer("check", fleet(), tmp_path, manifests)["diagnostics"]

    others = [each for each in found if each["code"] != "scaling-exceeds-pools"]
    assert [(each["code"], each["fix"]) for each in others] == [
        ("driver-config-refused", "write kind: WidgetConfig")
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drivers": {"widget": {"lanes": 5}}}, "a widget has no 5 lanes; write at most 4"),
        ({"drivers": {"widget": {"lane": 5}}}, 'isn\'t a key of the fleet; did you mean "lanes"?'),
        ({"drivers": {"widgets": True}}, 'isn\'t a key of the fleet; did you mean "widget"?'),
        (
            {"cloud": "gke", "region": "us-central1", "network": {}},
            "Widget DRA driver doesn't run on GKE, because Google's machines have no socket for widgets",
        ),
    ],
)
def test_fleet_that_the_driver_cannot_serve_is_rejected(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "fleet.yaml").write_text(yaml.safe_dump(fleet(**changes)))
    done = command("plan", WORKLOADS, "--fleet", tmp_path / "fleet.yaml")

    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_selector_on_a_node_specific_attribute_cannot_be_decided(tmp_path: Path) -> None:
    manifests = tmp_path / "workloads.yaml"
    manifests.write_text(WORKLOADS.read_text().replace(".lanes == 2", ".polished == true"))

    assert answer("plan", fleet(), tmp_path, manifests)["verdict"] == "cannot-tell"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunResult, dict[str, dict[str, Any]]]:
    """One stack, planned with the command, built, and checked by the policy pack."""
    engine = Engine(
        tmp_path_factory.mktemp("widget"), PROJECT, environment={"PYTHONPATH": str(WIDGET)}
    )
    config = {
        "aws:region": "us-east-1",
        "pulumi-dra:workloads": [str(WORKLOADS)],
        "pulumi-dra:fleet": fleet(),
    }
    (engine.settings_folder / f"Pulumi.{STACK}.yaml").write_text(yaml.safe_dump({"config": config}))
    engine.stack_init(STACK)
    written = command("plan", "--stack", STACK, "--write", folder=engine.view)
    assert written.returncode == 0, written.stderr
    up = engine.up(STACK, policy_pack=PROJECT / "policies", skip_preview=True)
    return up, {found["urn"].rpartition("::")[2]: found for found in engine.resources(STACK)}


@pytest.mark.engine
def test_engine_installs_the_driver(built: tuple[RunResult, dict[str, dict[str, Any]]]) -> None:
    up, resources = built

    assert up.ok, up.output
    release = resources["dra-widget-release"]["inputs"]
    assert (release["chart"], release["version"]) == (
        "oci://widgets.example.org/charts/widget-driver",
        "1.2.3",
    )
    assert release["values"]["lanes"] == 2
    assert "dra-driver-release" not in resources  # no claim requests NVIDIA devices
    assert [each for each in up.violations if each.level == "mandatory"] == []
