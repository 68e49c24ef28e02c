"""The change that makes all workloads fit together, in words."""

from __future__ import annotations

from dra_command.pens.terminal.page import Page
from dra_planner.plan.model import JointFix


def joint_fix_title(found: JointFix) -> str:
    """Return a summary of the steps, and their cost."""
    demand = f"at {found.judgement.level} demand"
    changes = "This change makes" if len(found.steps) == 1 else "Together, these changes make"
    return f"{changes} all workloads fit {demand} ({found.cost}):"


def print_joint_fix(page: Page, found: JointFix | None) -> None:
    """Print the change that lets all workloads run, if there is one."""
    if found is None:
        return
    page.gap()
    page.line((joint_fix_title(found), "bold"))
    for step in found.steps:
        page.text(step, indent=2, mark="→ ")
