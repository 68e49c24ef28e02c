"""Tables of a plan on narrow terminals: each workload and pool has one line, no two names are
equal, and letters are in alphabetical order.
"""

from __future__ import annotations

import re

import pytest
from command_project import Project

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: NAME}]
      containers: [{name: main, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME, namespace: NAMESPACE}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools: [{name: inference-with-l4-in-zone-a, machine: g6.2xlarge, count: {max: 9}}]
"""


@pytest.mark.parametrize("columns", [80, 60])
def test_names_of_workloads_differ_on_narrow_terminals(columns: int, project: Project) -> None:
    names = [(f"team-{team}", f"recommendations-{number}") for team in (1, 2) for number in (1, 2)]
    texts = [WORKLOAD.replace("NAMESPACE", space).replace("NAME", name) for space, name in names]
    project.write("m.yaml", "---\n".join(texts))
    project.write("fleet.yaml", FLEET)

    words = ("plan", "m.yaml", "--fleet", "fleet.yaml")
    out = project.run(*words, COLUMNS=str(columns)).out

    table = out[out.index("Workloads") :].partition("\nfloor:")[0].splitlines()
    assert len(table) == 2 + len(names)
    assert max(map(len, table)) <= columns
    letters, cut = zip(
        *(re.split(r" {2,}", line)[0].split(" ", 1) for line in table[2:]), strict=True
    )
    assert (len(set(letters)), len(set(cut))) == (4, 4)


@pytest.mark.parametrize(("title", "column"), [("Workloads", 1), ("Pools", 0), ("Devices", 0)])
def test_long_pool_names_have_an_ellipsis_on_narrow_terminals(
    title: str, column: int, project: Project
) -> None:
    zones = ("a", "b")
    names = [f"inference-with-l4-on-demand-zone-{zone}" for zone in zones]
    pool = "{name: NAME, machine: g6.2xlarge, zones: [us-east-1ZONE], count: {min: 1, max: 9}}"
    pools = [
        pool.replace("NAME", name).replace("ZONE", zone)
        for name, zone in zip(names, zones, strict=True)
    ]
    project.write("m.yaml", WORKLOAD.replace("NAMESPACE", "team").replace("NAME", "chat"))
    project.write("fleet.yaml", FLEET.partition("pools:")[0] + f"pools: [{', '.join(pools)}]\n")

    out = project.run("plan", "m.yaml", "--fleet", "fleet.yaml", COLUMNS="60").out

    table = out[out.index(f"\n{title} ") + 1 :].splitlines()[2 : 3 if column else 4]
    shown = [re.split(r" {2,}", line)[column] for line in table]
    assert [(name[:5], "…" in name, name[-5:]) for name in shown] == [
        ("infer", True, f"one-{zone}") for zone in zones[: len(table)]
    ]
    assert max(map(len, table)) <= 60


def test_letters_are_in_order_if_pods_are_pending(project: Project) -> None:
    fits, pends = (WORKLOAD.replace("NAMESPACE", "team").replace("NAME", name) for name in "fp")
    two = "{deviceClassName: gpu.nvidia.com, count: 2}"
    project.write("m.yaml", f"{fits}---\n{pends.replace('{deviceClassName: gpu.nvidia.com}', two)}")
    project.write("fleet.yaml", FLEET)

    out = project.run("plan", "m.yaml", "--fleet", "fleet.yaml", COLUMNS="60").out

    workloads = out[out.index("\nWorkloads ") + 1 :].splitlines()[2:4]
    assert [line[:12] for line in workloads] == ["A deploy p  ", "B deploy f  "]
    devices = out[out.index("\nDevices ") + 1 :].splitlines()[2]
    assert devices.split()[2] == "B"


def test_bars_are_shorter_if_a_row_would_need_two_lines(project: Project) -> None:
    project.write("m.yaml", WORKLOAD.replace("NAMESPACE", "team").replace("NAME", "web"))
    project.write("fleet.yaml", FLEET.replace("count: {max: 9}", "count: {min: 20, max: 40}"))

    out = project.run("plan", "m.yaml", "--fleet", "fleet.yaml", COLUMNS="80").out

    heads, _, row, *_ = out[out.index("Pools") :].splitlines()
    assert heads.split()[-4:] == ["bound", "packing", "simulated", "USD/h"]
    assert "20/40" in row or "1/40" in row
    assert len(row) <= 80
