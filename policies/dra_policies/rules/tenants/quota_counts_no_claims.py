"""Quotas of extended resources in namespaces whose pods take their devices by claims, which they do
not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.written import pod_sets_with_claims
from dra_planner.drivers.nvidia import GPU_CLASS
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import gpu_entries
from dra_policies.view.stack_view import StackView

URL: Final = "https://kubernetes.io/docs/concepts/policy/resource-quotas/"
_EXTENDED: Final = ("requests.nvidia.com/", "limits.nvidia.com/")
_OF_CLAIMS: Final = "resource.k8s.io"


def check(view: StackView) -> Iterator[Finding]:
    if (
        not view.complete
        or view.manifests is None
        or view.features is None
        or view.features.extended_resource
    ):
        return  # with that gate a quota of an extended resource counts the claims of its class too
    claiming = {
        workload.meta.namespace: str(workload.ref)
        for workload, pod_set in pod_sets_with_claims(view.manifests)
        if gpu_entries(view.manifests, workload, pod_set)
    }
    quotas = [each for each in view.objects if each.type.endswith(":ResourceQuota")]
    limited = {
        each.props.text("metadata.namespace", "default")
        for each in quotas
        if any(_OF_CLAIMS in key for key in each.props.mapping("spec.hard") or {})
    }
    for each in quotas:
        namespace = each.props.text("metadata.namespace", "default")
        keys = [key for key in each.props.mapping("spec.hard") or {} if key.startswith(_EXTENDED)]
        if keys and namespace in claiming and not limited & {namespace, None}:
            yield Finding(
                message=f'ResourceQuota "{each.name}" limits {keys[0]}, but '
                f"{claiming[namespace]} requests GPUs through claims, which the quota "
                "doesn't count",
                fix=f"limit {GPU_CLASS}.deviceclass.resource.k8s.io/devices in the namespace too",
                urn=each.urn,
            )


RULE = Rule(
    id="quota-counts-no-claims",
    says="A GPU quota doesn't count claims.",
    why="A quota for an extended resource doesn't limit claims, so claims can use all GPUs.",
    fix="Add a quota by DeviceClass to the quota for the extended resource.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
