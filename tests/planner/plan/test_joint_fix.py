"""Several workloads that don't fit get one change, which a new plan confirms."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.judgement import simulated_counts
from dra_planner.plan.judgement.simulated_fixes import fix_patch
from dra_planner.plan.suggestion import joint_search
from dra_planner.sizing import sizing
from dra_planner.sizing.least_raises import least_raises
from dra_planner.sources import Source

Json = dict[str, Any]
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def fleet(most: int = 2, **more: Any) -> Fleet:
    return read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.36",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "0.4.1"}},
            "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": most}}],
            **more,
        }
    )


def workload(name: str, pods: int, gpus: int = 1, **spec: Any) -> list[Json]:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": gpus}}
    meta = {"name": name, "namespace": "ml"}
    template = {"spec": {"devices": {"requests": [request]}}}
    container = {"name": "main", "image": "app:1", "resources": {"claims": [{"name": "gpu"}]}}
    pod = {
        "restartPolicy": "Never",
        "containers": [container],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}],
        "tolerations": [TOLERATION],
        **spec,
    }
    job = {"parallelism": pods, "completions": pods, "template": {"spec": pod}}
    api = "resource.k8s.io/v1"
    return [
        {"apiVersion": api, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": template},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": job},
    ]


def deployment(name: str, pods: int, gpus: int = 1, cpu: str = "1") -> list[Json]:
    """Pods whose rollout must start a pod before it stops one."""
    template, job = workload(name, pods, gpus, restartPolicy="Always")
    pod, labels = job["spec"]["template"], {"app": name}
    pod["metadata"] = {"labels": labels}
    pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cpu}
    surge = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    selector = {"matchLabels": labels}
    spec = {"replicas": pods, "selector": selector, "strategy": surge, "template": pod}
    return [template, {**job, "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}]


def controller(cpu: str) -> list[Json]:
    """A pod without devices."""
    container = {"name": "c", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    meta, spec = {"name": "controller", "namespace": "ml"}, {"containers": [container]}
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}]


def web(pods: int) -> list[Json]:
    """Pods without devices, two of which fit a system node, and whose rollout starts a pod
    first.
    """
    _, found = deployment("web", pods, cpu="600m")
    found["spec"]["template"]["spec"].update(resourceClaims=[], tolerations=[])
    del found["spec"]["template"]["spec"]["containers"][0]["resources"]["claims"]
    return [found]


def sources(*workloads: list[Json]) -> tuple[Source, ...]:
    text = "\n---\n".join(json.dumps(each) for objects in workloads for each in objects)
    return (Source("m.yaml", text),)


def planned(on: Fleet, *workloads: list[Json]) -> Plan:
    return make_plan(PlanRequest(sources=sources(*workloads), fleet=on))


def test_pool_added_for_one_workload_also_serves_the_others() -> None:
    wanted = (workload("a", 3), workload("b", 2), workload("c", 1, gpus=2))

    found = planned(fleet(), *wanted).joint_fix

    assert found is not None
    added, *_, raised = found.steps
    assert "g4dn.12xlarge" in added  # the cheapest with several GPUs and the fleet's architecture
    assert added.endswith("at most 1 node")
    assert raised == 'set the maximum of pool "l4" to 3'  # cheaper than a second added node
    assert found.more_usd is not None
    assert found.more_usd > Decimal(3)
    assert planned(found.fleet, *wanted).verdict == "fits"


@pytest.mark.parametrize(
    "more",
    [{"redundancy": {"nodes": 1}}, {"sizing": "packing", "placement": "free"}],
    ids=["a spare node", "nodes of the packing"],
)
def test_price_of_the_joint_fix_is_the_price_of_the_next_plan(more: Json) -> None:
    on = fleet(8, **more)
    before = planned(on, workload("a", 2, tolerations=[]), workload("b", 2, tolerations=[]))
    after = planned(on, workload("a", 2), workload("b", 2))

    found = before.joint_fix
    assert found is not None
    assert after.verdict == "fits"
    assert before.cost is not None
    assert after.cost is not None
    assert found.more_usd == after.cost.hourly_usd - before.cost.hourly_usd


def test_joint_fix_is_the_fix_of_each_workload() -> None:
    """Given pools on which the scheduler doesn't follow the packing, when both workloads lack
    nodes, then each has the confirmed change as its fix.
    """
    large = {"name": "l4x4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 1}}
    small = {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}
    wanted = (workload("a", 4), workload("b", 2, gpus=4), workload("c", 2, gpus=4))

    plan = planned(fleet(pools=[small, large], placement="free"), *wanted)

    found = plan.joint_fix
    assert found is not None
    fixes = {each.fix for size in plan.workloads for each in size.reasons}
    assert fixes == {found.repeated}
    assert found.more_usd is not None
    assert f"USD {found.more_usd:.2f} more per hour" in found.repeated
    assert planned(found.fleet, *wanted).verdict == "fits"


def test_unconfirmed_raises_are_marked() -> None:
    """Given a pod of another scheduler, when maximums are too low, then no plan confirms them."""
    plan = planned(fleet(), workload("a", 9), workload("b", 1, schedulerName="other"))

    assert plan.joint_fix is None
    (reason,) = next(each for each in plan.workloads if each.workload.name == "a").reasons
    assert reason.fix.startswith('raise the maximum of pool "l4" to')
    assert reason.fix.endswith(
        "This is enough for the best packing, but the simulation didn't confirm it"
    )


@pytest.mark.parametrize("placement", ["free", "guided"])
def test_raises_are_searched_only_once(placement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a pool that is too small, when the plan and its joint fix use the same sizes, then the
    maximums that suffice are searched for once, because that's most of the work.
    """
    searched = []

    def counted(*arguments: Any) -> Any:
        searched.append(arguments)
        return least_raises(*arguments)

    monkeypatch.setattr(sizing, "least_raises", counted)

    plan = planned(fleet(placement=placement), workload("a", 3), workload("b", 2))

    assert plan.joint_fix is not None
    assert len(searched) == 1


def test_one_raised_maximum_is_enough_for_all_workloads() -> None:
    wanted = (workload("a", 3), workload("b", 2))

    found = planned(fleet(), *wanted).joint_fix

    assert found is not None
    assert found.steps == ('set the maximum of pool "l4" to 5',)
    assert planned(found.fleet, *wanted).verdict == "fits"


def test_changes_of_pods_keep_their_requests() -> None:
    elsewhere = workload("c", 1, nodeSelector={"zone": "nowhere"})
    wanted = (workload("a", 4), workload("b", 1, tolerations=[]), elsewhere)

    found = planned(fleet(), *wanted).joint_fix

    assert found is not None
    text = "; ".join(found.steps)
    assert "Job ml/b: add to the pod's tolerations" in text
    assert "Job ml/c: remove zone=nowhere from the pod's nodeSelector" in text
    after = (workload("a", 4), workload("b", 1), workload("c", 1))
    assert planned(found.fleet, *after).verdict == "fits"


def claim_of_all(**config: Any) -> list[Json]:
    """Two pods that share one claim, and that together request more CPU than a node has."""
    template, job = workload("a", 2, resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}])
    claim = {**template, "kind": "ResourceClaim", "spec": template["spec"]["spec"]}
    claim["metadata"] = {"name": "one", "namespace": "ml"}
    if config:
        claim["spec"]["devices"]["config"] = [{"opaque": config}]
    container = job["spec"]["template"]["spec"]["containers"][0]
    container["resources"]["requests"] = {"cpu": "5"}
    return [claim, job]


def test_pod_without_a_toleration_keeps_its_devices() -> None:
    wanted = (workload("a", 3), workload("c", 1, gpus=2, tolerations=[]))

    found = planned(fleet(), *wanted).joint_fix

    assert found is not None
    added, tolerating, *others = found.steps
    assert "g4dn.12xlarge" in added
    assert added.endswith('with the name "added-1" and at most 1 node')
    assert tolerating.startswith("Job ml/c: add to the pod's tolerations")
    assert any('pool "added-1"' in step for step in others)  # has a name only after it's added
    assert not any("1 device instead of 2" in step for step in found.steps)


def test_too_many_pods_for_a_shared_claim_get_their_own_claims() -> None:
    found = planned(fleet(most=1), claim_of_all(), workload("b", 2)).joint_fix

    assert found is not None
    assert found.steps == (
        "Job ml/a: use a ResourceClaimTemplate, so that each pod has its own claim",
        'set the maximum of pool "l4" to 4',
    )


def test_claim_that_is_shared_on_purpose_stays_shared() -> None:
    sharing = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": "Long"}}
    parameters = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "GpuConfig",
        "sharing": sharing,
    }
    divided = claim_of_all(driver="gpu.nvidia.com", parameters=parameters)
    nvidia = {"version": "0.4.1", "featureGates": {"TimeSlicingSettings": True}}

    plan = planned(fleet(most=1, drivers={"nvidia": nvidia}), divided, workload("b", 2))

    assert plan.joint_fix is None


ZONE = "topology.kubernetes.io/zone"


def in_zone(zone: str) -> Json:
    """A required affinity to one zone."""
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    terms = [{"matchExpressions": [expression]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


def test_pods_that_select_a_zone_get_a_pool_in_this_zone() -> None:
    """Given a pool without zones, expect the zone that the pods select, and a pool large enough."""
    pods = (
        workload("a", 2, nodeSelector={ZONE: "us-east-1b"}),
        workload("b", 1, **in_zone("us-east-1b")),
    )

    found = planned(fleet(), *pods).joint_fix

    assert found is not None
    assert found.steps == (
        'set zones of pool "l4" to [us-east-1b]',
        'set the maximum of pool "l4" to 3',
    )
    assert planned(found.fleet, *pods).verdict == "fits"


def volume(zone: str) -> list[Json]:
    """An existing volume in a zone, and its claim."""
    size = {"storage": "10Gi"}
    modes, claim = {"accessModes": ["ReadWriteMany"]}, {"name": "data", "namespace": "ml"}
    csi = {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}
    required = in_zone(zone)["affinity"]["nodeAffinity"]
    (terms,) = required.values()
    spec = {"nodeAffinity": {"required": terms}, "capacity": size, "csi": csi, **modes}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": spec},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": claim,
            "spec": {
                "volumeName": "v",
                "storageClassName": "",
                "resources": {"requests": size},
                **modes,
            },
        },
    ]


def test_pods_in_a_zone_without_nodes_get_a_pool_in_this_zone() -> None:
    """Given a volume in a zone without nodes, expect a copy of the pool in that zone."""
    pool = {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}
    given = fleet(pools=[{**pool, "zones": ["us-east-1a", "us-east-1b"]}])
    uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    wanted = volume("us-east-1f"), workload("a", 2, volumes=uses), workload("b", 3)

    found = planned(given, *wanted).joint_fix

    assert found is not None
    assert found.steps[0].startswith('add a pool like "l4" in the zone us-east-1f, with ')
    assert planned(found.fleet, *wanted).verdict == "fits"


def test_pods_that_select_several_zones_of_a_pool_have_no_joint_fix() -> None:
    pods = (
        workload("a", 1, nodeSelector={ZONE: "us-east-1b"}),
        workload("b", 1, nodeSelector={ZONE: "us-east-1a"}),
    )
    assert planned(fleet(), *pods).joint_fix is None


def test_consecutive_fixes_of_one_workload_are_one_joint_fix() -> None:
    plan = planned(fleet(), workload("a", 4, tolerations=[]))

    assert plan.joint_fix is not None
    first, second = plan.joint_fix.steps
    assert "Job ml/a: add to the pod's tolerations" in first
    assert second == 'set the maximum of pool "l4" to 4'
    assert planned(plan.joint_fix.fleet, workload("a", 4)).verdict == "fits"


def test_one_workload_with_one_fix_needs_no_joint_fix() -> None:
    assert planned(fleet(), workload("a", 2, tolerations=[])).joint_fix is None


def test_search_that_reaches_its_limit_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_search, "_ROUNDS", 1)

    plan = planned(fleet(most=1), claim_of_all(), workload("b", 2))

    assert plan.joint_fix is None
    (note,) = (each for each in plan.diagnostics if each.code == "search-ended")
    assert note.message.endswith("reached its limit of 1 plan")


def test_pool_gets_more_nodes_if_no_simulated_fix_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given pods that all need one zone, and a search for simulated fixes that finds none, when the
    zones of a pool have too few nodes, then the pool gets the next count that its zones can divide.
    """
    monkeypatch.setattr(simulated_counts, "find_fixes", lambda *_, **__: ((), 0))
    machine = {"machine": "g2-standard-8"}
    pools = [
        {"name": "l4", **machine, "count": {"min": 0, "max": 4}},
        {"name": "other", **machine, "count": {"min": 0, "max": 2}},
    ]
    zones = {"zones": ["us-central1-a", "us-central1-b"]}
    where = {"cloud": "gke", "region": "us-central1", "network": zones, "placement": "free"}
    on = fleet(pools=pools, **where, systemPool={"machine": "e2-standard-4"})
    term = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {}}
    together = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    wanted = (
        workload("a", 3, affinity=together, nodeSelector={"pulumi-dra/pool": "l4"}),
        workload("b", 1, tolerations=[], nodeSelector={"pulumi-dra/pool": "other"}),
    )

    found = planned(on, *wanted).joint_fix

    assert found is not None
    assert 'set the maximum of pool "l4" to 6' in found.steps
    assert planned(found.fleet, wanted[0]).verdict == "fits"


def test_pods_that_the_scheduler_spreads_get_a_simulated_fix() -> None:
    large = {"name": "l4x4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 1}}
    small = {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}
    wanted = (workload("a", 4), workload("b", 2, gpus=4), workload("c", 2, gpus=4))

    found = planned(fleet(pools=[small, large]), *wanted).joint_fix

    assert found is not None
    assert planned(found.fleet, *wanted).verdict == "fits"


@pytest.mark.parametrize(
    "workloads",
    [
        pytest.param((workload("a", 3),), id="only one workload doesn't fit"),
        pytest.param((workload("a", 1), workload("b", 1)), id="everything fits"),
        pytest.param(
            (workload("a", 9), workload("b", 1, schedulerName="other"), workload("c", 9)),
            id="another scheduler decides",
        ),
    ],
)
def test_fewer_than_two_shortages_need_no_joint_fix(workloads: tuple[list[Json], ...]) -> None:
    assert planned(fleet(), *workloads).joint_fix is None


def test_quota_without_free_capacity_has_no_joint_fix() -> None:
    limited = fleet(quotas=[{"name": "gpus", "unit": "gpus", "limit": 2}])

    assert planned(limited, workload("a", 3), workload("b", 3)).joint_fix is None


def quota(**hard: str) -> list[Json]:
    meta = {"name": "team", "namespace": "ml"}
    return [{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}]


DEVICES = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"


@pytest.mark.parametrize(
    ("wanted", "limits", "steps"),
    [
        pytest.param(
            (workload("a", 4),),
            {DEVICES: "3", "pods": "10"},
            (f"raise {DEVICES} in ResourceQuota ml/team to 4", 'set the maximum of pool "l4" to 4'),
            id="devices, and a pool that is too small",
        ),
        pytest.param(
            (workload("a", 2), workload("b", 2)),
            {DEVICES: "9", "pods": "3"},
            (
                "raise the pod limit in ResourceQuota ml/team to 4",
                'set the maximum of pool "l4" to 4',
            ),
            id="pods of two workloads",
        ),
        pytest.param(
            (workload("a", 1, gpus=1, tolerations=[]), workload("b", 1)),
            {DEVICES: "1", "count/jobs.batch": "1"},
            (
                f"raise {DEVICES} in ResourceQuota ml/team to 2",
                "raise count/jobs.batch in ResourceQuota ml/team to 2",
            ),
            id="objects, and a pod that doesn't tolerate a taint",
        ),
    ],
)
def test_quotas_are_raised_together_with_pools(
    wanted: tuple[list[Json], ...], limits: dict[str, str], steps: tuple[str, ...]
) -> None:
    """Given quotas that are one of several causes, when the limits are raised according to the
    change, then the plan fits on the changed fleet.
    """
    plan = planned(fleet(), *wanted, quota(**limits))

    found = plan.joint_fix
    assert plan.verdict == "does-not-fit"
    assert found is not None
    assert found.steps[: len(steps)] == steps
    assert found.judgement.sizing.verdict == "fits"
    raised = {**limits, **{each.resource: each.limit for each in found.quotas}}
    changed = [workload(each[0]["metadata"]["name"], pods_of(each)) for each in wanted]
    assert planned(found.fleet, *changed, quota(**raised)).verdict == "fits"
    less = {**raised, found.quotas[0].resource: str(int(found.quotas[0].limit) - 1)}
    assert planned(found.fleet, *changed, quota(**less)).verdict == "does-not-fit"


def pods_of(objects: list[Json]) -> int:
    return int(objects[1]["spec"]["parallelism"])


def test_memory_quota_is_raised_in_its_unit() -> None:
    """Given a limit in Gi, expect the raised limit in Gi, too."""
    resources = {"requests": {"memory": "4Gi"}, "claims": [{"name": "gpu"}]}
    container = {"name": "main", "image": "app:1", "resources": resources}
    wanted = [workload(name, 2, containers=[container]) for name in ("a", "b")]

    found = planned(fleet(), *wanted, quota(**{"requests.memory": "10Gi"})).joint_fix

    assert found is not None
    assert found.steps[0] == "raise requests.memory in ResourceQuota ml/team to 16Gi"


def test_a_quota_that_needs_requests_has_no_joint_fix() -> None:
    """Given pods without the requests that a quota counts, then no limit lets them in."""
    plan = planned(fleet(), workload("a", 2), workload("b", 2), quota(**{"requests.cpu": "8"}))

    assert plan.joint_fix is None


def mig(name: str, profile: str, pods: int) -> list[Json]:
    objects = workload(name, pods)
    (request,) = objects[0]["spec"]["spec"]["devices"]["requests"]
    wanted = f'device.attributes["gpu.nvidia.com"].profile == "{profile}"'
    request["exactly"] |= {
        "deviceClassName": "mig.nvidia.com",
        "selectors": [{"cel": {"expression": wanted}}],
    }
    return objects


def test_mig_configuration_is_part_of_the_joint_fix() -> None:
    """Given a pool with whole GPUs, when pods request MIG devices and others lack nodes, then one
    change partitions the pool and raises the maximum of the other one.
    """
    pools = [
        {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}},
        {"name": "a100", "machine": "p4d.24xlarge", "count": {"min": 0, "max": 1}},
    ]
    wanted = mig("small", "3g.20gb", 3), workload("web", 3, nodeSelector={"pulumi-dra/pool": "l4"})
    given = fleet(pools=pools)

    found = planned(given, *wanted).joint_fix

    assert found is not None
    assert any('on pool "a100"' in step and "mig" in step for step in found.steps)
    assert 'set the maximum of pool "l4" to 3' in found.steps
    assert planned(found.fleet, *wanted).verdict == "fits"


def test_pods_that_would_fill_an_added_pool_use_it_last() -> None:
    """The default scheduler spreads pods of one GPU over the added nodes of four."""
    small, large = workload("small", 6), workload("large", 2, gpus=4)
    plan = planned(fleet(most=6), small, large)
    fix = plan.joint_fix
    assert fix is not None
    assert fix.judgement.sizing.verdict == "fits"
    (step,) = [each for each in fix.steps if "PreferNoSchedule" in each]
    assert 'pool "added-1"' in step
    again = make_plan(PlanRequest(sources=sources(small, large), fleet=fix.fleet))
    assert again.verdict == "fits"


def test_larger_system_machine_type_is_a_step_without_a_known_price() -> None:
    plan = planned(fleet(most=1), workload("train", 2), controller("8"))
    fix = plan.joint_fix
    assert fix is not None
    (step,) = [each for each in fix.steps if "systemPool.machine" in each]
    assert step == f"set systemPool.machine to {fix.fleet.system_pool.machine} in the fleet"
    assert fix.fleet.system_pool.machine != "m7i.large"
    assert fix.more_usd is None  # no prices of system machines are in the tables
    again = make_plan(
        PlanRequest(sources=sources(workload("train", 2), controller("8")), fleet=fix.fleet)
    )
    assert again.verdict == "fits"


def test_oversized_system_pod_does_not_change_the_machine_type() -> None:
    plan = planned(fleet(most=1), workload("train", 2), controller("10000"))
    assert plan.joint_fix is not None
    assert not any("systemPool" in each for each in plan.joint_fix.steps)
    assert any("lower the pod's request for cpu" in each for each in plan.joint_fix.steps)


@pytest.mark.parametrize(
    ("pools", "wanted"),
    [
        pytest.param(
            [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 1, "max": 4}}],
            (deployment("serve", 1, cpu="100"), deployment("train", 1, gpus=8)),
            id="on added pools",
        ),
        pytest.param(
            [
                {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 1, "max": 6}},
                {"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 2}},
            ],
            (deployment("serve", 6), deployment("train", 2, gpus=8)),
            id="on a pool that other pods must use last",
        ),
        pytest.param(
            [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 3}}],
            (deployment("a", 2), workload("b", 1, tolerations=[])),
            id="on a pool that another pod can use only with a toleration",
        ),
    ],
)
def test_rollouts_finish_after_the_joint_fix(
    pools: list[Json], wanted: tuple[list[Json], ...]
) -> None:
    """Given Deployments that start a pod first, expect nodes for that pod, and their price."""
    given = fleet(pools=pools)

    fix = planned(given, *wanted).joint_fix

    assert fix is not None
    assert "; during rollouts, up to USD" in fix.cost
    tolerating = [
        workload("b", 1) if objects[0]["metadata"]["name"] == "b" else objects for objects in wanted
    ]
    again = planned(fix.fleet, *tolerating)
    assert (again.verdict, again.stalled) == ("fits", ())


def test_fix_of_the_simulation_has_nodes_for_rollouts() -> None:
    """Given a fix that lets other pods use a pool last, when a rollout needs another node of that
    pool, then the fix of the workload and its patch raise the maximum.
    """
    pools = [
        {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 1, "max": 6}},
        {"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 2}},
    ]
    wanted = deployment("serve", 6), deployment("train", 2, gpus=8)

    plan = planned(fleet(pools=pools), *wanted)

    assert plan.manifests is not None
    fix = plan.judgement.fixes[0]
    (reason,) = next(each for each in plan.workloads if each.workload.name == "train").reasons
    raised = 'raise the maximum of pool "l4" to 7 and that of pool "h100" to 3'
    assert f"{raised}. In the simulation" in reason.fix
    patch = fix_patch(fix, plan.manifests, plan.offers)
    assert patch is not None
    assert {row["name"]: row["count"]["max"] for row in patch["pools"]} == {"h100": 3, "l4": 7}


def compute_domain(name: str, nodes: int) -> list[Json]:
    """Pods that share memory across nodes, with all GPUs of each node."""
    domain = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": {"name": f"{name}-domain", "namespace": "ml"},
        "spec": {
            "numNodes": nodes,
            "channel": {"resourceClaimTemplate": {"name": f"{name}-channel"}},
        },
    }
    claims = [
        {"name": "gpu", "resourceClaimTemplateName": name},
        {"name": "channel", "resourceClaimTemplateName": f"{name}-channel"},
    ]
    return [domain, *workload(name, nodes, gpus=4, resourceClaims=claims)]


@pytest.mark.parametrize(
    ("domains", "most"),
    [
        pytest.param((8,), 18, id="one rack"),
        pytest.param((10, 10, 10), 54, id="a rack for each domain"),
        pytest.param((8, 8), 18, id="two domains in one rack"),
    ],
)
def test_maximums_are_raised_to_complete_racks(domains: tuple[int, ...], most: int) -> None:
    """Given ComputeDomains on too few nodes, expect one fix with complete racks and their price."""
    rack = {"name": "gb200", "machine": "p6e-gb200.36xlarge", "count": {"min": 0, "max": 4}}
    bought = {"pricePerHour": 100, "capacity": {"capacityBlock": "cr-0123456789abcdef0"}}
    drivers = {"nvidia": {"version": "0.4.1", "computeDomains": True}}
    wanted = [compute_domain(f"d{at}", nodes) for at, nodes in enumerate(domains)]

    plan = planned(fleet(pools=[{**rack, **bought}], drivers=drivers), *wanted)

    step = f'set the maximum of pool "gb200" to {most}'
    price = f"(USD {(most - 4) * 100:,}.00 more per hour)"
    fixes = {reason.fix for each in plan.workloads for reason in each.reasons}
    assert fixes == {f"{step} {price}"}
    assert not [each for each in plan.diagnostics if each.severity == "error"]
    count = {"min": 0, "max": most}
    again = planned(fleet(pools=[{**rack, **bought, "count": count}], drivers=drivers), *wanted)
    assert again.verdict == "fits"


def test_domain_that_exceeds_a_rack_has_no_joint_fix() -> None:
    """Given a domain with more pods than a rack has nodes, when its pool is also too small, then
    the domain is reported before the pool is raised.
    """
    rack = {"name": "gb200", "machine": "p6e-gb200.36xlarge", "count": {"min": 0, "max": 4}}
    bought = {"pricePerHour": 100, "capacity": {"capacityBlock": "cr-0123456789abcdef0"}}
    drivers = {"nvidia": {"version": "0.4.1", "computeDomains": True}}

    plan = planned(
        fleet(pools=[{**rack, **bought}], drivers=drivers),
        compute_domain("a", 20),
    )

    assert plan.joint_fix is None
    assert "domain-exceeds-rack" in {each.code for each in plan.diagnostics}


def test_system_pool_gets_more_nodes_with_other_changes() -> None:
    """Given too few GPU nodes and system nodes, expect one fix, which has nodes for rollouts."""
    wanted = deployment("serve", 3), web(9)
    plan = planned(fleet(), *wanted)

    fix = plan.joint_fix
    assert fix is not None
    step, raised = fix.steps
    nodes = fix.fleet.system_pool.count
    assert step == f"set systemPool.count to {nodes} in the fleet"
    assert raised == 'set the maximum of pool "l4" to 4'
    again = planned(fix.fleet, *wanted)
    assert (again.verdict, again.stalled) == ("fits", ())


def test_fix_of_system_pods_has_nodes_for_rollouts() -> None:
    """Given only system pods that don't fit, expect the number of nodes for their rollouts."""
    (reason,) = (
        planned(fleet(), workload("a", 1), web(9)).workload("Deployment", "ml", "web").reasons
    )
    nodes = int(reason.fix.removeprefix('set the count of pool "system" to ').split()[0])

    system = {"machine": "m7i.large", "count": nodes}
    again = planned(fleet(systemPool=system), workload("a", 1), web(9))

    assert (again.verdict, again.stalled) == ("fits", ())


@pytest.mark.parametrize(
    ("cloud", "region", "system", "machine"),
    [
        ("eks", "us-east-1", "m7i.large", "g6.2xlarge"),
        ("gke", "us-central1", "e2-standard-4", "g2-standard-8"),
        ("aks", "eastus", "Standard_D4s_v5", "Standard_NC24ads_A100_v4"),
    ],
)
def test_pools_are_added_on_every_cloud(cloud: str, region: str, system: str, machine: str) -> None:
    """Given two Deployments that fit no pool, expect pools whose names the cloud accepts."""
    given = fleet(
        cloud=cloud,
        region=region,
        systemPool={"machine": system},
        drivers={"nvidia": {"version": "25.12.0"}},
        pools=[{"name": "small", "machine": machine, "count": {"min": 0, "max": 2}}],
        endpoint={"publicAccessCidrs": ["203.0.113.0/24"]},
    )
    wanted = deployment("cpu", 1, cpu="40"), deployment("large", 1, gpus=4)

    fix = planned(given, *wanted).joint_fix

    assert fix is not None
    again = planned(fix.fleet, *wanted)
    assert (again.verdict, again.stalled) == ("fits", ())


def test_added_pool_of_one_workload_states_its_nodes() -> None:
    """Given one Deployment that fits no pool, expect the nodes of the added pool."""
    wanted = deployment("large", 2, gpus=8)

    fix = planned(fleet(), wanted).joint_fix

    assert fix is not None
    (step,) = fix.steps
    assert step.endswith("at most 3 nodes")
    again = planned(fix.fleet, wanted)
    assert (again.verdict, again.stalled) == ("fits", ())
