"""An EKS network that grows by a zone, and a cluster that moves to another network, through the
real engine.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_sandbox.engine import Engine

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]

PROGRAM = """
import json, pulumi
from pulumi_dra import EksCluster, EksGpuPool

settings = json.load(open("settings.json"))
cluster = EksCluster("dev", {"kubernetes_version": "1.34", **settings})
EksGpuPool("l4", {
    "cluster_name": cluster.name,
    "node_role_arn": cluster.node_role_arn,
    "subnet_ids": cluster.subnet_ids,
    "keep_subnets": True,
    "machine": "g6.2xlarge",
    "max_nodes": 4,
})
EksGpuPool("h100", {
    "cluster_name": cluster.name,
    "node_role_arn": cluster.node_role_arn,
    "subnet_ids": cluster.subnets_in(["us-east-1b"]) if "subnet_ids" not in settings else cluster.subnet_ids,
    "machine": "p5.48xlarge",
    "max_nodes": 2,
})
"""


class Stack:
    """A cluster with a pool in a scratch project, whose inputs may be changed."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        project = folder / "source"
        project.mkdir(parents=True)
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (project / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "trial", "runtime": runtime}))
        (project / "Pulumi.dev.yaml").write_text(
            yaml.safe_dump({"config": {"aws:region": "us-east-1"}})
        )
        (project / "__main__.py").write_text(PROGRAM)
        self.engine = Engine(folder / "work", project)
        self._settings = self.engine.view / "settings.json"
        self.engine.stack_init("dev")
        self._settings.write_text(json.dumps(settings))
        up = self.engine.up("dev", skip_preview=True)
        assert up.ok, up.output

    def with_settings(self, settings: Mapping[str, Any]) -> dict[str, set[str]]:
        """Return operation → names of what a preview with other settings would change."""
        self._settings.write_text(json.dumps(settings))
        preview = self.engine.preview("dev")
        assert preview.ok, preview.output
        steps: dict[str, set[str]] = {}
        for step in preview.steps:
            if step.op not in ("same", "read"):
                steps.setdefault(step.op, set()).add(f"{step.type.rpartition(':')[2]} {step.name}")
        return steps


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return Stack(tmp_path_factory.mktemp("network"), {"zones": ["us-east-1b", "us-east-1c"]})


def test_zone_that_sorts_first_only_adds_resources(stack: Stack) -> None:
    steps = stack.with_settings({"zones": ["us-east-1a", "us-east-1b", "us-east-1c"]})
    assert steps.keys() == {"create", "update"}
    assert steps["update"] == {"VpcEndpoint dev-network-s3"}  # which gets one more route table
    assert {name.rpartition("-")[2] for name in steps["create"]} <= {"1a", "nat"}
    # two subnets, two associations, a table with its route, an address, a gateway
    assert len(steps["create"]) == 8


def test_preview_shows_that_another_range_replaces_the_network(stack: Stack) -> None:
    steps = stack.with_settings({"zones": ["us-east-1b", "us-east-1c"], "vpc_cidr": "10.64.0.0/16"})
    assert {
        "Vpc dev-network-vpc",
        "Cluster dev-cluster",
        "NodeGroup dev-system",
        "NodeGroup l4-nodes",
    } <= steps["replace"]


def test_preview_shows_that_an_existing_network_replaces_the_cluster(stack: Stack) -> None:
    steps = stack.with_settings({"subnet_ids": ["subnet-0a", "subnet-0b"]})
    assert {"Cluster dev-cluster", "NodeGroup dev-system", "NodeGroup l4-nodes"} <= steps["replace"]
    assert "Vpc dev-network-vpc" in steps["delete"]
