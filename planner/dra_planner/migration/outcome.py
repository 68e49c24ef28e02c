"""The result for each pod template and object in a migration from device plugins to claims."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from dra_planner.errors import Place
from dra_planner.records import equality
from dra_planner.sources import Source


class Result(StrEnum):
    """The four results that a pod template can have."""

    REWRITTEN = "rewritten"  # the template now requests claims
    # the template doesn't change, because a DeviceClass serves the resource that it requests
    SERVED = "served"
    KEPT = "kept"  # the template continues to use the device plugin
    CANNOT = "cannot"  # the template can't run unchanged, and `reason` contains the cause


@equality(unhashed=("served",))
class TemplateOutcome(Struct, frozen=True, kw_only=True):
    """The result for one pod template of an object.

    `pods` names the template if the object has several.

    `reason` is empty for templates that are rewritten. `served` maps the resources of served
    templates (`extendedResourceName`) to the DeviceClasses that serve them. `notes` are facts that
    a reviewer must know, for example a required version of the controller. `alternatives` are
    imperative sentences, starting with the best.
    """

    place: Place
    object: str  # for example, "Deployment serve/chat"
    pods: str
    result: Result
    devices: int  # devices per pod
    resources: tuple[str, ...] = ()  # the device plugin's resources that the pods request
    reason: str = ""
    served: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()

    @property
    def workload(self) -> str:
        """Namespace and name in the form of `Target.keep`, or "" for values of a chart."""
        name = self.object.rpartition(" ")[2]
        return name if "/" in name else ""


class ObjectChange(Struct, frozen=True, kw_only=True):
    """A change of an object that isn't a workload: a quota, a LimitRange, a queue, values of a
    chart, an alert.

    `is_changed` is false if the object needs a change that only its owner can make. `what`
    describes the change.
    """

    place: Place
    object: str
    what: str
    is_changed: bool = True


class MigratedFile(Struct, frozen=True):
    """A source and its text after the migration."""

    source: Source
    text: str

    @property
    def is_changed(self) -> bool:
        return self.text != self.source.text


class Migration(Struct, frozen=True, kw_only=True):
    """All files after the migration, the results of all pod templates, and changes of other
    objects.

    `assumptions` are facts about the source cluster that the input doesn't contain, for example
    that devices aren't shared.
    """

    files: tuple[MigratedFile, ...]
    templates: tuple[TemplateOutcome, ...]
    changes: tuple[ObjectChange, ...]
    assumptions: tuple[str, ...] = ()

    @property
    def staying(self) -> tuple[TemplateOutcome, ...]:
        """The results of pod templates that don't change."""
        return tuple(each for each in self.templates if each.result is not Result.REWRITTEN)

    def count(self, result: Result) -> int:
        """Return how many pod templates have this result."""
        return sum(each.result is result for each in self.templates)
