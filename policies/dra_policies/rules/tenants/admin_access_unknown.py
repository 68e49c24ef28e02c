"""Admin access to devices in a namespace for which it's unknown whether it has the required
label.
"""

from __future__ import annotations

from dra_planner.plan.blockers.admin_access import LABEL, find_unknown_admin_access
from dra_policies.rules.blockers import planner_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="admin-access-unknown",
    description="A claim uses admin access, but its namespace isn't declared with the required label.",
    why="Without the label, the API server rejects the claim. With the label, everyone who can "
    "create claims in the namespace has access to all devices.",
    fix=f'Label the namespace {LABEL}: "true", or remove adminAccess.',
    level="advisory",
    check=planner_check("admin-access-unknown", find_unknown_admin_access),
)
