"""Guards as kustomize patches: patched pods have what admission policies would add."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner.model import Guards, SteerRule
from dra_planner.plan.judgement.kustomize import guards_component
from dra_planner.plan.reading import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

Json = dict[str, Any]
POD: Json = {"containers": [{"name": "main", "image": "registry.example/app:1"}]}
LABELLED: Json = {"labels": {"app": "a"}}
OWN: Json = {
    "maxSkew": 2,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "ScheduleAnyway",
}
EVEN: Json = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "DoNotSchedule",
    "nodeTaintsPolicy": "Honor",
    "labelSelector": {"matchLabels": {"pulumi-dra/spread": "1"}},
}


def job(template: Json) -> Json:
    template = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    metadata = {"name": "a", "namespace": "ml"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template},
    }


TEMPLATES = {
    "with labels": {"metadata": LABELLED, "spec": POD},
    "with annotations only": {"metadata": {"annotations": {"a": "b"}}, "spec": POD},
    "with empty metadata": {"metadata": {}, "spec": POD},
    "without metadata": {"spec": POD},
    "with its own spread": {
        "metadata": LABELLED,
        "spec": {**POD, "topologySpreadConstraints": [OWN]},
    },
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_patched_pods_spread_evenly_and_keep_their_fields(case: str) -> None:
    document = job(TEMPLATES[case])
    manifests = read_checked([Source("job.yaml", yaml.safe_dump(document))], features_of(34))
    (workload,) = manifests.workloads
    rule = SteerRule(pool="l4", workloads=((workload.ref, workload.pod_sets[0].name),), spread="1")
    component, left = guards_component(Guards(rules=(rule,)), manifests)
    assert component is not None
    assert left == ()
    for patch in component["patches"]:
        for operation in patch["patch"]:
            add(document, operation["path"], operation["value"])
    before, after = TEMPLATES[case], document["spec"]["template"]
    own = before.get("metadata", {})
    assert after["metadata"].get("annotations") == own.get("annotations")
    assert after["metadata"]["labels"] == {**own.get("labels", {}), "pulumi-dra/spread": "1"}
    assert after["spec"]["nodeSelector"] == {"pulumi-dra/pool": "l4"}
    spread = before["spec"].get("topologySpreadConstraints", [])
    assert after["spec"]["topologySpreadConstraints"] == [*spread, EVEN]


def add(document: Json, path: str, value: Any) -> None:
    """Apply an operation "add" of JSON Patch: it needs the object above, and replaces a value."""
    *steps, key = path.lstrip("/").split("/")
    found: Any = document
    for step in steps:
        found = found[step]
    found[key] = value
