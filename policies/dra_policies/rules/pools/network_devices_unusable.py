"""Network devices of GPU pools that can't carry traffic: closed security groups, clusters without
Dataplane V2, and old device plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_planner.wording import counted
from dra_policies.rules.pools.network_plugins import outdated_plugins
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView

_MINOR: Final = ("major", "minor")  # a version this short doesn't contain a patch version
_OPEN_SOURCE: Final = "dranet"
URL: Final = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html"


def check(view: StackView) -> Iterator[Finding]:
    for group in view.closed_efa_groups:
        way = "from" if group.missing == "ingress" else "to"
        yield Finding(
            message=f"{group.title} is attached to the EFA interfaces of {group.pool}, but doesn't "
            f"allow all {group.missing} traffic {way} the security group itself, so NCCL and MPI jobs hang",
            fix=f"add an {group.missing} rule that allows all protocols, with the security group "
            f"itself as the {'source' if group.missing == 'ingress' else 'destination'}",
            urn=group.urn,
        )
    yield from outdated_plugins(view)
    for pool in view.node_pools:
        yield from _more_than_cards(pool)
        yield from _number_of_networks(pool)
    for pool in view.pools:
        yield from _of_label(pool, view)
        if pool.has_dataplane_v2 is False and _has_network_devices(pool):
            yield Finding(
                message=f"{pool.title} publishes network devices (managed DRANET), but its "
                "cluster doesn't use Dataplane V2",
                fix='set the cluster\'s datapathProvider to "ADVANCED_DATAPATH"',
                urn=pool.urn,
            )


def _of_label(pool: DeclaredPool, view: StackView) -> Iterator[Finding]:
    """Yield a pool whose label makes the cloud publish network devices, although the machine type
    doesn't have them, the cluster's version doesn't publish them, or another driver also publishes
    them.
    """
    of_cloud = cloud(pool.cloud)
    label, network = of_cloud.network_label, of_cloud.pool.fast_network
    if not label or network is None or (pool.labels or {}).get(label) != "true":
        return
    if all(pool.own.has(path) is False for path in network.settings):
        yield Finding(
            message=f"{pool.title} has the label {label}, but its nodes don't have additional "
            "networks, so they don't publish network devices",
            fix=f'set {network.settings[0]} to "auto", or remove the label',
            urn=pool.urn,
        )
    version = _numbers(pool.own.text(of_cloud.pool.version) or "")
    if len(version) > len(_MINOR) and version < _numbers(of_cloud.network_label_since):
        yield Finding(
            message=f"{pool.title} has the label {label}, but its version, "
            f"{pool.own.text(of_cloud.pool.version)}, is too old to publish network devices",
            fix=f"set {of_cloud.pool.version} to {of_cloud.network_label_since} or later",
            urn=pool.urn,
        )
    if _OPEN_SOURCE in view.charts:
        yield Finding(
            message=f"{pool.title} has the label {label}, but the stack also installs "
            f"{_OPEN_SOURCE}, so two drivers publish the same network devices",
            fix=f"remove either the {_OPEN_SOURCE} release or the label",
            urn=pool.urn,
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"[0-9]+", version)))


def _more_than_cards(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a template with more fast interfaces than the machine type supports."""
    network = cloud(pool.cloud).pool.fast_network
    machine = known_machine(pool.cloud, pool.machine)
    if network is None or not network.interfaces or machine is None or pool.template is None:
        return
    key, value = network.kind
    found = [
        each
        for each in pool.template.items(network.interfaces) or ()
        if (each.text(key) or "").startswith(value)
    ]
    most = network.most(machine)
    if found and most is not None and len(found) > most:
        supported = f"supports at most {most}" if most else "doesn't support any"
        yield Finding(
            message=f"{pool.title}: its launch template has "
            f"{counted(len(found), network.interface)}, but {machine.name} "
            f"{supported}, so {cloud(pool.cloud).title} can't create the nodes",
            fix=f"remove {network.interface}s from the launch template, or use an instance type that "
            f"supports {'more of them' if most else 'them'}",
            urn=pool.template_urn or pool.urn,
        )


def _number_of_networks(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield pools whose number of additional networks differs from the machine's number of GPU
    network interfaces.

    NVIDIA/aicr pull request 1662: an extra network replaces the interface of a GPU.
    """
    network = cloud(pool.cloud).pool.fast_network
    machine = known_machine(pool.cloud, pool.machine)
    path = network.networks if network is not None else ""
    if not path or machine is None or not machine.additional_networks:
        return
    count, needed = len(pool.own.items(path) or ()), machine.additional_networks
    if count and count != needed:
        yield Finding(
            message=f"{pool.title} attaches {counted(count, 'additional network')}, but the GPUs "
            f"of {machine.name} need exactly {needed}, so multi-node jobs fail",
            fix=f"list exactly {needed} networks in {path}",
            urn=pool.urn,
        )


def _has_network_devices(pool: DeclaredPool) -> bool:
    of_cloud = cloud(pool.cloud)
    profile = of_cloud.pool.network_profile
    return (profile != "" and pool.own.has(profile) is True) or (pool.labels or {}).get(
        of_cloud.network_label
    ) == "true"


RULE = Rule(
    id="network-devices-unusable",
    description="A GPU pool's network devices can't send or receive traffic.",
    why="Multi-node jobs hang or fall back to TCP.",
    fix="On EKS, allow all traffic within the EFA security group. On GKE, use Dataplane V2 and "
    "attach exactly the networks that the GPUs need.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
