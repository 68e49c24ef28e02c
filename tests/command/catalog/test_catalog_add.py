"""`catalog add`: fleets can use a new machine type as soon as one of its nodes has been
captured.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from captured_npu import CLASS, FLEET, NODE, SLICE, WORK, capture
from command_project import Project


def test_fleet_plans_with_a_learned_machine_type(project: Project) -> None:
    capture(project, NODE, SLICE, CLASS)
    project.write("fleet.yaml", FLEET)
    project.write("work.yaml", WORK)
    before = project.run("plan", "work.yaml", "--fleet", "fleet.yaml")
    assert before.status == 2

    done = project.run("catalog", "add", "--from", "cluster.json", "--fleet", "fleet.yaml")
    assert (done.status, done.out) == (0, "Wrote 1 machine type into fleet.yaml: npu9-8x\n")
    assert any(
        "isn't in the tables, so its size comes from a node's allocatable resources" in note
        for note in done.notes
    )
    written = (project.root / "fleet.yaml").read_text(encoding="utf-8")
    assert written.startswith(FLEET)  # comments and order stay

    plan = project.run("plan", "work.yaml", "--fleet", "fleet.yaml", "--format", "json").json
    assert plan["verdict"] == "fits"
    assert plan["pools"][0]["nodes"]["desired"] == 2


def test_learning_again_replaces_the_captured_drivers(project: Project) -> None:
    capture(project, NODE, SLICE, CLASS)
    project.write("fleet.yaml", FLEET)
    project.run("catalog", "add", "--from", "cluster.json", "--fleet", "fleet.yaml")
    other = json.loads(json.dumps([SLICE, CLASS]).replace("npu.example.org", "nic.example.org"))
    capture(project, NODE, *other)
    project.run("catalog", "add", "--from", "cluster.json", "--fleet", "fleet.yaml")

    rows = yaml.safe_load((project.root / "fleet.yaml").read_text(encoding="utf-8"))["catalog"]
    assert [each["driver"] for each in rows[0]["drivers"]] == ["npu.example.org", "nic.example.org"]


def test_rows_are_printed_without_a_fleet(project: Project) -> None:
    capture(project, NODE, SLICE, CLASS)
    rows = yaml.safe_load(project.run("catalog", "add", "--from", "cluster.json").out)["catalog"]
    assert rows[0]["drivers"][0]["classes"] == [
        {"name": "npu.example.org", "selectors": ["device.driver == 'npu.example.org'"]}
    ]
    answer = project.run("catalog", "add", "--from", "cluster.json", "--format", "json").json
    assert answer["catalog"] == rows
    assert answer["remarks"]


@pytest.mark.parametrize(
    ("objects", "fix"),
    [
        (
            [SLICE, CLASS],
            "add the nodes to the snapshot: run `kubectl get nodes,resourceslices,deviceclasses -o json`",
        ),
        (
            [NODE, CLASS],
            "add the ResourceSlices to the snapshot: run `kubectl get nodes,resourceslices,deviceclasses "
            "-o json",
        ),
        ([{**NODE, "metadata": {"name": "n0"}}, SLICE], "set the machine type with --machine"),
        (
            [NODE, {**SLICE, "spec": {**SLICE["spec"], "nodeName": "n1"}}],
            "add the Node to the snapshot: run `kubectl get nodes,resourceslices,deviceclasses -o json`",
        ),
        (
            [
                NODE,
                {
                    **SLICE,
                    "spec": {
                        **{k: v for k, v in SLICE["spec"].items() if k != "nodeName"},
                        "allNodes": True,
                    },
                },
            ],
            "add a Node with all its ResourceSlices to the snapshot",
        ),
    ],
)
def test_useless_capture_is_explained(project: Project, objects: list[Any], fix: str) -> None:
    capture(project, *objects)
    done = project.run("catalog", "add", "--from", "cluster.json")
    assert done.status == 2
    assert fix in " ".join(done.err.split())


def test_nodes_must_be_specified(project: Project) -> None:
    done = project.run("catalog", "add")
    assert done.status == 2
    assert "use --from FILE, --context NAME, or --kubeconfig FILE" in " ".join(done.err.split())
    capture(project, {**NODE, "metadata": {"name": "n0"}}, SLICE, CLASS)
    assert (
        project.run("catalog", "add", "--from", "cluster.json", "--machine", "npu9-8x").status == 0
    )


def _changed(**changes: Any) -> dict[str, Any]:
    return {**SLICE, "spec": {**SLICE["spec"], **changes}}


DEVICE = SLICE["spec"]["devices"][0]
HOSTILE: dict[str, tuple[list[dict[str, Any]], str]] = {
    "other kinds": (
        [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}],
        "the snapshot doesn't contain a Node",
    ),
    "an incomplete pool": (
        [NODE, _changed(pool={"name": "n0", "generation": 1, "resourceSliceCount": 3})],
        "pool n0 has 3 slices, but the snapshot contains only 1",
    ),
    "no pool": ([NODE, _changed(pool={})], "spec.pool.name: Required value"),
    "no devices": ([NODE, _changed(devices=[])], "pool n0 doesn't have devices"),
    "counters without devices": (
        [
            NODE,
            {
                **SLICE,
                "spec": {
                    **{key: SLICE["spec"][key] for key in ("driver", "nodeName", "pool")},
                    "sharedCounters": [{"name": "c", "counters": {"m": {"value": "4"}}}],
                },
            },
        ],
        "pool n0 doesn't have devices",
    ),
    "counters of an undefined set": (
        [
            NODE,
            _changed(
                devices=[
                    {
                        **DEVICE,
                        "consumesCounters": [
                            {"counterSet": "lost", "counters": {"m": {"value": "1"}}}
                        ],
                    }
                ]
            ),
        ],
        'doesn\'t have the counter set "lost", which device npu-0 consumes',
    ),
    "an old version": (
        [NODE, {**SLICE, "apiVersion": "resource.k8s.io/v1beta1"}],
        'no matches for kind "ResourceSlice" in version "resource.k8s.io/v1beta1"',
    ),
    "another node": ([NODE, _changed(nodeName="n9")], "doesn't contain its Node n9"),
    "an attribute without a type": (
        [NODE, _changed(devices=[{**DEVICE, "attributes": {"model": {"weird": 1}}}])],
        'unknown field "spec.devices[0].attributes.model.weird"',
    ),
    "an invalid quantity": (
        [NODE, _changed(devices=[{**DEVICE, "capacity": {"memory": {"value": "32GB"}}}])],
        "quantities must match",
    ),
    "a duplicate device": ([NODE, _changed(devices=[DEVICE, DEVICE])], 'Duplicate value: "npu-0"'),
    "no spec": ([NODE, {**SLICE, "spec": "x"}], "cannot unmarshal string"),
    "a node per device": (
        [
            NODE,
            {
                **SLICE,
                "spec": {
                    **{key: SLICE["spec"][key] for key in ("driver", "pool")},
                    "perDeviceNodeSelection": True,
                    "devices": [{**DEVICE, "nodeName": "n0"}],
                },
            },
        ],
        "isn't specific to one node",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_wrong_or_partial_capture_is_explained(project: Project, name: str) -> None:
    objects, message = HOSTILE[name]
    capture(project, *objects)
    done = project.run("catalog", "add", "--from", "cluster.json")
    assert (done.status, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("objects", "note"),
    [
        (
            [SLICE, {**_changed(nodeName="n9"), "metadata": {"name": "lost"}}],
            "ResourceSlice lost: the snapshot doesn't contain its Node n9",
        ),
        (
            [
                SLICE,
                {
                    **_changed(driver="nic.example.org", devices=[]),
                    "metadata": {"name": "nics"},
                },
            ],
            "nic.example.org: pool n0 doesn't have devices, so the catalog omits this pool",
        ),
        (
            [
                SLICE,
                {**SLICE, "metadata": {"name": "old"}, "apiVersion": "resource.k8s.io/v1beta1"},
            ],
            'ResourceSlice old: no matches for kind "ResourceSlice"',
        ),
    ],
    ids=["another node", "a driver without devices", "an old version"],
)
def test_skipped_parts_of_a_capture_are_noted(
    project: Project, objects: list[dict[str, Any]], note: str
) -> None:
    capture(project, NODE, CLASS, *objects)
    done = project.run("catalog", "add", "--from", "cluster.json")
    assert done.status == 0
    assert [each["driver"] for each in yaml.safe_load(done.out)["catalog"][0]["drivers"]] == [
        "npu.example.org"
    ]
    assert any(note in each for each in done.notes)
