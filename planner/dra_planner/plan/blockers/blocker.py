"""A cause that prevents pods from running, and the input of the search for it."""

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
class Blocker:
    """A cause that prevents pods from being created, scheduled, or started.

    `verdict` is the verdict for the pods: *cannot tell* if they may run, and *fits* for a fact that
    only affects where. `workloads` are the affected workloads. Without any, it affects all users of
    the object.
    """

    code: str
    message: str
    fix: str = ""
    place: Place = NOWHERE
    workloads: tuple[WorkloadRef, ...] = ()
    verdict: Verdict = "does-not-fit"

    @property
    def is_certain(self) -> bool:
        """Whether the pods certainly never run."""
        return self.verdict == "does-not-fit"

    @property
    def reason(self) -> Reason:
        """The blocker as a reason of a workload."""
        return Reason(code=self.code, message=self.message, fix=self.fix, place=self.place)

    @property
    def diagnostic(self) -> Diagnostic:
        """The blocker as a finding: an error, or a note if it isn't certain."""
        severity: Severity = "error" if self.is_certain else "note"
        return Diagnostic(severity, self.code, self.message, self.place, self.fix)


def fact(message: str, fix: str = "", *refs: WorkloadRef, place: Place = NOWHERE) -> Blocker:
    """Return a fact that affects the devices of pods, but doesn't prevent them from running."""
    return Blocker(code=FACT, message=message, fix=fix, workloads=refs, place=place, verdict="fits")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSituation:
    """The known facts of a cluster: its objects, its classes, and the settings of its NVIDIA driver
    (None: not known).
    """

    manifests: Manifests
    features: Features
    classes: Mapping[str, DeviceClass] = field(default_factory=dict[str, DeviceClass], hash=False)
    offers: tuple[Offer, ...] = ()
    system: Offer | None = None  # the nodes without devices; None: not known
    nvidia: NvidiaDriver | None = None
    autoscaler: str = ""  # in a fleet's words; "": not known
