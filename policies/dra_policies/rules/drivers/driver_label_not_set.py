"""A kubelet plugin that selects labels of Node Feature Discovery in a cluster that doesn't run Node
Feature Discovery.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import GPU_PRESENT
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import Properties, has_unknown
from dra_policies.view.driver_pod import plugin_pod
from dra_policies.view.node_selection import (
    DISCOVERED,
    REQUIRED_TERMS,
    affine,
    term_accepts,
    tolerates,
)
from dra_policies.view.stack_view import DeclaredPool, StackView

_DISCOVER: Final = (
    "node-feature-discovery",
    "gpu-feature-discovery",
    "gpu-operator",
    "nvidia-device-plugin",
)

_GPU_NODES: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
# The worker of each chart: the value that installs it, and its default; the value with its
# tolerations, and their default.
# kubernetes-sigs/node-feature-discovery:deployment/helm/node-feature-discovery/values.yaml,
# NVIDIA/gpu-operator:deployments/gpu-operator/values.yaml@v26.7.0, and
# NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/values.yaml, read 2026-11-28
_WORKERS: Final[tuple[tuple[str, tuple[str, bool] | None, str, list[dict[str, str]]], ...]] = (
    ("node-feature-discovery", ("worker.enable", True), "worker.tolerations", []),
    (
        "gpu-operator",
        ("nfd.enabled", True),
        "node-feature-discovery.worker.tolerations",
        [_GPU_NODES],
    ),
    (
        "nvidia-device-plugin",
        ("gfd.enabled", False),
        "nfd.worker.tolerations",
        [{**_GPU_NODES, "operator": "Equal", "value": "present"}],
    ),
)


def check(view: StackView) -> Iterator[Finding]:
    yield from _kept_off(view)
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
                    message=f"the kubelet plugin of {driver.title} runs only on nodes with labels "
                    "from Node Feature Discovery, but this stack doesn't install Node Feature "
                    f"Discovery, and the nodes in {pool.title} don't have these labels",
                    fix=f"add the label {GPU_PRESENT}=true to the nodes, or install the "
                    "node-feature-discovery chart, and add tolerations for the nodes' taints to "
                    "worker.tolerations",
                    urn=pool.urn,
                )


def _kept_off(view: StackView) -> Iterator[Finding]:
    """Yield pools whose taints keep off the only worker of Node Feature Discovery."""
    workers = [
        (each, path, tolerations)
        for each in view.installed_charts
        for chart, switch, path, tolerations in _WORKERS
        if each.type == f"chart:{chart}"
        and (not switch or each.props.flag(switch[0], switch[1]) is not False)
    ]
    if not view.complete or len(workers) != 1 or has_unknown(workers[0][0].props.values):
        return
    chart, path, by_default = workers[0]
    tolerations = chart.props.at(path) if chart.props.has(path) else by_default
    worker = Properties({"tolerations": tolerations})
    for driver in view.drivers:
        pod = plugin_pod(driver) if driver.values is not None else None
        for pool in view.node_pools if pod is not None else ():
            if (
                pod is not None
                and pool.is_dra
                and pool.has_gpus
                and _only_discovered(pod, pool)
                and tolerates(worker, pool) is False
            ):
                yield Finding(
                    message=f"the kubelet plugin of {driver.title} runs only on nodes with labels "
                    "from Node Feature Discovery (NFD), but the NFD worker doesn't tolerate the "
                    f"taints of {pool.title}, so the nodes don't get these labels",
                    fix=f"add the label {GPU_PRESENT}=true to the nodes, or add tolerations for "
                    f'the nodes\' taints to {path} in the values of Release "{chart.name}"',
                    urn=pool.urn,
                )


def _only_discovered(pod: Properties, pool: DeclaredPool) -> bool:
    """Return whether the pod's affinity accepts the pool's nodes only because of labels that Node
    Feature Discovery sets.
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
    description="DRA nodes lack a label that the driver's kubelet plugin requires in its node "
    "affinity.",
    why="The plugin doesn't run on any node, so devices aren't published and claims aren't "
    "allocated.",
    fix=f"Add the label {GPU_PRESENT}=true to the pools, or install Node Feature Discovery.",
    level="mandatory",
    is_outage=True,
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
