"""Migration of the pod templates in one object, with a result for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.documents.plain_values import labels
from dra_planner.drivers.protocol.device_plugin import (
    Counterpart,
    NoCounterpart,
    NotTranslatable,
    PluginFacts,
)
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.device_plugins import class_of, counterpart, is_device, needs_of
from dra_planner.migration.editor import Editor, NotEditable, Path
from dra_planner.migration.kueue import NotOneFlavor, Queues
from dra_planner.migration.limit_ranges import DeviceDefaults, with_defaults, write_defaults
from dra_planner.migration.node_terms import (
    NodeSelection,
    missing_label_notes,
    preference_notes,
    split_node_selection,
)
from dra_planner.migration.other_requests import claims_instead, find_other_requests
from dra_planner.migration.outcome import Result, TemplateOutcome
from dra_planner.migration.pod_rewriting import (
    claim_template,
    rewrite_pods,
    set_ray_gpus,
    template_name,
)
from dra_planner.migration.pod_templates import (
    PodPart,
    find_pod_parts,
    no_claims_reason,
    patch_note,
    version_note,
)
from dra_planner.migration.pods import ContainerNeed, claim_of, needs_of_containers
from dra_planner.migration.priorities import priority_of
from dra_planner.migration.target_cluster import Target
from dra_planner.migration.unrequested_devices import (
    fraction_of_device,
    fractional_outcome,
    takes_all_devices,
    unlimited_outcome,
    visible_notes,
)
from dra_planner.wording import listed

_SERVE: str = (
    "Set extendedResourceName to {names} on a DeviceClass (Kubernetes 1.36 or later), without any "
    "change to the object"
)
_KEPT: str = "--keep keeps the workload on the device plugin"


class WorkloadMigrator(Struct):
    """Migrates workloads of one source cluster to one target.

    `defaults` are the devices that containers get from LimitRanges, which the migration removes.
    `priorities` are the priority classes of all pods with devices, and `names` are the names in
    use, as (kind, namespace, name).
    """

    facts: PluginFacts
    target: Target
    queues: Queues
    defaults: DeviceDefaults = {}
    priorities: frozenset[str] = frozenset()
    names: set[tuple[str, str, str]] = set()

    def migrate(
        self, editor: Editor, prefix: Path, item: KubernetesObject
    ) -> tuple[list[TemplateOutcome], list[Mapping[str, Any]]]:
        """Migrate an object in place. Return the results of its pod templates, and new claim
        templates.
        """
        outcomes: list[TemplateOutcome] = []
        added: list[Mapping[str, Any]] = []
        defaults = self.defaults.get(item.namespace, {})
        given = {part.path: part for part in find_pod_parts(item.data, item.group, item.kind)}
        parts = [replace(part, spec=with_defaults(part.spec, defaults)) for part in given.values()]
        using = [
            part
            for part in parts
            if any(need.counts for need in needs_of_containers(part.spec, is_device))
        ]
        outcomes += self._outside_of_pods(item, parts)
        fraction = fraction_of_device(item)
        if fraction and not using:
            outcomes.append(fractional_outcome(item, fraction))
        unlimited = [part for part in parts if part not in using and takes_all_devices(part.spec)]
        outcomes += [unlimited_outcome(item, part) for part in unlimited]
        for part in using:
            name = part.role if len(using) > 1 else ""
            outcome, template = self._migrate_part(editor, prefix, item, replace(part, role=name))
            if outcome.result is not Result.REWRITTEN:
                write_defaults(editor, prefix, given[part.path], defaults)
            outcomes.append(outcome)
            needs = needs_of_containers(part.spec, is_device)
            self.queues.record(
                item,
                {resource for need in needs for resource in need.counts},
                is_moved=outcome.result is Result.REWRITTEN,
            )
            added += [template] if template else []
        return outcomes, added

    def _outside_of_pods(
        self, item: KubernetesObject, parts: Sequence[PodPart]
    ) -> list[TemplateOutcome]:
        """Return the result for requests in fields from which a controller creates the pods."""
        resources = sorted(find_other_requests(item, [part.path for part in parts], is_device))
        if not resources:
            return []
        self.queues.record(item, resources, is_moved=False)
        fault = no_claims_reason(item) or (
            f"the {item.kind} controller creates the pods, and it's unknown whether this kind "
            "has a field for claims"
        )
        outcome = TemplateOutcome(
            place=item.place, object=str(item), pods="", result=Result.CANNOT, devices=0
        )
        if f"{item.namespace}/{item.name}" in self.target.keep:
            return [replace(outcome, result=Result.KEPT, reason=_KEPT)]
        instead = claims_instead(item)
        reason = NoCounterpart(fault, (instead,) if instead else ())
        needs_plugin = item.group == "kubevirt.io"
        return [self._otherwise(outcome, reason, [] if needs_plugin else resources)]

    def _migrate_part(
        self, editor: Editor, prefix: Path, item: KubernetesObject, part: PodPart
    ) -> tuple[TemplateOutcome, Mapping[str, Any] | None]:
        needs = needs_of_containers(part.spec, is_device)
        resources = sorted({name for need in needs for name in need.counts})
        outcome = TemplateOutcome(
            place=item.place,
            object=str(item),
            pods=part.role,
            result=Result.REWRITTEN,
            devices=_devices(needs, self.facts),
            resources=tuple(resources),
        )
        if f"{item.namespace}/{item.name}" in self.target.keep:
            return replace(outcome, result=Result.KEPT, reason=_KEPT), None
        fault = no_claims_reason(item)
        if fault:
            stays = self._otherwise(outcome, NoCounterpart(fault), resources)
            notes = tuple(missing_label_notes(part.spec)) if stays.result is Result.SERVED else ()
            return replace(stays, notes=notes), None
        if part.spec.get("nodeName"):
            fault = "it sets nodeName, so it bypasses the scheduler, which allocates claims"
            return self._otherwise(outcome, NoCounterpart(fault, ("Remove nodeName",)), []), None
        try:
            selection = self._selection(item, part, resources)
        except (NotTranslatable, NotOneFlavor) as error:
            return self._otherwise(outcome, NoCounterpart(str(error)), []), None
        selector = labels(part.spec.get("nodeSelector"))
        counterparts: dict[str, Counterpart] = {}
        for resource in resources:
            most = max(need.counts.get(resource, 0) for need in needs)
            found = counterpart(resource, most, selection.needs, selector, self.facts, self.target)
            if isinstance(found, NoCounterpart):
                return self._otherwise(outcome, found, []), None
            counterparts[resource] = found
        return self._rewritten(editor, prefix, item, part, outcome, selection, counterparts, needs)

    def _rewritten(
        self,
        editor: Editor,
        prefix: Path,
        item: KubernetesObject,
        part: PodPart,
        outcome: TemplateOutcome,
        selection: NodeSelection,
        counterparts: Mapping[str, Counterpart],
        needs: Sequence[ContainerNeed],
    ) -> tuple[TemplateOutcome, Mapping[str, Any] | None]:
        claim = claim_of(needs, counterparts)
        taken = {name for kind, namespace, name in self.names
                 if kind == "ResourceClaimTemplate" and namespace == item.namespace}  # fmt: skip
        name = template_name(item.name or item.kind.lower(), part.role, claim, counterparts, taken)
        before = editor.text
        try:
            rewrite_pods(
                editor,
                prefix,
                part,
                claim,
                counterparts,
                template_name=name,
                device_parts=selection.device_parts,
            )
            note = (
                set_ray_gpus(editor, prefix, part, claim.devices) if item.group == "ray.io" else ""
            )
        except NotEditable as error:
            editor.text = before
            fault = NoCounterpart(f"{error}; replace the anchors with their values first")
            return self._otherwise(outcome, fault, []), None
        self.names.add(("ResourceClaimTemplate", item.namespace, name))
        namespace = str(item.metadata.get("namespace") or "")
        notes = [
            each
            for each in (
                note,
                version_note(item.group, item.kind),
                patch_note(part),
                *selection.needs.notes,
                *preference_notes(part.spec),
                *self._priority_notes(part.spec),
                *visible_notes(part.spec, claim.named),
            )
            if each
        ]
        return replace(outcome, notes=tuple(notes)), claim_template(name, namespace, claim)

    def _priority_notes(self, spec: Mapping[str, Any]) -> Iterator[str]:
        name = priority_of(spec)
        if name and len(self.priorities) > 1:
            yield (
                f"its PriorityClass {name} no longer decides which pods get GPUs, because "
                "kube-scheduler doesn't preempt pods to free devices for a claim"
            )

    def _selection(
        self, item: KubernetesObject, part: PodPart, resources: Sequence[str]
    ) -> NodeSelection:
        """Return the requirements for devices in the pod's node selection and in its queue's
        flavor.
        """
        own = split_node_selection(part.spec)
        queued = self.queues.device_terms(item, resources)
        if not queued:
            return own
        return replace(own, needs=own.needs.joined(needs_of(queued)))

    def _otherwise(
        self, outcome: TemplateOutcome, missing: NoCounterpart, resources: Sequence[str]
    ) -> TemplateOutcome:
        """Return the result for pods that can't request a claim.

        They are *served* if classes serve all their resources.
        """
        served = {name: self.target.served.get(name, "") for name in resources}
        if served and all(served.values()):
            classes = ", ".join(sorted(set(served.values())))
            reason = (
                f"{missing.reason}, but the DeviceClass {classes} serves {listed(resources)} "
                "(extendedResourceName)"
            )
            return replace(
                outcome,
                result=Result.SERVED,
                reason=reason,
                served=served,
                alternatives=missing.alternatives,
            )
        first = (_SERVE.format(names=listed(resources)),) if resources else ()
        return replace(
            outcome,
            result=Result.CANNOT,
            reason=missing.reason,
            alternatives=(*first, *missing.alternatives),
        )


def _devices(needs: Sequence[ContainerNeed], facts: PluginFacts) -> int:
    """Return the number of devices that a pod uses at the same time, in its long-running containers
    or in its largest init container. Units without an equivalent DeviceClass, such as MiB of
    memory, are ignored.
    """
    counts = [
        (need.ends, sum(n for name, n in need.counts.items() if class_of(name, facts)))
        for need in needs
    ]
    lasting = sum(count for ends, count in counts if not ends)
    return max([lasting, *(count for ends, count in counts if ends)], default=0)
