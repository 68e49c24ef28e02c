"""Nodes that the cloud starts automatically, in addition to the stack's nodes, and that don't
support claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.clouds import cloud, names
from dra_planner.model import PodTemplate, Workload
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import DeclaredResource, StackView

_PROFILES: Final = tuple(
    cloud(name).serverless_token for name in names() if cloud(name).serverless_token
)


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    if view.manifests is None:
        return
    for each in view.declared:
        if each.type in _PROFILES and (taken := _taken(each, view)):
            yield Finding(
                message=f'Fargate profile "{each.name}" selects the pods of {taken}, which use '
                "claims, but Fargate doesn't support GPUs",
                fix="change the profile's selectors so that they don't match pods with claims",
                urn=each.urn,
            )


def _taken(profile: DeclaredResource, view: StackView) -> str:
    """Return a workload with claims whose pods certainly match a profile, or ""."""
    assert view.manifests is not None  # `check` calls this only with manifests
    for workload, pod_set in pod_sets_with_claims(view.manifests):
        if _selects(profile, workload, pod_set.template):
            return str(workload.ref)
    return ""


def _selects(profile: DeclaredResource, workload: Workload, template: PodTemplate) -> bool:
    """Return whether a selector matches. EKS user guide, Fargate profiles: namespaces and labels
    can have the wildcards * and ?.
    """
    for selector in profile.props.items("selectors") or ():
        namespace, labels = selector.text("namespace"), selector.mapping("labels")
        if not namespace or labels is None or not fnmatchcase(workload.meta.namespace, namespace):
            continue
        if all(
            value and fnmatchcase(template.labels.get(key, ""), value)
            for key, value in labels.items()
        ):
            return True
    return False


RULE = Rule(
    id="auto-nodes-take-no-claims",
    description="The cloud provisions the cluster's nodes automatically.",
    why="These nodes don't support claims. Pods with claims run only on the stack's node groups.",
    fix="Disable automatic node provisioning, or use these nodes only for pods without claims.",
    level="advisory",
    needs="stack",
    check=check,
)
