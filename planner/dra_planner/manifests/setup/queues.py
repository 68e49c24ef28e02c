"""How queues, and schedulers other than the default scheduler, handle the claims of their pods.

Source: kubernetes-sigs/kueue:pkg/dra/claims.go@v0.19.2,
kai-scheduler/KAI-Scheduler:pkg/scheduler/plugins/ dynamicresources@d5bc503a and its CHANGELOG,
volcano-sh/volcano:pkg/webhooks/admission/jobs/validate@ed72c7c8,
kubernetes-sigs/karpenter:pkg/controllers/provisioning/scheduling/scheduler.go@22664681.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dra_planner.clouds import cloud, names
from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE, ObjectPart
from dra_planner.manifests.workloads.queue_labels import (
    KAI,
    KAI_QUEUE,
    OLD_KAI_QUEUE,
    VOLCANO,
    labels_of,
)
from dra_planner.model import (
    ObjectKey,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimTemplate,
    Workload,
)


def queue_findings(
    objects: Iterable[KubernetesObject],
    workloads: Iterable[Workload],
    claims: Mapping[ObjectKey, ResourceClaim],
    templates: Mapping[ObjectKey, ResourceClaimTemplate],
) -> Iterator[Diagnostic]:
    """Yield claims that the queues, schedulers, and autoscalers of these manifests reject or
    ignore.
    """
    objects, workloads = list(objects), list(workloads)
    for workload in workloads:
        yield from _kueue(workload, templates)
        yield from _kai(workload, claims)
        yield from _not_counted(workload, templates)
    if any(
        pods.template.spec.resource_claims for workload in workloads for pods in workload.pod_sets
    ):
        yield from _karpenter(objects)
    yield from (finding for item in objects for finding in _volcano(item))


def _kueue(
    workload: Workload, templates: Mapping[ObjectKey, ResourceClaimTemplate]
) -> Iterator[Diagnostic]:
    """Yield findings that depend on Kueue's version. Claims that no version admits keep pods from
    running, and plans report them.
    """
    if KUEUE_QUEUE not in workload.meta.labels:
        return
    for entry in _entries(workload):
        template = templates.get(
            ObjectKey(workload.meta.namespace, entry.resource_claim_template_name or "")
        )
        if template is not None and template.spec.constraints:
            message = (
                f"{workload.ref}: Kueue 0.17 and earlier reject claims with constraints, and later "
                "versions ignore the constraints"
            )
            fix = "remove the constraints from queued claims"
            yield Diagnostic("warning", "queue-refuses-claim", message, workload.place, fix)
            return


def _not_counted(
    workload: Workload, templates: Mapping[ObjectKey, ResourceClaimTemplate]
) -> Iterator[Diagnostic]:
    """Yield claims for which KAI or Volcano counts too few devices, so that the queue's share is
    wrong.
    """
    schedulers = {pods.template.spec.scheduler_name for pods in workload.pod_sets}
    who = "KAI" if KAI in schedulers else "Volcano" if VOLCANO in schedulers else ""
    for entry in _entries(workload) if who else ():
        template = templates.get(
            ObjectKey(workload.meta.namespace, entry.resource_claim_template_name or "")
        )
        for request in template.spec.requests if template else ():
            everything = request.exactly is not None and request.exactly.allocation_mode == "All"
            if request.first_available or everything:
                form = "allocationMode: All" if everything else "firstAvailable"
                counts = (
                    "counts only one device for each request"
                    if everything and who == "KAI"
                    else "doesn't count the devices of requests"
                )
                message = (
                    f"{workload.ref}: {who} {counts} with {form}, so it "
                    "underestimates the queue's usage"
                )
                fix = (
                    "set a count instead of allocationMode: All"
                    if everything
                    else "request one of the alternatives with `exactly`"
                )
                yield Diagnostic("warning", "queue-refuses-claim", message, workload.place, fix)


def _kai(workload: Workload, claims: Mapping[ObjectKey, ResourceClaim]) -> Iterator[Diagnostic]:
    labels = labels_of(workload)
    is_kai = any(pods.template.spec.scheduler_name == KAI for pods in workload.pod_sets)
    if OLD_KAI_QUEUE in labels and KAI_QUEUE not in labels and is_kai:
        message = (
            f"{workload.ref}: KAI 0.6 and later read the {KAI_QUEUE} label instead of "
            f"{OLD_KAI_QUEUE}"
        )
        fix = f"label it {KAI_QUEUE}: {labels[OLD_KAI_QUEUE]}"
        yield Diagnostic("warning", "queue-label-not-read", message, workload.place, fix)
    queue = labels.get(KAI_QUEUE)
    if queue is None:
        return
    for entry in _entries(workload):
        claim = claims.get(ObjectKey(workload.meta.namespace, entry.resource_claim_name or ""))
        if claim is not None and claim.meta.labels.get(KAI_QUEUE) != queue:
            message = (
                f"{workload.ref}: KAI rejects ResourceClaim {claim.meta.key}, because the claim "
                "doesn't have the queue label"
            )
            fix = f"add the label {KAI_QUEUE}: {queue} to the ResourceClaim"
            yield Diagnostic("warning", "queue-refuses-claim", message, claim.meta.place, fix)


def _karpenter(objects: Iterable[KubernetesObject]) -> Iterator[Diagnostic]:
    automatic = {domain for name in names() for domain in cloud(name).reserved_domains}
    for item in objects:
        if item.group == "karpenter.sh" and item.kind == "NodePool":
            group = (
                ObjectPart(item.data, item.place).at("spec.template.spec.nodeClassRef").get("group")
            )
            if group in automatic:
                message = (
                    f"{item}: EKS Auto Mode nodes don't support claims, because no DRA "
                    "driver runs there"
                )
                fix = "use a managed node group for pods with claims"
                yield Diagnostic("warning", "auto-nodes-take-no-claims", message, item.place, fix)
                continue
            message = (
                f"{item}: Karpenter creates nodes for pods with claims only with the option "
                "--ignore-dra-requests=false (1.15 and later)"
            )
            fix = (
                "use a fixed-size pool for these pods, or run Karpenter with "
                "--ignore-dra-requests=false"
            )
            yield Diagnostic("warning", "autoscaler-ignores-claims", message, item.place, fix)


def _volcano(item: KubernetesObject) -> Iterator[Diagnostic]:
    if (item.group, item.kind) != ("batch.volcano.sh", "Job"):
        return
    job = ObjectPart(item.data, item.place)
    pods = sum(task.number("replicas", 1) for _, task in job.at("spec.tasks").members())
    least = job.number("spec.minAvailable", 0)
    if least > pods:
        message = (
            f"{item}: minAvailable ({least}) exceeds the {pods} pods of its tasks, so Volcano's "
            "webhook rejects the job"
        )
        yield Diagnostic(
            "error", "gang-too-small", message, item.place, f"set minAvailable to {pods} or less"
        )


def _entries(workload: Workload) -> Iterator[PodResourceClaim]:
    for pods in workload.pod_sets:
        yield from pods.template.spec.resource_claims
