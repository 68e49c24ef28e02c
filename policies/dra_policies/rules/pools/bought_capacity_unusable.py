"""Pools on bought capacity with settings that keep it from being used: placement, surge, sizes, paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner import catalog
from dra_planner.clouds.aks import reserved_machine_fault
from dra_planner.errors import CatalogError
from dra_planner.wording import counted
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknowns import Properties
from dra_policies.view.stack_view import DeclaredPool, StackView

URL: Final = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
_TARGET = "capacityReservationSpecification.capacityReservationTarget"
_AFFINITY = "nodeConfig.reservationAffinity"


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        match pool.cloud:
            case "eks":
                yield from _on_eks(pool)
            case "gke":
                yield from _on_gke(pool)
            case "aks":
                yield from _on_aks(pool)
            case _:
                pass


def _on_eks(pool: DeclaredPool) -> Iterator[Finding]:
    template = pool.template or Properties({})
    is_block = pool.own.text("capacityType") == "CAPACITY_BLOCK"
    if not (is_block or template.has(_TARGET) is True):
        return
    if template.has("placement.groupName") is not False or template.has("placement.groupId") is True:
        yield _finding(
            pool,
            "its launch template names a placement group that doesn't hold the bought machines, so EC2 finds none",
            "remove placement from the launch template",
        )
    strategy = pool.own.text("updateConfig.updateStrategy", "DEFAULT")
    if strategy == "DEFAULT":
        yield _finding(
            pool,
            "updates start new nodes before old ones end (strategy DEFAULT), and a full reservation has no room",
            'set updateConfig.updateStrategy to "MINIMAL"',
        )


def _on_gke(pool: DeclaredPool) -> Iterator[Finding]:
    if pool.own.text(f"{_AFFINITY}.consumeReservationType") != "SPECIFIC_RESERVATION":
        return
    for value in pool.own.texts(f"{_AFFINITY}.values") or ():
        if value and "/reservationBlocks/" in value and not value.startswith("projects/"):
            yield _finding(
                pool,
                f'the reservation block "{value}" has no project, so GKE doesn\'t find it (404)',
                "write projects/PROJECT/reservations/NAME/reservationBlocks/BLOCK",
            )
    surge = pool.own.count("upgradeSettings.maxSurge", 1)
    if pool.own.text("upgradeSettings.strategy", "SURGE") == "SURGE" and surge:
        yield _finding(
            pool,
            f"upgrades start {counted(surge, 'more node')}, and a full reservation has no room",
            "set upgradeSettings.maxSurge to 0 and maxUnavailable to 1",
        )


def _on_aks(pool: DeclaredPool) -> Iterator[Finding]:
    if pool.own.has("capacityReservationGroupID") is not True or pool.own.text("scaleSetPriority") == "Spot":
        return
    try:
        fault = reserved_machine_fault(catalog.machine("aks", pool.machine or ""), "reservation")
    except CatalogError:
        fault = ""
    if fault:
        yield _finding(pool, fault.partition("; ")[0], "remove capacityReservationGroupID")
    surge = pool.own.text("upgradeSettings.maxSurge", "10%")
    if surge is not None and surge not in ("0", "0%"):
        yield _finding(
            pool,
            f"upgrades start more nodes (maxSurge {surge}), and a full reservation has no room",
            'set upgradeSettings.maxSurge to "0" and maxUnavailable to "1"',
        )


def _finding(pool: DeclaredPool, says: str, fix: str) -> Finding:
    return Finding(message=f"{pool.title} is on bought capacity: {says}", fix=fix, urn=pool.urn)


RULE = Rule(
    id="bought-capacity-unusable",
    says="A pool on a reservation or Capacity Block can use it, also during updates.",
    why="Nodes don't start, or an update waits for machines that weren't bought.",
    fix="Remove the setting that the bought capacity doesn't have.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
