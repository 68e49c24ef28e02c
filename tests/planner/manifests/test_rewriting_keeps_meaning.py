"""A generated corpus of older objects: the rewritten objects have the same meaning as objects
written in v1, and the API server accepts them.
"""

from __future__ import annotations

import fnmatch
import re
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from old_forms import as_written_for, objects, written

from dra_planner.cel import Dialect, Selector
from dra_planner.cel import compile as compile_selector
from dra_planner.documents.yaml_reader import read_yaml
from dra_planner.manifests.rendering.claims import plain
from dra_planner.manifests.rewriting import rewrite
from dra_planner.plan import PlanRequest, check_selector, make_plan, read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

DIALECT = Dialect.of(features_of(36), "stored")
VERSIONS = ["v1alpha3", "v1beta1", "v1beta2"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(objects(), st.sampled_from(VERSIONS), st.data())
def test_every_version_and_layout_is_rewritten_to_the_same_v1_object(
    new: dict[str, Any], version: str, data: st.DataObject
) -> None:
    text = data.draw(written(as_written_for(version, new)))
    (found,) = rewrite([Source("m.yaml", text)], features_of(37), check_selector=check_selector)
    assert found.refusals == ()
    assert plain(read_yaml(found.text)[0]) == new
    assert sorted(re.findall("# (?:above|behind) [0-9]+", found.text)) == sorted(
        re.findall("# (?:above|behind) [0-9]+", text)
    )
    assert [
        each
        for each in read_checked([Source("m.yaml", found.text)], features_of(37)).diagnostics
        if each.severity == "error"
    ] == []


GPUS = [
    {
        "memory": memory,
        "productName": name,
        "architecture": architecture,
        "cudaComputeCapability": capability,
    }
    for memory, name, architecture, capability in (
        ("15Gi", "Tesla T4", "Turing", "7.5.0"),
        ("23034Mi", "NVIDIA L4", "Ada Lovelace", "8.9.0"),
        ("40Gi", "NVIDIA A100-SXM4-40GB", "Ampere", "8.0.0"),
        ("80Gi", "NVIDIA A100-SXM4-80GB", "Ampere", "8.0.0"),
        ("81559Mi", "NVIDIA H100 80GB HBM3", "Hopper", "9.0.0"),
    )
]
OPERATORS = ["Equals", "LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo"]


def compared(values: list[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.builds(
        lambda value, operator: {"value": value, "operator": operator},
        st.sampled_from(values),
        st.sampled_from(OPERATORS),
    )


CONDITIONS = st.recursive(
    st.one_of(
        st.builds(lambda of: {"memory": of}, compared(["16Gi", "40Gi", "81559Mi"])),
        st.builds(lambda of: {"cudaComputeCapability": of}, compared(["v8.0", "8.0.0", "9"])),
        st.builds(
            lambda of: {"productName": of},
            st.sampled_from(["*A100*", "nvidia l4", "NVIDIA*80gb*", "*.*"]),
        ),
        st.builds(lambda of: {"architecture": of}, st.sampled_from(["AMPERE", "ada*", "*"])),
    ),
    lambda inner: st.builds(
        lambda key, parts: {key: parts},
        st.sampled_from(["andExpression", "orExpression"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


def selects(selector: dict[str, Any], gpu: dict[str, str]) -> bool:
    """Return the result of the classic driver's controller, computed without CEL."""
    ((key, value),) = selector.items()
    if key == "andExpression":
        return all(selects(part, gpu) for part in value)
    if key == "orExpression":
        return any(selects(part, gpu) for part in value)
    if isinstance(value, str):
        return fnmatch.fnmatchcase(gpu[key].lower(), value.lower().replace("[", "[[]"))
    number = mebibytes if key == "memory" else version
    left, right = number(gpu[key]), number(value["value"])
    return {
        "Equals": left == right,
        "LessThan": left < right,
        "LessThanOrEqualTo": left <= right,
        "GreaterThan": left > right,
        "GreaterThanOrEqualTo": left >= right,
    }[value["operator"]]


def mebibytes(text: str) -> int:
    return int(text[:-2]) * (1024 if text.endswith("Gi") else 1)


def version(text: str) -> tuple[int, ...]:
    parts = [int(part) for part in text.removeprefix("v").split(".")]
    return (*parts, *[0] * (3 - len(parts)))


def published(gpu: dict[str, str], kind: str) -> dict[str, Any]:
    names = ("productName", "architecture")
    attributes: dict[str, Any] = {name: {"string": gpu[name]} for name in names} | {
        "type": {"string": kind}
    }
    attributes["cudaComputeCapability"] = {"version": gpu["cudaComputeCapability"]}
    return {
        "driver": "gpu.nvidia.com",
        "attributes": attributes,
        "capacity": {"memory": {"value": gpu["memory"]}},
    }


@settings(max_examples=200, deadline=None)
@given(CONDITIONS, st.integers(1, 4))
def test_claim_selects_the_devices_of_nvidias_parameters(
    condition: dict[str, Any], count: int
) -> None:
    group = "gpu.resource.nvidia.com"
    reference = {"apiGroup": group, "kind": "GpuClaimParameters", "name": "p"}
    documents = [
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClass",
            "metadata": {"name": "gpu"},
            "driverName": group,
        },
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClaim",
            "metadata": {"name": "c"},
            "spec": {"resourceClassName": "gpu", "parametersRef": reference},
        },
        {
            "apiVersion": f"{group}/v1alpha1",
            "kind": "GpuClaimParameters",
            "metadata": {"name": "p"},
            "spec": {"count": count, "selector": condition},
        },
    ]
    text = yaml.safe_dump_all(documents, sort_keys=False)
    (found,) = rewrite([Source("m.yaml", text)], features_of(36), check_selector=check_selector)
    manifests = read_checked([Source("m.yaml", found.text)], features_of(36))
    assert (found.refusals, manifests.diagnostics) == ((), ())
    (claim,) = manifests.claims.values()
    (request,) = claim.spec.requests
    assert request.exactly is not None
    assert request.exactly.count == count
    selectors = [*manifests.classes["gpu"].selectors, *request.exactly.selectors]
    compiled = [compile_selector(each.expression, DIALECT) for each in selectors]
    for gpu in GPUS:
        for kind in ("gpu", "mig"):
            verdicts = {
                each.matches(published(gpu, kind)).verdict
                for each in compiled
                if isinstance(each, Selector)
            }
            assert (verdicts == {"match"}) == (kind == "gpu" and selects(condition, gpu))


def cluster() -> str:
    """A node with one GPU of each model, as the driver publishes them."""
    published_devices = [published(gpu, "gpu") for gpu in GPUS]
    devices = [
        {"name": f"gpu-{number}", "attributes": each["attributes"], "capacity": each["capacity"]}
        for number, each in enumerate(published_devices)
    ]
    labels = {"kubernetes.io/hostname": "node"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node", "labels": labels},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "100"}}}  # fmt: skip
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "node-gpus"},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": "node",
            "devices": devices,
            "pool": {"name": "node", "generation": 1, "resourceSliceCount": 1},
        },
    }
    return yaml.safe_dump_all([node, made])


@settings(max_examples=100, deadline=None)
@given(CONDITIONS, st.integers(1, 4))
def test_allocator_matches_the_classic_controller(condition: dict[str, Any], count: int) -> None:
    group = "gpu.resource.nvidia.com"
    reference = {"apiGroup": group, "kind": "GpuClaimParameters", "name": "p"}
    documents = [
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClass",
            "metadata": {"name": "gpu"},
            "driverName": group,
        },
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClaim",
            "metadata": {"name": "c"},
            "spec": {"resourceClassName": "gpu", "parametersRef": reference},
        },
        {
            "apiVersion": f"{group}/v1alpha1",
            "kind": "GpuClaimParameters",
            "metadata": {"name": "p"},
            "spec": {"count": count, "selector": condition},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "pod"},
            "spec": {
                "resourceClaims": [{"name": "gpu", "source": {"resourceClaimName": "c"}}],
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/cuda:1",
                        "resources": {"claims": [{"name": "gpu"}]},
                    }
                ],
            },
        },
    ]
    text = yaml.safe_dump_all(documents)
    (found,) = rewrite([Source("m.yaml", text)], features_of(36), check_selector=check_selector)
    assert found.refusals == ()
    request = PlanRequest(
        sources=(Source("m.yaml", found.text),),
        observed=(Source("cluster.yaml", cluster()),),
        kubernetes="1.36",
    )
    plan = make_plan(request)
    selected = [f"gpu-{number}" for number, gpu in enumerate(GPUS) if selects(condition, gpu)]
    given = [device.device for claim in plan.judgement.claims for device in claim.devices]
    assert plan.verdict == ("fits" if len(selected) >= count else "does-not-fit")
    assert set(given) <= set(selected)
    assert len(given) == (count if len(selected) >= count else 0)
