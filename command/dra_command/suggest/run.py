"""`pulumi-dra suggest`: find the machine types to buy for workloads, as a fleet document that is
ready to commit.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status, status_of
from dra_command.command_line.progress import doing
from dra_command.command_line.yaml_text import yaml_text
from dra_command.inputs.command_inputs import mark_unrelated_files, print_skipped_files
from dra_command.inputs.fleets.machine_types import requested_machine_types
from dra_command.inputs.fleets.new_cluster import new_cluster_version
from dra_command.pens.terminal.page import Page, print_note
from dra_command.pens.terminal.wrapping import wrapped
from dra_command.plan_report.compared_types import compared_obstacles, fleet_notes
from dra_command.suggest.json import suggest_json
from dra_planner.clouds import cloud_of_region
from dra_planner.plan.pools.architectures import architecture_assumptions
from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import (
    PackedFleet,
    Suggestion,
    Suggestions,
    SuggestRequest,
)
from dra_planner.sources import read_sources
from dra_planner.wording import counted, verb

_COMMENT_WIDTH: Final = 80


def run(values: argparse.Namespace) -> int:
    """Print the cheapest fleet that was found, with the next fleets as comments above it, and
    return the exit status.
    """
    if not values.paths:
        raise UsageError(
            "`suggest` needs manifests", fix="pass a file, a folder, or - for standard input"
        )
    sources, left_alone = mark_unrelated_files(read_sources(values.paths), values.paths, "suggest")
    print_skipped_files(left_alone, quiet=values.quiet)
    name = values.cloud or cloud_of_region(values.region)
    request = SuggestRequest(
        sources=sources,
        cloud=name,
        region=values.region,
        kubernetes=values.kubernetes or new_cluster_version(name),
        machines=requested_machine_types(values),
        max_price=_price(values.max_price),
        level=values.demand,
        may_upgrade=not values.kubernetes,
    )
    with doing("comparing machines", quiet=values.quiet):
        found = suggest_fleets(request)
    if values.format == "json":
        print(suggest_json(found))
        return (
            Status.FITS
            if found.best is not None
            else status_of(found.plan.verdict, allow_unknown=False)
        )
    if found.best is None:
        limits = {"--machines": request.machines, "--max-price": request.max_price is not None}
        for line in _refusal(found, [option for option, given in limits.items() if given]):
            print_note(line)
        return status_of(found.plan.verdict, allow_unknown=False)
    width = min(_COMMENT_WIDTH, Page().width)
    for line in _reason(found, found.best):
        print("\n".join(wrapped(line, width, first="# ", rest="#   ")))
    print(yaml_text(found.best.document), end="")
    return Status.FITS


def _price(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal(-1)
    if not price.is_finite() or price < 0:
        raise UsageError(
            f'--max-price: "{text}" isn\'t a price',
            fix="use US dollars per node-hour, for example 12.50",
        )
    return price


def _reason(found: Suggestions, best: Suggestion) -> Iterator[str]:
    """Yield the cost, its distance from the minimum, and the cost of simpler fleets."""
    dated = best.plan.cost.priced_on if best.plan.cost is not None else ""
    prices = f", prices as of {dated}" if dated else ""
    yield f"{_fleet(best)}: {_usd(best.hourly_usd)} per hour{prices}"
    compared = f"{counted(found.candidates, 'machine type')} compared"
    of_them = "of these types"
    if found.unpriced:
        compared = (
            f"{counted(found.candidates, 'machine type')} with known prices compared; "
            f"{counted(found.unpriced, 'other offered type')} {verb(found.unpriced, 'have')} no "
            "known price"
        )
        of_them = "of the compared machine types"
    migs = found.mig_configurations
    if migs:
        of_them = f"{of_them} with the MIG configurations below"
    if found.gap:
        yield f"{compared}; another fleet {of_them} could cost up to {found.gap:.2%} less"
    else:
        among = ", among the fleets that are known to fit all pods" if found.gap_of_unknown else ""
        yield f"{compared}; no other fleet {of_them} costs less{among} (proven)"
    if migs:
        yield f"MIG configurations compared: {', '.join(migs)}"
    if found.gap_of_unknown > found.gap:
        yield (
            f"a fleet that costs {found.gap_of_unknown:.2%} less might be possible, depending on "
            "unknown facts (GPU memory, allocatable node memory)"
        )
    for other in found.others:
        more = other.hourly_usd / best.hourly_usd - 1 if best.hourly_usd else Decimal(0)
        yield f"alternative: {_fleet(other)} for {_usd(other.hourly_usd)} per hour, {more:.0%} more"
    for each in found.packed:
        least = each.bound_usd / best.hourly_usd - 1 if best.hourly_usd else Decimal(0)
        yield (
            f"alternative: {_fleet(each)} for {_usd(each.packing_usd)} per hour in the best "
            f"packing (not simulated), proven to cost at least {least:.0%} more"
        )
    for reason in dict.fromkeys(reason for _, reason in found.left_out):
        yield (
            f"not compared, {reason}: "
            f"{', '.join(name for name, other in found.left_out if other == reason)}"
        )
    yield from (f"assumption: {each}" for each in architecture_assumptions(best.plan.judgement))
    yield from fleet_notes(best)
    yield "the comparison doesn't include the system pool and its cost"


def _refusal(found: Suggestions, limits: Sequence[str]) -> Iterator[str]:
    """Yield why no fleet is printed: reasons that apply to all machine types, or the scheduler's
    result on all fleets that were tried. `limits` are the options that exclude machine types.
    """
    plan = found.plan
    compared = (
        f"the {found.candidates} machine types compared"
        if found.candidates > 1
        else plan.pools[0].machine
    )
    blocking = tuple(compared_obstacles(plan, limits))
    apart = [each for each in plan.blockers if not each.workloads and each.verdict != "fits"]
    if plan.judgement.sizing.verdict == "fits" and not blocking and not apart:
        yield (
            f"cannot tell: in the best packing, all pods fit on {_packed(found)}. However, for "
            f"every fleet of {compared} that the search tried, there is at least one pod arrival "
            "order in which the simulated scheduler leaves pods pending"
        )
        return
    unknown = plan.verdict == "cannot-tell"
    yield (
        f"cannot tell whether a fleet of {compared} can run all workloads"
        if unknown
        else (f"no fleet of {compared} can run all workloads")
    )
    for each in apart:
        yield from _with_fix(each.diagnostic.message, each.diagnostic.fix)
    for obstacle in blocking:
        yield obstacle.subject
        for line, fix in obstacle.lines:
            yield from _with_fix(line, fix)


def _with_fix(line: str, fix: str) -> Iterator[str]:
    yield f"  {line}"
    if fix:
        yield f"    → {fix}"


def _packed(found: Suggestions) -> str:
    return " + ".join(
        f"{pool.packing} × {pool.machine}" for pool in found.plan.pools if pool.packing
    )


def _fleet(each: Suggestion | PackedFleet) -> str:
    return " + ".join(f"{nodes} × {machine}" for machine, nodes in each.machines)


def _usd(amount: Decimal) -> str:
    return f"USD {amount:,.2f}"
