"""Volumes that don't exist yet are created where their pod runs, so they don't restrict it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_planner.manifests.workloads.volume_zones import ZONE
from dra_planner.model import PodSpec
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

Object = dict[str, Any]
META = {"name": "data", "namespace": "ml"}


def claim(name: str | None, *modes: str, **spec: Any) -> Object:
    """A PersistentVolumeClaim of a class."""
    spec = {
        "accessModes": list(modes) or ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        **({} if name is None else {"storageClassName": name}),
        **spec,
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": META, "spec": spec}


def storage_class(binding: str, *zones: str, provisioner: str = "disk.example.com") -> Object:
    """A StorageClass named mine, for some zones."""
    made: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "mine"},
        "provisioner": provisioner,
        "volumeBindingMode": binding,
    }
    if zones:
        allowed = {"matchLabelExpressions": [{"key": ZONE, "values": list(zones)}]}
        made["allowedTopologies"] = [allowed]
    return made


def pod_of(*objects: Object, pods: int = 1) -> PodSpec:
    """The pods of a Deployment that mount the claim."""
    spec = {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    labels = {"app": "a"}
    made = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ml"},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    text = "\n---\n".join(json.dumps(each) for each in (*objects, made))
    (workload,) = read_checked([Source("m.yaml", text)], features_of(36)).workloads
    return workload.pod_sets[0].template.spec


WAITS = "WaitForFirstConsumer"


@pytest.mark.parametrize(
    ("objects", "pods", "is_known"),
    [
        pytest.param([claim(None)], 1, True, id="the default class"),
        pytest.param([claim("gp2")], 1, True, id="a class of a cloud"),
        pytest.param([claim("standard")], 1, False, id="a class of a cloud that doesn't wait"),
        pytest.param([claim("fast")], 1, False, id="a missing class"),
        pytest.param([claim("")], 1, False, id="a manually created volume"),
        pytest.param([], 1, False, id="a missing claim"),
        pytest.param([claim("gp2", volumeName="pv")], 1, False, id="a volume that exists"),
        pytest.param([claim("gp2")], 2, True, id="one volume for two pods on one node"),
        pytest.param([claim("azurefile")], 2, True, id="a shared file system for two pods"),
        pytest.param([storage_class(WAITS), claim("mine")], 1, True, id="a class that waits"),
        pytest.param(
            [storage_class("Immediate"), claim("mine")], 1, False, id="a class that doesn't wait"
        ),
        pytest.param(
            [storage_class("Immediate", provisioner="efs.csi.aws.com"), claim("mine")],
            2,
            True,
            id="a driver of shared file systems",
        ),
        pytest.param(
            [storage_class("Immediate"), claim("mine", "ReadWriteMany")], 2, True, id="many writers"
        ),
    ],
)
def test_zone_of_a_volume_is_known_or_not(objects: list[Object], pods: int, is_known: bool) -> None:
    assert pod_of(*objects, pods=pods).zonal_volumes == (() if is_known else ("data",))


def test_pods_run_in_the_only_zone_of_their_class() -> None:
    pod = pod_of(storage_class(WAITS, "z-a"), claim("mine"), pods=2)
    assert (pod.zonal_volumes, pod.node_selector) == ((), {ZONE: "z-a"})
    assert pod.selected_by == {ZONE: "allowedTopologies of StorageClass mine"}


def test_pods_run_in_one_of_the_zones_of_their_class() -> None:
    pod = pod_of(storage_class(WAITS, "z-a", "z-b"), claim("mine"))
    assert pod.node_affinity is not None
    (term,) = pod.node_affinity.terms
    assert [each.values for each in term.match_expressions] == [("z-a", "z-b")]
