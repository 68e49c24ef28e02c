"""`pulumi-dra catalog`: print filtered tables of machine types, GPUs, MIG profiles, drivers, and
versions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from datetime import date

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.pens.terminal.page import Page
from dra_command.pens.terminal.row_paragraphs import is_too_wide, print_rows
from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.catalog.dated_facts import dated_facts
from dra_planner.catalog.kubernetes_support import NOTICE, supported
from dra_planner.clouds import cloud_of_region
from dra_planner.drivers import nvidia
from dra_planner.releases import GATES, RELEASES

Row = dict[str, str | int | float | bool | None]


def run(values: argparse.Namespace) -> int:
    """Print the rows of a table that contain every search word. Return 1 if no row does."""
    if values.table == "add":
        from dra_command.catalog.add import run_add

        return run_add(values)
    rows = [row for row in _TABLES[values.table](values) if _matches(row, values.words)]
    if values.format == "json":
        print(json.dumps({"version": 1, values.table: rows}, indent=2, ensure_ascii=False))
    else:
        _print(rows)
    return Status.FITS if rows else Status.BROKEN


def _matches(row: Row, words: list[str]) -> bool:
    text = " ".join(str(value) for value in row.values()).lower()
    return all(word.lower() in text for word in words)


def _print(rows: list[Row]) -> None:
    with Page(wide=True) as page:
        if not rows:
            page.line("no row of this table contains all these words")
            return
        heads = [head for head in rows[0] if any(row[head] not in (None, "") for row in rows)]
        numbers = [
            at for at, head in enumerate(heads) if all(_is_number(row[head]) for row in rows)
        ]
        cells = [[_cell(row[head]) for head in heads] for row in rows]
        if is_too_wide(page, heads, cells):
            print_rows(page, heads, cells, names=2)
        else:
            page.table(heads, cells, numbers=numbers)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)


def _machines(values: argparse.Namespace) -> Iterator[Row]:
    clouds = (values.cloud,) if values.cloud else tuple(catalog.cloud_titles())
    if values.region and not values.cloud:
        clouds = (cloud_of_region(values.region),)
    for cloud in clouds:
        if values.region:
            catalog.check_listed_region(cloud, values.region)
        for machine in catalog.machines(cloud):
            roots = {place.pcie_root for place in catalog.gpu_places(machine) if place.pcie_root}
            yield {
                "cloud": machine.cloud,
                "machine": machine.name,
                "vcpus": machine.vcpus,
                "memory_gib": None
                if machine.memory_mib is None
                else round(machine.memory_mib / 1024, 1),
                "accelerator": machine.accelerator.model if machine.accelerator else None,
                "count": machine.accelerator.count if machine.accelerator else None,
                "nominal_gb": machine.accelerator.nominal_memory_gb
                if machine.accelerator
                else None,
                "arch": machine.arch,
                "bare_metal": machine.bare_metal,
                "pcie_roots": len(roots) or None,
                "interfaces": len(catalog.network_interfaces(machine)) or None,
                "temporary_gib": machine.temporary_disk_gib,
                "offered": machine.is_offered
                and (not (values.region and machine.regions) or values.region in machine.regions),
                **_price(machine, values.region),
                "confidence": machine.provenance.confidence,
            }


def _price(machine: Machine, region: str) -> Row:
    """The on-demand price in a region. Shown only if the user names a region, because prices differ
    between regions.
    """
    if not region:
        return {}
    found = catalog.price(machine, region)
    return {
        "usd_per_hour": None if found is None else float(found.usd_per_hour),
        "priced_on": None if found is None else found.as_of,
    }


def _gpus(_: argparse.Namespace) -> Iterator[Row]:
    for gpu in nvidia.gpus():
        yield {
            "id": gpu.id,
            "product": gpu.product_name,
            "brand": gpu.brand,
            "architecture": gpu.architecture,
            "capability": gpu.cuda_compute_capability,
            "memory_mib": gpu.memory_mib,
            "mig": gpu.mig_capable,
            "confidence": gpu.provenance.confidence,
        }


def _mig(_: argparse.Namespace) -> Iterator[Row]:
    for gpu in nvidia.gpus():
        for profile in nvidia.mig_profiles(gpu.id):
            yield {
                "gpu": gpu.id,
                "profile": profile.name,
                "layout": nvidia.layout_name(profile),
                "memory_mib": profile.memory_mib,
                "at_most": profile.max_instances,
                "slices": profile.size,
                "starts": ", ".join(map(str, profile.starts)),
                "confidence": profile.provenance.confidence,
            }


def _drivers(_: argparse.Namespace) -> Iterator[Row]:
    for release in nvidia.driver_releases():
        yield {
            "version": release.version,
            "released": release.released,
            "chart": release.chart,
            "installable": release.is_installable,
            "classes": ", ".join(release.device_classes),
            "gates": ", ".join(release.feature_gates),
            "extended_resource": release.has_extended_resource,
            "fault": release.fault,
        }


def _releases(_: argparse.Namespace) -> Iterator[Row]:
    for release in RELEASES.values():
        known = {name: gate.name for name, gate in GATES.items() if gate.is_known(release.minor)}
        yield {
            "kubernetes": release.version,
            "latest_patch": f"{release.version}.{release.latest_patch}",
            "on": ", ".join(gate for name, gate in known.items() if getattr(release, name)),
            "off": ", ".join(gate for name, gate in known.items() if not getattr(release, name)),
        }


def _outdated(values: argparse.Namespace) -> Iterator[Row]:
    """Yield outdated facts, facts that expire within `NOTICE`, and Kubernetes versions near the end
    of support.
    """
    today = _day(values.today)
    for fact in dated_facts():
        if fact.true_until <= today + NOTICE:
            yield {
                "fact": fact.about,
                "newest": fact.newest,
                "seen_on": str(fact.seen_on),
                "true_until": str(fact.true_until),
                "outdated": fact.is_outdated(today),
                "source": fact.source,
                "verify": fact.verify,
            }
    for cloud in (values.cloud,) if values.cloud else catalog.cloud_titles():
        for each in supported(cloud):
            if each.ends_soon(today):
                yield {
                    "fact": f"Kubernetes 1.{each.minor} on {catalog.cloud_titles()[cloud]}, "
                    "standard support",
                    "newest": "",
                    "seen_on": str(each.seen_on),
                    "true_until": str(each.standard_until),
                    "outdated": each.standard_until < today,
                    "source": each.source,
                    "verify": "",
                }


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()
    except ValueError:
        raise UsageError(
            f'--today: "{text}" isn\'t a date', fix="use a date such as 2027-01-31"
        ) from None


_TABLES: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "machines": _machines,
    "gpus": _gpus,
    "mig": _mig,
    "drivers": _drivers,
    "releases": _releases,
    "outdated": _outdated,
}
