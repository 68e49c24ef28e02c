"""The example manifests: they have no findings, and request what their header states."""

from __future__ import annotations

from pathlib import Path

import pytest

from dra_planner.claims import expand_claims
from dra_planner.model import DeviceClass, ObjectMeta
from dra_planner.plan import read_checked
from dra_planner.releases import RELEASES, features_of
from dra_planner.sources import read_sources

EXAMPLES = Path(__file__).parents[3] / "examples"
CLASSES = {"gpu.nvidia.com": DeviceClass(meta=ObjectMeta(name="gpu.nvidia.com"))}


@pytest.mark.parametrize("minor", RELEASES)
@pytest.mark.parametrize(
    ("file", "pods", "devices"),
    [
        ("workloads/ranked-alternatives.yaml", 1, 1),
        ("workloads/shared-claim.yaml", 3, 1),
        ("workloads/at-least-40-gb.yaml", 2, 2),
        ("workloads/two-pods.yaml", 2, 2),
        ("workloads/job-two-gpus-each.yaml", 4, 8),
        ("workloads-that-do-not-fit/tesla-volta.yaml", 1, 1),
        ("workloads-that-do-not-fit/forgotten-toleration.yaml", 1, 1),
    ],
)
def test_example_requests_the_expected_devices(
    file: str, pods: int, devices: int, minor: int
) -> None:
    features = features_of(minor)
    manifests = read_checked(read_sources([EXAMPLES / file]), features)
    demand = expand_claims(manifests, CLASSES, features)
    assert manifests.diagnostics == ()
    assert demand.blocked == ()
    assert sum(shape.figures.steady for shape in demand.shapes) == pods
    wanted = 0
    for shape in demand.shapes:
        for claim in shape.claims:
            counts = [
                request.exactly.count if request.exactly else 1 for request in claim.spec.requests
            ]
            wanted += sum(counts) * (1 if claim.shared else shape.figures.steady)
    assert wanted == devices


def test_only_one_example_forgets_the_toleration() -> None:
    manifests = read_checked(
        read_sources([EXAMPLES / "workloads", EXAMPLES / "workloads-that-do-not-fit"]),
        features_of(36),
    )
    without = [
        item.ref.name
        for item in manifests.workloads
        if not item.pod_sets[0].template.spec.tolerations
    ]
    assert without == ["forgotten-toleration"]
