"""Older manifests in today's form: what is rewritten, what stays, what is said."""

# ruff: noqa: E501  # a manifest reads best in one piece
from __future__ import annotations

import pytest

from dra_planner.manifests import rewrite
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source


def new(text: str) -> str:
    return rewrite(Source("m.yaml", text))


CASES = {
    "v1beta2: only the version": (
        "# why\napiVersion: resource.k8s.io/v1beta2 # old\nkind: ResourceClaim\nmetadata: {name: c} # name\nspec: {}\n",
        "# why\napiVersion: resource.k8s.io/v1 # old\nkind: ResourceClaim\nmetadata: {name: c} # name\nspec: {}\n",
    ),
    "v1beta1: flat requests": (
        "# two GPUs\napiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com, count: 2}]}}\n",
        "# two GPUs\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: c\nspec:\n  devices:\n"
        "    requests:\n      - name: gpu\n        exactly:\n          deviceClassName: gpu.example.com\n"
        "          count: 2\n",
    ),
    "v1beta1: alternatives stay": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\n"
        "spec: {spec: {devices: {requests: [{name: g, firstAvailable: [{name: a, deviceClassName: x.example}]}]}}}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata:\n  name: c\nspec:\n  spec:\n    devices:\n"
        "      requests:\n        - name: g\n          firstAvailable:\n            - name: a\n"
        "              deviceClassName: x.example\n",
    ),
    "v1alpha3: controller and suitableNodes are gone": (
        "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceClass\nmetadata: {name: c}\n"
        "spec: {suitableNodes: {nodeSelectorTerms: []}}\n",
        "# suitableNodes is gone: which nodes suit follows from their devices\n"
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: c\nspec: {}\n",
    ),
    "v1beta1: basic devices": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d, nodeName: n1, "
        "pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: d0, basic: {attributes: {m: {int: 1}}}}]}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata:\n  name: s\nspec:\n  driver: d\n  nodeName: n1\n"
        "  pool:\n    name: n1\n    generation: 1\n    resourceSliceCount: 1\n  devices:\n    - name: d0\n"
        "      attributes:\n        m:\n          int: 1\n",
    ),
    "v1alpha2: class and claim": (
        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClass\nmetadata: {name: gpu}\ndriverName: gpu.example.com\n"
        "---\napiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {resourceClassName: gpu, parametersRef: {kind: GpuParameters, name: big}}\n",
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: gpu\nspec:\n  selectors:\n    - cel:\n"
        "        expression: device.driver == \"gpu.example.com\"\n---\n"
        "# parametersRef GpuParameters big has no form in v1: write what it asks for as selectors below\n"
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: c\nspec:\n  devices:\n    requests:\n"
        "      - name: device\n        exactly:\n          deviceClassName: gpu\n",
    ),
    "v1alpha2: what has no form": (
        "a: 1\n---\napiVersion: resource.k8s.io/v1alpha2\nkind: PodSchedulingContext\nmetadata: {name: p}\n",
        "a: 1\n---\n# PodSchedulingContext p has no form in v1: scheduling needs no such object any more\n",
    ),
    "a pod with source, the next document untouched": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: m}], "
        "resourceClaims: [{name: gpu, source: {resourceClaimTemplateName: one}}]}\n--- # next\nkind:   Other # kept\n",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n    - name: m\n  resourceClaims:\n"
        "    - name: gpu\n      resourceClaimTemplateName: one\n--- # next\nkind:   Other # kept\n",
    ),
    "v1 with flat requests": (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
        "spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com}]}}\n",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: c\nspec:\n  devices:\n    requests:\n"
        "      - name: gpu\n        exactly:\n          deviceClassName: gpu.example.com\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "expected"), CASES.values(), ids=CASES)
def test_rewriting(old: str, expected: str) -> None:
    assert new(old) == expected


@pytest.mark.parametrize("name", CASES)
def test_what_is_rewritten_needs_no_second_time_and_is_taken(name: str) -> None:
    text = new(CASES[name][0])
    assert new(text) == text
    if "Other" in text or "a: 1" in text:
        return
    manifests = read_checked([Source("m.yaml", text)], features_of(36))
    assert [item for item in manifests.diagnostics if item.severity == "error"] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "kind: [\n",
        "- 1\n",
        "---\n---\napiVersion: v1\nkind: Pod # as it is\n\n---\n",
        "apiVersion: resource.k8s.io/v1\nkind:   ResourceClaim # as it is\nspec: {devices: {requests: []}}\n",
    ],
)
def test_what_is_new_or_unreadable_keeps_every_byte(text: str) -> None:
    assert new(text) == text


def test_refused_versions_point_to_the_rewrite() -> None:
    old = CASES["v1beta1: flat requests"][0]
    (finding,) = read_checked([Source("m.yaml", old)], features_of(36)).diagnostics
    assert finding.code == "version-not-served"
    assert "removed in 1.38" in finding.fix
    assert "pulumi-dra check --rewrite" in finding.fix
