"""A pool that follows a schedule: its current number of nodes, and the later actions of EC2 Auto
Scaling.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_planner.clouds import DAYS, Hours, Period
from dra_sandbox.clouds.aws.schedules import pass_time
from dra_sandbox.clouds.existing_resources import Memory
from pulumi_dra.eks import EksGpuPool
from pulumi_dra.eks.pool.schedule import follow
from pulumi_dra.inputs.pool_inputs import Counts
from pulumi_dra.inputs.reader import WrongInputs

NEEDED: dict[str, Any] = {
    "cluster_name": "dev",
    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    "subnet_ids": ["subnet-a"],
    "machine": "p5.48xlarge",
    "min_nodes": 0,
    "desired_nodes": 3,
    "max_nodes": 4,
}
COUNTS = Counts(0, 3, 4, False)
WORK = Hours(
    start="08:00", end="18:00", days=("Mon", "Tue", "Wed", "Thu", "Fri"), time_zone="Europe/Berlin"
)
NIGHT = Hours(start="22:00", end="06:00", days=("Fri", "Sun"))
BLOCK = Period(start="2026-12-01T11:30:00Z", end="2026-12-08T11:30:00Z")


@pytest.fixture
def pool(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: EksGpuPool("h100", {**NEEDED, **args}))


NOW = {
    "a Tuesday at noon": (WORK, "on-demand", "2026-12-01T11:00:00Z", 3),
    "the first minute": (WORK, "on-demand", "2026-12-01T07:00:00Z", 3),
    "the minute before, in Berlin time": (WORK, "on-demand", "2026-12-01T06:59:00Z", 0),
    "the last minute": (WORK, "on-demand", "2026-12-01T16:59:00Z", 3),
    "the end": (WORK, "on-demand", "2026-12-01T17:00:00Z", 0),
    "in daylight saving time": (WORK, "on-demand", "2026-07-01T06:00:00Z", 3),
    "a Saturday": (WORK, "on-demand", "2026-12-05T11:00:00Z", 0),
    "Friday before midnight": (NIGHT, "on-demand", "2026-12-04T23:00:00Z", 3),
    "Saturday after it": (NIGHT, "on-demand", "2026-12-05T05:59:00Z", 3),
    "Saturday before midnight": (NIGHT, "on-demand", "2026-12-05T23:00:00Z", 0),
    "Monday after a Sunday": (NIGHT, "on-demand", "2026-12-07T05:00:00Z", 3),
    "Friday morning": (NIGHT, "on-demand", "2026-12-04T05:00:00Z", 0),
    "before a block": (BLOCK, "capacity-block", "2026-12-01T11:29:00Z", 0),
    "in a block": (BLOCK, "capacity-block", "2026-12-01T11:30:00Z", 3),
    "a block that EKS has emptied": (BLOCK, "capacity-block", "2026-12-08T10:50:00Z", 0),
    "an on-demand pool in the same period": (BLOCK, "on-demand", "2026-12-08T10:50:00Z", 3),
    "after a block": (BLOCK, "on-demand", "2026-12-08T11:30:00Z", 0),
}


@pytest.mark.parametrize(("schedule", "capacity", "now", "nodes"), NOW.values(), ids=NOW)
def test_current_node_count_follows_the_schedule(
    schedule: Hours | Period, capacity: str, now: str, nodes: int
) -> None:
    assert follow(schedule, COUNTS, capacity, datetime.fromisoformat(now))[0] == nodes


def test_working_hours_are_two_actions_on_the_desired_size(pool: Any) -> None:
    hours = {
        "start": "08:30",
        "end": "18:00",
        "days": ["Mon", "Fri", "Sun"],
        "time_zone": "Europe/Berlin",
    }
    declared = pool(schedule={"hours": hours})
    start, end = declared.all("Schedule")
    assert (start.name, start.inputs["recurrence"]) == ("h100-nodes-start", "30 8 * * 0,1,5")
    assert (end.name, end.inputs["recurrence"]) == ("h100-nodes-end", "0 18 * * 0,1,5")
    assert [each.inputs["desiredCapacity"] for each in (start, end)] == [3, 0]
    for action in (start, end):
        assert (action.inputs["minSize"], action.inputs["maxSize"]) == (-1, -1)
        assert action.inputs["timeZone"] == "Europe/Berlin"
        assert action.replace_on_changes == ("*",), "in place a change would be refused"
        assert action.delete_before_replace
    scaling = declared.one("NodeGroup").inputs["scalingConfig"]
    assert (scaling["minSize"], scaling["maxSize"]) == (0, 4)


def test_overnight_hours_end_on_the_next_day(pool: Any) -> None:
    night = {"start": "22:00", "end": "06:00", "days": ["Sat"]}
    assert [
        each.inputs["recurrence"] for each in pool(schedule={"hours": night}).all("Schedule")
    ] == [
        "0 22 * * 6",
        "0 6 * * 0",
    ]


FUTURE = {"start": "2099-12-01T11:30:00Z", "end": "2099-12-08T11:30:00Z"}
PAST = {"start": "2020-12-01T11:30:00Z", "end": "2020-12-08T11:30:00Z"}
PRESENT = {"start": "2020-12-01T11:30:00Z", "end": "2099-12-08T11:30:00Z"}
BOUGHT = {"capacity": "capacity-block", "reservation_id": "cr-0a"}
PERIODS = {
    "before the period": (
        FUTURE,
        {},
        0,
        {"start": (3, FUTURE["start"]), "end": (0, FUTURE["end"])},
    ),
    "now": (PRESENT, {}, 3, {"end": (0, PRESENT["end"])}),
    "past": (PAST, {}, 0, {}),
    "a future block, which EKS ends": (
        FUTURE,
        BOUGHT,
        0,
        {"start": (3, FUTURE["start"])},
    ),
    "a current block": (PRESENT, BOUGHT, 3, {}),
    "a past block": (PAST, BOUGHT, 0, {}),
}


@pytest.mark.parametrize(("period", "args", "nodes", "actions"), PERIODS.values(), ids=PERIODS)
def test_period_has_only_future_actions(
    pool: Any, period: Any, args: Any, nodes: int, actions: dict[str, tuple[int, str]]
) -> None:
    declared = pool(schedule={"period": period}, **args)
    assert declared.one("NodeGroup").inputs["scalingConfig"]["desiredSize"] == nodes
    found = {
        each.name.removeprefix("h100-nodes-"): each.inputs for each in declared.all("Schedule")
    }
    assert {
        name: (each["desiredCapacity"], each["startTime"]) for name, each in found.items()
    } == actions


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": (
        {"schedule": {}},
        "schedule: must set either hours (repeated every week) or period (once)",
    ),
    "both": (
        {"schedule": {"hours": {"start": "08:00", "end": "09:00"}, "period": FUTURE}},
        "must set either hours",
    ),
    "text": ({"schedule": "nights"}, "schedule: must be a structure"),
    "hours as text": ({"schedule": {"hours": "08:00-18:00"}}, "schedule.hours"),
    "no end": ({"schedule": {"hours": {"start": "08:00"}}}, "schedule.hours.end: is missing"),
    "a bad time": (
        {"schedule": {"hours": {"start": "8", "end": "18:00"}}},
        '"8" isn\'t a time of day; use the form',
    ),
    "a number": (
        {"schedule": {"hours": {"start": 8, "end": "18:00"}}},
        "schedule.hours.start: must be a string, not 8",
    ),
    "a bad day": (
        {"schedule": {"hours": {"start": "08:00", "end": "18:00", "days": ["Monday"]}}},
        '"Monday" isn\'t',
    ),
    "a duplicate day": (
        {"schedule": {"hours": {"start": "08:00", "end": "18:00", "days": ["Mon", "Mon"]}}},
        '"Mon" appears twice',
    ),
    "a bad zone": (
        {"schedule": {"hours": {"start": "08:00", "end": "18:00", "time_zone": "Berlin"}}},
        '"Berlin" isn\'t a known time zone',
    ),
    "no hours": (
        {"schedule": {"hours": {"start": "08:00", "end": "08:00"}}},
        "start and end are the same",
    ),
    "backwards": (
        {"schedule": {"period": {"start": FUTURE["end"], "end": FUTURE["start"]}}},
        "isn't after the start",
    ),
    "a bad instant": (
        {"schedule": {"period": {**FUTURE, "start": "tomorrow"}}},
        '"tomorrow" isn\'t a date and time in UTC; use the form "2026-12-01T11:30:00Z"',
    ),
    "a schedule with an autoscaler": (
        {"schedule": {"period": FUTURE}, "autoscaled": True},
        "isn't supported with autoscaled, because both change the node count",
    ),
    "a block that is never empty": (
        {"schedule": {"period": FUTURE}, **BOUGHT, "min_nodes": 1},
        "min_nodes: must be 0",
    ),
    "an unknown key": ({"schedule": {"hour": {}}}, 'did you mean "hours"?'),
}


@pytest.mark.parametrize(("args", "reason"), WRONG.values(), ids=WRONG)
def test_wrong_inputs_are_rejected(pool: Any, args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs) as caught:
        pool(**args)
    assert reason in str(caught.value)


times = st.builds(
    lambda hour, minute: f"{hour:02}:{minute:02}", st.integers(0, 23), st.sampled_from([0, 15, 59])
)
zones = st.sampled_from(["Etc/UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
weeks = st.builds(
    lambda start, end, days, zone: Hours(start=start, end=end, days=tuple(days), time_zone=zone),
    times, times, st.lists(st.sampled_from(DAYS), min_size=1, unique=True), zones,
).filter(lambda hours: hours.start != hours.end)  # fmt: skip
moments = st.datetimes(datetime(2026, 11, 2), datetime(2026, 12, 20)).map(
    lambda at: at.replace(tzinfo=UTC, second=0)
)


@settings(max_examples=40, deadline=None)
@given(weeks, moments)
def test_simulated_cloud_has_the_scheduled_node_count(hours: Hours, now: datetime) -> None:
    """After eight simulated days, a group has the node count that the component requests at that
    time, regardless of its initial count.
    """
    _, actions = follow(hours, COUNTS, "on-demand", now)
    cloud = Memory()
    group = {
        "resources": [{"autoscalingGroups": [{"name": "asg"}]}],
        "scalingConfig": {"minSize": 0, "desiredSize": 4, "maxSize": 4},
    }
    cloud.put("aws:eks/nodeGroup:NodeGroup", "g", group)
    for action in actions:
        sizes = {"minSize": -1, "maxSize": -1, "desiredCapacity": action.nodes}
        when = {"recurrence": action.recurrence, "timeZone": action.time_zone}
        known = {"autoscalingGroupName": "asg", **sizes, **when}
        cloud.put("aws:autoscaling/schedule:Schedule", action.name, known)
    pass_time(cloud, now - timedelta(days=8), now)
    there = cloud.all("aws:eks/nodeGroup:NodeGroup")["g"]["scalingConfig"]["desiredSize"]
    assert there == follow(hours, COUNTS, "on-demand", now)[0]
