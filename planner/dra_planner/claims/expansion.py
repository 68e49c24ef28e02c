"""Expand workloads to a demand, with one shape for all pods that the scheduler can't
distinguish.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from dra_planner.claims.admission.pod_admission import PodAdmission
from dra_planner.claims.admission.priorities import with_priority
from dra_planner.claims.consumers import ConsumerLimit
from dra_planner.claims.demand_parts import (
    ShapePart,
    effective_budgets,
    merge_parts,
    namespace_labels,
)
from dra_planner.claims.existing_workloads import (
    ExistingWorkloads,
    generated_claims,
    in_quota_order,
    without_new_pods,
)
from dra_planner.claims.extended_resources import (
    extended_resources,
    index_classes,
    serve_extended_resources,
)
from dra_planner.claims.pod_equality import strip, visible_labels
from dra_planner.claims.quota import QUOTA_EXCEEDED
from dra_planner.claims.quotas import Denial, QuotaRoom
from dra_planner.claims.raised_quotas import (
    find_raised_quotas,
    with_quota_fixes,
    without_limits,
)
from dra_planner.claims.resolution import (
    DOES_NOT_FIT,
    UnresolvedClaims,
    check_classes,
    classes_of,
    resolve_claims,
)
from dra_planner.claims.workload_updates import as_updated, makes_other_pods
from dra_planner.manifests import Manifests, UnresolvedPods
from dra_planner.manifests.manifests import BoundPod
from dra_planner.model import (
    Blocked,
    Demand,
    DeviceClass,
    Figures,
    Member,
    ObjectKey,
    PodSet,
    PodSpec,
    Reason,
    ShapeClaim,
    Workload,
    templates_in,
)
from dra_planner.releases import Features
from dra_planner.wording import counted, verb


def expand_claims(
    manifests: Manifests,
    classes: Mapping[str, DeviceClass],
    features: Features,
    *,
    tolerates_extended_resources: bool = False,
) -> Demand:
    """Return the demand of the workloads: equal pods as one shape, and pods that can't run on any
    pool.

    `classes` are the classes of the fleet and its drivers. Classes in the manifests take
    precedence. `tolerates_extended_resources` means that the API server adds tolerations for the
    taints of requested extended resources. The result doesn't depend on the order of documents, and
    its size doesn't depend on replicas. In a cluster, existing workloads come first, then documents
    in their order.
    """
    expand = partial(
        _expand,
        classes={**classes, **manifests.classes},
        features=features,
        tolerates_extended_resources=tolerates_extended_resources,
    )
    demand = expand(manifests)
    if not any(each.reason.code == QUOTA_EXCEEDED for each in demand.blocked):
        return demand
    unlimited = expand(without_limits(manifests))
    return with_quota_fixes(demand, find_raised_quotas(manifests, unlimited), unlimited)


def _expand(
    manifests: Manifests,
    classes: Mapping[str, DeviceClass],
    features: Features,
    tolerates_extended_resources: bool,
) -> Demand:
    expansion = _Expansion(manifests, classes, features, tolerates_extended_resources)
    workloads = in_quota_order(manifests)
    for workload in workloads if manifests.quotas and manifests.existing else ():
        expansion.release(workload)
    for workload in workloads:
        for pod_set in workload.pod_sets:
            expansion.add(workload, pod_set)
    for unresolved in manifests.unresolved:
        expansion.block(unresolved)
    return expansion.finish()


def _blocked(member: Member, denial: Denial, requests_devices: bool) -> Blocked:
    return Blocked(
        member=member,
        verdict=DOES_NOT_FIT,
        reason=denial.reason,
        created=denial.created,
        requests_devices=requests_devices,
    )


def _requests_devices(part: ShapePart, created: PodSpec) -> bool:
    return bool(part.claims) or bool(extended_resources(created))


class _Expansion:
    """Collects parts and blocked pods, then merges equal parts to shapes."""

    def __init__(
        self,
        manifests: Manifests,
        classes: Mapping[str, DeviceClass],
        features: Features,
        tolerates_extended_resources: bool,
    ) -> None:
        self._manifests = manifests
        self._classes = classes
        self._served = index_classes(classes) if features.extended_resource else {}
        self._extended = features.extended_resource
        self._parts: list[ShapePart] = []
        self._blocked: list[Blocked] = []
        self._assumptions: set[str] = set()
        groups = manifests.group_claims.items()
        reserved_at_once = frozenset(
            ObjectKey(key.namespace, name) for key, made in groups for name in made.values()
        )
        self._limit = ConsumerLimit(reserved_at_once)
        self._quotas = QuotaRoom(manifests, classes, features)
        self._existing = ExistingWorkloads(manifests)
        self._assumptions.update(self._existing.assumptions)
        self._admission = PodAdmission(manifests, tolerates_extended_resources)

    def release(self, workload: Workload) -> None:
        """Free the quota of running pods that are removed because the workload wants fewer pods."""
        before = self._existing.before(workload)
        if before is None or before.per_node or not workload.pod_sets:
            return
        pod_set, _ = self._updated(workload, workload.pod_sets[0], before)
        more = self._existing.charged(workload) - pod_set.figures.steady
        if more > 0 and (pods := self._pods_of(before, workload.meta.namespace)):
            self._quotas.release(more, workload.meta.namespace, *pods)

    def _pods_of(
        self, before: PodSet, namespace: str
    ) -> tuple[PodSpec, tuple[ShapeClaim, ...]] | None:
        """Return a cluster's pods with their claims (None if these pods are deleted), and their
        quota use.
        """
        spec = before.template.spec
        with suppress(UnresolvedClaims):
            return spec, resolve_claims(spec, namespace, self._manifests, self._classes, {})
        return None

    def add(self, workload: Workload, pod_set: PodSet) -> None:
        """Add the pods of a pod set, or the reason why they are never created."""
        before, changed = self._existing.before(workload), False
        if before is not None:
            pod_set, changed = self._updated(workload, pod_set, before)
        elif pod_set.left is not None:
            pod_set = replace(pod_set, figures=pod_set.figures.at_most(pod_set.left))
        template = self._admission.created(pod_set.template, workload)
        member = self._member(workload, pod_set, changed=changed)
        denied = (
            self._create(workload, pod_set)
            if workload.ref not in self._manifests.existing
            else None
        )
        if denied is not None:
            self._blocked.append(_blocked(member, denied, bool(template.spec.resource_claims)))
            return
        namespace, generated = (
            workload.meta.namespace,
            generated_claims(self._manifests, workload, template.spec),
        )
        try:
            self._quotas.check_named(template.spec, namespace)
            claims = resolve_claims(
                template.spec, namespace, self._manifests, self._classes, generated
            )
            spec = with_priority(strip(template.spec), self._manifests)
            pod, claims = self._serve(spec, namespace, claims)
        except UnresolvedClaims as unresolved:
            blocked = Blocked(
                member=member,
                verdict=unresolved.verdict,
                reason=unresolved.reason,
                entry=unresolved.entry,
            )
            if unresolved.reason.code == "class-not-found":
                named = classes_of(template.spec, namespace, self._manifests, generated)
                blocked = replace(blocked, classes=named)
            self._blocked.append(blocked)
            return
        part = ShapePart(namespace, template.labels, pod, claims, member, pod_set.per_node)
        refused = self._admission.refusal(pod_set.template, template.spec, workload)
        if refused is not None:
            self._keep_without_new(part, template.spec, refused)
            return
        replaced = self._pods_of(before, namespace) if before is not None and changed else None
        scaled = (
            []
            if before is None
            else self._existing.scaled_first(workload, pod_set, before, changed=changed)
        )
        if before is not None:
            self._assumptions.update(self._existing.doubt_of_scaling(workload, pod_set, before))
        self._admit(part, template.spec, replaced, scaled, changed=changed)

    def _member(self, workload: Workload, pod_set: PodSet, *, changed: bool) -> Member:
        """Return a workload's part in a shape."""
        running = self._existing.running(workload)
        ahead = self._manifests.existing.get(workload.ref) is workload
        if not ahead:
            texts = (*workload.assumptions, *pod_set.assumptions)
            self._assumptions.update(f"{workload.ref}: {text}" for text in texts)
        return Member(
            workload=workload.ref,
            pod_set=pod_set.name,
            figures=self._figures(workload, pod_set, ahead=ahead),
            in_order=pod_set.in_order,
            spreads=pod_set.spreads,
            rollout=pod_set.rollout,
            new_first=pod_set.new_first,
            running=running,
            changed=changed and bool(running),
            outdated=self._existing.outdated.intersection(running)
            if pod_set.rollout is not None
            else frozenset(),
            awaited=self._existing.awaited_nodes(workload.ref) if pod_set.per_node else frozenset(),
            charged=self._existing.charged(workload),
            ahead=ahead,
            templates=templates_in(workload.ref.namespace, pod_set.template.spec),
            place=workload.place,
        )

    def _keep_without_new(self, part: ShapePart, created: PodSpec, refused: Reason) -> None:
        """Keep a part's running pods, and block its new pods."""
        member, devices = part.member, _requests_devices(part, created)
        waiting = self._existing.waiting(member.workload)
        kept = without_new_pods(member, len(member.running) + len(waiting))
        if kept is not None:
            self._parts.append(replace(part, member=kept))
            left = max(1, member.figures.steady - kept.figures.steady)
            member = replace(member, figures=Figures.fixed(left))
        self._blocked.append(_blocked(member, Denial(refused, created=False), devices))

    def _admit(
        self,
        part: ShapePart,
        created: PodSpec,
        replaced: tuple[PodSpec, tuple[ShapeClaim, ...]] | None,
        scaled: Sequence[BoundPod],
        *,
        changed: bool,
    ) -> None:
        """Add the pods of a part that quotas and limits admit, and block the others. `scaled` pods
        of the earlier template are created first.
        """
        member, devices = part.member, _requests_devices(part, created)
        if not part.per_node or member.rollout is None:
            waiting = self._existing.waiting(member.workload)
            before = [pod for pod in waiting if changed or pod.outdated]
            member = self._keep_waiting(member, part.namespace, [*before, *scaled])
        for admitted, denial in self._admitted(
            member, part.namespace, created, part.claims, replaced, part.per_node
        ):
            if denial is not None:
                self._blocked.append(_blocked(admitted, denial, devices))
            else:
                self._parts.append(replace(part, member=admitted))

    def _create(self, workload: Workload, pod_set: PodSet) -> Denial | None:
        """Count a workload that isn't in the cluster yet. Return why it can't be created."""
        if workload.kind == "Deployment" and pod_set.rollout is not None and pod_set.rollout.kept:
            paused = "is paused, but the plan counts its pods as if it weren't"
            self._assumptions.add(f"{workload.ref}: {paused}")
        return self._quotas.refuse_object(workload)

    def _keep_waiting(self, member: Member, namespace: str, pods: Sequence[BoundPod]) -> Member:
        """Add pending pods of an earlier template.

        Return the member with the pods that can never start.
        """
        leaving = list(self._leaving(member, namespace, pods))
        self._parts += leaving
        held = {name for part in leaving for name in part.member.leaving}
        return replace(
            member, stuck=tuple(pod.meta.key for pod in pods if pod.meta.key not in held)
        )

    def _leaving(
        self, member: Member, namespace: str, pods: Iterable[BoundPod]
    ) -> Iterator[ShapePart]:
        """Yield the pending pods of an earlier template that have their claims, one by one."""
        for each in pods:
            if not all(each.claims.values()):
                continue
            with suppress(UnresolvedClaims):
                claims = resolve_claims(each.spec, namespace, self._manifests, self._classes, {})
                pod, claims = self._serve(strip(each.spec), namespace, claims)
                own = replace(
                    member,
                    figures=Figures.fixed(0),
                    running=(),
                    charged=0,
                    leaving=(each.meta.key,),
                )
                yield ShapePart(namespace, each.meta.labels, pod, claims, own, per_node=False)

    def _admitted(
        self,
        member: Member,
        namespace: str,
        pod: PodSpec,
        claims: tuple[ShapeClaim, ...],
        before: tuple[PodSpec, tuple[ShapeClaim, ...]] | None,
        per_node: bool,
    ) -> Iterator[tuple[Member, Denial | None]]:
        """Yield the pods that quotas and the consumer limit admit, and the others with the
        reason.
        """
        for admitted, denial in self._quotas.split(
            member,
            namespace,
            pod,
            claims,
            before,
            per_node=per_node,
            without_claims=self._existing.without_claims(member.workload),
        ):
            if denial is not None:
                yield admitted, denial
                continue
            for part, reason in self._limit.split(admitted, claims):
                yield part, None if reason is None else Denial(reason)

    def _updated(self, workload: Workload, pod_set: PodSet, before: PodSet) -> tuple[PodSet, bool]:
        """Return a pod set after it's applied to the cluster, and whether its pods are then
        replaced.
        """
        pod_set, notes = as_updated(pod_set, before, self._manifests.existing[workload.ref])
        self._assumptions.update(f"{workload.ref}: {text}" for text in notes)
        return pod_set, makes_other_pods(pod_set.template, before.template)

    def block(self, pods: UnresolvedPods) -> None:
        """Add pods that the manifests don't describe."""
        member = Member(workload=pods.workload, pod_set="", figures=pods.figures, place=pods.place)
        message = f"{pods.workload}: {pods.reason}, so the requests of its pods are unknown"
        reason = Reason(
            code="pods-not-described",
            message=message,
            fix=pods.fix or "also pass the missing manifest",
            place=pods.place,
        )
        self._blocked.append(
            Blocked(member=member, verdict="cannot-tell", reason=reason, requests_devices=False)
        )

    def finish(self) -> Demand:
        pods = (
            *(part.pod for part in self._parts),
            *(each.spec for each in self._manifests.bound_pods),
        )
        budgets = effective_budgets(self._manifests, pods)
        shapes = merge_parts(self._parts, visible_labels(pods, budgets))
        used = sorted(
            {claim.shared for shape in shapes.values() for claim in shape.claims if claim.shared}
        )
        return Demand(
            shapes=tuple(shapes[name] for name in sorted(shapes)),
            shared_claims={key: self._manifests.claims[key] for key in used},
            blocked=tuple(self._blocked),
            assumptions=tuple(sorted(self._assumptions)),
            namespaces=namespace_labels(self._manifests, self._parts),
            gangs=self._manifests.gangs,
            budgets=budgets,
            quotas=self._quotas.as_pods_arrive(),
        )

    def _figures(self, workload: Workload, pod_set: PodSet, *, ahead: bool) -> Figures:
        """Return the number of pods in a set.

        Behind a scheduling gate, only future pods count, but existing pods don't.
        """
        gates, figures = pod_set.template.spec.scheduling_gates, pod_set.figures
        if not gates:
            return figures
        if ahead:
            return Figures(0, 0, figures.ceiling, figures.peak)
        held = f"{counted(len(gates), 'scheduling gate')} ({', '.join(gates)})"
        self._assumptions.add(
            f"{workload.ref}: {held} {verb(len(gates), 'block')} its pods, but the plan counts "
            "these pods as if they had no scheduling gates"
        )
        return figures._replace(floor=0)

    def _serve(
        self, pod: PodSpec, namespace: str, claims: tuple[ShapeClaim, ...]
    ) -> tuple[PodSpec, tuple[ShapeClaim, ...]]:
        served = (
            serve_extended_resources(pod, self._served, self._classes) if self._extended else None
        )
        if served is None:
            return pod, claims
        check_classes(served.claim, namespace, self._manifests, self._classes)
        for resource, class_name in sorted(served.resources.items()):
            self._assumptions.add(
                f"requests for {resource} become claims for DeviceClass {class_name}, because "
                f"a device plugin for {resource} doesn't run on any node available to the pods"
            )
        return served.pod, (*claims, served.claim)
