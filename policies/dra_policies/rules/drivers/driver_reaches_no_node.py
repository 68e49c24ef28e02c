"""A kubelet plugin of the DRA driver that can't run on GPU nodes, so their devices aren't
published.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.driver_pod import plugin_pod
from dra_policies.view.node_selection import affine, selects, tolerates, tolerations_text
from dra_policies.view.planned_nodes import plugin_pools
from dra_policies.view.pool_machines import leaves_driver_out
from dra_policies.view.stack_view import DeclaredPool, InstalledDriver, Installer, StackView


def check(view: StackView) -> Iterator[Finding]:
    for driver in view.drivers:
        if driver.values is None:
            continue
        pod = plugin_pod(driver)
        for pool in view.node_pools:
            if pool.is_dra is True and pool.has_gpus is not False:
                yield from _faults(driver, pod, pool)
        if view.complete and len(view.drivers) == 1:
            yield from _nowhere(driver, view)
    for installer in view.installers if view.complete and len(view.installers) == 1 else ():
        for pool in view.node_pools:
            if pool.is_dra is True and leaves_driver_out(pool):
                yield from _kept_away(installer, pool)


def _kept_away(installer: Installer, pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a finding if nodes that get the NVIDIA driver from an installer never run it."""
    if tolerates(installer.pod, pool) is False:
        reason = f"doesn't tolerate the taints of {pool.title}"
        fix = "set tolerations to [{operator: Exists}] in the installer's pod template"
    elif selects(installer.pod, pool) is False or affine(installer.pod, pool) is False:
        reason = f"requires labels that the nodes in {pool.title} don't have"
        fix = "change nodeSelector in the installer's pod template to match the nodes' labels"
    else:
        return
    yield Finding(
        message=f"{installer.title} {reason}, so it can't install the NVIDIA driver on these nodes",
        fix=fix,
        urn=installer.urn,
    )


def _nowhere(driver: InstalledDriver, view: StackView) -> Iterator[Finding]:
    """Yield a finding if the driver selects none of the stack's GPU nodes, and no node has the
    driver's label. Pools that the plan leaves to a device plugin don't need the driver.
    """
    served = plugin_pools(view.record.plan_file if view.record else None)
    pools = [
        pool
        for pool in view.node_pools
        if pool.has_gpus is not False and pool.offer_name not in served
    ]
    if pools and all(
        pool.has_gpus and pool.is_labelled is False and pool.runs_driver is False for pool in pools
    ):
        shown = " or ".join(pool.title for pool in pools)
        yield Finding(
            message=f"the kubelet plugin of {driver.title} can't run on {shown}, because its "
            "node selector or affinity doesn't match the nodes' labels",
            fix=(
                "in the release's values, change kubeletPlugin.nodeSelector or "
                "kubeletPlugin.affinity to match the nodes' labels"
            ),
            urn=driver.urn,
        )


def _faults(driver: InstalledDriver, pod: Properties, pool: DeclaredPool) -> Iterator[Finding]:
    if tolerates(pod, pool) is False:
        taints = ", ".join(
            str(taint) for taint in pool.taints or () if taint.effect != "PreferNoSchedule"
        )
        keys = ("nvidia.com/gpu", *(taint.key for taint in pool.taints or ()))
        yield _finding(
            driver,
            pool,
            f"it doesn't tolerate the nodes' taints ({taints})",
            f"set kubeletPlugin.tolerations to [{tolerations_text(keys)}]",
        )
    elif selects(pod, pool) is False:
        yield _finding(
            driver,
            pool,
            "its node selector requires labels that the nodes don't have",
            "change kubeletPlugin.nodeSelector to match the nodes' labels",
        )
    elif affine(pod, pool) is False:
        yield _finding(
            driver,
            pool,
            "its node affinity requires labels that the nodes don't have",
            "change kubeletPlugin.affinity to match the nodes' labels",
        )


def _finding(driver: InstalledDriver, pool: DeclaredPool, problem: str, fix: str) -> Finding:
    return Finding(
        message=f"the kubelet plugin of {driver.title} can't run on {pool.title}, because "
        f"{problem}",
        fix=fix,
        urn=driver.urn,
    )


RULE = Rule(
    id="driver-reaches-no-node",
    description="The DRA driver's kubelet plugin can't run on the nodes in a DRA pool.",
    why="Nodes start but don't publish devices. Therefore, claims aren't allocated, and "
    "autoscalers add more nodes.",
    fix="In the driver's values, add tolerations for the pool's taints and a nodeSelector that "
    "matches the pool's labels.",
    level="mandatory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
