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
                message=f'Namespace "{each.name}" allows privileged pods, and pods with claims '
                "run there, so a privileged pod can access every GPU of its node",
                fix=f"set its label {LABEL} to baseline or restricted",
                urn=each.urn,
            )


RULE = Rule(
    id="tenant-namespace-privileged",
    says="A namespace other than the driver's admits privileged pods.",
    why="A privileged pod can access the device files of all GPUs of the node, including GPUs of "
    "other pods.",
    fix="Enforce baseline or restricted in the namespaces of workloads.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
