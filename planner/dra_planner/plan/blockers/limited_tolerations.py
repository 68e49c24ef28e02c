"""Pods that a DeviceTaintRule evicts again and again, because their claims tolerate the taint only
for a limited time.

Source: kubernetes/kubernetes:pkg/controller/devicetainteviction/device_taint_eviction.go@v1.37.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation.node.selectors import tolerates
from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.model import ClaimSpec, DeviceTaintRule
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted


def find_limited_tolerations(
    situation: ClusterSituation, rule: DeviceTaintRule
) -> Iterator[Blocker]:
    """Yield workloads whose claims tolerate an evicting rule only for a limited time.

    Their controller re-creates the pods, which get tainted devices again unless other devices are
    free.
    """
    manifests = situation.manifests
    tainted = [
        rule.selects(part, device)
        for offer in situation.offers
        for part in offer.slices
        for device in part.devices
    ]
    if not any(tainted):
        return
    for workload, pod_set in pod_sets_with_claims(manifests):
        for entry in pod_set.template.spec.resource_claims:
            spec = spec_of(manifests, workload.meta.namespace, entry)
            seconds = None if spec is None else _tolerated_seconds(spec, rule)
            if seconds is not None:
                yield Blocker(
                    code="pod-cannot-be-scheduled",
                    message=f"{workload.ref}: its claims tolerate the taint of DeviceTaintRule "
                    f'"{rule.meta.name}" for only {counted(seconds, "second")}. After '
                    "that, pods that use tainted devices are evicted",
                    fix="remove tolerationSeconds from the toleration, or remove the rule",
                    place=workload.place,
                    workloads=(workload.ref,),
                    verdict="does-not-fit" if all(tainted) else "cannot-tell",
                )


def _tolerated_seconds(spec: ClaimSpec, rule: DeviceTaintRule) -> int | None:
    """Return the shortest time for which requests tolerate a rule's taint, or None if none of them
    has a limit. For a request, one toleration without a limit is enough.
    """
    limits: list[int] = []
    for way in (way for request in spec.requests for way in request.alternatives):
        found = [each for each in way.tolerations if tolerates(each, rule.taint)]
        times = [each.toleration_seconds for each in found]
        if found and None not in times:
            limits.append(max(each for each in times if each is not None))
    return min(limits, default=None)
