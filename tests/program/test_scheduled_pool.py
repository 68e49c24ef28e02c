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


def test_in_its_hours_a_pool_has_what_the_plan_says_and_a_second_up_changes_nothing(
    stack: Any,
) -> None:
    assert sizes(stack) == (0, 2, 4)
    assert stack.up() == {}


def test_time_takes_the_nodes_away_and_brings_them_back_without_touching_the_limits(
    stack: Any,
) -> None:
    pass_time(stack.engine.cloud, NOW, NOW + timedelta(hours=4))
    assert sizes(stack) == (0, 0, 4)
    pass_time(stack.engine.cloud, NOW + timedelta(hours=4), NOW + timedelta(hours=24))
    assert sizes(stack) == (0, 2, 4)


def test_a_plan_that_grows_makes_the_actions_anew(stack: Any) -> None:
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


def test_after_its_hours_an_up_starts_nothing(stack: Any) -> None:
    stack.write(
        nodes=3,
        change=lambda fleet: fleet["pools"][0].update(
            schedule=hours(timedelta(hours=3), timedelta(hours=6))
        ),
    )
    stack.up()
    assert sizes(stack) == (0, 0, 4)


def test_without_a_schedule_the_nodes_stay_and_nothing_is_left(stack: Any) -> None:
    stack.write(nodes=3, change=lambda fleet: fleet["pools"][0].pop("schedule"))
    stack.up()
    assert sizes(stack) == (3, 3, 4)
    assert stack.engine.cloud.all(SCHEDULE) == {}
    destroyed = stack.engine.destroy(stack.stack)
    assert destroyed.ok, destroyed.output
