"""The nodes of a plan as the published JSON: groups, devices, cost shares, results, and the
difference from the saved plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_command.plan_report.contract.nodes import (
    CostShareRow,
    FilledNodesRow,
    HeldRow,
    KindRow,
    NodeDeviceRow,
    NodeGroupRow,
    OrderOutcomeRow,
    OutcomeNodesRow,
    PlanDifferenceRow,
    PodsRow,
    PoolCostRow,
    PoolDifferenceRow,
    WorkloadName,
)
from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan
from dra_planner.plan.nodes.cost_shares import CostShare
from dra_planner.plan.nodes.devices import KindCount, NodeDevice
from dra_planner.plan.nodes.groups import FilledNodes, NodeGroup
from dra_planner.plan.nodes.order_outcomes import HeldDevices, OrderOutcome
from dra_planner.plan.saved.difference import PlanDifference


def name_row(ref: WorkloadRef) -> WorkloadName:
    """Return the name of a workload."""
    return WorkloadName(kind=ref.kind, namespace=ref.namespace, name=ref.name)


def filled_row(filled: FilledNodes) -> FilledNodesRow:
    """Return all nodes with their devices."""
    return FilledNodesRow(
        source=filled.source, order=filled.order, groups=[_group(each) for each in filled.groups]
    )


def kind_rows(kinds: Iterable[KindCount]) -> list[KindRow]:
    """Return devices by kind."""
    return [
        KindRow(
            kind=each.kind, total=each.total, used=each.used, free=each.free, stranded=each.stranded
        )
        for each in kinds
    ]


def share_rows(shares: Iterable[CostShare]) -> list[CostShareRow]:
    """Return the cost share of each workload."""
    return [
        CostShareRow(
            workload=None if each.workload is None else name_row(each.workload),
            state=each.state,
            hourly=float(each.hourly_usd),
        )
        for each in shares
    ]


def pool_cost_rows(plan: Plan) -> Iterator[PoolCostRow]:
    """Yield the cost of each pool's nodes."""
    for pool in plan.pools:
        each, nodes = pool.hourly_usd, pool.nodes.desired
        yield PoolCostRow(
            pool=pool.name,
            nodes=nodes,
            each=None if each is None else float(each),
            hourly=None if each is None else float(nodes * each),
        )


def outcome_rows(outcomes: Iterable[OrderOutcome]) -> list[OrderOutcomeRow]:
    """Return the results of the pod arrival orders."""
    return [
        OrderOutcomeRow(
            orders=list(each.orders),
            pending=pods_rows(each.pending),
            nodes=[
                OutcomeNodesRow(
                    pool=nodes.pool,
                    nodes=nodes.nodes,
                    devices=[_held(held) for held in nodes.devices],
                )
                for nodes in each.nodes
            ],
        )
        for each in outcomes
    ]


def difference_row(difference: PlanDifference) -> PlanDifferenceRow:
    """Return the differences from the saved plan."""
    change = difference.hourly_usd
    return PlanDifferenceRow(
        verdict_before=difference.verdict_before or "",
        nodes=difference.nodes,
        hourly=None if change is None else float(change),
        pools=[
            PoolDifferenceRow(
                pool=each.pool,
                machine=each.machine or each.machine_before,
                saved=each.before,
                now=each.after,
                hourly=None if each.hourly_usd is None else float(each.hourly_usd),
                because=list(each.because),
            )
            for each in difference.pools
        ],
    )


def _group(group: NodeGroup) -> NodeGroupRow:
    return NodeGroupRow(
        pool=group.pool,
        nodes=group.nodes,
        gpu=group.gpu,
        gpu_memory_mib=group.gpu_memory_mib,
        slices_per_gpu=group.slices_per_gpu,
        pods=pods_rows(group.pods),
        kinds=kind_rows(group.kinds),
        devices=[_device(each) for each in group.devices],
    )


def _device(device: NodeDevice) -> NodeDeviceRow:
    return NodeDeviceRow(
        name=device.name,
        driver=device.driver,
        kind=device.kind,
        profile=device.profile,
        memory_mib=device.memory_mib,
        board=device.board,
        pcie_root=device.root,
        start=device.start,
        size=device.size,
        state=device.state,
        holders=[name_row(ref) for ref in device.holders],
        is_rest=device.is_rest,
    )


def pods_rows(pods: Iterable[tuple[WorkloadRef, int]]) -> list[PodsRow]:
    """Return pods by workload."""
    return [
        PodsRow(kind=ref.kind, namespace=ref.namespace, name=ref.name, pods=count)
        for ref, count in pods
    ]


def _held(held: HeldDevices) -> HeldRow:
    return HeldRow(
        kind=held.kind,
        workload=None if held.workload is None else name_row(held.workload),
        devices=held.devices,
    )
