"""A Deployment that is scaled in the manifests while its rollout is in progress in the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source

Object = dict[str, Any]
NOTE = "Deployment default/web: a rollout is in progress in the cluster"


def web(replicas: int, image: str, **meta: str) -> Object:
    labels = {"app": "web"}
    container = {"name": "c", "image": image, "resources": {"requests": {"cpu": "100m"}}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}}
    spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}
    return {**made, "metadata": {"name": "web", "namespace": "default", **meta}}


def replica_set(made: str, image: str, revision: int) -> Object:
    of = web(1, image)
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d"}
    meta = {"name": f"web-{made}", "namespace": "default", "uid": made}
    meta |= {"labels": {"app": "web", "pod-template-hash": made}}
    meta |= {"annotations": {"deployment.kubernetes.io/revision": str(revision)}}
    meta |= {"ownerReferences": [{**owner, "controller": True}]}
    of["spec"]["selector"]["matchLabels"] = meta["labels"]
    of["spec"]["template"]["metadata"]["labels"] = meta["labels"]
    return {**of, "kind": "ReplicaSet", "metadata": meta}


def pod(made: str, image: str) -> Object:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web-{made}", "uid": made}
    meta = {"name": f"web-{made}-1", "namespace": "default", "uid": f"p-{made}"}
    meta |= {"labels": {"app": "web", "pod-template-hash": made}}
    meta |= {"ownerReferences": [{**owner, "controller": True}]}
    spec = {**web(1, image)["spec"]["template"]["spec"], "nodeName": "n1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def assumptions(replicas: int, *hashes: str) -> list[str]:
    """Return the assumptions of a plan if a Deployment with two pods gets a new image and this
    number of replicas.
    """
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    node["status"] = {
        "allocatable": {"cpu": "8", "memory": "30Gi", "pods": "58"},
        "nodeInfo": {"kubeletVersion": "v1.36.0"},
    }
    there = [node, web(2, "a:2", uid="d")]
    for number, made in enumerate(hashes):
        there += [replica_set(made, f"a:{number}", number + 1), pod(made, f"a:{number}")]
    observed, applied = (
        (Source("f.yaml", "\n---\n".join(map(json.dumps, each))),)
        for each in (there, [web(replicas, "a:3")])
    )
    made_plan = make_plan(PlanRequest(sources=applied, observed=observed))
    return [each for each in made_plan.assumptions if "rollout is in progress" in each]


@pytest.mark.parametrize(
    ("case", "replicas", "hashes", "is_noted"),
    [
        ("scaled, with pods of two templates", 4, ("x1", "x2"), True),
        ("scaled, with pods of one template", 4, ("x1",), False),
        ("not scaled, with pods of two templates", 2, ("x1", "x2"), False),
        ("scaled down, with pods of two templates", 1, ("x1", "x2"), False),
    ],
)
def test_scaling_during_a_rollout_is_noted(
    case: str, replicas: int, hashes: tuple[str, ...], is_noted: bool
) -> None:
    found = assumptions(replicas, *hashes)
    assert [each.startswith(NOTE) for each in found] == [True] * is_noted, case
