"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dra_planner.errors import NOWHERE, Diagnostic, Place, Severity

if TYPE_CHECKING:
    from dra_policies.view.stack_view import StackView

Level = Literal["mandatory", "advisory"]
CLAIMS_PAGE = "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/"
DRIVER_PAGE = "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu"
Need = Literal["", "pools", "stack"]
"""Nothing but manifests; the pools of a fleet or the nodes of a snapshot; the resources of a Pulumi
stack.
"""
SEVERITIES: dict[Level, Severity] = {"mandatory": "error", "advisory": "warning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a rule has to say about one object.

    `certain` is False when the rule could not tell: the message then names what is not known, and
    the finding never counts as a violation. A `remark` is certain, and nothing is wrong: it says
    what was left alone, and why. `urn` and `place` say which object: a resource of a stack, or a
    line of a file; `about` is the workload where it has neither, as in a plan's record.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A number that a project may set for a rule: what it is, within which bounds, and what it is
    by default.
    """

    says: str
    default: float
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule: what it says, what fixes a violation, how hard it is, and the check itself.

    `check` is a pure function of a view. It is called for views of any extent (one resource, or a
    whole stack), looks only at what the view holds, and yields one finding for each thing wrong.
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

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return a finding of this rule as a diagnostic: a note where the rule could not tell, or
        nothing is wrong.
        """
        return Diagnostic(
            severity=SEVERITIES[self.level] if finding.certain and not finding.remark else "note",
            code=self.id,
            message=finding.message,
            place=finding.place,
            fix=finding.fix,
        )
