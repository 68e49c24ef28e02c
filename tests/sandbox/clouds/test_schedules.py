"""Scheduled actions of Auto Scaling groups: what EC2 refuses, and the number of nodes over time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import grpc
import pytest

from dra_sandbox.clouds.aws.schedules import pass_time
from dra_sandbox.clouds.existing_resources import Memory

GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"
SCHEDULE = "aws:autoscaling/schedule:Schedule"
RESERVATION = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
GROUP_INPUTS: dict[str, Any] = {
    "clusterName": "main",
    "nodeGroupName": "gpu",
    "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
    "subnetIds": ["subnet-1"],
    "scalingConfig": {"minSize": 0, "desiredSize": 3, "maxSize": 4},
}
SIZES = {"minSize": -1, "maxSize": -1, "desiredCapacity": 0}
EVENING: dict[str, Any] = {
    **SIZES,
    "autoscalingGroupName": "gpu",
    "scheduledActionName": "end",
    "recurrence": "0 18 * * 1-5",
}


def group_of(memory: Memory) -> dict[str, Any]:
    (group,) = memory.all(GROUP).values()
    return group


@pytest.fixture
def evening(cloud: Any) -> dict[str, Any]:
    """Create a node group with three nodes; return the inputs of an action that scales it down at
    18:00.
    """
    group = cloud.create(GROUP, **GROUP_INPUTS)
    name = group["resources"][0]["autoscalingGroups"][0]["name"]
    return {**EVENING, "autoscalingGroupName": name}


AT_ONCE = {
    "no start time and no recurrence": ({"recurrence": None}, "one of Recurrence and StartTime"),
    "three fields": ({"recurrence": "0 18 *"}, "Given recurrence string: 0 18 * is invalid"),
    "sizes left to the provider": (
        {"minSize": 2, "maxSize": None, "desiredCapacity": None},
        "Desired capacity must be greater than or equal to min size",
    ),
    "a desired size above the maximum": (
        {"maxSize": 1, "desiredCapacity": 2},
        "less than or equal to max size",
    ),
}


@pytest.mark.parametrize(("change", "reason"), AT_ONCE.values(), ids=AT_ONCE)
def test_invalid_inputs_are_rejected_in_a_preview(
    cloud: Any, change: dict[str, Any], reason: str
) -> None:
    inputs = {name: value for name, value in {**EVENING, **change}.items() if value is not None}
    assert cloud.check_error(SCHEDULE, EVENING) == ""
    assert reason in cloud.check_error(SCHEDULE, inputs)


def test_an_action_needs_an_existing_group_and_an_unreserved_name(
    cloud: Any, evening: dict[str, Any]
) -> None:
    with pytest.raises(grpc.RpcError, match="AutoScalingGroup name not found"):
        cloud.create(SCHEDULE, **{**evening, "autoscalingGroupName": "other"})
    name = "Amazon EKS Node Group Capacity Scaledown Before Reservation End"
    with pytest.raises(grpc.RpcError, match="is the action of Amazon EKS"):
        cloud.create(SCHEDULE, **{**evening, "scheduledActionName": name})


def test_an_action_cannot_start_in_the_past(
    cloud: Any, evening: dict[str, Any], memory: Memory
) -> None:
    once = {**evening, "recurrence": None, "startTime": "2020-01-01T00:00:00Z"}
    with pytest.raises(grpc.RpcError, match="Given start time is in the past"):
        cloud.create(SCHEDULE, **{name: value for name, value in once.items() if value is not None})
    action = cloud.create(SCHEDULE, **evening)
    assert datetime.fromisoformat(action["startTime"]).hour == 18
    (identifier,) = memory.all(SCHEDULE)
    memory.put(SCHEDULE, identifier, {**action, "startTime": "2020-01-03T18:00:00Z"})
    with pytest.raises(grpc.RpcError, match="Given start time is in the past"):
        cloud.update(SCHEDULE, action, **{**evening, "recurrence": "0 19 * * 1-5"})


def test_row_37_schedules_change_sizes_outside_of_the_group(
    cloud: Any, evening: dict[str, Any], memory: Memory
) -> None:
    cloud.create(SCHEDULE, **evening, timeZone="America/New_York")
    friday = datetime.fromisoformat("2026-11-27T22:00:00Z")
    pass_time(memory, friday, friday.replace(minute=59))
    assert group_of(memory)["scalingConfig"]["desiredSize"] == 3, "17:59 in New York"
    pass_time(memory, friday, friday.replace(hour=23))
    assert group_of(memory)["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 4}


def block_group(cloud: Any, memory: Memory, start: str, end: str, nodes: int) -> Any:
    memory.put(RESERVATION, "cr-1", {"id": "cr-1", "startDate": start, "endDate": end})
    template = cloud.create(
        TEMPLATE,
        name="gpu",
        instanceType="p5.48xlarge",
        instanceMarketOptions={"marketType": "capacity-block"},
        capacityReservationSpecification={
            "capacityReservationTarget": {"capacityReservationId": "cr-1"}
        },
    )
    inputs = {
        **GROUP_INPUTS,
        "capacityType": "CAPACITY_BLOCK",
        "launchTemplate": {"id": template["id"], "version": "1"},
        "scalingConfig": {"minSize": 0, "desiredSize": nodes, "maxSize": 4},
    }
    return cloud.create(GROUP, **inputs)


@pytest.mark.parametrize(
    ("start", "end", "state"),
    [
        ("2099-01-01T11:30:00Z", "2099-01-02T11:30:00Z", "not active yet"),
        ("2020-01-01T11:30:00Z", "2020-01-02T11:30:00Z", "expired"),
    ],
)
def test_row_20_a_capacity_block_has_no_machines_outside_its_period(
    memory: Memory, cloud: Any, start: str, end: str, state: str
) -> None:
    with pytest.raises(grpc.RpcError, match=f"the Capacity Block cr-1 is {state}"):
        block_group(cloud, memory, start, end, nodes=1)
    assert block_group(cloud, memory, start, end, nodes=0)["scalingConfig"]["desiredSize"] == 0


def test_row_21_eks_scales_a_group_to_zero_before_its_block_ends(
    memory: Memory, cloud: Any
) -> None:
    block_group(cloud, memory, "2020-01-01T11:30:00Z", "2099-01-02T11:30:00Z", nodes=2)
    end = datetime.fromisoformat("2099-01-02T11:30:00Z")
    pass_time(memory, end.replace(hour=10, minute=0), end.replace(hour=10, minute=49))
    assert group_of(memory)["scalingConfig"]["desiredSize"] == 2
    pass_time(memory, end.replace(hour=10, minute=49), end.replace(hour=10, minute=50))
    assert group_of(memory)["scalingConfig"]["desiredSize"] == 0
