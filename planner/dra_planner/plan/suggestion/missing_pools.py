"""Fleet changes for a pod that fits none of its pools, from the catalog. Each answer was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.allocation import NodeState, Placement, Refusal, reasons_of
from dra_planner.allocation.reasons.edits import Edit, apply_edits
from dra_planner.allocation.reasons.selector_changes import asks_for_mig
from dra_planner.catalog import Machine
from dra_planner.drivers import every_driver, nvidia
from dra_planner.drivers.nvidia import Gpu
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, Pool, read_fleet
from dra_planner.fleet.changes import change_fleet, read_change
from dra_planner.model import Reason, Shape
from dra_planner.offers import predict_offers
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.model import MISSING_POOL
from dra_planner.plan.suggestion.device_sharing import (
    driver_proposals,
    listed,
    requests_part,
    sharing_fleets,
)
from dra_planner.releases import MAXIMUM_MINOR, is_newer
from dra_planner.sizing import DoubtfulPlace

NO_POOL: Final = "no pool in this fleet fits the pod"
MOST_MACHINES: Final = 3
MOST_PODS: Final = 64  # maximum number of pods to count on one node
# a name that fleets are unlikely to contain, and that is short enough for every cloud
_NEW_POOL: Final = "besideothers"
_DYNAMIC: Final = "DynamicMIG"
_UNKNOWN_PRICE: Final = Decimal("Infinity")


class FleetChange(Struct, frozen=True, kw_only=True):
    """A fleet on which one pod of the shape fits, and its change as an imperative sentence.

    `edits` are additional changes of the pod's claims.
    """

    fleet: Fleet
    text: str
    edits: tuple[Edit, ...] = ()


def missing_pool(judgement: Judgement, shape: Shape) -> Reason | None:
    """Return the fleet change for a pod that fits no node of its pools, or None if nothing helps.

    Pods that taints, labels, or other pods exclude have other reasons, and aren't handled here.
    """
    changes = fleet_changes(judgement, shape)
    if not changes:
        return _no_machine(judgement, shape)
    return Reason(
        code=MISSING_POOL,
        message=NO_POOL,
        fix=", or ".join(change.text for change in changes),
    )


def _no_machine(judgement: Judgement, shape: Shape) -> Reason | None:
    """Return the reason that the region lacks a machine type for the pod, or None if one fits or
    some weren't tried.
    """
    fleet = judgement.fleet
    if fleet is None or not shape.claims:
        return None
    if not all(map(_lacks_hardware, judgement.answers(shape))):
        return None
    classes = _requested_classes(shape)
    messages = (driver.no_machine(fleet.region, classes) for driver in every_driver())
    message = next(filter(None, messages), "")
    return Reason(code=MISSING_POOL, message=message) if message else None


def _requested_classes(shape: Shape) -> frozenset[str]:
    return frozenset(
        way.device_class_name
        for claim in shape.claims
        for request in claim.spec.requests
        for way in ((request.exactly,) if request.exactly else request.first_available)
    )


def fleet_changes(judgement: Judgement, shape: Shape) -> tuple[FleetChange, ...]:
    """Return the smallest changes of the fleet with which the pod fits a node, in this order: a MIG
    configuration (with the class for MIG devices if its selectors need it), driver settings,
    another driver, or the cheapest machine types in the fleet's region, one for each GPU, whole or
    partitioned.
    """
    market = _market(judgement)
    if market is None or not shape.claims:
        return ()
    if not all(map(_lacks_hardware, judgement.answers(shape))):
        return (
            _parts_for(shape, market) if all(map(_fails_or_lacks, judgement.answers(shape))) else ()
        )
    return (
        _layouts_for(shape, market)
        or _parts_for(shape, market)
        or _settings_for(shape, market)
        or _drivers_for(shape, market)
        or _dynamic_parts_for(shape, market)
        or _machines_for(shape, market)
        or _cut_machines_for(shape, market)
    )


def _fails_or_lacks(told: PoolAnswer) -> bool:
    """Return whether a selector fails with an error on the pool's devices, as one for MIG devices
    does on whole GPUs.
    """
    return _lacks_hardware(told) or (
        isinstance(told.answer, Refusal) and told.answer.kind == "error"
    )


def _lacks_hardware(told: PoolAnswer) -> bool:
    answer = told.answer
    if not isinstance(answer, Refusal):
        return False
    if any(reason.code == "device-taint" for reason in reasons_of(answer)):
        return False  # a taint rule also taints the devices of other pools
    misfit = answer.misfit
    return answer.kind == "devices" or (misfit is not None and misfit.filter == "resources")


class _Market(Struct, frozen=True, eq=False):
    """Fleets with one change, each with an empty node of the changed pool, computed once for all
    pods.
    """

    judgement: Judgement
    fleet: Fleet
    tried: dict[str, tuple[Fleet, NodeState, DoubtfulPlace] | None] = {}

    def change(
        self, shape: Shape, document: Mapping[str, Any], pool: str, text: str, most: int = 1
    ) -> _Tried | None:
        """Return the changed fleet if a node of the pool holds the pod, and the number of such
        pods, at most `most`.
        """
        if text not in self.tried:
            self.tried[text] = self._open(document, pool)
        opened = self.tried[text]
        if opened is None:
            return None
        fleet, node, ask = opened
        if any(
            not isinstance(ask(other, node), Placement)
            for other in self._taken_now(pool)
            if other is not shape
        ):
            return None  # workloads that run there now would no longer fit
        pods = 0
        while pods < most and isinstance(answer := ask(shape, node), Placement):
            pods, node = pods + 1, answer.node
        return _Tried(FleetChange(fleet=fleet, text=text), pods) if pods else None

    def _taken_now(self, pool: str) -> Iterator[Shape]:
        for shape in self.judgement.demand.shapes:
            if any(
                told.offer.name == pool and told.verdict == "fits"
                for told in self.judgement.answers(shape)
            ):
                yield shape

    def _open(
        self, document: Mapping[str, Any], name: str
    ) -> tuple[Fleet, NodeState, DoubtfulPlace] | None:
        judgement = self.judgement
        try:
            fleet = read_fleet(document)
            alone = fleet.model_copy(update={"pools": [fleet.pool(name)]})
            is_same = fleet.kubernetes == self.fleet.kubernetes
            features = judgement.features if is_same else fleet.features
            (offer,) = predict_offers(alone, features)
        except PlannerError:  # the catalog doesn't contain it, or the cloud rejects it
            return None
        classes = (
            judgement.classes
            if is_same
            else {**judgement.classes, **fleet_classes(fleet, features)}
        )
        ask = DoubtfulPlace()
        node, _ = ask.open(offer, classes, features, judgement.demand)
        return fleet, node, ask


class _Tried(NamedTuple):
    change: FleetChange
    pods: int


@lru_cache(maxsize=2)
def _market(judgement: Judgement) -> _Market | None:
    return _Market(judgement, judgement.fleet) if judgement.fleet is not None else None


def _layouts_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return the MIG configuration with which a node holds most such pods, for the first machine
    type that it helps.

    Its pool changes if everything that runs there still fits. Otherwise, another pool is added.
    """
    for pool in market.fleet.pools:
        for name in (pool.name, _NEW_POOL):
            here = name == pool.name
            what = (
                f'set `mig: {{}}` on pool "{name}"'
                if here
                else f"add a pool with machine type {pool.machine} and `mig: {{}}`"
            )
            tried: list[_Tried] = []
            for layout in _layouts(market.fleet, pool):
                document = market.fleet.document()
                (row,) = (each for each in document["pools"] if each["name"] == pool.name)
                others = [each for each in document["pools"] if each["name"] != name]
                document["pools"] = [*others, {**row, "name": name, "mig": layout}]
                found = market.change(shape, document, name, what.format(layout), most=MOST_PODS)
                tried += [found] if found is not None else []
            if tried:
                return (max(tried, key=lambda each: each.pods).change,)
    return ()


def _parts_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return a MIG configuration, or machine types with one, for a pod whose selectors need MIG
    devices but whose class doesn't.
    """
    if nvidia.MIG_CLASS not in market.judgement.classes:
        return ()
    edits = tuple(
        Edit(
            "use-class",
            f"use DeviceClass {nvidia.MIG_CLASS} in request {request.name} of claim {claim.name}",
            claim=number,
            request=position,
            name=nvidia.MIG_CLASS,
        )
        for number, claim in enumerate(shape.claims)
        for position, request in enumerate(claim.spec.requests)
        if request.exactly is not None
        and request.exactly.device_class_name != nvidia.MIG_CLASS
        and any(asks_for_mig(selector.expression) for selector in request.exactly.selectors)
    )
    if not edits:
        return ()
    changed = apply_edits(edits, shape)
    found = (
        _layouts_for(changed, market)
        or _dynamic_parts_for(changed, market)
        or _cut_machines_for(changed, market)
    )
    said = " and ".join(edit.text for edit in edits)
    return tuple(replace(each, text=f"{said}, and {each.text}", edits=edits) for each in found)


def _dynamic_parts_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return dynamic partitioning for the first pool that it helps, for clouds without MIG
    configurations: with the oldest Kubernetes version and the nearest driver version that support
    it.
    """
    gate = f"drivers.nvidia.featureGates.{_DYNAMIC}=true"
    options = market.fleet.drivers.of(nvidia.DRIVER)
    if options is None:
        return ()
    release = nvidia.driver_release(options.version)
    driver = release if _DYNAMIC in release.feature_gates else nvidia.newest_driver_release()
    for minor in range(market.fleet.minor, MAXIMUM_MINOR + 1):
        settings = [
            *([f"kubernetes=1.{minor}"] if is_newer(minor, market.fleet.minor) else []),
            *([] if driver is release else [f"drivers.nvidia.version={driver.version}"]),
            gate,
        ]
        for pool in market.fleet.pools:
            for parts in ([], [f"pools.{pool.name}.mig=all-enabled"]):
                said = listed([f"`{each}`" for each in (*settings, *parts)])
                try:
                    document = change_fleet(
                        market.fleet, [read_change(each) for each in (*settings, *parts)]
                    ).document()
                # the cloud, the driver version, or Kubernetes doesn't support it
                except PlannerError:
                    continue
                found = market.change(
                    shape, document, pool.name, f'set {said} in the fleet, for pool "{pool.name}"'
                )
                if found is not None:
                    return (found.change,)
    return ()


def _settings_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return the first driver setting of the fleet with which the pod fits an existing pool."""
    for setting in driver_proposals(market.fleet):
        changes = tuple(map(read_change, setting))
        text = f"set {' and '.join(f'`{change}`' for change in changes)} in the fleet"
        try:
            document = change_fleet(market.fleet, changes).document()
        except PlannerError:  # the driver version or Kubernetes doesn't support it
            continue
        for pool in market.fleet.pools:
            found = market.change(shape, document, pool.name, f'{text}, for pool "{pool.name}"')
            if found is not None:
                return (found.change,)
    return _sharing_for(shape, market)


def _sharing_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return the first change of versions and settings with which devices have the capacity that a
    claim of the pod requests.
    """
    if not any(requests_part(claim.spec) for claim in shape.claims):
        return ()
    for sharing in sharing_fleets(market.fleet):
        document = sharing.fleet.document()
        for pool in market.fleet.pools:
            text = f'{sharing.text}, for pool "{pool.name}"'
            found = market.change(shape, document, pool.name, text)
            if found is not None:
                return (found.change,)
    return ()


def sharing_change(judgement: Judgement, shape: Shape, pods: int) -> str:
    """Return the settings with which a node holds more pods whose claims request a part of a
    device, or "".

    Without them, the driver publishes whole devices, and each claim gets a whole device, regardless
    of the amount that it requests. If the pool's nodes are still too few for this number of `pods`,
    the text includes their count.
    """
    market = _market(judgement)
    if market is None or not any(
        requests_part(claim.spec) for claim in shape.claims if claim.shared is None
    ):
        return ""
    for changed in sharing_fleets(market.fleet):
        document = changed.fleet.document()
        for pool in market.fleet.pools:
            now = market.change(
                shape,
                market.fleet.document(),
                pool.name,
                f"without changes, {pool.name}",
                most=MOST_PODS,
            )
            then = market.change(
                shape, document, pool.name, f"{changed.text}, {pool.name}", most=MOST_PODS
            )
            if now is not None and then is not None and then.pods > now.pods:
                nodes = -(-pods // then.pods)
                more = (
                    f' and set the count of pool "{pool.name}" to {nodes}'
                    if nodes > pool.count.max
                    else ""
                )
                return f"{changed.text}{more}, so that several claims can share a device"
    return ""


def _drivers_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return the newest driver version with which the pod fits an existing pool, with the fleet's
    settings.
    """
    if market.fleet.drivers.of(nvidia.DRIVER) is None:
        return ()
    for release in sorted(nvidia.driver_releases(), key=lambda each: -each.order):
        document = market.fleet.document()
        if (
            not release.is_installable
            or release.version == document["drivers"]["nvidia"]["version"]
        ):
            continue
        document["drivers"]["nvidia"]["version"] = release.version
        for pool in market.fleet.pools:
            text = f'set `version: {release.version}` of the NVIDIA driver, for pool "{pool.name}"'
            found = market.change(shape, document, pool.name, text)
            if found is not None:
                return (found.change,)
    return ()


def _machines_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return the cheapest machine types in the region whose nodes hold the pod, one for
    each GPU.
    """
    changes: dict[str, FleetChange] = {}
    for hourly, gpu, machine in _machines(market.fleet):
        if gpu.id in changes or len(changes) == MOST_MACHINES:
            continue
        document = market.fleet.document()
        row = _new_pool(market.fleet, machine)
        document["pools"] = [*document["pools"], row]
        found = market.change(
            shape,
            document,
            _NEW_POOL,
            f"add a pool with machine type {_text(machine, gpu, hourly)}",
        )
        if found is not None:
            changes[gpu.id] = found.change
    return tuple(changes.values())


def _cut_machines_for(shape: Shape, market: _Market) -> tuple[FleetChange, ...]:
    """Return the cheapest machine types whose nodes hold the pod with a MIG configuration, each
    with the one that holds most pods.
    """
    changes: dict[str, FleetChange] = {}
    for hourly, gpu, machine in _machines(market.fleet):
        if gpu.id in changes or len(changes) == MOST_MACHINES:
            continue
        tried: list[_Tried] = []
        for layout in nvidia.mig_layouts(gpu):
            document = market.fleet.document()
            row = {**_new_pool(market.fleet, machine), "mig": layout}
            document["pools"] = [*document["pools"], row]
            text = f"add a pool with machine type {_text(machine, gpu, hourly)} and `mig: {layout}`"
            found = market.change(shape, document, _NEW_POOL, text, most=MOST_PODS)
            tried += [found] if found is not None else []
        if tried:
            changes[gpu.id] = max(tried, key=lambda each: each.pods).change
    return tuple(changes.values())


def _layouts(fleet: Fleet, pool: Pool) -> Iterator[str]:
    machine = fleet.machine(pool.machine)
    if machine.accelerator is None or machine.accelerator.gpu is None:
        return
    yield from (
        name for name in nvidia.mig_layouts(nvidia.gpu(machine.accelerator.gpu)) if name != pool.mig
    )


def _machines(fleet: Fleet) -> list[tuple[Decimal, Gpu, Machine]]:
    """Return the GPU machine types that are known to be in the fleet's region, cheapest first and
    unknown prices last.
    """
    found: list[tuple[Decimal, Gpu, Machine]] = []
    for machine in catalog.machines(fleet.cloud):
        if machine.accelerator is None or machine.accelerator.gpu is None or not machine.gpu_count:
            continue
        if machine.is_offered and fleet.region in machine.regions:
            own = _own_price(fleet, machine)
            price = catalog.price(machine, fleet.region)
            listed_price = price.usd_per_hour_max if price is not None else _UNKNOWN_PRICE
            hourly = listed_price if own is None else own
            found.append((hourly, nvidia.gpu(machine.accelerator.gpu), machine))
    return sorted(found, key=lambda each: (each[0], each[2].name))


def _own_price(fleet: Fleet, machine: Machine) -> Decimal | None:
    """Return the price that an on-demand pool of the fleet sets for its machine type, so that a
    report has one price for each type.
    """
    return next(
        (
            pool.price_per_hour
            for pool in fleet.pools
            if pool.machine == machine.name
            and pool.capacity == "on-demand"
            and pool.price_per_hour is not None
        ),
        None,
    )


def _new_pool(fleet: Fleet, machine: Machine) -> dict[str, Any]:
    own = _own_price(fleet, machine)
    row = {"name": _NEW_POOL, "machine": machine.name, "count": {"min": 0, "max": 1}}
    return row if own is None else {**row, "pricePerHour": str(own)}


def _text(machine: Machine, gpu: Gpu, hourly: Decimal) -> str:
    memory = f", {gpu.memory_mib / 1024:.4g} GiB each" if gpu.memory_mib is not None else ""
    price = "" if hourly == _UNKNOWN_PRICE else f", USD {hourly:.2f} per hour"
    arch = "" if machine.arch == "amd64" else f", {machine.arch}"
    return (
        f"{machine.name} ({machine.gpu_count} × {gpu.product_name or gpu.id}{memory}{arch}{price})"
    )
