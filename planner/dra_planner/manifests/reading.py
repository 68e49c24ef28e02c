"""From sources to manifests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from dra_planner.errors import Diagnostic, Severity
from dra_planner.manifests.alternatives import alternative_notes
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.manifests import (
    BoundPod,
    GroupClaims,
    Manifests,
    UnreadObject,
    UnresolvedPods,
)
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.manifests.parsing.claims import (
    parse_claim,
    parse_claim_template,
    parse_device_class,
)
from dra_planner.manifests.parsing.compute_domains import channel_template
from dra_planner.manifests.parsing.disruption_budgets import parse_disruption_budget
from dra_planner.manifests.parsing.fields import parse_meta
from dra_planner.manifests.parsing.limit_ranges import parse_limit_range
from dra_planner.manifests.parsing.nodes import parse_node
from dra_planner.manifests.parsing.pods import parse_pod_template
from dra_planner.manifests.parsing.queues import parse_queues
from dra_planner.manifests.parsing.runtime_classes import parse_runtime_class
from dra_planner.manifests.parsing.slices import parse_slice
from dra_planner.manifests.parsing.taint_rules import parse_taint_rule
from dra_planner.manifests.revisions import Revisions, maker_of
from dra_planner.manifests.setup import config_findings, queue_findings
from dra_planner.manifests.validation.context import CheckSelector, Context, ExistingObjects
from dra_planner.manifests.validation.findings import findings, late_findings
from dra_planner.manifests.validation.quotas import uncounted
from dra_planner.manifests.validation.verdict import judge, take
from dra_planner.manifests.workloads import WorkloadReader
from dra_planner.manifests.workloads.description import ObjectPart as Part
from dra_planner.manifests.workloads.gangs import find_gangs, gang_findings, groups_pods
from dra_planner.manifests.workloads.queued import has_other_scheduler, is_queued
from dra_planner.manifests.workloads.scalers import is_scaler, scaler_findings
from dra_planner.manifests.workloads.unread import unread_object
from dra_planner.model import (
    DeviceClass,
    DeviceTaintRule,
    DisruptionBudget,
    LimitRange,
    Node,
    ObjectKey,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    RuntimeClass,
    Workload,
    WorkloadRef,
)
from dra_planner.releases import Features
from dra_planner.sources import Source, has_embedded

if TYPE_CHECKING:  # only where a snapshot is read
    from dra_planner.manifests.revisions import Revisions

RESOURCE: Final = "resource.k8s.io"
_ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_NO_LABEL: Final = "resource.k8s.io/admin-access"  # which looks as if it were


def read_manifests(
    sources: Iterable[Source], features: Features, *, check_selector: CheckSelector
) -> Manifests:
    """Return all that the sources say, as a control plane with these features would take it.

    An object that the API server would refuse is left out and reported among `diagnostics`; so is a
    field that it would drop. Objects that carry a uid exist already and are not judged again. Every
    CEL selector of the others goes through `check_selector`, which compiles it: this layer knows no
    CEL.

    Raises ManifestError where a text cannot be read at all, with `others` for further faults.
    """
    documents, remarks = read_documents(sources)
    return collect_manifests(
        read_objects(documents), features, remarks, check_selector=check_selector
    )


def collect_manifests(
    objects: Sequence[KubernetesObject],
    features: Features,
    remarks: Iterable[Diagnostic] = (),
    *,
    check_selector: CheckSelector,
) -> Manifests:
    """Return what these objects say; see `read_manifests`."""
    cluster = _cluster_of(objects)
    context = Context(features=features, cluster=cluster, check_selector=check_selector)
    collector = _Collector(context, WorkloadReader(objects, features.minor))
    collector.diagnostics += remarks
    for item in objects:
        collector.add(item)
    return collector.finish()


def _cluster_of(objects: Iterable[KubernetesObject]) -> ExistingObjects:
    """Return what the manifests themselves say of the cluster; whatever they do not mention may
    exist.
    """
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


class _Collector:
    """Sorts objects by what they are, and keeps those that the API server would take."""

    def __init__(self, context: Context, reader: WorkloadReader) -> None:
        self.context = context
        self.reader = reader
        self.unresolved: list[UnresolvedPods] = []
        self.diagnostics: list[Diagnostic] = []
        self.refused: set[tuple[str, ObjectKey]] = set()
        self.seen: dict[tuple[str, str, ObjectKey], KubernetesObject] = {}
        # and the first of the same name
        self.repeated: list[tuple[KubernetesObject, KubernetesObject]] = []
        self.workloads: list[Workload] = []
        self.claims: dict[ObjectKey, ResourceClaim] = {}
        self.templates: dict[ObjectKey, ResourceClaimTemplate] = {}
        self.classes: dict[str, DeviceClass] = {}
        self.slices: list[ResourceSlice] = []
        self.nodes: list[Node] = []
        self.bound_pods: list[BoundPod] = []
        self.pending: list[BoundPod] = []  # in a queue, on no node
        self.ended: set[WorkloadRef] = set()
        self.namespaces: dict[str, ObjectMeta] = {}
        self.priorities: dict[str, int] = {}
        self.non_preempting: set[str] = set()
        self.runtime_classes: dict[str, RuntimeClass] = {}
        self.taint_rules: list[DeviceTaintRule] = []
        self.quotas: list[Mapping[str, Any]] = []
        self.limit_ranges: list[LimitRange] = []
        self.budgets: dict[ObjectKey, DisruptionBudget] = {}
        self.owners: dict[WorkloadRef, WorkloadRef] = {}
        self.generated: dict[ObjectKey, dict[str, str]] = {}
        self.pod_groups: list[KubernetesObject] = []
        self.grouping: list[KubernetesObject] = []
        self.setup: list[KubernetesObject] = []
        self.other: Counter[str] = Counter()
        self.unread: list[UnreadObject] = []

    def add(self, item: KubernetesObject) -> None:
        exists = bool(item.metadata.get("uid"))
        verdict = take(item, self.context) if exists else judge(item, self.context)
        self.diagnostics += findings(item, verdict, self.context)
        if not verdict.accepted:
            self.refused.add((item.kind, item.key))
            return
        if self._is_repeated(item):
            return
        kept = item.with_data(verdict.data)
        owner = _owner(item)
        if owner is not None:
            self.owners[WorkloadRef(item.kind, item.namespace, item.name)] = owner
        if exists:
            self.revisions.note(item, owner)
        if groups_pods(kept):
            self.grouping.append(kept)
        if item.group in _SETUP or item.kind == "ConfigMap":
            self.setup.append(kept)
            self.diagnostics += config_findings(kept)
        read = _READERS.get((item.group, item.kind))
        if read is not None:
            read(self, kept)
        elif not (self.reader.scales(kept) if is_scaler(item) else self.add_workload(kept)):
            self.other[f"{item.api_version} {item.kind}"] += 1
            if (
                not exists
                and not self.reader.is_owned(item)
                and (unread := unread_object(kept)) is not None
            ):
                self.unread.append(unread)

    def _is_repeated(self, item: KubernetesObject) -> bool:
        """The first object of a name counts; a second one in the same file is a fault, in another
        an alternative.
        """
        identity = (item.group, item.kind, item.key)
        first = self.seen.setdefault(identity, item)
        if first is item or not item.metadata.get("name"):
            return False
        if first.place.file != item.place.file:
            self.repeated.append((item, first))
            return True
        same = first.data == item.data
        where = f"{first.place.file}:{first.place.line}"
        severity: Severity = "warning" if same else "error"
        fix = f"remove one of them; the one at {where} counts"
        if not same and has_embedded(item.place.file):
            severity = "note"  # a page may show another way, a later step, or another cluster
            fix = (
                f"give one of them another name, if both are for one cluster; the one at {where} "
                "counts"
            )
        differs = "" if same else f" and differs from the one at {where}"
        message = f"{item} is defined here a second time{differs}"
        self.diagnostics.append(Diagnostic(severity, "duplicate-object", message, item.place, fix))
        return True

    def finish(self) -> Manifests:
        self.diagnostics += alternative_notes(self.repeated)
        group_claims = self.share_group_claims()
        waiting = [self._of_workload(pod) for pod in self.pending]
        queued = [
            (pod.owner or WorkloadRef("Pod", *pod.meta.key), all(pod.claims.values()))
            for pod in waiting
        ]
        self.diagnostics += gang_findings(self.grouping, self.workloads)
        gangs = find_gangs(self.grouping, self.workloads)
        names = {gang.name for gang in gangs}
        self.other -= Counter(
            f"{item.api_version} {item.kind}"
            for item in self.grouping
            if f"{item.kind} {item.namespace}/{item.name}" in names
        )
        if self.setup or any(
            is_queued(each) or has_other_scheduler(each) for each in self.workloads
        ):
            self.diagnostics += queue_findings(
                self.setup, self.workloads, self.claims, self.templates
            )
        self.diagnostics += scaler_findings(self.seen.values())
        return Manifests(
            workloads=tuple(self.workloads),
            claims=self.claims,
            templates=self.templates,
            classes=self.classes,
            slices=tuple(self.slices),
            nodes=tuple(self.nodes),
            bound_pods=tuple(self._of_workload(each) for each in self.bound_pods),
            queued=Counter(by for by, _ in queued),
            waiting_pods=tuple(waiting),
            charged=Counter(by for by, has_claims in queued if has_claims),
            ended=frozenset(self.ended),
            namespaces=self.namespaces,
            priority_classes=self.priorities,
            non_preempting=frozenset(self.non_preempting),
            runtime_classes=self.runtime_classes,
            taint_rules=tuple(self.taint_rules),
            queues=parse_queues(self.setup),
            limit_ranges=tuple(self.limit_ranges),
            quotas=tuple(self.quotas),
            budgets=self.budgets,
            generated_claims=self.generated,
            group_claims=group_claims,
            gangs=gangs,
            unresolved=tuple(self.unresolved),
            refused=frozenset(self.refused),
            other_kinds=dict(sorted(self.other.items())),
            unread=tuple(self.unread),
            diagnostics=tuple(self.diagnostics),
        )

    @cached_property
    def revisions(self) -> Revisions:
        """The templates of the workloads that a cluster has."""
        return Revisions()

    def _of_workload(self, pod: BoundPod) -> BoundPod:
        """Return the pod with the workload that made it, and whether that has another template by
        now.
        """
        owner = self._workload_of(pod.owner, pod.meta)
        return replace(pod, owner=owner, outdated=self.revisions.is_outdated(pod.meta, owner))

    def _workload_of(self, owner: WorkloadRef | None, pod: ObjectMeta) -> WorkloadRef | None:
        """Return the workload at the top of the controllers of a pod, seeing through ReplicaSets
        that are not given.
        """
        seen = set[WorkloadRef]()
        while owner is not None and owner in self.owners and owner not in seen:
            seen.add(owner)
            owner = self.owners[owner]
        if owner is None or owner.kind != "ReplicaSet":
            return owner
        return maker_of(owner, pod)

    def add_claim(self, item: KubernetesObject) -> None:
        self.claims[item.key] = parse_claim(item.data, item.place)

    def add_template(self, item: KubernetesObject) -> None:
        self.templates[item.key] = parse_claim_template(item.data, item.place)

    def add_class(self, item: KubernetesObject) -> None:
        self.classes[item.name] = parse_device_class(item.data, item.place)

    def add_slice(self, item: KubernetesObject) -> None:
        self.slices.append(parse_slice(item.data, item.place))

    def add_node(self, item: KubernetesObject) -> None:
        self.nodes.append(parse_node(item.data, item.place))

    def add_namespace(self, item: KubernetesObject) -> None:
        meta = self.namespaces[item.name] = parse_meta(item.metadata, item.place, namespaced=False)
        if _NO_LABEL in meta.labels:
            message = (
                f"{item}: the label {_NO_LABEL} has no effect, because the API server uses "
                "another domain"
            )
            fix = f'label the namespace: {_ADMIN_LABEL}: "true"'
            self.diagnostics.append(
                Diagnostic("warning", "label-does-nothing", message, item.place, fix)
            )

    def add_priority_class(self, item: KubernetesObject) -> None:
        value = int(item.data.get("value") or 0)
        names = (item.name, "") if item.data.get("globalDefault") is True else (item.name,)
        self.priorities.update(dict.fromkeys(names, value))
        if item.data.get("preemptionPolicy") == "Never":
            self.non_preempting.update(names)

    def add_runtime_class(self, item: KubernetesObject) -> None:
        self.runtime_classes[item.name] = parse_runtime_class(item.data, item.place)

    def add_taint_rule(self, item: KubernetesObject) -> None:
        self.taint_rules.append(parse_taint_rule(item.data, item.place))

    def add_quota(self, item: KubernetesObject) -> None:
        self.quotas.append(item.data)
        self.diagnostics += uncounted(item)

    def add_budget(self, item: KubernetesObject) -> None:
        self.budgets[item.key] = parse_disruption_budget(item.data, item.place)

    def add_limit_range(self, item: KubernetesObject) -> None:
        self.limit_ranges.append(parse_limit_range(item.data, item.place))

    def add_pod_group(self, item: KubernetesObject) -> None:
        self.other[f"{item.api_version} {item.kind}"] += 1
        if self.context.features.workload_claims:
            self.pod_groups.append(item)

    def share_group_claims(self) -> dict[ObjectKey, GroupClaims]:
        """Make the claim of every PodGroup entry that names a template: one, which the pods of the
        group share.
        """
        shared: dict[ObjectKey, GroupClaims] = {}
        for group in self.pod_groups:
            made: dict[tuple[str, str], str] = {}
            for _, entry in Part(group.data, group.place).at("spec.resourceClaims").members():
                name, wanted = (
                    str(entry.get("name")),
                    str(entry.get("resourceClaimTemplateName", "")),
                )
                template = self.templates.get(ObjectKey(group.namespace, wanted))
                if template is not None:
                    meta = ObjectMeta(
                        name=f"{group.name}-{name}", namespace=group.namespace, place=group.place
                    )
                    self.claims[meta.key] = ResourceClaim(meta=meta, spec=template.spec)
                    made[name, wanted] = meta.name
            shared[group.key] = made
        return shared

    def add_compute_domain(self, item: KubernetesObject) -> None:
        """Make the template that the NVIDIA driver's controller makes for the channels of a
        domain.
        """
        template = channel_template(item)
        if template is None:
            self.other[f"{item.api_version} {item.kind}"] += 1
        else:
            self.templates.setdefault(template.meta.key, template)

    def add_pod(self, item: KubernetesObject) -> None:
        """A pod that a node holds already takes room there; one that is done takes none; others
        want a node.
        """
        status = item.data.get("status") or {}
        if status.get("phase") in ("Succeeded", "Failed"):
            self.other["v1 Pod (finished)"] += 1
            if _owner(item) is None:
                self.ended.add(WorkloadRef(item.kind, item.namespace, item.name))
            return
        going = bool(item.metadata.get("deletionTimestamp"))
        spec = parse_pod_template(item.data, item.place).spec
        if going and not spec.node_name:
            self.other["v1 Pod (terminating)"] += 1
            return
        generated = {
            entry["name"]: entry["resourceClaimName"]
            for entry in status.get("resourceClaimStatuses") or ()
            if entry.get("resourceClaimName")
        }
        observed = bool(status.get("phase") or item.metadata.get("uid"))
        claims = {
            entry.name: entry.resource_claim_name or "" for entry in spec.resource_claims
        } | generated
        if spec.node_name and (observed or not spec.resource_claims):
            self.bound_pods.append(
                BoundPod(
                    meta=parse_meta(item.metadata, item.place),
                    spec=spec,
                    claims=claims,
                    owner=_owner(item),
                    started=status.get("startTime") or "",
                    ready=all(
                        each.get("status") == "True"
                        for each in status.get("conditions") or ()
                        if each.get("type") == "Ready"
                    ),
                    going=going,
                )
            )
            return
        owner = _owner(item)
        if observed:
            meta = parse_meta(item.metadata, item.place)
            self.pending.append(BoundPod(meta=meta, spec=spec, claims=claims, owner=owner))
        if generated:
            self.generated[item.key] = generated
        self.add_workload(item)

    def add_workload(self, item: KubernetesObject) -> bool:
        """Add what an object makes; return whether it makes anything."""
        found = self.reader.read(item)
        if found is None:
            return False
        ref = found.workload.ref
        self.workloads.append(found.workload)
        self.templates |= {template.meta.key: template for template in found.templates}
        self.diagnostics += late_findings(item, found.faults, self.context)
        for pods in found.unresolved:
            self.unresolved.append(
                UnresolvedPods(
                    workload=ref, figures=pods.figures, reason=pods.reason, place=item.place
                )
            )
        if not found.known:
            message = f"{item}: this kind is not known; {'; '.join(found.workload.assumptions)}"
            fix = "check the counts, or add the objects that its controller creates"
            self.diagnostics.append(Diagnostic("note", "unknown-kind", message, item.place, fix))
        return True


def _owner(item: KubernetesObject) -> WorkloadRef | None:
    for reference in item.metadata.get("ownerReferences") or ():
        if reference.get("controller"):
            return WorkloadRef(
                str(reference.get("kind")), item.namespace, str(reference.get("name"))
            )
    return None


_READERS: Final[dict[tuple[str, str], Callable[[_Collector, KubernetesObject], None]]] = {
    (RESOURCE, "ResourceClaim"): _Collector.add_claim,
    (RESOURCE, "ResourceClaimTemplate"): _Collector.add_template,
    (RESOURCE, "DeviceClass"): _Collector.add_class,
    (RESOURCE, "ResourceSlice"): _Collector.add_slice,
    ("", "Node"): _Collector.add_node,
    ("", "Namespace"): _Collector.add_namespace,
    ("", "LimitRange"): _Collector.add_limit_range,
    ("", "ResourceQuota"): _Collector.add_quota,
    ("scheduling.k8s.io", "PriorityClass"): _Collector.add_priority_class,
    ("node.k8s.io", "RuntimeClass"): _Collector.add_runtime_class,
    (RESOURCE, "DeviceTaintRule"): _Collector.add_taint_rule,
    ("policy", "PodDisruptionBudget"): _Collector.add_budget,
    ("", "Pod"): _Collector.add_pod,
    ("scheduling.k8s.io", "PodGroup"): _Collector.add_pod_group,
    ("resource.nvidia.com", "ComputeDomain"): _Collector.add_compute_domain,
}
_SETUP: Final = frozenset(
    {
        "kind.x-k8s.io",
        "kubeadm.k8s.io",
        "kubelet.config.k8s.io",
        "config.kueue.x-k8s.io",
        "kueue.x-k8s.io",
        "eksctl.io",
        "karpenter.sh",
        "karpenter.k8s.aws",
        "config.openshift.io",
        "kubermatic.k8c.io",
        "kubescheduler.config.k8s.io",
        "batch.volcano.sh",
        "nvidia.com",
        "argoproj.io",
        "helm.toolkit.fluxcd.io",
        "helm.cattle.io",
    }
)
"""Groups whose objects say how a cluster is set up, or wait in queues of their own."""
