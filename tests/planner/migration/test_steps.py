"""The steps of a migration: counts, safety, order, and the files of each step."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner.clouds import POOL
from dra_planner.fleet import read_fleet
from dra_planner.migration import MigrationSteps, Result, plan_steps, step_files
from dra_planner.migration.steps.states import in_groups
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.planfile import parse_document
from dra_planner.sources import Source

FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "devicePlugin": {"version": "0.20.0"},
}
L4 = {"name": "l4", "machine": "g6.12xlarge", "allocation": "device-plugin", "count": {"max": 4}}
SELECTED = "nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge}"


def workload(
    name: str, replicas: int, gpus: int = 1, kind: str = "Deployment", extra: str = SELECTED
) -> str:
    is_job = kind == "Job"
    selector = f"  selector: {{matchLabels: {{app: {name}}}}}\n"
    restarts = "      restartPolicy: Never\n" if is_job else ""
    return f"""\
apiVersion: {"batch" if is_job else "apps"}/v1
kind: {kind}
metadata: {{name: {name}, namespace: ml}}
spec:
  {"parallelism" if is_job else "replicas"}: {replicas}
{"" if is_job else selector}  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
{restarts}      {extra}
      containers:
        - {{name: main, image: example/main:1, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}
"""


def steps(*texts: str, pools: tuple[dict[str, Any], ...] = (L4,), **fleet: Any) -> MigrationSteps:
    found = read_fleet({**FLEET, **fleet, "pools": list(pools)})
    return plan_steps([Source("w.yaml", "---\n".join(texts))], found)


def counts(found: MigrationSteps, pool: str) -> list[tuple[int, int]]:
    """Return the nodes of a pool during and after each step."""
    return [
        (each.during, each.after)
        for step in found.steps
        for each in step.pools
        if each.name == pool
    ]


def test_each_move_grows_the_new_pool_and_then_drains_the_old_pool() -> None:
    found = steps(workload("chat", 4), workload("embed", 2, 2))

    assert found.twins == {"l4": "l4-dra"}
    assert [step.folder for step in found.steps] == [
        "01-prepare",
        "02-move-chat",
        "03-move-embed",
        "04-finish",
    ]
    assert counts(found, "l4") == [(2, 2), (2, 1), (1, 0), (0, 0)]
    assert counts(found, "l4-dra") == [(0, 0), (1, 1), (2, 2), (2, 2)]
    assert found.is_safe


def test_cost_of_a_step_includes_both_pools() -> None:
    found = steps(workload("chat", 4))
    prepare, move, _ = found.steps

    assert prepare.hourly_usd is not None
    assert move.hourly_usd == 2 * prepare.hourly_usd
    assert move.hourly_usd_after == prepare.hourly_usd
    assert found.peak_usd == move.hourly_usd


def test_batch_workloads_move_first_and_are_deleted_before_re_creation() -> None:
    found = steps(workload("chat", 1), workload("train", 1, kind="Job"))

    assert [step.moves for step in found.steps[1:3]] == [("Job ml/train",), ("Deployment ml/chat",)]
    assert "kubectl delete -n ml job/train" in found.steps[1].commands


def test_rollback_deletes_jobs_before_applying_their_old_version() -> None:
    found = steps(workload("train", 1, kind="Job"))

    rollback = found.steps[1].rollback
    assert rollback.index("kubectl delete -n ml job/train") < rollback.index(
        f"kubectl apply -f {found.steps[1].folder}/previous.yaml"
    )


def test_job_set_completes_with_its_controllers_condition() -> None:
    job_set = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: pretrain, namespace: ml}
spec:
  replicatedJobs:
    - name: workers
      template:
        spec:
          parallelism: 2
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge}
              containers: [{name: main, image: example/main:1, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
    move = steps(job_set).steps[1]

    assert move.moves == ("JobSet ml/pretrain",)
    assert (
        "kubectl wait -n ml --for=condition=completed --timeout=-1s jobset/pretrain"
        in move.commands
    )


def test_step_with_a_new_pool_that_is_too_small_is_unsafe() -> None:
    found = steps(workload("chat", 8), pools=({**L4, "count": {"max": 1}},))

    assert not found.is_safe
    assert all(step.reasons for step in found.steps if not step.is_safe)


def test_existing_dra_pool_of_the_same_machine_type_is_used() -> None:
    dra = {"name": "new", "machine": "g6.12xlarge", "count": {"max": 4}}

    found = steps(workload("chat", 4), pools=(L4, dra))

    assert found.twins == {"l4": "new"}
    assert counts(found, "new")[-1] == (1, 1)


def test_workload_that_cannot_move_keeps_its_pool_and_the_plugin() -> None:
    found = steps(workload("chat", 4), workload("pinned", 1, extra="nodeName: one"))

    assert found.migration.count(Result.CANNOT) == 1
    assert found.steps[-1].name == "move-chat"


def test_plugin_only_partition_has_no_dra_pool() -> None:
    pool = {**L4, "machine": "a2-highgpu-1g", "mig": "all-1g.5gb"}
    gke = {
        "cloud": "gke",
        "region": "us-central1",
        "network": {"zones": ["us-central1-a"]},
        "devicePlugin": False,
    }

    found = steps(workload("chat", 1, extra="restartPolicy: Always"), pools=(pool,), **gke)

    assert "MIG" in found.without_twin["l4"]
    assert not found.twins


def test_shares_of_the_pools_define_a_unit() -> None:
    sharing = {"strategy": "time-slicing", "replicas": 4}

    found = steps(workload("chat", 4), pools=({**L4, "sharing": sharing},))

    assert found.migration.count(Result.CANNOT) == 1
    assert "4 time-sliced replicas" in found.migration.templates[0].reason


def test_class_that_already_serves_the_resource_is_noted() -> None:
    found = steps(workload("chat", 4), drivers={"nvidia": {"version": "0.4.1"}})

    assert any("serves nvidia.com/gpu" in note for note in found.notes)


def test_different_priorities_are_noted() -> None:
    urgent = workload("urgent", 1, extra="priorityClassName: urgent")

    assert any(
        "preempt pods to free devices" in note for note in steps(workload("chat", 1), urgent).notes
    )


@pytest.mark.parametrize(
    ("names", "most", "sizes"), [(3, 12, [1, 1, 1]), (5, 2, [3, 2]), (0, 3, [])]
)
def test_workloads_share_steps_if_there_are_too_many(
    names: int, most: int, sizes: list[int]
) -> None:
    groups = in_groups([str(number) for number in range(names)], most)

    assert [len(group) for group in groups] == sizes
    assert [name for group in groups for name in group] == [str(number) for number in range(names)]


def test_files_of_a_step_support_moving_and_rolling_back() -> None:
    found = steps(workload("chat", 4))
    files = step_files(found.steps[1])

    assert parse_document(files["plan.json"]).verdict == "fits"
    assert "resourceClaims" in files["manifests.yaml"]
    assert "resourceClaims" not in files["previous.yaml"]
    during, after = (yaml.safe_load(files[name]) for name in ("fleet.yaml", "fleet-after.yaml"))
    assert [pool["count"] for pool in during["pools"]] == [
        {"min": 1, "max": 1},
        {"min": 1, "max": 4},
    ]
    assert [pool["count"] for pool in after["pools"]] == [
        {"min": 0, "max": 0},
        {"min": 1, "max": 4},
    ]
    assert read_fleet(during).document() == during


QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: "4"}}
"""


def test_fleets_of_a_step_fit_its_manifests() -> None:
    found = steps(QUOTA, workload("chat", 4))

    for step in found.steps:
        files = step_files(step)
        words = [word for line in step.commands for word in line.split()]
        named = {word.rpartition("/")[2].strip(",") for word in words if "/fleet" in word}
        assert named
        for name in named:
            fleet = read_fleet(yaml.safe_load(files[name]))
            plan = make_plan(PlanRequest(sources=step.sources, fleet=fleet))
            assert plan.verdict == "fits"
            assert "rollout-cannot-finish" not in [each.code for each in plan.beside]
    commands = "\n".join(line for step in found.steps for line in (*step.commands, *step.rollback))
    assert "/fleet-after.yaml to the stack's fleet" in commands
    assert "/fleet.yaml to the stack's fleet  # brings the drained nodes back" in commands
    assert "replace the stack's fleet with 03-finish/fleet.yaml" in commands
    assert "/fleet-after.yaml, which has no devicePlugin" in commands
    assert (
        "remove requests.nvidia.com/gpu from ResourceQuotas, unless a DeviceClass serves "
        "nvidia.com/gpu"
    ) in commands
    (source,) = found.steps[-1].sources
    text = source.text.replace('requests.nvidia.com/gpu: "4", ', "")
    assert "requests.nvidia.com/gpu" not in text
    request = PlanRequest(sources=(Source(source.name, text),), fleet=found.steps[-1].fleet_after)
    assert make_plan(request).verdict == "fits"


def test_both_quota_keys_admit_every_step() -> None:
    found = steps(QUOTA, workload("chat", 4))

    assert found.is_safe
    assert "gpu.nvidia.com.deviceclass.resource.k8s.io/devices" in found.steps[0].sources[0].text
    assert "requests.nvidia.com/gpu" in found.steps[0].sources[0].text
    kept = (
        "until the last pod has moved. If a DeviceClass serves the resource, don't set the old "
        "limit to 0, because claims also count against this limit"
    )
    assert any(kept in change.what for change in found.migration.changes)


QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: "4"}}
"""
STRICT = "strategy: {rollingUpdate: {maxUnavailable: 0}}"
LENIENT = "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"


@pytest.mark.parametrize(
    ("strategy", "driver", "is_safe"),
    [(STRICT, "0.5.0", False), (LENIENT, "0.5.0", True), (STRICT, "25.8.1", True)],
    ids=["a quota counts both kinds", "an old pod ends first", "a quota counts the old kind only"],
)
def test_a_quota_that_rejects_the_first_new_pod_makes_the_move_unsafe(
    strategy: str, driver: str, is_safe: bool
) -> None:
    chat = workload("chat", 4).replace("  replicas: 4\n", f"  replicas: 4\n  {strategy}\n")

    found = steps(chat, QUOTA, drivers={"nvidia": {"version": driver}})

    move = found.steps[1]
    assert move.is_safe is is_safe
    assert any("ResourceQuota ml/gpus" in reason for reason in move.reasons) is not is_safe
    assert not any("-before" in reason for reason in move.reasons)


def test_stack_gets_migrated_manifests_before_old_nodes_are_removed() -> None:
    """Its plan, which the policy pack checks, would not fit otherwise."""
    move = steps(workload("chat", 2), kubernetes="1.34").steps[1]

    copied = move.commands.index(
        "copy the manifests from 02-move-chat/manifests.yaml to the stack's workloads"
    )
    shrunk = move.commands.index(
        "copy the pools from 02-move-chat/fleet-after.yaml to the stack's fleet"
    )
    assert copied < shrunk
    for sources, verdict in (move.before, "does-not-fit"), (move.sources, "fits"):
        assert make_plan(PlanRequest(sources=sources, fleet=move.fleet_after)).verdict == verdict


KNATIVE = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: api, namespace: ml}
spec:
  template:
    metadata: {annotations: {autoscaling.knative.dev/min-scale: "2"}}
    spec:
      containers: [{image: "example/a:1", resources: {limits: {nvidia.com/gpu: 1}}}]
"""
SERVING = {"nvidia": {"version": "0.5.0"}}


def test_workload_served_by_a_class_moves_by_a_drain() -> None:
    found = steps(workload("chat", 2), KNATIVE, drivers=SERVING)

    serve = found.steps[2]
    assert [step.folder for step in found.steps[2:]] == ["03-move-served", "04-finish"]
    assert (serve.moves, serve.served) == (
        ("Service ml/api",),
        {"nvidia.com/gpu": "gpu.nvidia.com"},
    )
    assert serve.is_safe
    assert any("deviceclass gpu.nvidia.com" in line for line in serve.commands)
    assert any("drain" in line for line in serve.commands)
    assert not any("manifests.yaml" in line for line in serve.commands)
    assert "manifests.yaml" not in step_files(serve)
    assert (
        "delete the pods of Service ml/api, so that they start again on the old nodes"
        in serve.rollback
    )
    assert counts(found, "l4")[-2:] == [(1, 0), (0, 0)]
    assert not found.staying


def test_served_workloads_alone_can_be_migrated() -> None:
    found = steps(KNATIVE, drivers=SERVING)

    assert [step.name for step in found.steps] == ["prepare", "move-served", "finish"]
    assert counts(found, "l4-dra") == [(0, 0), (1, 1), (1, 1)]


def test_class_in_the_manifests_also_serves() -> None:
    own = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: any-gpu}
spec:
  extendedResourceName: nvidia.com/gpu
  selectors: [{cel: {expression: 'device.driver == "gpu.nvidia.com"'}}]
"""
    assert steps(own, KNATIVE).steps[1].served == {"nvidia.com/gpu": "any-gpu"}
    assert steps(own, KNATIVE, kubernetes="1.34").migration.count(Result.CANNOT) == 1


def test_served_workload_keeps_the_old_pool_if_the_new_one_is_small() -> None:
    small = {"name": "new", "machine": "g6.12xlarge", "count": {"max": 1}}

    found = steps(workload("chat", 4), KNATIVE, pools=(L4, small), drivers=SERVING)

    assert found.twins == {"l4": "new"}
    assert not found.steps[2].is_safe


def test_old_pools_with_a_minimum_are_deleted_too() -> None:
    found = steps(workload("chat", 4), pools=({**L4, "count": {"min": 2, "max": 4}},))

    assert counts(found, "l4") == [(2, 2), (2, 0), (0, 0)]
    assert found.steps[-1].name == "finish"


@pytest.mark.parametrize(
    ("keep", "last"), [((), "finish"), (("ml/kept",), "shrink")], ids=["all moved", "some kept"]
)
def test_after_the_last_step_new_pools_fit_the_moved_workloads(
    keep: tuple[str, ...], last: str
) -> None:
    """Old pods can run on DRA nodes if a DeviceClass serves their resource, so the moves need more
    nodes.
    """
    kept = workload("kept", 1, 4, extra="nodeSelector: {pulumi-dra/pool: l4}")
    texts = workload("a", 4, 3), workload("b", 4, 1), *([kept] if keep else [])
    fleet = read_fleet({**FLEET, "drivers": SERVING, "pools": [{**L4, "count": {"max": 9}}]})

    found = plan_steps([Source("w.yaml", "---\n".join(texts))], fleet, keep=frozenset(keep))

    step = found.steps[-1]
    assert (step.name, step.is_safe) == (last, True)
    during, after = counts(found, "l4-dra")[-1]
    assert during > after == 4
    assert any(
        f"{POOL}=l4-dra -o name | tail -n {during - after}" in line for line in step.commands
    )
    planned = make_plan(PlanRequest(sources=step.sources, fleet=step.fleet_after))
    assert planned.running == "fits"
    assert {pool.name: pool.nodes.desired for pool in planned.pools}["l4-dra"] == 4


def test_last_fleet_has_the_maximum_of_the_old_pool() -> None:
    (pool,) = steps(workload("chat", 4)).steps[-1].fleet_after.pools

    assert (pool.name, pool.count.min, pool.count.max) == ("l4-dra", 1, 4)


HOST = "nodeSelector: {kubernetes.io/hostname: node-1}"


def test_old_pool_of_unknown_size_keeps_its_maximum_until_it_is_empty() -> None:
    found = steps(workload("chat", 3, extra=HOST), workload("web", 2))

    assert [step.is_safe for step in found.steps] == [False] * len(found.steps)
    assert counts(found, "l4") == [(4, 4), (4, 1), (1, 0), (0, 0)]
    (note,) = [each for each in found.notes if "its maximum" in each]
    assert note.startswith("Pool l4 counts as 4 nodes, its maximum, because the plan can't tell")


def test_fixed_count_replaces_the_maximum_of_an_old_pool() -> None:
    found = steps(workload("chat", 3, extra=HOST), pools=({**L4, "count": 2},))

    assert counts(found, "l4")[0] == (2, 2)


def test_new_nodes_are_checked_in_the_step_that_creates_them() -> None:
    found = steps(workload("chat", 4), workload("web", 4, 4))

    new = [any("get resourceslices" in line for line in step.checks) for step in found.steps]
    grown = [
        during > before
        for before, (during, _) in zip(
            [0, *(after for _, after in counts(found, "l4-dra"))],
            counts(found, "l4-dra"),
            strict=False,
        )
    ]
    assert new == grown
    assert new[:2] == [False, True]
