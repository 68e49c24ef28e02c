"""Notes that `plan` prints about a fleet."""

from __future__ import annotations

import pytest
from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.33"
endpoint: {publicAccessCidrs: [203.0.113.0/24]}
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.12.0, computeDomains: false}}
devicePlugin: false
deviceClasses: []
pools: [{name: h100, machine: p5.48xlarge, count: 1}]
"""
CLAIM = """\
apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  containers: [{name: main, image: x}]
"""


@pytest.fixture
def planned(project: Project) -> Project:
    project.write("fleet.yaml", FLEET.replace("1.33", "1.34"))
    project.write("pod.yaml", CLAIM)
    return project


def test_notes_about_a_fleet_are_printed(planned: Project) -> None:
    done = planned.run("plan", "pod.yaml", "--fleet", "fleet.yaml")
    assert any("32 EFA interfaces" in note for note in done.notes)
    assert planned.run("plan", "pod.yaml", "--fleet", "fleet.yaml", "--quiet").notes == ()
    assert planned.run("plan", "pod.yaml", "--fleet", "fleet.yaml", "--format", "json").notes == ()


def test_catalog_lists_outdated_facts(project: Project) -> None:
    rows = project.run("catalog", "outdated", "--today", "2026-11-26", "--format", "json").json[
        "outdated"
    ]
    ends = {row["fact"]: row["true_until"] for row in rows}
    assert ends["Kubernetes 1.34 on EKS, standard support"] == "2026-12-02"
    assert all(row["true_until"] <= "2027-02-24" for row in rows)
    wrong = project.run("catalog", "outdated", "--today", "soon")
    assert "isn't a date" in wrong.err
