"""Admission policies that the plan needs and the stack doesn't declare."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.planfile import policy_name
from dra_planner.releases import has_mutating_policies, parse_version
from dra_planner.wording import named
from dra_policies.rules.record.fleet_change import FLEET, PLAN_AGAIN
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_POLICY = ":MutatingAdmissionPolicy"
_MOST_NAMED = 4


def check(view: StackView) -> Iterator[Finding]:
    plan_file = None if view.record is None else view.record.plan_file
    if not view.complete or plan_file is None or plan_file.guards is None:
        return
    if not has_mutating_policies(parse_version(plan_file.fleet.kubernetes)):
        return
    policies = [each for each in view.objects if each.type.endswith(_POLICY)]
    names = [each.props.text("metadata.name") for each in policies]
    if None in names:
        return
    wanted = [policy_name(rule) for rule in plan_file.guards.guards.rules]
    missing = [name for name in wanted if name not in names]
    if missing:
        more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        yield Finding(
            message="the plan needs "
            f"{named('admission policy', missing[:_MOST_NAMED], ' and ')}{more}, which "
            "this stack doesn't declare, so pods can use other pools",
            fix="create the PlacementPolicies component with this plan, or set `placement: free` "
            f"in {FLEET} and {PLAN_AGAIN}",
            urn="" if view.record is None else view.record.urn,
        )


RULE = Rule(
    id="guards-missing",
    description="The stack doesn't declare the admission policies from its plan.",
    why="The planned node counts are valid only with the guards. Without guards, the scheduler "
    "spreads pods over other pools, and some pods stay pending.",
    fix="Create the PlacementPolicies component with the plan file.",
    level="advisory",
    needs="stack",
    check=check,
)
