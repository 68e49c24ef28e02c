"""Folders with several definitions of one object. Like `kubectl apply`, all commands use the last
one.
"""

from __future__ import annotations

import pytest
from command_project import Project

TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus}
spec:
  spec:
    devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: serve}
spec:
  tolerations: [{operator: Exists}]
  resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus}]
  containers: [{name: main, image: i, resources: {claims: [{name: gpus}]}}]
"""
INVALID = TEMPLATE.replace("count: COUNT", "count: -1")


def template(count: int) -> str:
    return TEMPLATE.replace("COUNT", str(count))


# the files of a folder → the exit status of `check`, `plan`, and `explain`: pool l4 has 1 GPU per
# node
VERDICTS: dict[str, tuple[dict[str, str], int]] = {
    "the last file fits": ({"a.yaml": template(9), "b.yaml": template(1), "pod.yaml": POD}, 0),
    "the first file fits": ({"a.yaml": template(1), "b.yaml": template(9), "pod.yaml": POD}, 1),
    "the last of three files": (
        {"a.yaml": template(9), "b.yaml": template(9), "c.yaml": template(1), "pod.yaml": POD},
        0,
    ),
    "a folder comes before a file with a later name": (
        {"a/x.yaml": template(9), "a.yaml": template(1), "b.yaml": POD},
        0,
    ),
    "a file comes before a folder with a later name": (
        {"b/x.yaml": template(9), "a.yaml": template(1), "pod.yaml": POD},
        1,
    ),
    "names with a hyphen sort like entries of a folder": (
        {"a/x.yaml": template(9), "a-b/x.yaml": template(1), "pod.yaml": POD},
        0,
    ),
    "a workload with two definitions": (
        {
            "a.yaml": template(9) + POD,
            "b.yaml": template(1) + POD.replace("image: i", "image: j"),
        },
        0,
    ),
    "the API server rejects the last definition": (
        {"a.yaml": template(9), "b.yaml": INVALID, "pod.yaml": POD},
        1,
    ),
}


@pytest.mark.parametrize("command", ["check", "plan", "explain"])
@pytest.mark.parametrize("name", VERDICTS)
def test_last_definition_decides_the_verdict(project: Project, name: str, command: str) -> None:
    files, status = VERDICTS[name]
    for path, text in files.items():
        project.write(f"all/{path}", text)
    words = ["--pod", "default/serve"] if command == "explain" else []

    done = project.run(command, "all", *words, "--stack", "dev")

    assert done.status == status, done.out


def notes(project: Project, command: str) -> list[dict[str, str]]:
    """Return the notes about several definitions, after they appear in the folder `all`."""
    found = project.run(command, "all", "--stack", "dev", "--format", "json").json["diagnostics"]
    return [each for each in found if each["code"] == "duplicate-object"]


@pytest.mark.parametrize("command", ["check", "plan"])
def test_one_note_names_the_objects_and_the_used_definitions(
    project: Project, command: str
) -> None:
    for name, count in {"a": 3, "b": 2, "c": 1}.items():
        project.write(f"all/{name}.yaml", template(count))
    project.write("all/pod.yaml", POD)
    project.write("all/d.yaml", POD.replace("image: i", "image: j"))

    (note,) = notes(project, command)

    assert note["severity"] == "note"
    assert note["message"] == (
        'several files define 2 objects in "all" differently. Like `kubectl apply`, the plan uses '
        "the last definition of each object: ResourceClaimTemplate default/gpus from all/c.yaml:1, "
        "not from all/a.yaml:1 or all/b.yaml:1; Pod default/serve from all/pod.yaml:1, not from "
        "all/d.yaml:1"
    )


def test_note_names_at_most_three_objects(project: Project) -> None:
    for number in range(5):
        text = POD.replace("serve", f"p{number}")
        project.write("all/a.yaml", template(1))
        project.write(f"all/b{number}.yaml", text)
        project.write(f"all/c{number}.yaml", text.replace("image: i", "image: j"))

    (note,) = notes(project, "check")

    assert "Pod default/p2 from" in note["message"]
    assert note["message"].endswith("; and 2 other objects")


def test_copies_of_an_object_are_not_reported(project: Project) -> None:
    for name in ("a", "b"):
        project.write(f"all/{name}.yaml", template(1) + POD)

    assert notes(project, "check") == []


def test_file_that_defines_an_object_twice_is_an_error(project: Project) -> None:
    project.write("all/a.yaml", template(9) + template(1) + POD)

    done = project.run("check", "all", "--stack", "dev", "--format", "json")

    (found,) = done.json["diagnostics"]
    assert (found["severity"], found["code"], found["line"]) == ("error", "duplicate-object", 8)
    assert found["fix"] == (
        "remove one of the two objects. The plan uses the object at all/a.yaml:8"
    )


def test_rejected_definition_does_not_hide_an_accepted_one(project: Project) -> None:
    project.write("all/a.yaml", template(1))
    project.write("all/b.yaml", INVALID)
    project.write("all/pod.yaml", POD)

    found = project.run("check", "all", "--stack", "dev", "--format", "json").json["diagnostics"]

    assert [each["code"] for each in found] == ["invalid-value"]
