"""A kubelet plugin that selects labels of node feature discovery in a cluster that doesn't
run it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import GPU_PRESENT
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.driver_pod import plugin_pod
from dra_policies.view.node_selection import DISCOVERED, REQUIRED_TERMS, affine, term_accepts
from dra_policies.view.stack_view import DeclaredPool, StackView

_DISCOVER: Final = (
    "node-feature-discovery",
    "gpu-feature-discovery",
    "gpu-operator",
    "nvidia-device-plugin",
)


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or any(name in (each.props.text("chart") or "") or name in each.name
                                for each in view.objects for name in _DISCOVER):  # fmt: skip
        return
    for driver in view.drivers:
        if driver.values is None:
            continue
        pod = plugin_pod(driver)
        for pool in view.node_pools:
            if pool.is_dra and pool.has_gpus and affine(pod, pool) and _only_discovered(pod, pool):
                yield Finding(
                    message=f"the kubelet plugin of {driver.title} selects labels that Node "
                    f"Feature Discovery sets, but nodes of {pool.title} don't have "
                    "these labels, and this stack doesn't install Node Feature "
                    "Discovery",
                    fix=f"label the pool's nodes {GPU_PRESENT}=true, or install "
                    "node-feature-discovery",
                    urn=pool.urn,
                )


def _only_discovered(pod: Properties, pool: DeclaredPool) -> bool:
    """Return whether the pod's affinity accepts the pool's nodes only for labels that node feature
    discovery sets.
    """
    labels = pool.labels or {}
    for term in pod.items(REQUIRED_TERMS) or ():
        keys = [expression.text("key") or "" for expression in term.items("matchExpressions") or ()]
        missing = [key for key in keys if key.startswith(DISCOVERED) and key not in labels]
        if term_accepts(term, pool) is not False and not missing:
            return False
    return pod.has(REQUIRED_TERMS) is True


RULE = Rule(
    id="driver-label-not-set",
    says="DRA nodes don't have a label that the node affinity of the driver's kubelet plugin "
    "requires.",
    why="The plugin doesn't run on any node, so devices aren't published and claims aren't "
    "allocated.",
    fix=f"Label the pools {GPU_PRESENT}=true, or install Node Feature Discovery.",
    level="mandatory",
    is_outage=True,
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
