"""`pulumi-dra slices`: what a node will publish before it exists, as YAML that kubectl takes."""

from __future__ import annotations

import argparse
import json
from typing import Any

import yaml

from dra_command.arguments import UsageError
from dra_command.status import Status
from dra_planner import catalog
from dra_planner.catalog import DriverRelease, Machine
from dra_planner.errors import CatalogError
from dra_planner.model import ResourceSlice
from dra_planner.releases import features_of, parse_version
from dra_planner.slices import (
    DriverSettings,
    predict_accelerator_slices,
    predict_network_slices,
    predict_slices,
    render_slice,
)

_CLOUDS = ("eks", "gke")


def run(values: argparse.Namespace) -> int:
    """Print the slices of one node; raises PlannerError for what nobody knows or what cannot work."""
    machine = find_machine(values.machine, values.cloud)
    settings = DriverSettings(
        gates=_gates(values.gate),
        consumable_shares=values.consumable_shares,
        compute_domains=values.compute_domains,
    )
    slices = list(predict_accelerator_slices(machine, node_name=values.node_name))
    if values.driver or not slices:
        slices += predict_slices(
            machine,
            _release(values.driver),
            node_name=values.node_name,
            features=features_of(parse_version(values.kubernetes)),
            mig=values.mig,
            settings=settings,
        )
    if values.network:
        slices += _network_slices(machine, values.node_name)
    documents = [render_slice(each) for each in slices]
    print(_as_json(documents) if values.format == "json" else _as_yaml(documents), end="")
    return Status.FITS


def _release(version: str) -> DriverRelease:
    if not version:
        known = ", ".join(each.version for each in catalog.driver_releases() if each.is_installable)
        raise UsageError("no release of the NVIDIA DRA driver is given", fix=f"give --driver VERSION, one of {known}")
    return catalog.driver_release(version)


def _network_slices(machine: Machine, node_name: str) -> tuple[ResourceSlice, ...]:
    found = predict_network_slices(machine, node_name=node_name)
    if not found:
        raise CatalogError(
            f"which network interfaces of {machine.name} DRANET would publish is not public",
            fix="leave --network out, or read a real node: kubectl get resourceslices -o yaml",
        )
    return found


def find_machine(name: str, cloud: str = "") -> Machine:
    """Return a machine of that cloud, or of the one cloud that has it; raises CatalogError with the nearest names."""
    errors: list[CatalogError] = []
    for each in (cloud,) if cloud else _CLOUDS:
        try:
            return catalog.machine(each, name)
        except CatalogError as error:
            errors.append(error)
    first, *others = errors
    raise CatalogError(first.message, fix=first.fix, others=tuple(others))


def _gates(words: list[str]) -> dict[str, bool]:
    gates: dict[str, bool] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if value.lower() not in ("true", "false") and equals:
            raise UsageError(f'--gate {word}: "{value}" is neither true nor false', fix=f"write {name}=true")
        gates[name] = value.lower() != "false"
    return gates


def _as_yaml(documents: list[dict[str, Any]]) -> str:
    if not documents:
        return "# such a node publishes nothing through this driver\n"
    return yaml.safe_dump_all(documents, sort_keys=False, width=120, allow_unicode=True)


def _as_json(documents: list[dict[str, Any]]) -> str:
    listed = {"apiVersion": "v1", "kind": "List", "items": documents}
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"
