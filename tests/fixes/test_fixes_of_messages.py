"""Explanations of known error messages: every pulumi-dra command in an explanation runs, and prints
what the explanation promises.

kubectl and Helm commands are checked with the verbs and options in `cluster_commands.yaml`. If the
programs are on PATH, their own parsers must also accept the commands.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from command_project import Done, Project
from fix_cases import FLEET, MANIFEST
from msgspec import Struct

from dra_command.command_line.exit_status import Status
from dra_planner.catalog.messages import commands, messages

COMMANDS = {message.id: commands(message) for message in messages()}
OURS = {
    id: [each for each in found if each.startswith("pulumi-dra")] for id, found in COMMANDS.items()
}
OTHERS = sorted(
    {each for found in COMMANDS.values() for each in found if not each.startswith("pulumi-dra")}
)
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


class Case(Struct, frozen=True, kw_only=True):
    """`edit` and `snapshot` create the manifest and the cluster for which the message appears. The
    explanation contains `output`.
    """

    id: str
    output: str
    m: str = MANIFEST
    edit: list[list[str]] = []
    snapshot: list[list[str]] = []
    kubernetes: str = "1.34"
    other_output: str = ""  # output of a second command, if the explanation has two


CASES = [
    Case(**row)
    for row in yaml.safe_load((Path(__file__).parent / "message_answers.yaml").read_text("utf-8"))
]


def changed(text: str, edits: list[list[str]]) -> str:
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda each: each.id)
def test_command_in_an_answer_prints_the_promised_output(project: Project, case: Case) -> None:
    project.write("m.yaml", changed(case.m, case.edit))
    project.write("snapshot.yaml", changed(CLUSTER, case.snapshot))
    project.write("fleet.json", json.dumps({**FLEET, "kubernetes": case.kubernetes}))
    for command in OURS[case.id]:
        done = run(project, command, case.kubernetes)
        assert done.status in ANSWERED, done.err
        output = " ".join((done.out + done.err).split())
        assert any(words in output for words in filter(None, (case.output, case.other_output))), (
            output
        )


def run(project: Project, command: str, kubernetes: str) -> Done:
    """Run a command from an explanation with values for its placeholders. `--stack NAME` refers to
    the fleet of the test.
    """
    values = {
        "PATH": "m.yaml",
        "VALUES": "m.yaml",
        "SNAPSHOT": "snapshot.yaml",
        "NAMESPACE/NAME": "default/p-gpu",
        "MINOR": kubernetes,
        "PART": "unknown GPU sharing strategy: TimeSlicing",
    }
    command = command.replace("--stack NAME", "--fleet fleet.json")
    return project.run(*(values.get(word, word) for word in shlex.split(command)[1:]))


def test_every_answer_with_our_command_has_a_case() -> None:
    assert {id for id, found in OURS.items() if found} == {case.id for case in CASES}


CLUSTER_COMMANDS = yaml.safe_load(
    (Path(__file__).parent / "cluster_commands.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("command", OTHERS)
def test_cluster_command_exists_in_its_program(command: str) -> None:
    words = shlex.split(command)
    program, verb = words[0], words[1] if words[1] != "auth" else " ".join(words[1:3])
    known = CLUSTER_COMMANDS[program]
    assert verb in known["verbs"], verb
    until = words.index("--") if "--" in words else len(words)
    options = {word.partition("=")[0] for word in words[:until] if word.startswith("-")}
    assert options <= {*known["everywhere"], *known["verbs"][verb]}
    if (
        program == "kubectl"
        and verb in ("get", "describe", "delete", "label")
        and "--raw" not in words
    ):
        assert set(words[2].split(",")) <= set(known["kinds"]), words[2]
    if shutil.which(program):  # with --help it reads all options, and asks no cluster
        help_command = [*words[:until], "--help"]
        done = subprocess.run(help_command, capture_output=True, text=True, check=False)
        assert (done.returncode, "unknown" in done.stderr) == (0, False), done.stderr
