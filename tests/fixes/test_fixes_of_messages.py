"""What a message of the field is answered with: every command of ours in it runs, and says what the answer promises."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from command_project import Done, Project
from test_fixes_are_applied import FLEET, MANIFEST

from dra_command.status import Status
from dra_planner.catalog.messages import messages

COMMAND = re.compile(r"pulumi-dra ([a-z]+(?: (?:--[a-z-]+|[A-Z/]{4,}|drivers|'PART'))*)")
FIXES = {message.id: message.fix for message in messages()}
ANSWERED = (Status.FITS, Status.BROKEN, Status.CANNOT_TELL)
CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 30Gi, pods: "58"}, nodeInfo: {kubeletVersion: v1.36.2}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.nvidia.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu, uid: 11111111-1111-1111-1111-111111111111}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {type: {string: gpu}}, capacity: {memory: {value: 24Gi}}}]
"""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`edit` and `snapshot` make of manifest and cluster what the message is said of; the answer holds `says`."""

    id: str
    says: str
    m: str = MANIFEST
    edit: list[list[str]] = field(default_factory=list)
    snapshot: list[list[str]] = field(default_factory=list)
    kubernetes: str = "1.34"


ASKED = [Asked(**row) for row in yaml.safe_load((Path(__file__).parent / "message_answers.yaml").read_text("utf-8"))]


def changed(text: str, edits: list[list[str]]) -> str:
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("asked", ASKED, ids=lambda each: each.id)
def test_the_command_of_an_answer_says_what_the_answer_promises(project: Project, asked: Asked) -> None:
    project.write("m.yaml", changed(asked.m, asked.edit))
    project.write("snapshot.yaml", changed(CLUSTER, asked.snapshot))
    project.write("fleet.json", json.dumps({**FLEET, "kubernetes": asked.kubernetes}))
    commands = COMMAND.findall(FIXES[asked.id])
    assert commands
    for command in commands:
        done = run(project, command, asked.kubernetes)
        assert done.status in ANSWERED, done.err
        assert asked.says in " ".join((done.out + done.err).split())


def run(project: Project, command: str, kubernetes: str) -> Done:
    """Run a command of an answer with what stands for its capitals; `--stack NAME` is the fleet of the test."""
    values = {
        "PATH": "m.yaml",
        "SNAPSHOT": "snapshot.yaml",
        "NAMESPACE/NAME": "default/p-gpu",
        "MINOR": kubernetes,
        "'PART'": "unknown GPU sharing strategy: TimeSlicing",
    }
    command = command.replace("--stack NAME", "--fleet fleet.json")
    return project.run(*(values.get(word, word) for word in command.split()))


def test_every_answer_with_a_command_is_asked() -> None:
    assert {id for id, fix in FIXES.items() if "pulumi-dra" in fix} == {asked.id for asked in ASKED}


STEPS_ON_A_CLUSTER = 56
"""Answers that are steps of a person on a cluster, or in a manifest that the message quotes; they grow no more."""


def test_no_more_answers_are_without_a_command() -> None:
    assert sum("pulumi-dra" not in fix for fix in FIXES.values()) <= STEPS_ON_A_CLUSTER
