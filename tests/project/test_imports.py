"""What importing a package may load, asked of a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NETWORK = {"socket", "ssl", "http.client", "urllib.request", "requests"}
PULUMI = {"pulumi", "pulumi_aws", "pulumi_gcp", "pulumi_kubernetes", "pulumi_policy", "grpc"}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_planner_root_is_lazy() -> None:
    heavy = {"pydantic", "lark", "yaml", "highspy", "numpy"}
    assert not modules_after("import dra_planner") & (NETWORK | PULUMI | heavy)


def test_planning_loads_no_pulumi_and_no_network() -> None:
    # pydantic reads package metadata through `email`, which imports `socket` and opens none.
    assert not modules_after("import dra_planner.plan") & (NETWORK - {"socket"} | PULUMI)


def test_rules_load_no_pulumi() -> None:
    assert not modules_after("import dra_policies.rules") & PULUMI


def test_the_command_loads_no_pulumi() -> None:
    assert not modules_after("import dra_command.__main__") & PULUMI


def test_the_components_root_loads_no_sdk() -> None:
    assert not modules_after("import pulumi_dra") & PULUMI


@pytest.mark.parametrize(("cloud", "other"), [("eks", "pulumi_gcp"), ("gke", "pulumi_aws")])
def test_a_cloud_never_loads_the_other(cloud: str, other: str) -> None:
    assert other not in modules_after(f"import pulumi_dra.{cloud}")
