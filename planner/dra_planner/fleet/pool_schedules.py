"""Schedules of pools: weekly hours, or a single period."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from dra_planner.clouds import (
    DAYS,
    UTC_ZONE,
    Day,
    Hours,
    Period,
    Schedule,
    instant_fault,
    repetition_fault,
    schedule_fault,
    time_of_day_fault,
    time_zone_fault,
)
from dra_planner.documents.models import (
    StrictDocument,
    refused_by,
)

TimeOfDay = Annotated[str, refused_by(time_of_day_fault)]


Instant = Annotated[str, refused_by(instant_fault)]


class WeeklyHours(StrictDocument):
    """Weekly hours during which a pool has its planned nodes."""

    start: TimeOfDay = Field(description='Time at which the nodes start: "08:00".')
    end: TimeOfDay = Field(
        description="Time at which the nodes are removed. If the end time is before the "
        "start time, the schedule ends on the next day."
    )
    days: Annotated[
        list[Day],
        Field(min_length=1),
        refused_by(repetition_fault),
    ] = Field(
        default_factory=lambda: list(DAYS),
        description="Days on which the nodes start. Default: every day.",
    )
    time_zone: Annotated[str, refused_by(time_zone_fault)] = Field(
        default=UTC_ZONE, description="IANA time zone, for example Europe/Berlin."
    )


class OnePeriod(StrictDocument):
    """A single period in which a pool has its planned nodes, for example the period of a Capacity
    Block.
    """

    start: Instant = Field(description="Start in UTC: 2026-12-01T11:30:00Z.")
    end: Instant = Field(description="End in UTC.")


class PoolSchedule(StrictDocument):
    """Times at which a pool has the planned number of nodes. At all other times, the pool has the
    minimum number of nodes.
    """

    hours: WeeklyHours | None = Field(default=None, description="Weekly hours.")
    period: OnePeriod | None = Field(default=None, description="A single period.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.hours is None) == (self.period is None):
            raise ValueError("set either `hours` (repeats every week) or `period` (one time)")
        if sentence := schedule_fault(self.times):
            raise ValueError(sentence)
        return self

    @property
    def times(self) -> Schedule:
        """The schedule in the planner's form."""
        if self.hours is not None:
            hours = self.hours
            return Hours(
                start=hours.start, end=hours.end, days=tuple(hours.days), time_zone=hours.time_zone
            )
        assert self.period is not None  # exactly one of the two is set
        return Period(start=self.period.start, end=self.period.end)
