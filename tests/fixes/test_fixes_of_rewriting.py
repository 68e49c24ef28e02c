"""If you apply the advice of `check --rewrite` for an object that it can't convert completely, the
advice disappears.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dra_planner.manifests.rewriting.rewrite import rewrite
from dra_planner.plan import check_selector
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_planner.sources import Source

FEATURES = features_of(MAXIMUM_MINOR)
CLASSIC = "apiVersion: resource.k8s.io/v1alpha2\n"
OF_INTEL = (
    "apiVersion: gpu.resource.intel.com/v1alpha2\nkind: GpuClaimParameters\nmetadata: "
    "{name: one}\nspec: {type: gpu}\n"
)
PARAMETERS = (
    "apiVersion: gpu.resource.nvidia.com/v1alpha1\nkind: GpuClaimParameters\nmetadata: "
    "{name: one}\nspec: {count: 1}\n"
)
NAMED = (
    "kind: ResourceClaimTemplate\nmetadata: {name: c}\nspec: {spec: {resourceClassName: "
    "gpu.nvidia.com, parametersRef: "
    "{apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: one}}}\n"
)
BETA = "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\n"
TEXTS = [
    (
        "use a ResourceClaimTemplate to give each pod its own claim",
        (
            f"{CLASSIC}kind: ResourceClaim\nmetadata: {{name: c}}\nspec: {{resourceClassName: "
            "gpu.nvidia.com}\n"
        ),
        f"{CLASSIC}kind: ResourceClaimTemplate\nmetadata: {{name: c}}\n"
        "spec: {spec: {resourceClassName: gpu.nvidia.com}}\n",
    ),
    (
        "keep only one of the two classes",
        (
            f"{CLASSIC}kind: ResourceClass\nmetadata: {{name: gpu.nvidia.com}}\ndriverName: "
            "gpu.nvidia.com\n"
        ),
        "",
    ),
    (
        "add the file that contains these parameters, or rewrite the claim by hand",
        CLASSIC + NAMED,
        f"{PARAMETERS}---\n{CLASSIC}{NAMED}",
    ),
    (
        "change the object to block style first",
        (
            f"{BETA}spec: {{devices: {{requests: [{{name: g,  # one\n  deviceClassName: "
            "gpu.nvidia.com}]}}\n"
        ),
        (
            f"{BETA}spec:\n  devices:\n    requests:  # one\n    - name: g\n      deviceClassName: "
            "gpu.nvidia.com\n"
        ),
    ),
    (
        "add a line with --- before the second apiVersion",
        f"{BETA}spec: {{devices: {{}}}}\napiVersion: v1\nkind: Namespace\nmetadata: {{name: n}}\n",
        (
            f"{BETA}spec: {{devices: {{}}}}\n---\napiVersion: v1\nkind: Namespace\nmetadata: "
            "{name: "
            "n}\n"
        ),
    ),
    ("delete the object", f"{CLASSIC}kind: PodSchedulingContext\nmetadata: {{name: p}}\n", ""),
    (
        "delete the object, or add the claims that use it",
        PARAMETERS,
        f"{PARAMETERS}---\n{CLASSIC}{NAMED}",
    ),
    (
        "set apiVersion and kind in every item",
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaimList\nitems:\n- metadata: {name: "
        "c}\n"
        "  spec: {devices: {requests: [{name: g, deviceClassName: gpu.nvidia.com}]}}\n",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: resource.k8s.io/v1beta1\n  kind: "
        "ResourceClaim\n"
        "  metadata: {name: c}\n"
        "  spec: {devices: {requests: [{name: g, deviceClassName: gpu.nvidia.com}]}}\n",
    ),
    (
        "install a driver version that publishes v1",
        (
            f"{CLASSIC}kind: ResourceSlice\nmetadata: {{name: s}}\nnodeName: n1\ndriverName: "
            "d.example.com\n"
        ),
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
        "spec: {driver: d.example.com, nodeName: n1, pool: {name: n1, generation: 1, "
        "resourceSliceCount: 1}}\n",
    ),
    (
        "replace the anchors with their values first",
        (
            f"{BETA}spec: {{devices: {{requests: [&g {{name: g, deviceClassName: "
            "gpu.nvidia.com}]}}\n"
        ),
        f"{BETA}spec: {{devices: {{requests: [{{name: g, deviceClassName: gpu.nvidia.com}}]}}}}\n",
    ),
    (
        "add a selector if the driver also publishes virtual functions",
        f"{OF_INTEL}---\n{CLASSIC}{NAMED}".replace(
            "gpu.resource.nvidia.com", "gpu.resource.intel.com"
        ),
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: c}\n"
        "spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.intel.com, "
        "selectors: [{cel: {expression: device.driver == 'gpu.intel.com'}}]}}]}}}\n",
    ),
]


@pytest.mark.parametrize(("fix", "text", "then"), TEXTS, ids=[fix for fix, _, _ in TEXTS])
def test_manual_fix_removes_the_rewriting_remark(fix: str, text: str, then: str) -> None:
    (before,) = (remark for remark in notes_and_reasons(text) if fix in remark)
    assert before not in notes_and_reasons(then)
    assert len(list(notes_and_reasons(then))) <= len(list(notes_and_reasons(text)))


def notes_and_reasons(text: str) -> list[str]:
    return list(_notes_and_reasons(text))


def _notes_and_reasons(text: str) -> Iterator[str]:
    for each in rewrite([Source("m.yaml", text)], FEATURES, check_selector=check_selector):
        yield from (refusal.reason for refusal in each.refusals)
        yield from (note for change in each.changes for note in change.notes)
