"""A cause that prevents pods from running, and the input of the search for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.errors import NOWHERE, Diagnostic, Place, Severity
from dra_planner.manifests import Manifests
from dra_planner.model import DeviceClass, Reason, Verdict, WorkloadRef
from dra_planner.records import equality
from dra_planner.releases import Features

if TYPE_CHECKING:
    from dra_planner.clouds import Cloud
    from dra_planner.drivers.nvidia import NvidiaDriver
    from dra_planner.offers import Offer
    from dra_planner.plan.judgement.judgement import Judgement

FACT: Final = "worth-knowing"
"""The reason code of facts."""
REMARKS: Final = frozenset({"queue-decides", FACT})
"""The codes of blockers that aren't mistakes if the pods run."""


class Blocker(Struct, frozen=True, kw_only=True):
    """A cause that prevents pods from being created, scheduled, or started.

    `verdict` is the verdict for the pods: *cannot tell* if they might run, and *fits* for a fact
    that affects only where they run. `workloads` are the affected workloads. If it's empty, the
    blocker affects all users of the object.
    """

    code: str
    message: str
    fix: str = ""
    place: Place = NOWHERE
    workloads: tuple[WorkloadRef, ...] = ()
    verdict: Verdict = "does-not-fit"
    is_conditional: bool = False  # the manifests don't show whether the fact applies

    @property
    def is_certain(self) -> bool:
        """Whether the pods certainly never run."""
        return self.verdict == "does-not-fit"

    @property
    def is_remark(self) -> bool:
        """Whether the pods run, and the fact isn't a mistake, or might not apply."""
        return self.verdict == "fits" and (self.code in REMARKS or self.is_conditional)

    @property
    def reason(self) -> Reason:
        """The blocker as a reason of a workload."""
        return Reason(code=self.code, message=self.message, fix=self.fix, place=self.place)

    @property
    def diagnostic(self) -> Diagnostic:
        """The blocker as a finding: an error, a note if it isn't certain or isn't a mistake, or
        otherwise a warning, as in the rule with this code.
        """
        severity: Severity = "error" if self.is_certain else "note"
        if self.verdict == "fits" and not self.is_remark:
            severity = "warning"
        return Diagnostic(severity, self.code, self.message, self.place, self.fix)


def fact(
    message: str, fix: str = "", *refs: WorkloadRef, place: Place = NOWHERE, code: str = FACT
) -> Blocker:
    """Return a fact that affects the devices of pods, but doesn't prevent them from running."""
    return Blocker(code=code, message=message, fix=fix, workloads=refs, place=place, verdict="fits")


def locate(blocker: Blocker, manifests: Manifests) -> Blocker:
    """Return a blocker with a place: its own, or otherwise that of its first workload."""
    if blocker.place != NOWHERE or not blocker.workloads:
        return blocker
    places = (each.place for each in manifests.workloads if each.ref == blocker.workloads[0])
    return replace(blocker, place=next(places, NOWHERE))


@equality(unhashed=("classes",))
class ClusterSituation(Struct, frozen=True, kw_only=True):
    """The known facts of a cluster: its objects, its classes, and the settings of its NVIDIA driver
    (None if unknown).
    """

    manifests: Manifests
    features: Features
    classes: Mapping[str, DeviceClass] = {}
    offers: tuple[Offer, ...] = ()
    system: Offer | None = None  # the nodes without devices; None if unknown
    nvidia: NvidiaDriver | None = None
    autoscaler: str = ""  # the driver's name in a fleet; "" if unknown
    cloud: Cloud | None = None  # None if unknown
    is_guided: bool = False  # the guards of a plan also restrict its pods

    @property
    def is_observed(self) -> bool:
        """Whether all nodes come from a snapshot, so no pool can grow."""
        return all(each.origin == "observed" for each in self.offers)


def is_guided(judgement: Judgement) -> bool:
    """Return whether a fleet's plan restricts pods with guards."""
    return judgement.fleet is not None and judgement.fleet.placement != "free"


def cloud_of(judgement: Judgement) -> Cloud | None:
    """Return the cloud of an evaluated fleet, or None without a fleet."""
    return None if judgement.fleet is None else cloud(judgement.fleet.cloud)
