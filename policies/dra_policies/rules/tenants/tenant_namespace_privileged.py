"""Namespaces of ordinary workloads that admit privileged pods."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

LABEL = "pod-security.kubernetes.io/enforce"
URL = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    tenants = {
        workload.meta.namespace
        for workload, _ in pod_sets_with_claims(view.manifests)
        if workload.kind != "DaemonSet"
    } - {driver.namespace for driver in view.drivers}
    for each in view.objects:
        labels = each.props.mapping("metadata.labels") or {}
        is_tenants = each.props.text("metadata.name", each.name) in tenants
        if (
            each.type == "kubernetes:core/v1:Namespace"
            and is_tenants
            and labels.get(LABEL) == "privileged"
        ):
            yield Finding(
                message=f'Namespace "{each.name}" allows privileged pods and contains pods '
                "with claims, so a privileged pod can access every GPU on its node",
                fix=f"set the namespace's {LABEL} label to baseline or restricted",
                urn=each.urn,
            )


RULE = Rule(
    id="tenant-namespace-privileged",
    description="A namespace other than the driver's namespace admits privileged pods.",
    why="A privileged pod can access the device files of all GPUs on its node, including other "
    "pods' GPUs.",
    fix="Enforce the `baseline` or `restricted` Pod Security level in workload namespaces.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
