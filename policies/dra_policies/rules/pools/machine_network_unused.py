"""Machine types with a multi-node network, in pools that don't attach it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_planner.clouds.protocol.resources import FastNetwork
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import UNKNOWN, as_list, as_mapping
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView

URL: Final = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html"


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools:
        machine, network = (
            known_machine(pool.cloud, pool.machine),
            cloud(pool.cloud).pool.fast_network,
        )
        if machine is None or network is None or not pool.is_dra or pool.count_max in (0, 1):
            continue
        if (has := network.of_machine(machine)) and not attaches_network(pool, view):
            yield Finding(
                message=f"{pool.title}: {_unused(machine.name, has, network)}, so multi-node jobs "
                "use TCP",
                fix=_fix(pool, network),
                urn=pool.urn,
            )


def attaches_network(pool: DeclaredPool, view: StackView) -> bool:
    """Return True unless the pool certainly doesn't attach its machine type's network."""
    network = cloud(pool.cloud).pool.fast_network
    if network is None:
        return False
    if any(pool.own.has(path) is not False for path in network.settings):
        return True
    if (pool.labels or {}).get(cloud(pool.cloud).network_label, "") in ("true", None):
        return True
    if not network.interfaces:
        return bool(view.charts & {"", *network.charts}) if network.charts else False
    by_karpenter = _is_of_karpenter(pool)
    if by_karpenter and _pods_attach_it(view, network):
        return True  # Karpenter attaches the interfaces that pods request
    if pool.template is None:
        template = cloud(pool.cloud).pool.template
        # a network of another stack is unknown
        return by_karpenter or template is None or pool.own.has(template.property) is not False
    place = f"spec.{network.interfaces}" if by_karpenter else network.interfaces
    interfaces = pool.template.items(place)
    path, start = network.kind
    return (
        interfaces is None
        or any((each.text(path, "") or "").startswith(start) for each in interfaces)
        or any(each.text(path) is None for each in interfaces)
    )


def _unused(machine: str, has: str, network: FastNetwork) -> str:
    """Return why pods can't use the network: the nodes lack its driver or its interfaces."""
    if network.charts:
        return f"its {machine} nodes have {has}, but nothing makes them available to pods"
    return f"{machine} supports {has}, but the pool doesn't attach them to its nodes"


def _fix(pool: DeclaredPool, network: FastNetwork) -> str:
    template, node_class = network.templates
    return network.fix.format(node_class if _is_of_karpenter(pool) else template)


def _is_of_karpenter(pool: DeclaredPool) -> bool:
    return bool(pool.own.has("spec.template.spec"))


def _pods_attach_it(view: StackView, network: FastNetwork) -> bool:
    """Return True unless the stack's pods with claims certainly don't request interfaces."""
    if view.manifests is None or not view.manifests.workloads:
        return True
    names = re.compile(network.requested_as)
    return any(_contains(each.props.values, names) for each in view.objects)


def _contains(value: object, names: re.Pattern[str]) -> bool:
    """Return whether an object contains one of the names: a resource, a class, or a driver."""
    if (mapping := as_mapping(value)) is not None:
        return any(names.search(key) or _contains(item, names) for key, item in mapping.items())
    if (items := as_list(value)) is not None:
        return any(_contains(item, names) for item in items)
    return value is UNKNOWN or (isinstance(value, str) and names.search(value) is not None)


RULE = Rule(
    id="machine-network-unused",
    description="A pool doesn't attach its machine type's multi-node network, or has settings that slow "
    "down this network.",
    why="The network accounts for a large part of the machine's price, and multi-node jobs are "
    "many times slower over TCP.",
    fix="Attach the interfaces, or use a machine type without them.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
