"""Cluster descriptions of other tools, passed instead of a fleet file."""

from __future__ import annotations

import json

import yaml
from command_project import EXAMPLES, Project

from cluster_descriptions import TWO_POOLS
from dra_planner.documents.variables import fill_in_defaults


def test_plan_reads_eksctl_pools_and_notes_missing_facts(project: Project) -> None:
    project.write("cluster.yaml", TWO_POOLS)

    done = project.run("plan", str(EXAMPLES / "workloads"), "--fleet", "cluster.yaml")

    assert done.status == 0
    assert "these files don't describe the NVIDIA DRA driver" in done.err


def test_init_writes_the_fleet_of_a_terraform_plan(project: Project) -> None:
    group = {
        "node_group_name": "l4",
        "instance_types": ["g6.2xlarge"],
        "scaling_config": [{"max_size": 2}],
    }
    resources = [
        {
            "address": "aws_eks_cluster.ml",
            "mode": "managed",
            "type": "aws_eks_cluster",
            "values": {"name": "ml"},
        },
        {
            "address": "aws_eks_node_group.l4",
            "mode": "managed",
            "type": "aws_eks_node_group",
            "values": group,
        },
    ]
    plan = {"format_version": "1.2", "planned_values": {"root_module": {"resources": resources}}}
    project.write("plan.json", json.dumps(plan))

    done = project.run("init", "gpus", "--from", "plan.json", "--region", "us-east-1")

    assert done.status == 0
    assert "Kubernetes version isn't set, so the fleet uses" in done.out
    assert project.run("plan", "gpus/workloads", "--fleet", "gpus/fleet.yaml").status == 0


def test_file_of_no_known_tool_is_wrong_input(project: Project) -> None:
    project.write("notes.yaml", "hello: world\n")

    done = project.run("init", "gpus", "--from", "notes.yaml")

    assert done.status == 2
    assert "terraform show -json" in done.err


SUBSTITUTED = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: "${NAME:=gpu}"}
spec:
  limits: {nvidia.com/gpu: ${LIMIT:=8}}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: ["${TYPE:-g6.2xlarge}"]}
"""


def test_variables_of_a_template_have_their_defaults(project: Project) -> None:
    project.write("pool.yaml", SUBSTITUTED)
    done = project.run("init", "out", "--from", "pool.yaml", "--region", "us-east-1")
    assert done.status == 0, done.err
    assert (
        "these variables have their default values: NAME=gpu, LIMIT=8, TYPE=g6.2xlarge" in done.out
    )
    (pool,) = yaml.safe_load((project.root / "out/fleet.yaml").read_text())["pools"]
    assert (pool["name"], pool["machine"], pool["count"]["max"]) == ("gpu", "g6.2xlarge", 8)


def test_variable_without_a_default_is_kept() -> None:
    text, defaults = fill_in_defaults("a: ${A}, b: ${B:=x}, c: ${C-}, d: $D, e: ${B}")
    assert (text, defaults) == ("a: ${A}, b: x, c: , d: $D, e: ${B}", {"B": "x", "C": ""})
