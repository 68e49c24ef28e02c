"""Predict the offers of a fleet's pools."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import Allocatable, AllocatableSettings, cloud
from dra_planner.drivers import DriverNode
from dra_planner.errors import Place, PlannerError
from dra_planner.model import Node, ObjectMeta
from dra_planner.offers.allocatable import predict_allocatable
from dra_planner.offers.devices import published_by
from dra_planner.offers.labels import (
    base_labels,
    network_zones,
    pool_zones,
    predict_labels,
    predict_taints,
    unknown_labels,
)
from dra_planner.offers.offer import Deduction, Offer
from dra_planner.releases import Features
from dra_planner.wording import listed

if TYPE_CHECKING:  # reading a snapshot doesn't need a fleet, whose schema takes long to import
    from dra_planner.fleet import Fleet, Pool

SYSTEM_POOL = "system"
_MIB = 1024 * 1024


def predict_offers(fleet: Fleet, features: Features) -> tuple[Offer, ...]:
    """Return one offer per pool of a fleet, in its order: the resources of each node for workloads.

    Raises CatalogError or UnsupportedFeature, placed at the pool, for an unknown or unusable
    machine type, region, driver, MIG configuration, or setting, with `others` for further pools.
    """
    offers: list[Offer] = []
    errors: list[PlannerError] = []
    for index, pool in enumerate(fleet.pools):
        try:
            offers.append(_offer(fleet, pool, features))
        except PlannerError as error:
            place = Place(path=f"pools[{index}]")
            errors += [
                type(each)(f"pool {pool.name}: {each.message}", place=place, fix=each.fix)
                for each in (error, *error.others)
            ]
    if errors:
        first, *others = errors
        raise type(first)(first.message, place=first.place, fix=first.fix, others=tuple(others))
    return tuple(offers)


def node_settings(fleet: Fleet, pool: Pool | None = None) -> AllocatableSettings:
    """Return the settings of a pool's nodes or, without a pool, of the system pool's nodes."""
    drivers = (
        tuple(driver.name for driver, _ in fleet.drivers.installed()) if pool is not None else ()
    )
    everywhere = AllocatableSettings(
        prefix_delegation=fleet.network.prefix_delegation,
        daemons={name: each.amounts if each else None for name, each in fleet.daemon_pods.items()},
        drivers=drivers,
    )
    if pool is None:
        return everywhere
    return replace(
        everywhere,
        max_pods=pool.max_pods,
        disk_gib=pool.disk_gib,
        local_ssds=pool.local_ssds,
        local_storage=pool.local_storage,
        reserved=pool.reserved.amounts,
        huge_pages=pool.huge_pages.counts if pool.huge_pages else {},
        image=pool.image.facts if pool.image else None,
    )


def predict_system_offer(fleet: Fleet) -> Offer | None:
    """Return the offer of the nodes without GPUs, or None if their machine type isn't in the
    catalog.

    They don't have a taint, so pods without claims run there. The resources that controllers and
    add-ons use are unknown.
    """
    settings = node_settings(fleet)
    try:
        machine = fleet.machine(fleet.system_pool.machine)
        allocatable = predict_allocatable(machine, settings)
    except PlannerError:
        return None
    node_name = f"{SYSTEM_POOL}-0"
    zones = network_zones(fleet)
    deductions, unknown_daemons = _deductions(machine, settings)
    labels = base_labels(fleet, SYSTEM_POOL, machine, node_name, zones)
    return Offer(
        name=SYSTEM_POOL,
        origin="predicted",
        node=Node(meta=ObjectMeta(name=node_name, labels=labels), allocatable=allocatable.amounts),
        slices=(),
        count_min=fleet.system_pool.count,
        count_max=fleet.system_pool.count,
        at_most=allocatable.at_most,
        machine=machine.name,
        zones=zones,
        unknown_labels=unknown_labels(fleet, machine, zones),
        deductions=deductions,
        assumptions=(
            *allocatable.assumptions,
            *unknown_daemons,
            ("controllers and add-ons on the system nodes have unknown requests, which count as 0"),
        ),
    )


def _offer(fleet: Fleet, pool: Pool, features: Features) -> Offer:
    node_name, settings = f"{pool.name}-0", node_settings(fleet, pool)
    machine = fleet.machine(pool.machine)
    catalog.check_region(machine, fleet.region)
    allocatable = _learned_allocatable(fleet, machine) or predict_allocatable(machine, settings)
    published = published_by(
        fleet,
        DriverNode(machine=machine, name=node_name, features=features, mig=pool.mig),
        fleet.plugin_serving(pool),
    )
    deductions, unknown_daemons = _deductions(machine, settings, device_plugin=not pool.is_dra)
    hourly_usd, priced_on, price_sentences = _price(fleet, pool, machine)
    node = Node(
        meta=ObjectMeta(name=node_name, labels=predict_labels(fleet, pool, machine, node_name)),
        allocatable={**allocatable.amounts, **published.units},
        taints=predict_taints(fleet, pool, machine),
    )
    return Offer(
        name=pool.name,
        origin="predicted",
        node=node,
        slices=published.slices,
        count_min=pool.count.min,
        count_max=pool.count.max,
        count_multiple=cloud(fleet.cloud)
        .count_step(fleet.zones_of(pool), autoscaled=fleet.is_autoscaled)
        .nodes,
        hourly_usd=hourly_usd,
        priced_on=priced_on,
        at_most={**allocatable.at_most, **published.units} if allocatable.at_most else {},
        machine=machine.name,
        zones=pool_zones(fleet, pool),
        unknown_labels=unknown_labels(fleet, machine, pool_zones(fleet, pool)),
        is_undiscovered=pool.is_dra,
        deductions=deductions,
        devices_doubt=_devices_doubt(pool),
        assumptions=(
            *allocatable.assumptions,
            *unknown_daemons,
            *published.assumptions,
            *(_other_accelerator(fleet, machine) if pool.is_dra else ()),
            *_bought(pool),
            *cloud(fleet.cloud).capacity_assumptions(pool.source.kind),
            *_offered(machine, fleet.region, pool_zones(fleet, pool)),
            *price_sentences,
            *([pool.schedule_sentence] if pool.schedule else ()),
        ),
    )


def _learned_allocatable(fleet: Fleet, machine: Machine) -> Allocatable | None:
    """Return the resources of a machine type's nodes from the fleet's own catalog, or None."""
    learned = fleet.learned(machine.name)
    if learned is None or not learned.offered:
        return None
    sentence = f"{machine.name}: its nodes have the resources that the fleet's own catalog lists"
    return Allocatable(learned.offered, learned.offered, (sentence,))


def _deductions(
    machine: Machine, settings: AllocatableSettings, *, device_plugin: bool = False
) -> tuple[tuple[Deduction, ...], tuple[str, ...]]:
    """Return the resources that daemon pods use, starting with the catalog's daemon pods, and a
    sentence about unknown requests.
    """
    deductions: list[Deduction] = []
    unknown: list[str] = []
    known = catalog.daemon_pods(machine, settings.drivers, device_plugin=device_plugin)
    for pod in known:
        if pod.name in settings.daemons:
            continue
        amounts = {"cpu": pod.cpu_milli or 0, "memory": (pod.memory_mib or 0) * _MIB, "pods": 1}
        reason = f"one {pod.name} pod on every node"
        deductions.append(
            Deduction(name=pod.name, amounts=amounts, reason=reason, containers=pod.containers or 1)
        )
        missing = [
            name
            for name, amount in (("cpu", pod.cpu_milli), ("memory", pod.memory_mib))
            if amount is None
        ]
        if missing:
            unknown.append(f"{pod.name} ({listed(missing)})")
    for name, given in settings.daemons.items():
        if given is not None:
            deductions.append(
                Deduction(name=name, amounts={"pods": 1, **given}, reason=f"{name}, as set")
            )
    if not unknown:
        return tuple(deductions), ()
    sentence = f"daemon pods with unknown requests count as 0: {', '.join(unknown)}"
    return tuple(deductions), (sentence,)


def _devices_doubt(pool: Pool) -> str:
    if pool.image is None or pool.image.driver_root:
        return ""
    return f"the folder of the NVIDIA driver in image {pool.image.id} isn't set"


def _other_accelerator(fleet: Fleet, machine: Machine) -> tuple[str, ...]:
    """Return a sentence if no driver of the fleet publishes the accelerators of a machine type."""
    accelerator, learned = machine.accelerator, fleet.learned(machine.name)
    if accelerator is None or (learned is not None and learned.drivers):
        return ()
    if any(driver.serves_accelerator(machine) for driver, _ in fleet.drivers.installed()):
        return ()
    return (
        (
            f"{machine.name}: no driver in this fleet publishes its {accelerator.model} devices, "
            "so pods can't claim them"
        ),
    )


def _bought(pool: Pool) -> tuple[str, ...]:
    source = pool.source
    if not source.reservation:
        return ()
    note = "the cloud bills the whole reservation, but the cost includes only the nodes in use"
    if pool.bought_nodes is None:
        return ("the number of reserved nodes isn't set, so the plan uses the pool's maximum", note)
    return (note,)


def _offered(machine: Machine, region: str, zones: tuple[str, ...]) -> tuple[str, ...]:
    if not machine.is_offered:
        return (
            f"{machine.name}: the newest listing doesn't offer this machine type in any region, so "
            "it might be retired",
        )
    if not machine.regions:
        return (f"{machine.name}: the regions that offer this machine type are unknown",)
    return (
        (f"{machine.name}: the zones of {region} that offer this machine type are unknown",)
        if zones
        else ()
    )


def node_price(fleet: Fleet, pool: Pool) -> Decimal | None:
    """Return the price of a pool's node in USD per hour, or None if it's unknown."""
    return _price(fleet, pool, fleet.machine(pool.machine))[0]


def _price(
    fleet: Fleet, pool: Pool, machine: Machine
) -> tuple[Decimal | None, str, tuple[str, ...]]:
    """Return the price per node and hour, its date, and notes about it."""
    if pool.price_per_hour is not None:
        return pool.price_per_hour, "", ()
    if hasattr(pool.capacity, "capacity_block"):
        return (
            None,
            "",
            (
                f"{machine.name}: you pay for Capacity Blocks in advance, and their price is "
                "unknown",
            ),
        )
    if isinstance(pool.capacity, str) and pool.capacity not in ("on-demand", "spot"):
        return None, "", (f"{machine.name}: the price of {pool.capacity} nodes is unknown",)
    purchase: Literal["on-demand", "spot"] = "spot" if pool.capacity == "spot" else "on-demand"
    price = catalog.price(machine, fleet.region, purchase)
    if price is None:
        return None, "", (f"{machine.name}: its {purchase} price in {fleet.region} is unknown",)
    sentences: tuple[str, ...] = ()
    if price.usd_per_hour_max != price.usd_per_hour:
        sentences = (
            f"{machine.name}: the Spot price is the highest price in the region's zones as of "
            "the table's date",
        )
    return price.usd_per_hour_max, price.as_of, sentences
