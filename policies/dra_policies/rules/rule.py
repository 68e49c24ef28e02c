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
"""Inputs that a rule needs: only manifests, a fleet's pools or a snapshot's nodes, or the resources
of a Pulumi stack.
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


def sentence(title: str, problem: str) -> str:
    """Return a message about an object. A problem that starts with "it" becomes the predicate."""
    predicate = problem.removeprefix("it ")
    return f"{title}{': ' if predicate == problem else ' '}{predicate}"


class Threshold(Struct, frozen=True, kw_only=True):
    """A number that a project can set for a rule: its meaning, limits, and default."""

    description: str
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

    id: str  # words in kebab case, which are part of the pack's configuration, and are never reused
    description: str  # one sentence that describes the violation
    why: str  # the consequence of a violation
    fix: str  # how to fix a violation
    level: Level
    check: Callable[[StackView], Iterator[Finding]]
    url: str = CLAIMS_PAGE  # address of the documentation about the subject
    # input that the rule needs in addition to manifests; without it, there is nothing to check
    needs: Need = ""
    # True if a violation disables a whole pool or driver; one setting changes the level of all
    # these rules
    is_outage: bool = False
    is_on: bool = True  # False: the rule runs only if the user names its ID
    threshold: Threshold | None = None
    # True if the pack can set the required value, if a project enables this
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
