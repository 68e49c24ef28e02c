"""Claims for a part of a device on devices that aren't shared: a warning whose fix the test
applies.
"""

from __future__ import annotations

import re

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.demand.undivided_devices import UNDIVIDED
from dra_planner.plan.model import MISSING_POOL
from dra_planner.sources import Source

SHARED = (
    "drivers.nvidia.version=0.5.0",
    "drivers.nvidia.featureGates.ConsumableShares=true",
    "drivers.nvidia.consumableShares=memory",
)


def l4(cloud: str = "eks", kubernetes: str = "1.36", *changes: str) -> Fleet:
    machine = {"eks": "g6.2xlarge", "gke": "g2-standard-8"}[cloud]
    given = fleet((machine, {"min": 0, "max": 4}), cloud=cloud, kubernetes=kubernetes)
    return change_fleet(given, [read_change(each) for each in changes])


def requesting(part: str = "capacity: {requests: {memory: 7Gi}}") -> Source:
    text = deployment(replicas=3).text
    return Source("web.yaml", text.replace("count: 1", f"count: 1, {part}"))


@pytest.mark.parametrize("driver", ["25.8.1", "0.5.0"])
def test_fix_for_a_whole_device_shares_it(driver: str) -> None:
    where = l4("eks", "1.36", f"drivers.nvidia.version={driver}")
    plan = plan_of(where, requesting())
    (found,) = [each for each in plan.diagnostics if each.code == UNDIVIDED]
    assert (plan.verdict, found.severity) == ("fits", "warning")
    assert (
        'ResourceClaimTemplate default/web requests 7Gi of capacity "memory", but gets'
        in found.message
    )
    changes = [read_change(each) for each in re.findall(r"`([\w.]+=[\w.]+)`", found.fix)]
    shared = plan_of(change_fleet(where, changes), requesting())
    assert [each for each in shared.diagnostics if each.code == UNDIVIDED] == []
    nodes = [sum(pool.nodes.desired for pool in each.pools) for each in (plan, shared)]
    assert nodes == [3, 1]


@pytest.mark.parametrize(
    "settings",
    [("drivers.nvidia.version=25.8.1",), ("drivers.nvidia.version=0.5.0",), SHARED],
    ids=["an older driver", "no shared devices", "devices shared by memory"],
)
def test_fix_publishes_the_requested_capacity(settings: tuple[str, ...]) -> None:
    """A request for `shares` needs devices that are divided in a number of shares."""
    where = l4("eks", "1.36", *settings)
    work = requesting("capacity: {requests: {shares: 1}}")
    plan = plan_of(where, work)
    assert plan.verdict == "does-not-fit"
    (found,) = [each for each in plan.workloads[0].reasons if each.code == MISSING_POOL]
    changes = [read_change(each) for each in re.findall(r"`([\w.]+=[\w.]+)`", found.fix)]
    shared = plan_of(change_fleet(where, changes), work)
    assert (shared.verdict, shared.pools[0].nodes.desired) == ("fits", 1)


@pytest.mark.parametrize("driver", ["25.8.1", "0.4.1", "0.5.0"])
@pytest.mark.parametrize("kubernetes", ["1.34", "1.35"])
def test_one_fix_shares_the_devices_of_an_older_cluster(kubernetes: str, driver: str) -> None:
    """Given a version that ignores requests for a part, the fix of its warning is complete."""
    where = l4("eks", kubernetes, f"drivers.nvidia.version={driver}")
    plan = plan_of(where, requesting())
    (found,) = [each for each in plan.diagnostics if each.code == "field-dropped"]
    changes = [read_change(each) for each in re.findall(r"`([\w.]+=[\w.]+)`", found.fix)]
    shared = plan_of(change_fleet(where, changes), requesting())
    assert {each.code for each in shared.diagnostics} & {UNDIVIDED, "field-dropped"} == set()
    assert [sum(pool.nodes.desired for pool in each.pools) for each in (plan, shared)] == [3, 1]


def test_plan_for_another_version_keeps_the_fix() -> None:
    plan = plan_of(l4("eks", "1.36"), requesting(), kubernetes="1.35")
    (found,) = [each for each in plan.diagnostics if each.code == "field-dropped"]
    assert found.fix.startswith("use Kubernetes 1.36 or later")


@pytest.mark.parametrize(
    ("name", "where", "part"),
    [
        ("shared devices", l4("eks", "1.36", *SHARED), "capacity: {requests: {memory: 7Gi}}"),
        ("a whole device is requested", l4(), "allocationMode: ExactCount"),
        # The API server drops the field, which is another warning.
        ("Kubernetes 1.34", l4(kubernetes="1.34"), "capacity: {requests: {memory: 7Gi}}"),
    ],
)
def test_valid_requests_cause_no_warning(name: str, where: Fleet, part: str) -> None:
    plan = plan_of(where, requesting(part))
    assert UNDIVIDED not in {each.code for each in plan.diagnostics}, name


def test_cloud_without_shared_devices_gets_no_setting_as_a_fix() -> None:
    (found,) = [
        each for each in plan_of(l4("gke"), requesting()).diagnostics if each.code == UNDIVIDED
    ]
    assert found.fix == "remove `capacity` from the request if each pod needs a whole device"
    without = plan_of(l4("gke"), deployment(replicas=3))
    assert UNDIVIDED not in {each.code for each in without.diagnostics}


def test_cloud_without_shares_gets_no_advice_to_upgrade() -> None:
    """Given GKE, which doesn't support the driver's gate, a newer version shares nothing."""
    plan = plan_of(l4("gke", "1.35"), requesting())
    (found,) = [each for each in plan.diagnostics if each.code == "field-dropped"]
    assert found.fix == "remove `capacity` from the request if each pod needs a whole device"


NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  allocatable: {cpu: "64", memory: 256Gi, pods: "110"}
  nodeInfo: {kubeletVersion: v1.36.1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: DRIVER}
spec: {selectors: [{cel: {expression: 'device.driver == "DRIVER"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1}
spec:
  driver: DRIVER
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
    - {name: gpu-0, SHARED capacity: {memory: {value: 16Gi}, millicores: {value: 1k}}}
    - {name: gpu-1, SHARED capacity: {memory: {value: 16Gi}, millicores: {value: 1k}}}
"""


def snapshot_findings(driver: str, capacity: str, shared: str = "") -> list[Diagnostic]:
    """Return the findings about a part of a device on the nodes of a snapshot."""
    nodes = NODE.replace("DRIVER", driver).replace("SHARED", shared)
    work = requesting(f"capacity: {{requests: {{{capacity}}}}}").text
    source = Source(
        "web.yaml", work.replace("deviceClassName: gpu.nvidia.com", f"deviceClassName: {driver}")
    )
    plan = make_plan(PlanRequest(sources=(source,), observed=(Source("nodes.yaml", nodes),)))
    return [each for each in plan.diagnostics if each.code == UNDIVIDED]


@pytest.mark.parametrize(
    ("driver", "capacity", "amount"),
    [
        ("gpu.intel.com", "millicores: 500", '500 of capacity "millicores"'),
        ("gpu.amd.com", "memory: 8Gi", '8Gi of capacity "memory"'),
        ("gpu.nvidia.com", "memory: 4Gi", '4Gi of capacity "memory"'),
        ("gpu.example.com", "millicores: 100", '100 of capacity "millicores"'),
    ],
)
def test_whole_devices_of_a_snapshot_are_reported(driver: str, capacity: str, amount: str) -> None:
    (found,) = snapshot_findings(driver, capacity)
    assert f"ResourceClaimTemplate default/web requests {amount}, but gets a whole device" in (
        found.message
    )
    assert found.fix == "remove `capacity` from the request if each pod needs a whole device"


def test_shared_devices_of_a_snapshot_cause_no_warning() -> None:
    shared = "allowMultipleAllocations: true,"
    assert snapshot_findings("gpu.intel.com", "millicores: 500", shared) == []
