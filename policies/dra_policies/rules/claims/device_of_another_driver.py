"""Pods that request devices of drivers that the fleet doesn't run. The plan doesn't cover these
devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.plan import Judgement
from dra_planner.plan.blockers.drivers.unknown_resources import find_unknown_resources
from dra_planner.plan.demand.device_demand import OTHER_DRIVER
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_check_unknown_resources = planner_check(OTHER_DRIVER, find_unknown_resources)


def check(view: StackView) -> Iterator[Finding]:
    if view.judgement is not None:
        yield from _in_the_plan(view, view.judgement)
    for other in view.other_devices:
        names = " and ".join(other.names)
        yield Finding(
            message=f"{other.member.workload} requests {names} from a driver that isn't in the "
            "fleet, so the workload isn't checked",
            urn=view.judged_urn,
            place=other.member.place,
            remark=True,
        )
    yield from _check_unknown_resources(view)


def _in_the_plan(view: StackView, judgement: Judgement) -> Iterator[Finding]:
    """Yield workloads that the plan can't evaluate, and workloads without such pods now."""
    unfit = {size.workload for size in judgement.sizing.workloads if size.verdict != "fits"}
    for blocked in judgement.demand.blocked:
        if blocked.reason.code == OTHER_DRIVER:
            is_unfit = blocked.member.workload in unfit
            yield Finding(
                message=blocked.reason.message,
                fix=blocked.reason.fix,
                urn=view.judged_urn,
                place=blocked.member.place,
                about=str(blocked.member.workload),
                certain=not is_unfit,
                remark=not is_unfit,
            )


RULE = Rule(
    id="device-of-another-driver",
    description="A claim requests devices from a driver that isn't in the fleet.",
    why="The plan covers only the fleet's drivers, so it can't determine whether the devices exist.",
    fix="If another tool installs the driver, do nothing. Otherwise, request devices from a "
    "driver in the fleet.",
    level="advisory",
    needs="pools",
    check=check,
)
