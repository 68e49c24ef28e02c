"""Read manifests from sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.collecting.admission_objects import GROUP as POLICIES
from dra_planner.manifests.collecting.admission_objects import AdmissionObjects
from dra_planner.manifests.collecting.cluster_objects import ClusterObjects
from dra_planner.manifests.collecting.cluster_pods import ClusterPods, queue_lengths
from dra_planner.manifests.collecting.declared_objects import DeclaredObjects
from dra_planner.manifests.collecting.device_objects import DeviceObjects
from dra_planner.manifests.collecting.duplicates import LastOfName
from dra_planner.manifests.collecting.ignored_objects import IgnoredObjects
from dra_planner.manifests.collecting.kubeflow_profiles import PROFILE, quota_of_profile
from dra_planner.manifests.collecting.setup_objects import SetupObjects
from dra_planner.manifests.collecting.volume_claims import VolumeClaims
from dra_planner.manifests.collecting.workload_objects import WorkloadObjects
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.manifests import Manifests, UnreadObject
from dra_planner.manifests.metric_readers import exporter_names_claims, read_metrics
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.manifests.setup import installs_working_driver
from dra_planner.manifests.validation.context import CheckSelector, Context, ExistingObjects
from dra_planner.manifests.validation.findings import findings
from dra_planner.manifests.validation.verdict import ServerAnswer, judge, take
from dra_planner.manifests.workloads.scalers import is_scaler, scaler_findings
from dra_planner.model import ObjectKey
from dra_planner.releases import Features
from dra_planner.sources import Source

RESOURCE: Final = "resource.k8s.io"


def read_manifests(
    sources: Iterable[Source], features: Features, *, check_selector: CheckSelector
) -> Manifests:
    """Return the content of the sources, as a control plane with these features would accept it.

    Objects that the API server would reject, and fields that it would drop, are omitted and
    reported in `diagnostics`. Objects with a UID already exist and aren't validated again.
    `check_selector` compiles every CEL selector of the other objects, because this layer doesn't
    depend on CEL. Raises ManifestError if a text can't be read, with further errors in `others`.
    """
    given = tuple(sources)
    documents, remarks = read_documents(given)
    found = collect_manifests(
        read_objects(documents), features, remarks, check_selector=check_selector
    )
    absent = tuple(
        UnreadObject(
            title=each.absent.title,
            reason=each.absent.reason,
            instead=each.absent.instead,
            missing=each.absent.missing,
            place=Place(each.name),
        )
        for each in given
        if each.absent is not None
    )
    return replace(found, unread=(*found.unread, *absent)) if absent else found


def collect_manifests(
    objects: Sequence[KubernetesObject],
    features: Features,
    remarks: Iterable[Diagnostic] = (),
    *,
    check_selector: CheckSelector,
) -> Manifests:
    """Return the content of these objects. See `read_manifests`."""
    cluster = _cluster_of(LastOfName(objects).objects)
    context = Context(features=features, cluster=cluster, check_selector=check_selector)
    answers = [(item, _answer(item, context)) for item in objects]
    last = LastOfName(item for item, answer in answers if answer.accepted)
    reading = _Reading(context, [item for item in objects if last.counts(item)], last)
    reading.diagnostics += remarks
    for item, answer in answers:
        reading.add(item, answer)
    return reading.finish()


def _answer(item: KubernetesObject, context: Context) -> ServerAnswer:
    return take(item, context) if _exists(item) else judge(item, context)


def _exists(item: KubernetesObject) -> bool:
    return bool(item.metadata.get("uid"))


def _cluster_of(objects: Iterable[KubernetesObject]) -> ExistingObjects:
    """Return the cluster objects that the manifests declare. Other objects might also exist."""
    namespaces: dict[str, Mapping[str, str]] = {}
    priorities: dict[str, int] = {}
    never: set[str] = set()
    default = ""
    for item in objects:
        labels = item.metadata.get("labels")
        if item.kind == "Namespace" and not item.group:
            namespaces[item.name] = labels if isinstance(labels, Mapping) else {}
        elif item.kind == "PriorityClass" and isinstance(item.data.get("value"), int):
            priorities[item.name] = item.data["value"]
            if item.data.get("preemptionPolicy") == "Never":
                never.add(item.name)
            if item.data.get("globalDefault") is True:
                default = default or item.name
    if default in never:
        never.add("")
    return ExistingObjects(
        namespaces=namespaces,
        priority_classes=priorities,
        non_preempting=frozenset(never),
        default_priority=default,
    )


class _Reading:
    """Passes each accepted object to the collection of its subject.

    All collections append to one list of diagnostics, so the diagnostics have the order of the
    objects.
    """

    def __init__(
        self, context: Context, objects: Sequence[KubernetesObject], last: LastOfName
    ) -> None:
        self.context = context
        self.last = last
        self.has_claims = any(item.group == RESOURCE for item in objects)
        self.diagnostics: list[Diagnostic] = []
        self.refused: set[tuple[str, ObjectKey]] = set()
        self.ignored = IgnoredObjects()
        self.declared = DeclaredObjects()
        self.volume_claims = VolumeClaims()
        self.devices = DeviceObjects()
        self.cluster = ClusterObjects(self.diagnostics)
        self.pods = ClusterPods(self.ignored)
        self.workloads = WorkloadObjects(context, objects, self.devices, self.diagnostics)
        self.setup = SetupObjects(self.diagnostics)
        self.admission = AdmissionObjects()
        self.readers = self._readers()

    def _readers(self) -> dict[tuple[str, str], Callable[[KubernetesObject], None]]:
        """Return the functions that read the objects of each supported group and kind."""
        return {
            (RESOURCE, "ResourceClaim"): self.devices.add_claim,
            (RESOURCE, "ResourceClaimTemplate"): self.devices.add_template,
            (RESOURCE, "DeviceClass"): self.devices.add_class,
            (RESOURCE, "ResourceSlice"): self.devices.add_slice,
            (RESOURCE, "DeviceTaintRule"): self.add_taint_rule,
            ("", "Node"): self.cluster.add_node,
            ("", "Namespace"): self.cluster.add_namespace,
            ("", "LimitRange"): self.cluster.add_limit_range,
            ("", "ResourceQuota"): self.cluster.add_quota,
            ("scheduling.k8s.io", "PriorityClass"): self.cluster.add_priority_class,
            ("node.k8s.io", "RuntimeClass"): self.cluster.add_runtime_class,
            ("policy", "PodDisruptionBudget"): self.cluster.add_budget,
            ("", "Pod"): self.add_pod,
            (POLICIES, "ValidatingAdmissionPolicy"): self.admission.add_policy,
            (POLICIES, "ValidatingAdmissionPolicyBinding"): self.admission.add_binding,
            ("scheduling.k8s.io", "PodGroup"): self.add_pod_group,
            ("resource.nvidia.com", "ComputeDomain"): self.add_compute_domain,
            PROFILE: self.add_profile,
        }

    def add(self, item: KubernetesObject, answer: ServerAnswer) -> None:
        self.diagnostics += findings(item, answer, self.context)
        if not answer.accepted:
            self.refused.add((item.kind, item.key))
            return
        if not self.last.counts(item):
            return
        exists = _exists(item)
        kept = item.with_data(answer.data)
        self.pods.note_controller(item, exists=exists)
        self.workloads.note_group(kept)
        self.setup.note(kept)
        self.declared.note(kept)
        is_of_volume = self.volume_claims.note(kept)
        self.admission.note(kept, exists=exists)
        read = self.readers.get((item.group, item.kind))
        if read is not None:
            read(kept)
        elif not (
            is_of_volume
            or (self.workloads.scales(kept) if is_scaler(item) else self.workloads.add(kept))
        ):
            self.ignored.count(item)
            if not (exists or self.workloads.is_owned(item) or installs_working_driver(kept)):
                self.ignored.add_unread(kept)

    def add_taint_rule(self, item: KubernetesObject) -> None:
        self.devices.add_taint_rule(item, is_active=self.context.features.device_taint_rules)

    def add_pod(self, item: KubernetesObject) -> None:
        if self.pods.add(item):
            self.workloads.add(item)

    def add_pod_group(self, item: KubernetesObject) -> None:
        self.ignored.count(item)
        if self.context.features.workload_claims:
            self.devices.add_pod_group(item)

    def add_compute_domain(self, item: KubernetesObject) -> None:
        if not self.devices.add_channels(item):
            self.ignored.count(item)

    def add_profile(self, item: KubernetesObject) -> None:
        quota = quota_of_profile(item)
        if quota is not None:
            self.add(quota, _answer(quota, self.context))

    def finish(self) -> Manifests:
        self.diagnostics += self.last.findings()
        self.refused -= {(item.kind, item.key) for item in self.last.objects}
        group_claims = self.devices.share_group_claims()
        waiting = self.pods.waiting()
        queued, charged = queue_lengths(waiting)
        gangs, gang_makers = self.workloads.gangs()
        self.setup.check_queues(self.workloads.workloads, self.devices)
        self.setup.check_versions(self.workloads.workloads, has_claims=self.has_claims)
        self.diagnostics += scaler_findings(self.last.objects)
        beside_workloads = bool(self.workloads.workloads or self.workloads.uncounted)
        return Manifests(
            workloads=tuple(self.workloads.workloads),
            claims=self.devices.claims,
            templates=self.devices.templates,
            classes=self.devices.classes,
            slices=tuple(self.devices.slices),
            nodes=tuple(self.cluster.nodes),
            bound_pods=self.pods.bound(),
            queued=queued,
            waiting_pods=waiting,
            charged=charged,
            ended=frozenset(self.pods.ended),
            namespaces=self.cluster.namespaces,
            priority_classes=self.cluster.priorities,
            non_preempting=frozenset(self.cluster.non_preempting),
            runtime_classes=self.cluster.runtime_classes,
            taint_rules=tuple(self.devices.taint_rules),
            queues=self.setup.queues(),
            limit_ranges=tuple(self.cluster.limit_ranges),
            quotas=tuple(self.cluster.quotas),
            admission=self.admission.found(),
            quota_places=self.cluster.quota_places,
            metric_readers=read_metrics(self.last.objects),
            exporter_names_claims=exporter_names_claims(self.last.objects),
            budgets=self.cluster.budgets,
            generated_claims=self.pods.generated_claims,
            group_claims=group_claims,
            gangs=gangs,
            exclusive_groups=tuple(self.workloads.exclusive_groups),
            unresolved=tuple(self.workloads.unresolved),
            refused=frozenset(self.refused),
            declared=frozenset(self.declared.names),
            volume_claims=self.volume_claims.found(),
            other_kinds=self.ignored.kinds(gang_makers),
            unknown_kinds=frozenset(self.ignored.unknown),
            unclear=tuple(self.ignored.unclear) if beside_workloads else (),
            unread=(
                *self.ignored.unread(beside_workloads=beside_workloads),
                *self.workloads.uncounted,
            ),
            diagnostics=tuple(self.diagnostics),
        )
