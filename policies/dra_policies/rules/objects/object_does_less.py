"""An object with a field that doesn't have an effect, or doesn't have the expected effect. The
reader reports these as warnings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.plan.blockers.queueing.small_gangs import find_small_gangs
from dra_policies.rules.blockers import situation_of
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

AUTO_NODES_TAKE_NO_CLAIMS: Final = "auto-nodes-take-no-claims"


def check(view: StackView) -> Iterator[Finding]:
    for diagnostic in view.diagnostics:
        if diagnostic.severity == "warning" and not _is_about_claims_elsewhere(view, diagnostic):
            yield Finding(message=diagnostic.message, fix=diagnostic.fix, place=diagnostic.place)
    situation = situation_of(view)
    if view.expects_record and situation is not None:
        # Another stack can create the missing pods. Manifests: pod-cannot-be-scheduled.
        for gang in find_small_gangs(situation):
            yield Finding(message=gang.message, fix=gang.fix, place=gang.place)


def _is_about_claims_elsewhere(view: StackView, diagnostic: Diagnostic) -> bool:
    """Return whether a warning says that nodes don't support claims, in a stack without claims."""
    return (
        diagnostic.code == AUTO_NODES_TAKE_NO_CLAIMS
        and view.expects_record
        and not view.wants_devices
    )


RULE = Rule(
    id="object-does-less",
    description="A field of a DRA object, scaler, or queue has no effect.",
    why="The API server discards fields if their feature gate is disabled, scalers ignore missing "
    "targets, and queues reject claims without an error.",
    fix="Apply the fix in the finding.",
    level="advisory",
    check=check,
)
