"""Plans on the real scheduler: which pods are placed, which stay pending and why, compared with the
plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Timer

import pytest
from plans import FLEET, POD, deployment, plan_of, sources

import gpu_manifests
from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.rehearsal import (
    Comparison,
    RehearsalRequest,
    WorkloadOrder,
    rehearse,
    rehearse_in_turn,
)
from dra_sandbox.rehearsal.cluster import planned_cluster
from dra_sandbox.rehearsal.controller_delays import seconds_to_replacement
from dra_sandbox.rehearsal.snapshot import PODS
from dra_sandbox.tools.kubernetes import Binaries, find_binaries

pytestmark = pytest.mark.control_plane
MINOR = 36


@pytest.fixture(scope="module")
def binaries() -> Binaries:
    return find_binaries(MINOR)


def rehearsed(
    binaries: Binaries, *documents: str, order: str = "document", one_by_one: bool = False
) -> Comparison:
    given = sources(*documents)
    request = RehearsalRequest(
        plan=plan_of(given), sources=given, order=WorkloadOrder.parse(order), one_by_one=one_by_one
    )
    with control_plane(Settings(MINOR), binaries) as plane:
        return rehearse(plane, request)


def test_fitting_pods_run_on_the_planned_nodes(binaries: Binaries) -> None:
    found = rehearsed(binaries, deployment("web", 3))

    (web,) = found.rows
    assert (web.wanted, web.outcome.placed, web.pending, web.difference) == (3, 3, 0, None)
    assert found.outcome.decided
    assert sum(pool.devices_used for pool in found.outcome.pools) == 3
    held = {(device.pool, device.device) for pod in web.outcome.pods for device in pod.devices}
    assert len(held) == 3
    assert all(pod.node == device.pool for pod in web.outcome.pods for device in pod.devices)


def test_pods_that_do_not_fit_stay_pending_with_the_schedulers_message(binaries: Binaries) -> None:
    found = rehearsed(binaries, deployment("web", 20), order="reversed", one_by_one=True)

    (web,) = found.rows
    assert web.planned is not None
    assert (web.outcome.placed, web.pending) == (12, 8)  # four nodes with one GPU, two with four
    assert (web.planned.placed, web.difference) == (12, None)
    assert all("cannot allocate all claims" in words for words in web.outcome.words)
    assert found.order == "reversed, one by one"


def test_no_pending_pod_starts_between_two_rehearsals(
    binaries: Binaries,
) -> None:
    template = f"{{spec: {{restartPolicy: Never, {POD.removeprefix('{')}}}"
    spec = f"{{parallelism: 20, completions: 20, template: {template}}}"
    given = sources(
        f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: train}}, spec: {spec}}}\n"
    )
    request = RehearsalRequest(plan=plan_of(given), sources=given)
    with control_plane(Settings(MINOR), binaries) as plane:
        server = ApiServer.of(plane)
        turns = rehearse_in_turn(plane, [request, request])
        next(turns)
        pods, version = server.listed(PODS)
        waiting = {each["metadata"]["uid"] for each in pods if not each["spec"].get("nodeName")}
        second = next(turns)

        gone: set[str] = set()
        started: set[str] = set()
        for event, pod in server.watch(PODS, version):
            (gone if event == "DELETED" else started if pod["spec"].get("nodeName") else set()).add(
                pod["metadata"]["uid"]
            )
            if waiting <= gone:
                break
        before = seconds_to_replacement(server)
        running = next(
            each for each in server.listed(PODS)[0] if each["metadata"]["name"].startswith("train-")
        )
        server.delete(f"/api/v1/namespaces/default/pods/{running['metadata']['name']}")
        backoff = _first_positive(lambda: seconds_to_replacement(server))

    assert len(waiting) == 8
    assert not waiting & started
    assert (second.rows[0].outcome.placed, second.rows[0].pending) == (12, 8)
    # a Job waits this long before it replaces its first lost pod
    assert (before, backoff) == (0, 10)


def test_pods_that_start_late_are_awaited(binaries: Binaries) -> None:
    """Given kubelets that start no pods for 8 seconds, as on a busy machine, expect the pods that
    a StatefulSet creates one after the other.
    """
    given = sources(deployment("web", 3).replace("kind: Deployment", "kind: StatefulSet"))
    request = RehearsalRequest(plan=plan_of(given), sources=given)
    with control_plane(Settings(MINOR), binaries) as plane:
        kubelets = running(plane.folder)["kubelet"]
        kubelets.suspend()
        timer = Timer(8, kubelets.resume)
        timer.start()
        found = rehearse(plane, request)
        timer.join()

    (web,) = found.rows
    assert (web.outcome.placed, web.pending) == (3, 0)


def _first_positive(asked: Callable[[], float]) -> float:
    until = time.monotonic() + 30
    while not (found := asked()) and time.monotonic() < until:
        time.sleep(0.2)
    return found


def test_api_server_errors_match_the_plan(binaries: Binaries) -> None:
    nameless = "apiVersion: v1\nkind: Pod\nmetadata: {name: nothing}\nspec: {containers: []}\n"
    missing = deployment("orphan", 1).replace("one-gpu", "no-such-template")

    limited = "metadata: {name: limited, namespace: limited}"
    quota = f"apiVersion: v1\nkind: ResourceQuota\n{limited}\nspec: {{hard: {{requests.cpu: 4}}}}\n"
    silent = (
        f"apiVersion: v1\nkind: Pod\n{limited}\nspec: {{containers: [{{name: c, image: i}}]}}\n"
    )

    found = rehearsed(binaries, nameless, missing, quota, silent)

    nothing, orphan, open_ = found.rows
    assert nothing.difference is not None
    assert nothing.difference.reason == "refused-as-planned"
    assert "spec.containers: Required value" in nothing.outcome.refused
    assert (orphan.outcome.placed, orphan.pending, orphan.difference) == (0, 1, None)
    assert (open_.outcome.placed, open_.pending, open_.difference) == (0, 1, None)
    assert "must specify requests.cpu for: c" in open_.outcome.refused


def test_guards_of_the_plan_are_real_admission_policies(binaries: Binaries) -> None:
    """Given one-GPU pods that would spread over a machine with four GPUs, expect every pod on the
    pool of its rule.
    """
    four = gpu_manifests.template("four-gpus").replace(
        "deviceClassName: gpu.nvidia.com", "deviceClassName: gpu.nvidia.com, count: 4"
    )
    given = sources(
        deployment("web", 6), four, gpu_manifests.deployment("train", 2, "four-gpus", cpu="4")
    )
    plan = plan_of(
        given,
        FLEET.replace(
            "a10g, machine: g5.12xlarge, count: {min: 0, max: 2}",
            "a10g, machine: g5.12xlarge, count: {min: 0, max: 9}",
        )
        + "placement: exact\n",
    )
    assert plan.guards.kinds
    request = RehearsalRequest(plan=plan, sources=given)
    with control_plane(Settings(MINOR), binaries) as plane:
        found = rehearse(plane, request)

    cluster = planned_cluster(plan)
    pools = {
        row.outcome.workload.name: {cluster.pool_of(pod.node) for pod in row.outcome.pods}
        for row in found.rows
    }
    rules = {ref.name: rule.pool for rule in plan.guards.rules for ref, _ in rule.workloads}
    assert pools == {name: {pool} for name, pool in rules.items()}
    assert all(row.difference is None for row in found.rows)
