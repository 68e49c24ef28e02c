"""A pool on EKS that has nodes only at certain hours, tested with a simulated clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dra_sandbox.clouds.aws.schedules import pass_time

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("eks")]

NODE_GROUP, SCHEDULE = "aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/schedule:Schedule"
NOW = datetime.now(UTC)


def hours(start: timedelta, end: timedelta) -> dict[str, Any]:
    """Return a daily schedule with hours relative to the current time."""
    return {"hours": {"start": f"{NOW + start:%H:%M}", "end": f"{NOW + end:%H:%M}"}}


@pytest.fixture(scope="module")
def stack(journey: Callable[[str], Any]) -> Any:
    """Return the stack eks-dev, with one pool during its scheduled hours, after its first `up`."""
    stack = journey("eks-dev")

    def scheduled(fleet: dict[str, Any]) -> None:
        fleet["pools"] = fleet["pools"][:1]
        fleet["pools"][0] |= {
            "count": {"min": 0, "max": 4},
            "schedule": hours(-timedelta(hours=3), timedelta(hours=3)),
        }

    stack.write(nodes=2, change=scheduled)
    stack.up()
    return stack


def sizes(stack: Any) -> tuple[int, int, int]:
    groups = stack.engine.cloud.all(NODE_GROUP).values()
    scaling = next(each for each in groups if each["labels"]["pulumi-dra/pool"] == "l4")[
        "scalingConfig"
    ]
    return scaling["minSize"], scaling["desiredSize"], scaling["maxSize"]


def test_scheduled_pool_has_the_planned_nodes_during_its_hours(
    stack: Any,
) -> None:
    assert sizes(stack) == (0, 2, 4)
    assert stack.up() == {}


def test_schedule_removes_and_restores_nodes_without_changing_limits(
    stack: Any,
) -> None:
    pass_time(stack.engine.cloud, NOW, NOW + timedelta(hours=4))
    assert sizes(stack) == (0, 0, 4)
    pass_time(stack.engine.cloud, NOW + timedelta(hours=4), NOW + timedelta(hours=24))
    assert sizes(stack) == (0, 2, 4)


def test_growing_plan_recreates_the_scheduled_actions(stack: Any) -> None:
    """EC2 refuses updates in place, because the provider sends the old start time, which is
    past.
    """
    for name, action in stack.engine.cloud.all(SCHEDULE).items():
        stack.engine.cloud.put(SCHEDULE, name, {**action, "startTime": "2020-01-01T08:00:00Z"})
    stack.write(nodes=3)
    changed = stack.up()
    assert changed.pop("dra-l4-nodes-start") in {"create-replacement", "replace", "delete-replaced"}
    assert changed == {"dra-plan": "update", "dra-l4-nodes": "update"}
    assert sizes(stack) == (0, 3, 4)
    assert sorted(
        each["desiredCapacity"] for each in stack.engine.cloud.all(SCHEDULE).values()
    ) == [0, 3]


def test_up_outside_scheduled_hours_starts_no_nodes(stack: Any) -> None:
    stack.write(
        nodes=3,
        change=lambda fleet: fleet["pools"][0].update(
            schedule=hours(timedelta(hours=3), timedelta(hours=6))
        ),
    )
    stack.up()
    assert sizes(stack) == (0, 0, 4)


def test_removing_the_schedule_keeps_nodes_and_deletes_the_actions(stack: Any) -> None:
    stack.write(nodes=3, change=lambda fleet: fleet["pools"][0].pop("schedule"))
    stack.up()
    assert sizes(stack) == (3, 3, 4)
    assert stack.engine.cloud.all(SCHEDULE) == {}
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output
