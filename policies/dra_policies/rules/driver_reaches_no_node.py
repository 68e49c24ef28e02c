"""A kubelet plugin of the DRA driver that may not run on GPU nodes: nothing publishes their devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_planner import catalog
from dra_policies.rules.node_selection import affine, selects, tolerates
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.rules.view import DeclaredPool, DraDriver, StackView
from dra_policies.unknowns import Properties

# Source: kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/values.yaml@v25.3.2 to v0.4.1
_TOLERATIONS_SINCE: Final = "0.4.0"
_DEFAULT_TOLERATIONS: Final = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
_DEFAULT_LABELS: Final = (
    "feature.node.kubernetes.io/pci-10de.present",
    "feature.node.kubernetes.io/cpu-model.vendor_id",
    "nvidia.com/gpu.present",
)


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        if driver.values is None or not driver.version:
            continue
        pod = _pod(driver)
        for pool in view.pools:
            if pool.is_dra is True and pool.has_gpus is not False:
                yield from _faults(driver, pod, pool)


def _faults(driver: DraDriver, pod: Properties, pool: DeclaredPool) -> Iterator[Finding]:
    if tolerates(pod, pool) is False:
        taints = ", ".join(str(taint) for taint in pool.taints or () if taint.effect != "PreferNoSchedule")
        fix = "set kubeletPlugin.tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
        others = [taint.key for taint in pool.taints or () if taint.key != "nvidia.com/gpu"]
        yield _finding(driver, pool, f"does not tolerate its taints ({taints})", fix if not others else _of(others))
    elif selects(pod, pool) is False:
        yield _finding(
            driver, pool, "selects nodes by labels that it does not have", "correct kubeletPlugin.nodeSelector"
        )
    elif affine(pod, pool) is False:
        yield _finding(
            driver, pool, "has a node affinity to labels that it does not have", "correct kubeletPlugin.affinity"
        )


def _of(keys: list[str]) -> str:
    listed = ", ".join(f"{{key: {key}, operator: Exists}}" for key in dict.fromkeys(("nvidia.com/gpu", *keys)))
    return f"set kubeletPlugin.tolerations: [{listed}]"


def _finding(driver: DraDriver, pool: DeclaredPool, says: str, fix: str) -> Finding:
    return Finding(
        message=f"the kubelet plugin of {driver.title} never runs on {pool.title}: it {says}", fix=fix, urn=driver.urn
    )


def _pod(driver: DraDriver) -> Properties:
    """Return where the kubelet plugin may run: as the chart merges values with its defaults, lists replacing lists."""
    assert driver.values is not None
    plugin = driver.values.below("kubeletPlugin")
    order = {release.version: release.order for release in catalog.driver_releases()}
    tolerant = order.get(driver.version or "", 0) >= order[_TOLERATIONS_SINCE]
    tolerations: Any = plugin.at("tolerations")
    if tolerations is None:
        tolerations = _DEFAULT_TOLERATIONS if tolerant else []
    affinity: Any = plugin.at("affinity")
    terms = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    if affinity is None or (isinstance(affinity, dict) and plugin.has(terms) is False):
        expressions = [[{"key": key, "operator": "In", "values": ["true", "NVIDIA"]}] for key in _DEFAULT_LABELS]
        required = {"nodeSelectorTerms": [{"matchExpressions": each} for each in expressions]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    selector: Any = plugin.at("nodeSelector")
    return Properties(
        {"tolerations": tolerations, "affinity": affinity, "nodeSelector": {} if selector is None else selector}
    )


RULE = Rule(
    id="driver-reaches-no-node",
    says="The kubelet plugin of the DRA driver may run on every node pool for claims.",
    why="Nodes come up, and nothing publishes their devices: claims wait for ever, and autoscalers add more nodes.",
    fix="Tolerate the taints of the pool, and select labels that it has.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
