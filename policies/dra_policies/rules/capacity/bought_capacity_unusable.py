"""Pools whose settings prevent the use of purchased capacity: placement, surge, sizes, paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner import catalog
from dra_planner.clouds import cloud, names
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.clouds.protocol.resources import (
    BoughtCapacity,
    KarpenterNodeClass,
    SurgeSetting,
)
from dra_planner.errors import CatalogError
from dra_planner.wording import counted
from dra_policies.rules.capacity.reservation_zones import texts_of, zone_faults
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties, has_unknown
from dra_policies.view.pool_machines import capacity_types, is_spot, known_machine
from dra_policies.view.stack_view import (
    NOTHING_DECLARED,
    DeclaredPool,
    DeclaredResource,
    StackView,
)

URL: Final = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
_NODE_CLASS: Final = "spec.template.spec.nodeClassRef"


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    yield from _of_reservations(view)
    groups = {each.urn for each in view.scaling_groups}
    for pool in view.node_pools:
        of_cloud = cloud(pool.cloud)
        bought = of_cloud.pool.bought
        if bought is None or not _is_bought(pool, bought, of_cloud.node_class):
            continue
        yield from _of_machine(pool, of_cloud, bought)
        yield from _of_name(pool, of_cloud, bought)
        reservations = list(_reservations(view, pool, bought))
        for problem, fix in zone_faults(view, pool, bought, reservations):
            yield Finding(message=f"{pool.title} {problem}", fix=fix, urn=pool.urn)
        for reservation in reservations:
            yield from _of_size(pool, bought, reservation)
            yield from _of_members(view, pool, bought, reservation)
        if not _is_placed(view, pool, bought):
            may_be_placed = bought.own_placement and _may_be_placed(view, pool, bought)
            yield from _of_placement(pool, bought, certain=not may_be_placed)
        if pool.urn not in groups and pool.own.has(_NODE_CLASS) is False:
            yield from _of_updates(pool, bought.surge)


def _of_reservations(view: StackView) -> Iterator[Finding]:
    """Yield reservations for machine types that the cloud doesn't allow users to reserve."""
    for each in view.declared:
        for of_cloud in map(cloud, names()):
            bought = of_cloud.pool.bought
            token, path = bought.machine if bought else ("", "")
            if each.type != token:
                continue
            machine = known_machine(of_cloud.name, each.props.text(path))
            fault = of_cloud.purchase_fault(machine, "reservation") if machine else None
            if fault:
                yield Finding(
                    message=f'capacity reservation "{each.name}": {fault.problem}',
                    fix=("reserve another machine type, or remove the reservation"),
                    urn=each.urn,
                )


def _is_bought(
    pool: DeclaredPool, bought: BoughtCapacity, node_class: KarpenterNodeClass | None
) -> bool:
    """Return True if the pool certainly uses purchased capacity. Spot nodes never do, regardless of
    other settings.
    """
    if is_spot(pool):
        return False
    if node_class is not None and pool.own.has(_NODE_CLASS):
        return capacity_types(pool) == frozenset((node_class.reserved,))
    template = pool.template or NOTHING_DECLARED
    marks = [
        *((pool.own, *mark) for mark in bought.marks),
        *((template, *mark) for mark in bought.template_marks),
    ]
    return any(_has_value(properties, path, value) for properties, path, value in marks) or any(
        pool.made_from and not value and has_unknown(properties.at(path))
        for properties, path, value in marks
    )


def _has_value(properties: Properties, path: str, value: str) -> bool:
    return properties.text(path) == value if value else properties.has(path) is True


def _of_machine(pool: DeclaredPool, of_cloud: Cloud, bought: BoughtCapacity) -> Iterator[Finding]:
    try:
        fault = of_cloud.purchase_fault(
            catalog.machine(pool.cloud, pool.machine or ""), "reservation"
        )
    except CatalogError:
        return
    if fault:
        setting = bought.marks[0][0]
        block = setting.rpartition(".")[0] or setting
        yield _finding(pool, fault.problem, f"remove {block}")


def _of_name(pool: DeclaredPool, of_cloud: Cloud, bought: BoughtCapacity) -> Iterator[Finding]:
    template = pool.template or NOTHING_DECLARED
    for properties, path in ((pool.own, bought.names), (template, bought.template_name)):
        for name in texts_of(properties, path):
            if name and (fault := of_cloud.reservation_fault(name)):
                instead = f"set {path} to {of_cloud.reservation_meaning}"
                yield _finding(pool, fault.problem, fault.fix or instead)


def _reservations(
    view: StackView, pool: DeclaredPool, bought: BoughtCapacity
) -> Iterator[DeclaredResource]:
    """Yield the stack's reservations that a pool uses, by an output or by name."""
    named = texts_of(pool.own, bought.names)
    users = [each for each in view.declared if each.urn in (pool.urn, pool.template_urn)]
    used = {urn for user in users for urns in user.sources.values() for urn in urns}
    for each in view.declared:
        name = each.props.text("name") or each.name
        is_its = each.urn in used or any((text or "").rpartition("/")[2] == name for text in named)
        if each.type in bought.tokens and is_its:
            yield each


def _of_size(
    pool: DeclaredPool, bought: BoughtCapacity, reservation: DeclaredResource
) -> Iterator[Finding]:
    """Yield a reservation for other machine types, for fewer nodes than the pool's minimum, or with
    a type that pools can't reference.
    """
    title, props = f'reservation "{reservation.name}"', reservation.props
    token, path = bought.machine
    machine = props.text(path) if reservation.type == token else ""
    if machine and pool.machine and machine != pool.machine.partition("+")[0]:
        yield _finding(
            pool,
            f"{title} is for {machine}, but the nodes have machine type {pool.machine}",
            "use the same machine type for the nodes and the reservation",
        )
        return
    size = props.count(bought.size, -1) if bought.size else None
    least = max(pool.count_min or 0, pool.count_desired or 0)
    if size is not None and 0 <= size < least:
        yield _finding(
            pool,
            f"the pool needs at least {counted(least, 'machine')}, but {title} contains only {size}",
            f"increase the reservation to at least {counted(least, 'machine')}, or lower the "
            f"pool's node count to {size}",
        )
    is_named = pool.own.has(bought.names) is not False
    if bought.by_name and props.flag(bought.by_name, False) is False and is_named:
        yield _finding(
            pool,
            f"the pool selects {title} by name, but the reservation's {bought.by_name} is false",
            f"set the reservation's {bought.by_name} to true",
        )


def _of_members(
    view: StackView, pool: DeclaredPool, bought: BoughtCapacity, group: DeclaredResource
) -> Iterator[Finding]:
    """Yield a capacity reservation group in the stack that doesn't reserve the pool's machine type,
    or doesn't reserve enough machines.
    """
    (token, kind), (of_group, number) = bought.machine, bought.members
    least = max(pool.count_min or 0, pool.count_desired or 0)
    if not of_group or group.type == token or not pool.machine:
        return
    members = [each for each in view.declared if each.type == token]
    if not members or any(not each.sources_of(of_group) for each in members):
        return
    own = [each for each in members if group.urn in each.sources_of(of_group)]
    machines = [each.props.text(kind) for each in own]
    sizes = [
        each.props.count(number, 0)
        for each, machine in zip(own, machines, strict=True)
        if machine == pool.machine
    ]
    if None in machines or None in sizes:
        return
    reserved = sum(size or 0 for size in sizes)
    if reserved < least:
        yield _finding(
            pool,
            f"the pool needs at least {counted(least, 'machine')} of type {pool.machine}, but "
            f'group "{group.name}" reserves only {reserved}',
            f"reserve at least {counted(least, 'machine')} in the group, or lower the pool's node "
            "count",
        )


def _is_placed(view: StackView, pool: DeclaredPool, bought: BoughtCapacity) -> bool:
    """Return True if the pool uses a reservation in the stack that is already in a placement
    group.
    """
    users = [each for each in view.declared if each.urn in (pool.urn, pool.template_urn)]
    used = {urn for user in users for urns in user.sources.values() for urn in urns}
    return any(
        each.urn in used and each.type in bought.tokens and each.props.has(bought.own_placement)
        for each in view.declared
        if bought.own_placement
    )


def _may_be_placed(view: StackView, pool: DeclaredPool, bought: BoughtCapacity) -> bool:
    """Return True if a pool uses a reservation that the stack doesn't declare, unless it's a
    Capacity Block, which has no placement group.
    """
    if any(_has_value(pool.own, path, value) for path, value in bought.marks):
        return False
    return not any(_reservations(view, pool, bought))


def _of_placement(
    pool: DeclaredPool, bought: BoughtCapacity, *, certain: bool
) -> Iterator[Finding]:
    """Yield a pool's placement group if its reservation isn't in the stack, because that
    reservation might be in another placement group.
    """
    template = pool.template or NOTHING_DECLARED
    where = " from the node class" if pool.own.has(_NODE_CLASS) else " from the launch template"
    for properties, paths, owner in (
        (pool.own, bought.placement, ""),
        (template, bought.template_placement, where),
    ):
        if named := next((path for path in paths if properties.has(path) is not False), ""):
            yield _finding(
                pool,
                f"its {bought.placement_kind} doesn't contain the purchased machines"
                if certain
                else f"its {bought.placement_kind} might not contain the purchased machines",
                f"remove {named.removeprefix('spec.').partition('.')[0]}{owner}",
                certain=certain,
            )


def _of_updates(pool: DeclaredPool, surge: SurgeSetting) -> Iterator[Finding]:
    strategy, surges = surge.strategy
    if strategy and pool.own.text(strategy, surges) != surges:
        return
    value = surge.default if pool.own.has(surge.setting) is False else pool.own.at(surge.setting)
    if isinstance(value, str | int) and str(value) not in surge.starts_none:
        setting = surge.setting.rpartition(".")[2]
        yield Finding(
            message=f"{pool.title}: updates create new nodes before they delete old nodes "
            f"({setting} is {value}), so updates can't proceed while all reserved machines "
            "are in use",
            fix=surge.fix,
            urn=pool.urn,
        )


def _finding(pool: DeclaredPool, problem: str, fix: str, *, certain: bool = True) -> Finding:
    can = "can't use" if certain else "might be unable to use"
    message = f"{pool.title} {can} its purchased capacity, because {problem}"
    return Finding(message=message, fix=fix, urn=pool.urn, certain=certain)


RULE = Rule(
    id="bought-capacity-unusable",
    description="A pool can't use its reservation or Capacity Block, or can't use it during updates.",
    why="Nodes don't start, or an update waits for more nodes than you bought.",
    fix="Remove the setting that the purchased capacity doesn't support.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
