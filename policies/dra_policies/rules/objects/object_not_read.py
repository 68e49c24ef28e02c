"""Objects that might create pods, but that the plan can't read."""

from __future__ import annotations

from dra_planner.plan.blockers.policies.unevaluated import find_unevaluated_policies
from dra_planner.plan.blockers.unread_objects import find_unread_objects
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="object-not-read",
    description="The plan can't determine the pods of an object in the manifests.",
    why="The object's pods aren't in the plan, so the planned nodes might not be sufficient.",
    fix="Add the rendered manifests of the object's pods, or use a cluster snapshot.",
    level="advisory",
    needs="pools",
    check=cluster_check(
        "object-not-read",
        find_unread_objects,
        find_unevaluated_policies,
    ),
)
