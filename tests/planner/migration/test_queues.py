"""Kueue's queues while some of their jobs still use the device plugin."""

from __future__ import annotations

from typing import Any

import yaml

from dra_planner.migration import Migration, Target, migrate
from dra_planner.sources import Source

FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, zone: a}
  tolerations: [{key: team, operator: Exists}]
---
"""
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  cohortName: all
  resourceGroups:
    - coveredResources: [cpu, {resources}]
      flavors:
        - name: {flavor}
          resources:
            - {{name: cpu, nominalQuota: 200}} # of the whole team
{rows}
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  namespace: train
  labels: {{kueue.x-k8s.io/queue-name: research}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: example/main:1
          resources: {{requests: {{cpu: "8"}}, limits: {{{resource}: 4}}}}
---
"""


def queue(*resources: str, name: str = "research", flavor: str = "h100") -> str:
    rows = "\n".join(
        f"            - {{name: {each}, nominalQuota: 8, borrowingLimit: 2}}" for each in resources
    )
    return QUEUE.format(name=name, flavor=flavor, resources=", ".join(resources), rows=rows)


def job(name: str, resource: str = "nvidia.com/gpu") -> str:
    return JOB.format(name=name, resource=resource)


def migrated(text: str, *keep: str) -> Migration:
    target = Target(minor=36, keep=frozenset(keep))
    return migrate([Source("queues.yaml", text)], target)


def objects(found: Migration, kind: str) -> dict[str, Any]:
    documents = [each for each in yaml.safe_load_all(found.files[0].text) if each]
    return {each["metadata"]["name"]: each["spec"] for each in documents if each["kind"] == kind}


def quotas(group: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the nominal quotas of each flavor; every flavor must have all resources in order."""
    for flavor in group["flavors"]:
        assert [each["name"] for each in flavor["resources"]] == group["coveredResources"]
    return {
        flavor["name"]: {each["name"]: each["nominalQuota"] for each in flavor["resources"]}
        for flavor in group["flavors"]
    }


def test_job_kept_on_the_plugin_keeps_its_quota_and_nodes() -> None:
    found = migrated(FLAVOR + queue("nvidia.com/gpu") + job("old") + job("new"), "train/old")

    (group,) = objects(found, "ClusterQueue")["research"]["resourceGroups"]
    assert quotas(group) == {
        "h100": {"cpu": 200, "nvidia.com/gpu": 8, "claimed-gpus": 0},
        "h100-dra": {"cpu": 200, "nvidia.com/gpu": 0, "claimed-gpus": 8},
    }
    assert group["flavors"][1]["resources"][2]["borrowingLimit"] == 2
    flavors = objects(found, "ResourceFlavor")
    assert flavors["h100"]["nodeLabels"]["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert flavors["h100-dra"]["nodeLabels"] == {"zone": "a", "nvidia.com/gpu.dra": "true"}
    assert any("Job train/old still requests it" in each.what for each in found.changes)
    assert "# of the whole team" in found.files[0].text


def test_second_migration_with_the_same_exclusion_changes_nothing() -> None:
    text = FLAVOR + queue("nvidia.com/gpu") + job("old") + job("new")
    once = migrated(text, "train/old").files[0].text

    assert migrated(once, "train/old").files[0].text == once


def test_old_quota_is_removed_after_the_last_job_moves() -> None:
    text = FLAVOR + queue("nvidia.com/gpu") + job("old") + job("new")
    once = migrated(text, "train/old").files[0].text

    (group,) = objects(migrated(once), "ClusterQueue")["research"]["resourceGroups"]

    assert quotas(group) == {
        "h100": {"cpu": 200, "claimed-gpus": 0},
        "h100-dra": {"cpu": 200, "claimed-gpus": 8},
    }


def test_flavor_without_gpu_labels_is_shared_by_both_kinds_of_jobs() -> None:
    found = migrated(queue("nvidia.com/gpu", flavor="any") + job("old") + job("new"), "train/old")

    (group,) = objects(found, "ClusterQueue")["research"]["resourceGroups"]
    assert quotas(group) == {"any": {"cpu": 200, "nvidia.com/gpu": 8, "claimed-gpus": 8}}


def test_queue_without_known_jobs_keeps_its_quota() -> None:
    found = migrated(FLAVOR + queue("nvidia.com/gpu"))

    (group,) = objects(found, "ClusterQueue")["research"]["resourceGroups"]
    assert quotas(group)["h100"]["nvidia.com/gpu"] == 8
    assert any("might not contain every job" in each.what for each in found.changes)


def test_flavor_used_by_another_queue_is_kept() -> None:
    other = queue("nvidia.com/gpu", name="other")
    found = migrated(FLAVOR + queue("nvidia.com/gpu") + other + job("new"))

    queues = objects(found, "ClusterQueue")
    assert quotas(queues["research"]["resourceGroups"][0]) == {
        "h100-dra": {"cpu": 200, "claimed-gpus": 8}
    }
    assert set(quotas(queues["other"]["resourceGroups"][0])) == {"h100", "h100-dra"}


def test_mig_resources_with_one_class_become_one_quota() -> None:
    resources = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb"
    found = migrated(queue(*resources, flavor="any") + "".join(map(job, "ab", resources)))

    (group,) = objects(found, "ClusterQueue")["research"]["resourceGroups"]
    assert quotas(group) == {"any": {"cpu": 200, "claimed-mig-devices": 16}}


def test_cohort_keeps_its_quota_while_one_of_its_queues_does() -> None:
    cohort = queue("nvidia.com/gpu", name="all", flavor="any").replace("ClusterQueue", "Cohort")
    text = cohort + queue("nvidia.com/gpu", flavor="any") + job("old") + job("new")

    for kept, expected in (
        (("train/old",), {"nvidia.com/gpu", "claimed-gpus"}),
        ((), {"claimed-gpus"}),
    ):
        (group,) = objects(migrated(text, *kept), "Cohort")["all"]["resourceGroups"]
        assert quotas(group)["any"].keys() - {"cpu"} == expected


def test_job_without_a_label_uses_the_default_queue_of_its_namespace() -> None:
    local = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: train}
spec: {clusterQueue: research}
---
"""
    unlabeled = job("new").replace("  labels: {kueue.x-k8s.io/queue-name: research}\n", "")
    found = migrated(local + queue("nvidia.com/gpu", flavor="any") + unlabeled)

    (group,) = objects(found, "ClusterQueue")["research"]["resourceGroups"]
    assert quotas(group) == {"any": {"cpu": 200, "claimed-gpus": 8}}
