"""Every known problem has a safeguard: the table in the documentation refers to existing tests, and
some of these tests are here.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from dra_planner.fleet import read_fleet
from pulumi_dra.child_options import Children
from pulumi_dra.dra import DevicePlugin, DraDriver, Dranet
from pulumi_dra.dra.from_fleet import declare_in_cluster

PROJECT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (PROJECT / "docs/traps.md").read_text().split("\n")
    if line.startswith("| ") and not line.startswith("| Problem")
]


@pytest.mark.parametrize("row", [row for row in ROWS if row[2]], ids=lambda row: row[0][:60])
def test_every_row_names_an_existing_test(row: list[str]) -> None:
    file, _, name = row[2].strip("`").partition("::")
    assert re.search(rf"^def {name}\(", (PROJECT / "tests" / file).read_text(), re.MULTILINE), row[
        2
    ]


def test_every_row_has_an_answer_and_most_have_a_test() -> None:
    assert all(len(row) == 3 and row[1] for row in ROWS)
    assert len([row for row in ROWS if not row[2]]) <= 4


@pytest.fixture
def releases(declare: Callable[..., Any]) -> list[Any]:
    def make() -> None:
        DraDriver("driver", {"version": "0.4.1", "platform": "eks", "max_nodes": 4})
        DevicePlugin("plugin", {"version": "0.17.4"})
        Dranet("dranet", {})

    found: list[Any] = declare(make).all("Release")
    assert len(found) == 3
    return found


def test_no_release_is_atomic(releases: list[Any]) -> None:
    assert [release.name for release in releases if release.inputs.get("atomic")] == []


def test_charts_are_installed_as_releases(releases: list[Any]) -> None:
    assert {release.type for release in releases} == {"kubernetes:helm.sh/v3:Release"}


def test_gke_installer_is_created_before_the_driver(declare: Callable[..., Any]) -> None:
    fleet = read_fleet(
        {
            "cloud": "gke",
            "region": "us-central1",
            "kubernetes": "1.34",
            "systemPool": {"machine": "e2-standard-4", "count": 2},
            "drivers": {"nvidia": {"version": "0.4.1"}},
            "devicePlugin": False,
            "pools": [{"name": "l4", "machine": "g2-standard-8", "count": {"min": 0, "max": 4}}],
        }
    )
    plan: Any = SimpleNamespace(pools=[SimpleNamespace(nodes=SimpleNamespace(max=4))], guards=None)
    inputs: Any = SimpleNamespace(
        driver={},
        driver_installer={},
        releases={},
        tenants=[],
        admin_access_namespaces=None,
        admission_gate=False,
    )

    def make() -> None:
        parent = pulumi.ComponentResource("test:index:Platform", "platform")
        cluster: Any = SimpleNamespace(
            kubeconfig_json=pulumi.Output.secret(json.dumps({})),
            identity="cluster",
            usable=[],
            pools=[],
            resource=parent,
            declare_inside=lambda options: None,
        )
        declare_in_cluster("dra", inputs, fleet, plan, cluster, Children(parent, None))

    declared = declare(make)
    installer = declared.one("DaemonSet").name
    assert installer in declared.one("Release", "dra-driver-release").depends_on
