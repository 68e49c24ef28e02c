"""Pods with claims whose node selectors don't match any pool, in a stack with Karpenter.

Plans omit Karpenter pools without a known maximum, so they don't report such pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import DeclaredPool, StackView

_REQUIREMENTS = "spec.template.spec.requirements"
_OF_OTHERS = ("kubernetes.io", "k8s.io", "nvidia.com", "amazonaws.com")
"""Suffixes of label domains that clouds, the kubelet, and operators use."""


def selectors_without_pool(view: StackView) -> Iterator[Finding]:
    """Yield workloads that select a label that no pool sets, if the labels of all pools are
    known.
    """
    pools = [*view.pools, *view.scaling_groups]
    karpenter = [pool for pool in pools if pool.own.has(_REQUIREMENTS)]
    if not view.complete or not karpenter or any(pool.labels is None for pool in pools):
        return
    domains = {cloud(pool.cloud).karpenter for pool in karpenter} | {"karpenter.sh"}
    for each in view.objects:
        pod = each.props.below("spec.template.spec")
        for key, value in (pod.mapping("nodeSelector") or {}).items():
            domain = key.rpartition("/")[0]
            is_own = domain not in domains and not domain.endswith(_OF_OTHERS)
            if not is_own or value is None or not pod.items("resourceClaims"):
                continue
            if not any(_may_have(pool, key, value) for pool in pools):
                kind = each.type.rpartition(":")[2]
                yield Finding(
                    message=f'{kind} "{each.name}" selects nodes with the label '
                    f"{key}={value}, which no pool in this stack sets, so Karpenter "
                    "doesn't create nodes for its pods",
                    fix=f"add the label to spec.template.metadata.labels of a NodePool, or remove "
                    f"{key} from nodeSelector",
                    urn=each.urn,
                )


def _may_have(pool: DeclaredPool, key: str, value: str) -> bool:
    """Return True unless nodes of a pool certainly lack a label."""
    if (pool.labels or {}).get(key, "") in (value, None):
        return True
    items = pool.own.items(_REQUIREMENTS)
    return items is None or any(item.text("key") in (key, None) for item in items)
