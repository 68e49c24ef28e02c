"""GPU pools on which no device plugin of the stack can run, although pods request its GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.gpu_pods import GPU, gpu_pods, misfit
from dra_policies.view.node_selection import may_run_on, tolerates, tolerations_text
from dra_policies.view.stack_view import DeclaredPool, PluginWorkload, StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or len(view.device_plugins) != 1:
        return
    plugin = view.device_plugins[0]
    for pool in view.node_pools:
        if _needs_plugin(pool) and may_run_on(plugin.pod, pool) is False:
            users = [
                pod.workload.ref
                for pod in gpu_pods(view, pool.cloud)
                if misfit(pod, pool, shares=True) is None
            ]
            if users:
                yield _finding(plugin, pool, str(users[0]))


def _needs_plugin(pool: DeclaredPool) -> bool:
    """Return whether only a workload can advertise the GPUs of a pool's nodes."""
    of_cloud = cloud(pool.cloud)
    has_own = bool(pool.image) and (pool.image or "").startswith(of_cloud.images_with_device_plugin)
    return (
        pool.has_gpus is True
        and pool.is_dra is False
        and pool.image is not None
        and not has_own
        and not of_cloud.plugin.is_built_in
        # with these settings, the cloud also runs its own plugin
        and not any(pool.own.text(path) in (value, None) for path, value in of_cloud.driver_kept)
    )


def _finding(plugin: PluginWorkload, pool: DeclaredPool, user: str) -> Finding:
    reason = "because their node selector or affinity doesn't match the nodes' labels"
    fix = f"change the plugin's node selector or affinity to match the labels of {pool.title}"
    if tolerates(plugin.pod, pool) is False:
        taints = [taint for taint in pool.taints or () if taint.effect != "PreferNoSchedule"]
        reason = f"because they don't tolerate the nodes' taints ({', '.join(map(str, taints))})"
        fix = f"add to the plugin's tolerations: {tolerations_text(taint.key for taint in taints)}"
    return Finding(
        message=f"the pods of {plugin.title} can't run on {pool.title}, {reason}. The nodes "
        f"therefore don't advertise {GPU}, which {user} requests",
        fix=fix,
        urn=plugin.urn,
    )


RULE = Rule(
    id="device-plugin-reaches-no-node",
    description="Pods request GPUs in a pool where the device plugin can't run.",
    why="The nodes don't advertise their GPUs, so pods stay pending while you pay for the nodes.",
    fix="Give the device plugin tolerations for the pool's taints and a node selector that matches "
    "the pool's labels.",
    level="mandatory",
    is_outage=True,
    url="https://github.com/NVIDIA/k8s-device-plugin",
    needs="stack",
    check=check,
)
