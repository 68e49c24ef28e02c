"""Hostile and random input raises only the project's own exceptions, and the rules table applies to
single mutations.
"""

# a manifest reads best in one piece
from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_planner.claims import expand_claims
from dra_planner.errors import ManifestError
from dra_planner.manifests import Manifests
from dra_planner.manifests.rewriting import rewrite
from dra_planner.plan import check_selector, read_checked
from dra_planner.releases import RELEASES, features_of
from dra_planner.sources import Source

CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "namespace": "ml", "labels": {"a": "b"}},
    "spec": {
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {
                        "deviceClassName": "gpu.nvidia.com",
                        "selectors": [{"cel": {"expression": "true"}}],
                        "tolerations": [{"key": "a/b", "operator": "Exists"}],
                        "capacity": {"requests": {"memory": "1Gi"}},
                    },
                },
                {
                    "name": "nic",
                    "firstAvailable": [{"name": "a", "deviceClassName": "nic.example", "count": 2}],
                },
            ],
            "constraints": [
                {"requests": ["gpu", "nic/a"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}
            ],
            "config": [{"opaque": {"driver": "gpu.nvidia.com", "parameters": {"x": 1}}}],
        }
    },
}
SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "s"},
    "spec": {
        "driver": "gpu.nvidia.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {
                "name": "d0",
                "attributes": {
                    "model": {"string": "x"},
                    "index": {"int": 1},
                    "v": {"version": "1.2.3"},
                },
                "capacity": {"memory": {"value": "80Gi"}},
                "taints": [{"key": "a/b", "effect": "NoSchedule"}],
                "consumesCounters": [{"counterSet": "s", "counters": {"m": {"value": "1"}}}],
            }
        ],
    },
}
POD_SPEC: dict[str, Any] = {
    "containers": [
        {
            "name": "main",
            "image": "i",
            "resources": {"claims": [{"name": "gpu"}], "limits": {"cpu": "1"}},
        }
    ],
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
    "tolerations": [{"key": "k", "operator": "Exists"}],
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "ml"},
    "spec": POD_SPEC,
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD_SPEC},
    },
}


def ray() -> dict[str, Any]:
    group = {"groupName": "g", "replicas": 2, "numOfHosts": 2, "template": {"spec": POD_SPEC}}
    spec = {
        "enableInTreeAutoscaling": True,
        "headGroupSpec": {"template": {"spec": POD_SPEC}},
        "workerGroupSpecs": [group],
    }
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r"},
        "spec": spec,
    }


OTHERS: list[dict[str, Any]] = [
    ray(),
    {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j"},
     "spec": {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 2, "template": {"spec": POD_SPEC}}}}]}},
    {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"},
     "spec": {"entrypoint": "m", "templates": [{"name": "m", "steps": [[{"name": "a", "template": "t", "withItems": [1]}]]},
                                                {"name": "t", "container": {"image": "i"}, "podSpecPatch": "{}"}]}},
    {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": {"name": "i"},
     "spec": {"predictor": {"minReplicas": 1, "maxReplicas": 2, "model": {"resources": {}}, "workerSpec": {"pipelineParallelSize": 2}}}},
    {"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMService", "metadata": {"name": "n"},
     "spec": {"replicas": 1, "draResources": [{"claimCreationSpec": {"devices": [{"name": "g", "deviceClassName": "x"}]}}]}},
    {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "v"},
     "spec": {"template": {"spec": {"domain": {"devices": {"gpus": [{"deviceName": "a/b"}]}, "memory": {"guest": "1Gi"}}}}}},
    {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "g"},
     "spec": {"services": {"a": {"replicas": 1, "resources": {"limits": {"gpu": 1}}, "extraPodSpec": {"mainContainer": {}}}}}},
    {"apiVersion": "example.com/v1", "kind": "Flock", "metadata": {"name": "f"}, "spec": {"replicas": 2, "pod": POD_SPEC}},
    {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
     "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3}},
    {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v"},
     "spec": {"minAvailable": 2, "tasks": [{"name": "t", "replicas": 2, "minAvailable": 1, "template": {"spec": POD_SPEC}}]}},
    {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "l"},
     "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": POD_SPEC}}}},
    {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"minMember": 2}},
    {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "k"},
     "spec": {"minMember": 2, "subGroups": [{"name": "a", "minMember": 1}]}},
    {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
     "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}},
    {"apiVersion": "helm.cattle.io/v1", "kind": "HelmChart", "metadata": {"name": "d"},
     "spec": {"chart": "nvidia-dra-driver-gpu", "version": "25.8.1", "set": {"gpuResourcesEnabledOverride": True}, "valuesContent": "a: 1"}},
    {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "d"},
     "spec": {"source": {"chart": "nvidia-dra-driver-gpu", "targetRevision": "25.8.1", "helm": {"parameters": [{"name": "gpuResourcesEnabledOverride", "value": "true"}]}}}},
    {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "d"},
     "spec": {"chart": {"spec": {"chart": "nvidia-dra-driver-gpu", "version": "25.8.1"}}, "values": {"gpuResourcesEnabledOverride": True}}},
    {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1"}}},
]  # fmt: skip
ALL = [CLAIM, SLICE, POD, DEPLOYMENT, *OTHERS]


def read(*documents: Any, minor: int = 36) -> Manifests:
    text = "\n---\n".join(json.dumps(document) for document in documents)
    return read_checked([Source("m.yaml", f"---\n{text}")], features_of(minor))


def paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        found += paths(value, (*path, key))
    return found


def changed(document: Any, path: tuple[Any, ...], value: Any, *, remove: bool = False) -> Any:
    document = copy.deepcopy(document)
    node = document
    for key in path[:-1]:
        node = node[key]
    if remove:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return document


PLACES = [(document, path) for document in ALL for path in paths(document)]
JUNK = st.sampled_from(
    [None, True, 0, -1, 2**40, 2**70, 1.5, "", "x", "A b", "-1", "1Gi", "é" * 300, [], {}, [None], [[]], [{}], {"a": None},
     {"name": 1}, [1], {"": ""}, "\u0000", {"a": {"b": {"c": []}}}, 1e300]
)  # fmt: skip


def test_examples_are_valid() -> None:
    for minor in RELEASES:
        findings = [
            item for item in read(*ALL, minor=minor).diagnostics if item.severity == "error"
        ]
        assert findings == []


@settings(max_examples=400)
@given(st.sampled_from(PLACES), JUNK, st.booleans(), st.sampled_from(list(RELEASES)))
def test_no_mutation_causes_an_exception(
    place: tuple[Any, tuple[Any, ...]], junk: Any, remove: bool, minor: int
) -> None:
    document, path = place
    mutant = changed(document, path, junk, remove=remove)
    features = features_of(minor)
    manifests = None
    with suppress(ManifestError):
        manifests = read(mutant, CLAIM, DEPLOYMENT, minor=minor)
    if manifests is None:
        return
    demand = expand_claims(manifests, manifests.classes, features)
    assert all(item.message and item.code for item in manifests.diagnostics)
    assert len({shape.id for shape in demand.shapes}) == len(demand.shapes)
    rewrite([Source("m.yaml", json.dumps(mutant))], features, check_selector=check_selector)


@pytest.mark.parametrize(
    "value",
    ["gpuResourcesEnabledOverride=true", ["gpuResourcesEnabledOverride=true"]],
    ids=["text", "list"],
)
def test_chart_settings_that_are_not_a_mapping_are_rejected(value: Any) -> None:
    document = next(each for each in OTHERS if each["kind"] == "HelmChart")
    (found,) = read(changed(document, ("spec", "set"), value)).diagnostics
    assert (found.code, found.place and found.place.path) == ("value-refused", "spec.valuesContent")


@pytest.mark.parametrize(
    ("api_version", "path", "where"),
    [
        ("batch.volcano.sh/v1alpha1", ("spec", "tasks", 0, "replicas"), "spec.tasks[0].template"),
        (
            "leaderworkerset.x-k8s.io/v1",
            ("spec", "replicas"),
            "spec.leaderWorkerTemplate.workerTemplate",
        ),
    ],
)
def test_negative_pod_count_is_rejected(
    api_version: str, path: tuple[Any, ...], where: str
) -> None:
    document = next(each for each in OTHERS if each["apiVersion"] == api_version)
    manifests = read(CLAIM, changed(document, path, -5))
    (found,) = [each for each in manifests.diagnostics if "must not be negative" in each.message]
    assert (found.severity, found.place and found.place.path) == ("error", where)
    (workload,) = [
        each for each in manifests.workloads if each.meta.name == document["metadata"]["name"]
    ]
    assert workload.pod_sets == ()


REFUSED: list[tuple[dict[str, Any], str, Any]] = [
    (CLAIM, "metadata.name", "A"),
    (CLAIM, "metadata.labels.a", "b c"),
    (CLAIM, "spec.devices.requests.0.name", "G"),
    (CLAIM, "spec.devices.requests.1.name", "gpu"),
    (CLAIM, "spec.devices.requests.0.exactly", None),
    (CLAIM, "spec.devices.requests.0.exactly.deviceClassName", ""),
    (CLAIM, "spec.devices.requests.0.exactly.selectors.0.cel", None),
    (CLAIM, "spec.devices.requests.0.exactly.tolerations.0.operator", "Maybe"),
    (CLAIM, "spec.devices.requests.1.firstAvailable.0.count", -1),
    (CLAIM, "spec.devices.constraints.0.requests.1", "nic/b"),
    (CLAIM, "spec.devices.constraints.0.matchAttribute", "pcieRoot"),
    (CLAIM, "spec.devices.config.0.opaque.driver", "a_b"),
    (CLAIM, "spec.devices.config.0.opaque.parameters", None),
    (SLICE, "spec.driver", ""),
    (SLICE, "spec.nodeName", ""),
    (SLICE, "spec.pool.resourceSliceCount", 0),
    (SLICE, "spec.devices.0.name", "d.0"),
    (SLICE, "spec.devices.0.attributes.v.version", "v1"),
    (SLICE, "spec.devices.0.attributes.model.string", "x" * 65),
    (SLICE, "spec.devices.0.taints.0.effect", "Never"),
    (SLICE, "spec.devices.0.consumesCounters.0.counters", {}),
    (POD, "spec.resourceClaims.0.name", "a.b"),
    (POD, "spec.containers.0.resources.claims.0.name", "nic"),
    (POD, "spec.containers.0.resources.limits.cpu", "-1"),
    (DEPLOYMENT, "spec.replicas", -1),
    (DEPLOYMENT, "spec.selector.matchLabels.a", "c"),
]


@pytest.mark.parametrize(
    ("document", "path", "value"), REFUSED, ids=[f"{row[0]['kind']} {row[1]}" for row in REFUSED]
)
def test_single_mutation_is_rejected_at_its_place(
    document: dict[str, Any], path: str, value: Any
) -> None:
    keys = tuple(int(key) if key.isdigit() else key for key in path.split("."))
    (finding, *_) = read(changed(document, keys, value)).diagnostics
    assert finding.severity == "error"
    written = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)[1:]
    near = (
        finding.place.path.replace("[v]", ".v")
        .replace("[model]", ".model")
        .replace("limits[cpu]", "limits.cpu")
    )
    assert (
        written.startswith(near)
        or near.startswith(written.rsplit(".", 1)[0])
        or "template.metadata.labels" in near
    )


def test_items_of_a_typed_list_need_no_kind() -> None:
    text = "apiVersion: example.com/v1\nkind: ThingList\nitems:\n- {metadata: {name: a}, spec: {x: {y: []}}}\n"
    manifests = read_checked([Source("list.yaml", text)], features_of(36))
    assert manifests.other_kinds == {"example.com/v1 Thing": 1}
    pods = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: c, image: i}]}\n"
    (workload,) = read_checked([Source("pods.yaml", pods)], features_of(36)).workloads
    assert (workload.kind, workload.meta.name, workload.place.line) == ("Pod", "a", 4)


def test_an_empty_group_is_the_core_group() -> None:
    text = "apiVersion: /v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: n}\nspec: hard\n"
    manifests = read_checked([Source("quota.yaml", text)], features_of(36))
    assert [finding.severity for finding in manifests.diagnostics] == ["error"]
    assert manifests.quotas == ()


POD = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "example/m:1"}]},
}
ANNOTATED = {
    "kueue.x-k8s.io/job-min-parallelism": ("batch/v1", "Job", {"parallelism": 2, "template": POD}),
    "autoscaling.knative.dev/min-scale": ("serving.knative.dev/v1", "Service", {"template": POD}),
    "autoscaling.keda.sh/paused-replicas": (
        "keda.sh/v1alpha1",
        "ScaledObject",
        {"scaleTargetRef": {"name": "d"}},
    ),
}


@pytest.mark.parametrize("written", ["²", "9" * 5000], ids=["not decimal", "too long"])
@pytest.mark.parametrize("annotation", ANNOTATED)
def test_annotation_that_is_not_a_number_is_ignored(annotation: str, written: str) -> None:
    version, kind, spec = ANNOTATED[annotation]
    metadata: dict[str, Any] = {
        "name": "a",
        "namespace": "ml",
        "labels": {"kueue.x-k8s.io/queue-name": "q"},
    }
    if kind == "Service":
        spec = {"template": {**POD, "metadata": {"annotations": {annotation: written}}}}
    else:
        metadata["annotations"] = {annotation: written}
    document = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}

    manifests = read_checked([Source("odd.yaml", json.dumps(document))], features_of(36))

    assert [len(each.pod_sets) for each in manifests.workloads] == (
        [] if kind == "ScaledObject" else [1]
    )
