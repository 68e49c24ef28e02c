"""The pack adds the demand of workloads that the stack declares to the demand of the plan."""

from __future__ import annotations

import pytest

from dra_planner.claims import expand_claims
from dra_planner.model import Demand
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.stack.judgement import merge_demand

GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {{name: {name}, namespace: default}}
spec: {{minMember: {least}}}
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: default, labels: {{{labels}}}}}
spec:
  parallelism: {pods}
  template:
    metadata: {{annotations: {{scheduling.k8s.io/group-name: {name}}}}}
    spec: {{restartPolicy: Never, containers: [{{name: a, image: registry.example/a:1}}]}}
---
"""
QUEUED = "kueue.x-k8s.io/queue-name: team"


def job(name: str, pods: int = 3, labels: str = "") -> str:
    return JOB.format(name=name, pods=pods, labels=labels)


def group(name: str, least: int = 3) -> str:
    return GROUP.format(name=name, least=least)


def demand(*texts: str) -> Demand:
    features = features_of(34)
    return expand_claims(read_checked([Source("m.yaml", "".join(texts))], features), {}, features)


PLANNED = demand(group("a"), job("a"), group("b"), job("b"))


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ((), {"PodGroup default/a": 3, "PodGroup default/b": 3}),
        ((job("a", pods=4),), {"PodGroup default/a": 3, "PodGroup default/b": 3}),
        ((group("a", 2), job("a")), {"PodGroup default/a": 2, "PodGroup default/b": 3}),
        ((job("a", labels=QUEUED),), {"Job default/a": 0, "PodGroup default/b": 3}),
    ],
    ids=[
        "no own demand",
        "its group is the plan's",
        "another minimum",
        "another queue admits it",
    ],
)
def test_gangs_are_kept_in_a_merged_demand(own: tuple[str, ...], expected: dict[str, int]) -> None:
    merged = merge_demand(PLANNED, demand(*own))
    assert {gang.name: gang.least for gang in merged.gangs} == expected


def test_a_job_removed_from_its_queue_is_not_a_gang() -> None:
    assert merge_demand(demand(job("a", labels=QUEUED)), demand(job("a"))).gangs == ()


def test_labels_of_namespaces_are_merged() -> None:
    space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {gpu: allowed}}\n---\n"
    merged = merge_demand(demand(space, job("a")), demand(job("b")))
    assert merged.namespaces["team"] == {"gpu": "allowed", "kubernetes.io/metadata.name": "team"}
    assert set(merged.namespaces) == {"default", "team"}
