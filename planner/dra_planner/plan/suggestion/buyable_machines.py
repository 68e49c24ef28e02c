"""The machine types of a region that can be bought, and the reasons why others can't be bought."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.offers import predict_offers
from dra_planner.plan.suggestion.fleet_documents import fleet_document
from dra_planner.plan.suggestion.suggestions import NO_PRICE, PoolType, SuggestRequest
from dra_planner.wording import listed


def buyable_machines(
    request: SuggestRequest, left_out: dict[str, str], *, priced: bool = True
) -> Iterator[Machine]:
    """Yield the machine types that can be bought (with `priced`, only types with known prices).

    `left_out` receives the reasons for the region's other types. A type without listed regions
    counts as available if it has a price there.
    """
    named = [catalog.machine(request.cloud, name) for name in request.machines]
    for machine in named:
        catalog.check_region(machine, request.region)
    for machine in named or catalog.machines(request.cloud):
        price = catalog.price(machine, request.region)
        is_here = request.region in machine.regions or (
            not machine.regions and (price is not None or bool(named))
        )
        if not machine.gpu_count or not machine.is_offered or not is_here:
            continue
        if machine.purchase and "on-demand" not in machine.purchase:
            left_out[machine.name] = "it isn't available on demand"
        elif not named and machine.arch not in request.architectures:
            left_out[machine.name] = (
                "the search assumes that images run only on "
                f"{listed(sorted(request.architectures))} (to include {machine.arch}, select "
                f"kubernetes.io/arch: {machine.arch} in the pods, or use --machines)"
            )
        elif request.whole_gpus and machine.accelerator and machine.accelerator.fraction:
            left_out[machine.name] = "it has only part of a GPU"
        elif price is None and priced:
            left_out[machine.name] = NO_PRICE
        elif request.max_price is not None and price and price.usd_per_hour > request.max_price:
            left_out[machine.name] = "the price exceeds --max-price"
        elif fault := _fault(request, machine):
            left_out[machine.name] = fault
        else:
            yield machine


def _fault(request: SuggestRequest, machine: Machine) -> str:
    """Return why a pool of the machine type can't be planned, or ""."""
    try:
        fleet = read_fleet(fleet_document(request, [(PoolType(machine), 1)]))
        predict_offers(fleet, fleet.features)
    except PlannerError as error:
        return error.message
    return ""
