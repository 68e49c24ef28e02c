"""MIG configurations and DeviceClasses for pods that need MIG devices, or whole GPUs in a pool with
MIG.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.possible_edits import guard_edits
from dra_planner.allocation.reasons.selector_changes import is_for_mig
from dra_planner.allocation.reasons.selector_error_text import request_place
from dra_planner.cel.explanation import split_at_and
from dra_planner.clouds import cloud
from dra_planner.drivers import nvidia
from dra_planner.fleet import Fleet, Pool
from dra_planner.model import CelSelector, DeviceClass, ExactDeviceRequest, Shape
from dra_planner.plan.suggestion.missing.displaced_pods import displaces_pods
from dra_planner.plan.suggestion.missing.dynamic_mig import dynamic_changes
from dra_planner.plan.suggestion.missing.new_pools import (
    MOST_MACHINES,
    NEW_POOL,
    partitioned_pools,
    whole_gpu_pools,
)
from dra_planner.plan.suggestion.missing.tried_fleets import (
    MOST_PODS,
    FleetChange,
    FleetTrials,
    TriedFleet,
)
from dra_planner.wording import either, listed


class _Repartitioned(Struct, frozen=True):
    """A pool's new MIG configuration, and the price per hour of the nodes that it adds (one at
    first). The price is None if it's unknown.
    """

    change: FleetChange
    hourly_usd: Decimal | None


def configuration_changes(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return a MIG configuration for the cheapest existing pool, after new pools that cost less.

    With this configuration, a node holds pods of the most shapes that don't fit any pool, and then
    the most such pods. Returns () if no configuration helps, or if other pods on the pools would no
    longer fit.
    """
    found = [
        each for each in _repartitioned(shape, trials) if not displaces_pods(each.change, trials)
    ]
    if not found:
        return ()
    best = min(found, key=lambda each: each.hourly_usd or Decimal(0))
    if not best.hourly_usd:  # the nodes exist anyway, or the price is unknown
        return (best.change,)
    below = best.hourly_usd
    cheaper = whole_gpu_pools(shape, trials, below) or partitioned_pools(shape, trials, below)
    if not cheaper:
        return (best.change,)
    text = f"{best.change.text} (USD {best.hourly_usd:.2f} per hour for each node)"
    return (*cheaper[: MOST_MACHINES - 1], replace(best.change, text=text))


def _repartitioned(shape: Shape, trials: FleetTrials) -> Iterator[_Repartitioned]:
    prices = {each.name: each.hourly_usd for each in trials.judgement.sizing.pools}
    for pool in trials.fleet.pools:
        found = _best_configuration(
            shape, trials, pool, pool.name, f'set `mig: {{}}` on pool "{pool.name}"'
        )
        if found is not None:
            price = Decimal(0) if pool.count.min else prices.get(pool.name)
            yield _Repartitioned(found.change, price)


def pools_of_known_machines(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return another pool with an existing pool's machine type, and a MIG configuration that helps.

    This applies to machine types that aren't known to be in the region.
    """
    for pool in trials.fleet.pools:
        text = f"add a pool with machine type {pool.machine} and `mig: {{}}`"
        found = _best_configuration(shape, trials, pool, NEW_POOL, text)
        if found is not None:
            return (found.change,)
    return ()


def _best_configuration(
    shape: Shape, trials: FleetTrials, pool: Pool, name: str, text: str
) -> TriedFleet | None:
    tried: list[TriedFleet] = []
    for mig in _configurations(trials.fleet, pool):
        document = trials.fleet.document()
        (row,) = (each for each in document["pools"] if each["name"] == pool.name)
        others = [each for each in document["pools"] if each["name"] != name]
        document["pools"] = [*others, {**row, "name": name, "mig": mig}]
        found = trials.change(shape, document, name, text.format(mig), most=MOST_PODS)
        tried += [found] if found is not None else []
    return max(tried, key=lambda each: each.rank, default=None)


def _configurations(fleet: Fleet, pool: Pool) -> Iterator[str]:
    machine = fleet.machine(pool.machine)
    if machine.accelerator is None or machine.accelerator.gpu is None:
        return
    yield from (
        name for name in nvidia.mig_layouts(nvidia.gpu(machine.accelerator.gpu)) if name != pool.mig
    )


def class_changes(
    shape: Shape, trials: FleetTrials, *, is_failing: bool = False
) -> tuple[FleetChange, ...]:
    """Return the class for MIG devices for a pod whose selectors need them. If no existing pool has
    such devices, also return a MIG configuration or machine types.

    With `is_failing`, a selector fails with an error on whole GPUs. If it's a selector of a class
    for MIG devices, the pod keeps this class, and the selector gets a guard.
    """
    classes = trials.judgement.classes
    if nvidia.MIG_CLASS not in classes:
        return ()
    edits: list[Edit] = []
    for claim, request, exactly in _requests(shape):
        own = classes.get(exactly.device_class_name)
        if own is not None and _is_of_mig(own.selectors):
            edits += _guarded(own, claim, request) if is_failing else ()
        elif _is_of_mig(exactly.selectors):
            edits.append(_use_class(nvidia.MIG_CLASS, shape, claim, request))
    if not edits:
        return ()
    changed = apply_edits(tuple(edits), shape)
    found = (
        _existing_pools(changed, trials)
        or configuration_changes(changed, trials)
        or partitioned_pools(changed, trials)
        or pools_of_known_machines(changed, trials)
        or dynamic_changes(changed, trials)
    )
    return tuple(replace(each, edits=tuple(edits)) for each in found)


def _guarded(own: DeviceClass, claim: int, request: int) -> Iterator[Edit]:
    """Yield the guard of the first selector for MIG devices. A whole GPU isn't compared with the
    selectors after it.
    """
    at = Edit("guard-class", "", claim=claim, request=request)
    for position, selector in enumerate(own.selectors):
        if is_for_mig(selector.expression):
            yield from guard_edits(at, own, position, nvidia.MIG_CLASS)
            return


def _existing_pools(shape: Shape, trials: FleetTrials) -> tuple[FleetChange, ...]:
    """Return the unchanged fleet if one of its pools fits the pod."""
    document = trials.fleet.document()
    names = (pool.name for pool in trials.fleet.pools)
    tried = (trials.change(shape, document, name, f"without changes, {name}") for name in names)
    found = next(filter(None, tried), None)
    return (replace(found.change, text=""),) if found is not None else ()


def changes_text(changes: Sequence[FleetChange]) -> str:
    """Return alternative changes of the fleet as a sentence. All of them have the same changes of
    claims, which come first.
    """
    edits = " and ".join(edit.text for edit in changes[0].edits)
    alternatives: list[str] = []
    for zone, group in groupby(changes, key=lambda each: each.zone if each.machine else None):
        alike = list(group)
        if zone is None or len(alike) == 1:
            alternatives += [each.text for each in alike]
        else:
            machines = either(each.machine for each in alike)
            where = f" in zone {zone}" if zone else ""
            alternatives.append(f"add a pool{where} with one of these machine types: {machines}")
    return ", and ".join(filter(None, (edits, ", or ".join(alternatives))))


# -- clouds without MIG


def missing_mig(shape: Shape, trials: FleetTrials) -> str:
    """Return the message that the cloud doesn't support the MIG devices that a pod requests, or
    "".
    """
    own, classes = cloud(trials.fleet.cloud), trials.judgement.classes
    if own.supports_mig or not any(
        _needs_mig(exactly, classes) for _, _, exactly in _requests(shape)
    ):
        return ""
    return f"the pod requests MIG devices, but {own.unsupported('MIG').message}"


def whole_gpus_instead(shape: Shape, trials: FleetTrials) -> str:
    """Return the change of claims with which a pod gets whole GPUs on an existing pool, or "".

    The text makes the change conditional on whole GPUs being enough.
    """
    edits: list[Edit] = []
    for claim, request, exactly in _requests(shape):
        if not _needs_mig(exactly, trials.judgement.classes):
            continue
        if exactly.device_class_name == nvidia.MIG_CLASS:
            edits.append(_use_class(nvidia.GPU_CLASS, shape, claim, request))
        for index, selector in enumerate(exactly.selectors):
            dropped = tuple(filter(is_for_mig, split_at_and(selector.expression)))
            if dropped:
                selectors = listed(f"`{each}`" for each in dropped)
                conditions = tuple((each, "") for each in dropped)
                edits.append(
                    Edit(
                        "drop-selector",
                        f"remove {selectors}",
                        claim=claim,
                        request=request,
                        index=index,
                        conditions=conditions,
                    )
                )
    changed = apply_edits(tuple(edits), shape)
    if changed is None:
        return ""
    if not _existing_pools(changed, trials):
        return ""
    return f"if a whole GPU is acceptable, {listed([edit.text for edit in edits])}"


def _needs_mig(request: ExactDeviceRequest, classes: Mapping[str, DeviceClass]) -> bool:
    name = request.device_class_name
    of_class = classes[name].selectors if name in classes else ()
    return name == nvidia.MIG_CLASS or _is_of_mig((*request.selectors, *of_class))


def _is_of_mig(selectors: Iterable[CelSelector]) -> bool:
    return any(is_for_mig(selector.expression) for selector in selectors)


def _requests(shape: Shape) -> Iterator[tuple[int, int, ExactDeviceRequest]]:
    """Yield the requests without alternatives, each with the positions of its claim and of the
    request.
    """
    for claim, each in enumerate(shape.claims):
        for position, request in enumerate(each.spec.requests):
            if request.exactly is not None:
                yield claim, position, request.exactly


def _use_class(name: str, shape: Shape, claim: int, request: int) -> Edit:
    own = shape.claims[claim].spec.requests[request]
    return Edit(
        "use-class",
        f"use DeviceClass {name} in {request_place(shape, claim, own.name)}",
        claim=claim,
        request=request,
        name=name,
    )
