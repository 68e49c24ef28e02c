"""Scheduled actions of Auto Scaling groups: their checks, and their effect when time passes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest, Facts
from dra_sandbox.clouds.wire_values import Value, Values

GROUP, SCHEDULE = "aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/schedule:Schedule"
RESERVATION = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
INVALID = "ValidationError: "
OF_EKS = "Amazon EKS Node Group Capacity Scaledown Before Reservation End"
# EKS user guide, “Create a managed node group with Capacity Blocks for ML”
BEFORE_THE_END = timedelta(minutes=40)
_SIZES = {"minSize": "minSize", "maxSize": "maxSize", "desiredCapacity": "desiredSize"}


def has_time(inputs: Values) -> str | None:
    """Require a recurrence of five fields, or a start time.

    Source: EC2 Auto Scaling API reference, PutScheduledUpdateGroupAction.
    """
    recurrence = inputs.get("recurrence")
    if recurrence is None and inputs.get("startTime") is None:
        return f"{INVALID}one of Recurrence and StartTime must be given"
    if recurrence is not None and len(str(recurrence).split()) != 5:
        # hashicorp/terraform issue 4628
        return f"{INVALID}Given recurrence string: {recurrence} is invalid"
    return None


def has_sizes_in_order(inputs: Values) -> str | None:
    """Require that the desired capacity is between the minimum and the maximum.

    A missing size is sent as 0, and -1 means that it isn't set. Source:
    buildkite/terraform-buildkite-elastic-ci-stack-for-aws issue 139.
    """
    low, wanted, high = (_size(inputs, name) for name in ("minSize", "desiredCapacity", "maxSize"))
    if wanted is not None and low is not None and wanted < low:
        return f"{INVALID}Desired capacity must be greater than or equal to min size"
    if wanted is not None and high is not None and wanted > high:
        return f"{INVALID}Desired capacity must be less than or equal to max size"
    return None


def begins_in_future(request: CloudRequest) -> str | None:
    """Reject a start time in the past.

    An update repeats the start time that was computed when the action was created. Sources:
    hashicorp/terraform-provider-aws pull request 3033; pulumi/pulumi-aws issue 2473.
    """
    if request.inputs is None:
        return None
    start = request.inputs.get("startTime") or (request.before or {}).get("startTime")
    return (
        f"{INVALID}Given start time is in the past"
        if start and _instant(start) <= datetime.now(UTC)
        else None
    )


def is_of_a_group(request: CloudRequest) -> str | None:
    """Require an existing group that EKS doesn't schedule itself (without the text of the error
    message).
    """
    if request.inputs is None:
        return None
    name = request.inputs["autoscalingGroupName"]
    if _owner(request.cloud, name) is None:
        return f"{INVALID}AutoScalingGroup name not found - {name}"
    if request.inputs["scheduledActionName"] == OF_EKS:
        return f"{INVALID}{OF_EKS} is the action of Amazon EKS"
    return None


def first_start(facts: Facts) -> Value:
    """Return the next start time of a recurrence, which EC2 computes."""
    if facts.inputs.get("recurrence") is None:
        return None
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    moments = (now + timedelta(minutes=minute) for minute in range(1, 8 * 24 * 60))
    return next((_text(moment) for moment in moments if _is_due(facts.inputs, moment)), _text(now))


def block_has_begun(request: CloudRequest) -> str | None:
    """Reject a group with nodes while its Capacity Block isn't active, because launches would fail.

    Source: the user guide, as above.
    """
    group = request.inputs or {}
    if group.get("capacityType") != "CAPACITY_BLOCK" or not group["scalingConfig"]["desiredSize"]:
        return None
    reservation = _reservation(request.cloud, group)
    if reservation is None:
        return None
    now, start, end = (
        datetime.now(UTC),
        _instant(reservation["startDate"]),
        _instant(reservation["endDate"]),
    )
    if start <= now < end:
        return None
    state = "not active yet" if now < start else "expired"
    return (
        "AsgInstanceLaunchFailures: Could not launch instances: the Capacity Block "
        f"{reservation['id']} is {state}"
    )


def pass_time(cloud: Memory, start: datetime, end: datetime) -> None:
    """Advance the clock from `start` to `end`, minute by minute. Due actions change their
    groups.
    """
    actions, ends = cloud.all(SCHEDULE).values(), _ends_of_blocks(cloud)
    moment = start.replace(second=0, microsecond=0)
    while (moment := moment + timedelta(minutes=1)) <= end:
        for action in actions:
            if _is_due(action, moment) and (owner := _owner(cloud, action["autoscalingGroupName"])):
                sizes = {
                    theirs: size
                    for ours, theirs in _SIZES.items()
                    if (size := _size(action, ours)) is not None
                }
                _resize(cloud, owner, sizes)
        for name in (name for name, last in ends.items() if last == moment):
            _resize(cloud, name, {"minSize": 0, "desiredSize": 0})


def _ends_of_blocks(cloud: Memory) -> dict[str, datetime]:
    """Return the times at which EKS removes the nodes of groups in Capacity Blocks, with its own
    scheduled action.
    """
    groups = cloud.all(GROUP).items() if cloud.all(RESERVATION) else ()
    found = ((name, _reservation(cloud, group)) for name, group in groups)
    return {
        name: _instant(each["endDate"]) - BEFORE_THE_END for name, each in found if each is not None
    }


def _resize(cloud: Memory, name: str, sizes: dict[str, int]) -> None:
    group = cloud.all(GROUP)[name]
    cloud.put(GROUP, name, {**group, "scalingConfig": {**group["scalingConfig"], **sizes}})


def _is_due(action: Values, moment: datetime) -> bool:
    recurrence = action.get("recurrence")
    if recurrence is None:
        return bool(action.get("startTime")) and _instant(str(action["startTime"])) == moment
    local = moment.astimezone(ZoneInfo(str(action.get("timeZone") or "Etc/UTC")))
    now = (local.minute, local.hour, local.day, local.month, local.isoweekday() % 7)
    return all(
        _matches(field, value) for field, value in zip(str(recurrence).split(), now, strict=True)
    )


def _matches(field: str, value: int) -> bool:
    """Return True if a field of a cron expression has this value. Supports *, numbers, ranges, and
    commas.
    """
    spans = (part.partition("-") for part in field.split(","))
    return field == "*" or any(
        int(first) <= value <= int(last or first) for first, _, last in spans
    )


def _size(action: Values, name: str) -> int | None:
    size = int(action.get(name) or 0)
    return None if size == -1 else size


def _owner(cloud: Memory, scaling_group: str) -> str | None:
    """Return the identifier of the node group that owns an Auto Scaling group."""
    for name, group in cloud.all(GROUP).items():
        of_group: list[dict[str, Any]] = group["resources"]
        if any(
            each["name"] == scaling_group for part in of_group for each in part["autoscalingGroups"]
        ):
            return name
    return None


def _reservation(cloud: Memory, group: Values) -> Values | None:
    template = cloud.get(
        "aws:ec2/launchTemplate:LaunchTemplate", str((group.get("launchTemplate") or {}).get("id"))
    )
    target = ((template or {}).get("capacityReservationSpecification") or {}).get(
        "capacityReservationTarget"
    ) or {}
    return cloud.get(RESERVATION, str(target.get("capacityReservationId")))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
