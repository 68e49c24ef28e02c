"""Admin access to devices in a namespace of which nobody can say whether it is labelled for it."""

from __future__ import annotations

from dra_planner.plan.hindrances.admin_access import LABEL, find_unknown_admin_access
from dra_policies.rules.hindrances import tell
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="admin-access-unknown",
    says="Admin access is requested in a namespace that is declared beside the claim, labelled for it.",
    why="The API server refuses the claim elsewhere; the label gives everyone in the namespace every device.",
    fix=f'Label the namespace {LABEL}: "true", or leave adminAccess out.',
    level="advisory",
    check=tell("admin-access-unknown", find_unknown_admin_access),
)
