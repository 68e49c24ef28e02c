"""GKE admits critical pods outside kube-system only within a ResourceQuota, which must be large
enough for the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_planner.wording import counted, listed
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import CriticalPodQuota, DeclaredPool, InstalledDriver, StackView

CRITICAL = ("system-node-critical", "system-cluster-critical")
_OPERATOR_CHART: Final = "chart:gpu-operator"
# NVIDIA/gpu-operator:deployments/gpu-operator/values.yaml: both default to system-node-critical
_OPERATOR_CLASSES: Final = ("operator.priorityClassName", "daemonsets.priorityClassName")


def check(view: StackView) -> Iterator[Finding]:
    yield from _operators_without_quota(view)
    pools = [pool for pool in view.pools if pool.is_dra is not False and pool.has_gpus is not False]
    if not view.complete or not any(cloud(pool.cloud).critical_pods_need_quota for pool in pools):
        return
    for driver in view.drivers:
        if driver.namespace != "kube-system" and driver.priority_class != "":
            yield from _check_driver(driver, pools, view)


def _check_driver(
    driver: InstalledDriver, pools: list[DeclaredPool], view: StackView
) -> Iterator[Finding]:
    if driver.namespace is None or driver.priority_class is None:
        yield Finding(
            message=f"{driver.title}: its namespace or PriorityClass is unknown, so its quota "
            "can't be checked",
            urn=driver.urn,
            certain=False,
        )
        return
    if driver.priority_class not in CRITICAL:
        return
    quotas = [quota for quota in view.quotas if quota.namespace == driver.namespace]
    needed = _needed(driver, pools)
    amount = "one pod per GPU node and controller" if needed is None else counted(needed, "pod")
    if not quotas:
        doubtful = any(quota.namespace is None for quota in view.quotas)
        may, reason = "rejects", "the namespace doesn't have a ResourceQuota for them"
        if doubtful:
            may, reason = "may reject", "the namespace of a ResourceQuota in this stack is unknown"
        yield Finding(
            message=f"{driver.title}: GKE {may} {driver.priority_class} pods in namespace "
            f'"{driver.namespace}", because {reason}',
            fix=f'in namespace "{driver.namespace}", declare a ResourceQuota that allows at least '
            f'{amount} with PriorityClass "{driver.priority_class}"',
            urn=driver.urn,
            certain=not doubtful,
        )
    for quota in quotas:
        yield from _compare(quota, needed, driver, pools)


def _operators_without_quota(view: StackView) -> Iterator[Finding]:
    """Yield a GPU Operator in a namespace without a quota (NVIDIA/gpu-operator issue 660)."""
    clouds = [
        cloud(pool.cloud)
        for pool in view.pools
        if pool.has_gpus and cloud(pool.cloud).critical_pods_need_quota
    ]
    namespaces = {quota.namespace for quota in view.quotas}
    for chart in view.installed_charts if view.complete and clouds else ():
        classes = [chart.props.text(path, CRITICAL[0]) for path in _OPERATOR_CLASSES]
        if (
            chart.type == _OPERATOR_CHART
            and chart.namespace not in ("", "kube-system")
            and not namespaces & {chart.namespace, None}
            and any(name in CRITICAL for name in classes)
        ):
            yield Finding(
                message=f'{clouds[0].title} rejects the pods of GPU Operator "{chart.name}", because namespace '
                f'"{chart.namespace}" doesn\'t have a ResourceQuota for PriorityClass '
                f'"{CRITICAL[0]}"',
                fix=f'in namespace "{chart.namespace}", declare a ResourceQuota for PriorityClass '
                f'"{CRITICAL[0]}" that allows one pod per GPU node for each of the '
                f"operator's DaemonSets",
                urn=chart.urn,
            )


def _compare(
    quota: CriticalPodQuota, needed: int | None, driver: InstalledDriver, pools: list[DeclaredPool]
) -> Iterator[Finding]:
    if quota.pods is None or needed is None:
        unknown = "its pod limit" if quota.pods is None else "the maximum size of the pools"
        yield Finding(
            message=f"it's unknown whether {quota.title} is large enough, because {unknown} is "
            "unknown",
            urn=quota.urn,
            certain=False,
        )
    elif quota.pods < needed:
        yield Finding(
            message=f"{quota.title} allows {counted(quota.pods, 'critical pod')}, but "
            f"{driver.title} needs {needed}: one on each GPU node ({_shown(pools)})"
            f"{_controllers(driver.other_critical_pods or 0)}",
            fix=f"set the quota's spec.hard.pods to {needed}",
            urn=quota.urn,
        )


def _needed(driver: InstalledDriver, pools: list[DeclaredPool]) -> int | None:
    if driver.other_critical_pods is None:
        return None
    total = driver.other_critical_pods
    for pool in pools:
        if pool.count_max is None or pool.is_dra is None:
            return None
        total += pool.count_max
    return total


def _shown(pools: list[DeclaredPool]) -> str:
    return f"at most {listed([f'{pool.count_max} in {pool.title}' for pool in pools])}"


def _controllers(pods: int) -> str:
    return f", and {counted(pods, 'controller pod')}" if pods else ""


RULE = Rule(
    id="driver-quota-too-small",
    description="On GKE, the ResourceQuota for critical pods in the driver's namespace is missing "
    "or is too small for the driver pods on all GPU nodes.",
    why="The API server rejects driver pods that exceed the quota, so nodes start without devices.",
    fix="Set `pods` under the quota's `hard` to the sum of all pool maximums plus the number of "
    "driver controllers.",
    level="mandatory",
    is_outage=True,
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
