"""A rule and its findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from dra_planner.errors import NOWHERE, Diagnostic, Place, Severity

if TYPE_CHECKING:
    from dra_policies.view.stack_view import StackView

Level = Literal["mandatory", "advisory"]
CLAIMS_PAGE = "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
DRIVER_PAGE = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"
Need = Literal["", "pools", "stack"]
"""Inputs of a rule: only manifests; a fleet's pools or a snapshot's nodes; the resources of a
Pulumi stack.
"""
SEVERITIES: dict[Level, Severity] = {"mandatory": "error", "advisory": "warning"}


class Finding(Struct, frozen=True, kw_only=True):
    """A rule's finding about one object.

    `certain` is False if the rule can't tell. The message then names the unknown fact, and the
    finding never counts as a violation. A `remark` is certain, but nothing is wrong. It states what
    was skipped, and why. `urn` and `place` identify the object: a resource of a stack, or a line of
    a file. `about` is the workload if there is neither, for example in a recorded plan.
    """

    message: str
    fix: str = ""
    urn: str = ""
    place: Place = NOWHERE
    certain: bool = True
    remark: bool = False
    about: str = ""

    def __str__(self) -> str:
        return self.message + (f"; {self.fix}" if self.fix else "")


class Threshold(Struct, frozen=True, kw_only=True):
    """A number of a rule that a project can set: its meaning, bounds, and default."""

    says: str
    default: float
    least: float
    most: float


def _always(_: StackView) -> bool:
    return True


class Rule(Struct, frozen=True, kw_only=True):
    """A rule: its description, the fix, its level, and its check.

    `check` is a pure function of a view. It runs on views of any size (one resource or a whole
    stack), uses only the view's content, and yields one finding per fault.
    """

    id: str  # kebab-case words; part of the configuration of a pack, never reused
    says: str  # one sentence: what holds where the rule is kept
    why: str  # what happens where it is broken
    fix: str  # what fixes it
    level: Level
    check: Callable[[StackView], Iterator[Finding]]
    url: str = CLAIMS_PAGE  # where its subject is documented
    needs: Need = ""  # what it judges beside manifests, without which it has nothing to look at
    # broken, a whole pool or driver does nothing; one switch sets the level of all of them
    is_outage: bool = False
    is_on: bool = True  # False: it speaks only where it is asked for by its id
    threshold: Threshold | None = None
    # the pack can set what the rule asks for, where a project wants that
    can_remediate: bool = False
    # False for a view with no object to which the rule's own condition applies
    applies: Callable[[StackView], bool] = _always

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding of this rule as a diagnostic: a note if the rule can't tell, or if
        nothing is wrong.
        """
        return Diagnostic(
            severity=SEVERITIES[self.level] if finding.certain and not finding.remark else "note",
            code=self.id,
            message=finding.message,
            place=finding.place,
            fix=finding.fix,
            subject=finding.about,
        )
