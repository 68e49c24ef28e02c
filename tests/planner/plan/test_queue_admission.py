"""Requests for the resources of device plugins in queues of Kueue."""

from __future__ import annotations

import pytest

from dra_planner.plan import read_checked
from dra_planner.plan.blockers import ClusterSituation
from dra_planner.plan.blockers.queueing.admission import find_queue_faults
from dra_planner.releases import features_of
from dra_planner.sources import Source
from kueue_queues import cpu_queue

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
CONFIG = "---\napiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nresources: "
CLASSES = "deviceClassMappings: [{name: x, deviceClassNames: [x]}]"


@pytest.mark.parametrize(
    ("configuration", "verdicts"),
    [
        pytest.param("", ["cannot-tell"], id="the configuration is missing"),
        pytest.param(f"{CONFIG}{{{CLASSES}}}", ["does-not-fit"], id="Kueue counts it"),
        pytest.param(
            f"{CONFIG}{{{CLASSES}, excludeResourcePrefixes: [nvidia.com/]}}", [], id="excluded"
        ),
        pytest.param(
            f"{CONFIG}{{{CLASSES}, transformations: [{{input: nvidia.com/gpu, strategy: Replace, "
            "outputs: {x: 1}}]}",
            [],
            id="replaced",
        ),
    ],
)
def test_resource_that_the_queue_does_not_cover_is_a_fault(
    configuration: str, verdicts: list[str]
) -> None:
    manifests = read_checked(
        [Source("m.yaml", cpu_queue("ml") + JOB + configuration)], features_of(36)
    )
    situation = ClusterSituation(manifests=manifests, features=features_of(36))
    assert [each.verdict for each in find_queue_faults(situation)] == verdicts
