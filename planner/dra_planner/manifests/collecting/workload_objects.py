"""Objects that create pods."""

from __future__ import annotations

from collections.abc import Iterable

from dra_planner.errors import Diagnostic
from dra_planner.manifests.collecting.device_objects import DeviceObjects
from dra_planner.manifests.manifests import UnreadObject, UnresolvedPods
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.findings import late_findings
from dra_planner.manifests.workloads import WorkloadReader
from dra_planner.manifests.workloads.exclusive_placement import find_exclusive_groups
from dra_planner.manifests.workloads.gangs import find_gangs, gang_findings, groups_pods
from dra_planner.model import ExclusiveGroups, Gang, Workload
from dra_planner.wording import listed


class WorkloadObjects:
    """Workloads in document order, and the objects that group their pods."""

    def __init__(
        self,
        context: Context,
        objects: Iterable[KubernetesObject],
        devices: DeviceObjects,
        diagnostics: list[Diagnostic],
    ) -> None:
        self._context = context
        self._reader = WorkloadReader(objects, context.features.minor)
        self._devices = devices
        self._diagnostics = diagnostics
        self._grouping: list[KubernetesObject] = []
        self.workloads: list[Workload] = []
        self.unresolved: list[UnresolvedPods] = []
        self.uncounted: list[UnreadObject] = []
        self.exclusive_groups: list[ExclusiveGroups] = []

    def note_group(self, item: KubernetesObject) -> None:
        """Store an object if it groups pods."""
        if groups_pods(item):
            self._grouping.append(item)

    def scales(self, item: KubernetesObject) -> bool:
        """Return True if an autoscaler scales a workload of these manifests."""
        return self._reader.scales(item)

    def is_owned(self, item: KubernetesObject) -> bool:
        """Return True if another object of these manifests creates this object."""
        return self._reader.is_owned(item)

    def add(self, item: KubernetesObject) -> bool:
        """Add the pods that an object creates. Return True if it creates any."""
        found = self._reader.read(item)
        if found is None:
            return False
        ref = found.workload.ref
        self.workloads.append(found.workload)
        self.exclusive_groups += find_exclusive_groups(item)
        self._devices.templates |= {template.meta.key: template for template in found.templates}
        self._diagnostics += late_findings(item, found.faults, self._context)
        for pods in found.unresolved:
            self.unresolved.append(
                UnresolvedPods(
                    workload=ref,
                    figures=pods.figures,
                    reason=pods.reason,
                    fix=pods.fix,
                    place=item.place,
                )
            )
        if found.uncounted:
            self.uncounted.append(_uncounted_pods(item, found.uncounted))
        elif not found.known:
            message = f"{item}: {'; '.join(found.workload.assumptions)}"
            fix = "check the pod count, or add the objects that the controller creates"
            self._diagnostics.append(Diagnostic("note", "unknown-kind", message, item.place, fix))
        return True

    def gangs(self) -> tuple[tuple[Gang, ...], list[KubernetesObject]]:
        """Return the pods that start together, and the objects that group them, and report
        problems.
        """
        self._diagnostics += gang_findings(self._grouping, self.workloads)
        gangs = find_gangs(self._grouping, self.workloads)
        names = {gang.name for gang in gangs}
        makers = [
            item for item in self._grouping if f"{item.kind} {item.namespace}/{item.name}" in names
        ]
        return gangs, makers


def _uncounted_pods(item: KubernetesObject, unknown: Iterable[str]) -> UnreadObject:
    """Return an object of an unknown kind whose controller may create more pods than the plan
    counts.
    """
    facts = listed(dict.fromkeys(unknown))
    return UnreadObject(
        title=str(item),
        reason=f"kind {item.kind} is unknown, and the plan doesn't know {facts}",
        instead="pass the pods that the controller creates",
        place=item.place,
        missing="some of its pods",
    )
