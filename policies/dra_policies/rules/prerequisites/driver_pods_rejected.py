"""A DRA driver in a namespace whose Pod Security level rejects its pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

LABEL: Final = "pod-security.kubernetes.io/enforce"
REJECTING: Final = ("baseline", "restricted")
URL: Final = "https://kubernetes.io/docs/concepts/security/pod-security-standards/"
_NAMESPACE: Final = "kubernetes:core/v1:Namespace"


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers if view.complete else ():
        for each in view.objects:
            is_its_own = driver.namespace in (
                each.props.text("metadata.name") or each.urn,
                each.urn,
            )
            if each.type != _NAMESPACE or not is_its_own:
                continue
            level = (each.props.mapping("metadata.labels") or {}).get(LABEL)
            if level in REJECTING:
                yield Finding(
                    message=f"{driver.title}: Pod Security rejects its pods, because Namespace "
                    f'"{each.name}" enforces '
                    f"{level} and the kubelet plugin is privileged and mounts host paths, so no "
                    "devices are published",
                    fix=f"set the label {LABEL} of the namespace to privileged",
                    urn=each.urn,
                )


RULE = Rule(
    id="driver-pods-rejected",
    says="The namespace of the DRA driver rejects the driver's pods.",
    why="The kubelet plugin needs privileges and host paths; a rejected DaemonSet has no pods, and "
    "no node publishes "
    "devices.",
    fix="Enforce privileged in the driver's namespace, and keep workloads out of it.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
