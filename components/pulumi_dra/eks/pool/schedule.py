"""Scheduled node counts of a pool: actions of the Auto Scaling group behind its managed node group.

Managed node groups don't support schedules (aws/containers-roadmap issue 1943). An action changes
only the desired size, so the EKS limits remain correct.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NotRequired, TypedDict
from zoneinfo import ZoneInfo

import pulumi_aws as aws
from msgspec import Struct
from pulumi_aws.eks.outputs import NodeGroupResource

from dra_planner.clouds import (
    DAYS,
    UTC_ZONE,
    Hours,
    Period,
    Schedule,
    instant_fault,
    read_instant,
    repetition_fault,
    schedule_fault,
    time_of_day_fault,
    time_zone_fault,
)
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.pool_inputs import Counts
from pulumi_dra.inputs.reader import InputReader

UNCHANGED = -1
"""Value that the provider omits from an action. A missing size would be 0 (buildkite, pull request
146 of its terraform-buildkite-elastic-ci-stack-for-aws).
"""
BLOCK_ENDS_EARLIER = timedelta(minutes=40)
"""EKS itself schedules the scale-down of a Capacity Block's group (EKS user guide, “Create a
managed node group with Capacity Blocks for ML”).
"""


class WeeklyHours(TypedDict):
    """Weekly hours."""

    start: str
    """Time at which nodes start, "08:00"."""
    end: str
    """Time at which the nodes are removed. If the end time is before the start time, the schedule
    ends on the next day.
    """
    days: NotRequired[list[str]]
    """Days on which nodes start: Mon, Tue, Wed, Thu, Fri, Sat, Sun. Default: all."""
    time_zone: NotRequired[str]
    """Time zone, for example Europe/Berlin. Default: Etc/UTC."""


class OnePeriod(TypedDict):
    """One period, for example the period of a Capacity Block."""

    start: str
    """Time at which nodes start, in UTC: 2026-12-01T11:30:00Z."""
    end: str
    """Time at which the nodes are removed."""


class PoolSchedule(TypedDict):
    """Times at which a pool has its nodes: weekly hours or one period."""

    hours: NotRequired[WeeklyHours]
    """Weekly hours."""
    period: NotRequired[OnePeriod]
    """One period."""


class Action(Struct, frozen=True, kw_only=True):
    """A scheduled action: a node count, and its time, either `recurrence` in `time_zone` or once at
    `start_time`.
    """

    name: str
    nodes: int
    recurrence: str | None = None
    time_zone: str | None = None
    start_time: str | None = None


def read_schedule(read: InputReader, counts: Counts, capacity: str) -> Schedule | None:
    """Return `schedule`, or None if it's unset. Errors are recorded in `read`."""
    if not read.has("schedule"):
        return None
    block = read.block("schedule")
    inner = read.inside("schedule", block, PoolSchedule)
    given = [key for key in ("hours", "period") if inner.has(key)]
    if len(given) != 1:
        read.refuse("schedule", "must set either hours (repeated every week) or period (once)")
        return None
    if counts.autoscaled:
        read.refuse(
            "schedule", "isn't supported with autoscaled, because both change the node count"
        )
    if capacity == "capacity-block" and counts.min:
        read.refuse(
            "min_nodes", "must be 0, because a Capacity Block doesn't have nodes before it starts"
        )
    schedule = _read_hours(inner) if given == ["hours"] else _read_period(inner)
    if schedule is not None and (fault := schedule_fault(schedule)):
        inner.refuse(given[0], fault)
    return schedule


def _read_hours(read: InputReader) -> Hours | None:
    block: Mapping[str, Any] = read.block("hours")
    hours = read.inside("hours", block, WeeklyHours)
    start, end = (
        hours.text("start", check=time_of_day_fault),
        hours.text("end", check=time_of_day_fault),
    )
    days = hours.texts(
        "days", check=lambda day: "" if day in DAYS else f'"{day}" isn\'t one of {", ".join(DAYS)}'
    )
    if fault := repetition_fault(days):
        hours.refuse("days", fault)
    zone = hours.text("time_zone", UTC_ZONE, check=time_zone_fault)
    if time_of_day_fault(start) or time_of_day_fault(end):
        return None
    return Hours(
        start=start, end=end, days=tuple(day for day in DAYS if day in days) or DAYS, time_zone=zone
    )


def _read_period(read: InputReader) -> Period | None:
    block: Mapping[str, Any] = read.block("period")
    period = read.inside("period", block, OnePeriod)
    start, end = period.text("start", check=instant_fault), period.text("end", check=instant_fault)
    return None if instant_fault(start) or instant_fault(end) else Period(start=start, end=end)


def follow(
    schedule: Schedule, counts: Counts, capacity: str, now: datetime
) -> tuple[int, list[Action]]:
    """Return a pool's node count `now` and the actions that change it later.

    One-time actions in the past are omitted, because EC2 Auto Scaling rejects them (“Given start
    time is in the past”).
    """
    if isinstance(schedule, Hours):
        return (counts.desired if _within_hours(schedule, now) else counts.min), _weekly(
            schedule, counts
        )
    start, end = read_instant(schedule.start), read_instant(schedule.end)
    of_eks = capacity == "capacity-block"
    last = end - BLOCK_ENDS_EARLIER if of_eks else end
    actions = (
        [Action(name="start", nodes=counts.desired, start_time=schedule.start)]
        if now < start
        else []
    )
    if now < end and not of_eks:
        actions.append(Action(name="end", nodes=counts.min, start_time=schedule.end))
    return (counts.desired if start <= now < last else counts.min), actions


def _within_hours(hours: Hours, now: datetime) -> bool:
    local = now.astimezone(ZoneInfo(hours.time_zone))
    time, today, yesterday = (
        local.strftime("%H:%M"),
        DAYS[local.weekday()],
        DAYS[local.weekday() - 1],
    )
    if hours.start < hours.end:
        return today in hours.days and hours.start <= time < hours.end
    return (today in hours.days and time >= hours.start) or (
        yesterday in hours.days and time < hours.end
    )


def _weekly(hours: Hours, counts: Counts) -> list[Action]:
    """Return the two actions of every week, as cron expressions: minute, hour, any day, any month,
    days of the week.
    """
    next_day = hours.end < hours.start

    def at(time: str, later: int) -> str:
        hour, minute = (int(part) for part in time.split(":"))
        # cron counts from Sunday, which is 0
        days = sorted((DAYS.index(day) + 1 + later) % 7 for day in hours.days)
        return f"{minute} {hour} * * {'*' if len(days) == 7 else ','.join(map(str, days))}"

    return [
        Action(
            name="start",
            nodes=counts.desired,
            recurrence=at(hours.start, 0),
            time_zone=hours.time_zone,
        ),
        Action(
            name="end",
            nodes=counts.min,
            recurrence=at(hours.end, int(next_day)),
            time_zone=hours.time_zone,
        ),
    ]


def declare_actions(
    name: str, group: aws.eks.NodeGroup, actions: Sequence[Action], children: Children
) -> None:
    """Declare a node group's scheduled actions.

    A changed action is re-created. AWS would reject an update, because the provider repeats the
    start time that was computed at creation (pulumi/pulumi-aws issue 2473).
    """
    if not actions:
        return
    scaling_group = group.resources.apply(_scaling_group)
    for action in actions:
        aws.autoscaling.Schedule(
            f"{name}-{action.name}",
            scheduled_action_name=f"pulumi-dra-{action.name}",
            autoscaling_group_name=scaling_group,
            desired_capacity=action.nodes,
            min_size=UNCHANGED,
            max_size=UNCHANGED,
            recurrence=action.recurrence,
            time_zone=action.time_zone,
            start_time=action.start_time,
            opts=children.options(replace_on_changes=["*"], delete_before_replace=True),
        )


def _scaling_group(resources: Sequence[NodeGroupResource]) -> str:
    """Return the name of the Auto Scaling group that EKS created for a managed node group."""
    groups = resources[0].autoscaling_groups or []
    return groups[0].name or ""
