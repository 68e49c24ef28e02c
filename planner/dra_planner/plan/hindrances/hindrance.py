"""One thing that keeps pods from running, and what it is looked for in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dra_planner.errors import NOWHERE, Diagnostic, Place, Severity
from dra_planner.manifests import Manifests
from dra_planner.model import DeviceClass, Reason, Verdict, WorkloadRef
from dra_planner.releases import Features

if TYPE_CHECKING:
    from dra_planner.drivers.nvidia import NvidiaDriver
    from dra_planner.offers import Offer

FACT: Final = "worth-knowing"
"""The code of facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindrance:
    """Something that keeps pods from being created, scheduled, or started.

    `verdict` says what becomes of the pods: *cannot tell* if they may run, *fits* for a fact that
    decides where. `workloads` are those whose pods it concerns; without any, it concerns whatever
    uses the object.
    """

    code: str
    message: str
    fix: str = ""
    place: Place = NOWHERE
    workloads: tuple[WorkloadRef, ...] = ()
    verdict: Verdict = "does-not-fit"

    @property
    def is_certain(self) -> bool:
        """Whether the pods never run."""
        return self.verdict == "does-not-fit"

    @property
    def reason(self) -> Reason:
        """The same as a reason of a workload."""
        return Reason(code=self.code, message=self.message, fix=self.fix, place=self.place)

    @property
    def diagnostic(self) -> Diagnostic:
        """The same as a finding: an error, or a note if it isn't certain."""
        severity: Severity = "error" if self.is_certain else "note"
        return Diagnostic(severity, self.code, self.message, self.place, self.fix)


def fact(message: str, fix: str = "", *refs: WorkloadRef, place: Place = NOWHERE) -> Hindrance:
    """Return a fact that decides what pods get, and that keeps none from running."""
    return Hindrance(
        code=FACT, message=message, fix=fix, workloads=refs, place=place, verdict="fits"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSituation:
    """What is known of a cluster: its objects, its classes, and how its NVIDIA driver is set up
    (None: not known).
    """

    manifests: Manifests
    features: Features
    classes: Mapping[str, DeviceClass] = field(default_factory=dict[str, DeviceClass], hash=False)
    offers: tuple[Offer, ...] = ()
    nvidia: NvidiaDriver | None = None
    autoscaler: str = ""  # in a fleet's words; "": not known
