"""`pulumi-dra slices`: print the ResourceSlices that a future node will publish, as YAML for
kubectl.
"""

from __future__ import annotations

import argparse
import json
import re
from difflib import get_close_matches
from typing import Any, Final

import yaml

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.yaml_text import PlainDumper
from dra_command.inputs.command_inputs import read_inputs
from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.documents.scalars import resolve_plain
from dra_planner.drivers import DriverNode, every_driver, nvidia
from dra_planner.drivers.dranet import predict_network_slices
from dra_planner.drivers.nvidia import DriverRelease, PublishingSettings, predict_slices
from dra_planner.errors import CatalogError
from dra_planner.fleet import Fleet
from dra_planner.manifests import render_device_class, render_node
from dra_planner.model import ResourceSlice
from dra_planner.offers import nodes_of, predict_offers, predict_system_offer
from dra_planner.plan import fleet_classes
from dra_planner.releases import MAXIMUM_MINOR, Features, features_of, parse_version
from dra_planner.slices import render_slice
from dra_planner.wording import use_one_of

_OF_A_MACHINE = (
    "cloud",
    "driver",
    "mig",
    "gate",
    "consumable_shares",
    "compute_domains",
    "network",
    "node_name",
)
_NODE_NAME: Final = "node-0"
_NODE = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LONGEST_NAME = 253


class _Dumper(PlainDumper):
    """Writes quotes around text that kubectl would read as another type: n, 1e3."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if resolve_plain(text) == text else '"'
    ),
)


def run(values: argparse.Namespace) -> int:
    """Print the slices of one node, or of one node of each pool. Raises PlannerError if slices
    can't be predicted.
    """
    if values.fleet or values.stack:
        documents = _of_pools(values)
    elif values.nodes:
        raise UsageError("--nodes needs a fleet", fix="add --fleet FILE or --stack NAME")
    elif values.machine:
        documents = [render_slice(each) for each in _of_machine(values)]
    else:
        raise UsageError(
            "`slices` needs a machine type or a fleet",
            fix="use --machine TYPE, --fleet FILE, or --stack NAME",
        )
    print(_as_json(documents) if values.format == "json" else _as_yaml(documents), end="")
    return Status.FITS


def _of_pools(values: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the slices of one node of each pool. With --nodes, the fleet's DeviceClasses and the
    nodes precede the slices.
    """
    given = [name for name in ("machine", *_OF_A_MACHINE) if getattr(values, name)]
    if given:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(
            f"{option} can't be combined with a fleet, because the fleet sets this value for its pools",
            fix=f"remove {option}",
        )
    inputs = read_inputs(values, needs_capacity=True, needs_manifests=False)
    assert inputs.fleet is not None  # --stack or --fleet was given
    features = features_of(
        parse_version(values.kubernetes) if values.kubernetes else inputs.fleet.minor
    )
    name = _pool_name(inputs.fleet, values.pool) if values.pool else ""
    offers = [offer for offer in predict_offers(inputs.fleet, features) if name in ("", offer.name)]
    slices = [render_slice(each) for offer in offers for each in offer.slices]
    if not values.nodes:
        return slices
    system = predict_system_offer(inputs.fleet)
    pools = [*offers, *([system] if system is not None and not name else [])]
    nodes = [each.node for offer in pools for each in nodes_of(offer, 1)]
    classes = fleet_classes(inputs.fleet, features)
    return [
        *(render_device_class(classes[each]) for each in sorted(classes)),
        *map(render_node, nodes),
        *slices,
    ]


def _pool_name(fleet: Fleet, name: str) -> str:
    names = [pool.name for pool in fleet.pools]
    if name not in names:
        near = get_close_matches(name, names, 1)
        fix = f"did you mean {near[0]}?" if near else use_one_of("pool", names)
        raise UsageError(f'the fleet doesn\'t have a pool "{name}"', fix=fix)
    return name


def _of_machine(values: argparse.Namespace) -> list[ResourceSlice]:
    if values.pool:
        raise UsageError("--pool needs a fleet", fix="add --fleet FILE or --stack NAME")
    machine = (
        catalog.machine(values.cloud, values.machine)
        if values.cloud
        else catalog.find_machine(values.machine)
    )
    settings = PublishingSettings(
        gates=_gates(values.gate),
        consumable_shares=values.consumable_shares,
        compute_domains=values.compute_domains,
    )
    node_name = values.node_name or _NODE_NAME
    if len(node_name) > _LONGEST_NAME or not re.fullmatch(_NODE, node_name):
        fix = "use lowercase letters, digits, dashes, and dots"
        raise UsageError(f'"{node_name}" isn\'t a valid node name', fix=fix)
    features = features_of(parse_version(values.kubernetes) if values.kubernetes else MAXIMUM_MINOR)
    slices = _of_other_drivers(machine, node_name, features)
    if values.driver or not slices:
        slices += predict_slices(
            machine,
            _release(values.driver),
            node_name=node_name,
            features=features,
            mig=values.mig or "none",
            settings=settings,
        )
    if values.network:
        slices += _network_slices(machine, node_name)
    return slices


def _of_other_drivers(machine: Machine, node_name: str, features: Features) -> list[ResourceSlice]:
    """Return the devices that drivers other than NVIDIA's publish for the accelerators of a machine
    type, with default settings.
    """
    node = DriverNode(machine=machine, name=node_name, features=features)
    others = (
        each for each in every_driver() if each.accepts_true and each.serves_accelerator(machine)
    )
    return [
        found
        for driver in others
        for found in driver.slices(driver.options.model_validate({}), node)
    ]


def _release(version: str) -> DriverRelease:
    if not version:
        known = ", ".join(each.version for each in nvidia.driver_releases() if each.is_installable)
        raise UsageError(
            "the version of the NVIDIA DRA driver is missing",
            fix=f"use --driver VERSION with one of these versions: {known}",
        )
    return nvidia.driver_release(version)


def _network_slices(machine: Machine, node_name: str) -> tuple[ResourceSlice, ...]:
    found = predict_network_slices(machine, node_name=node_name)
    if not found:
        raise CatalogError(
            (
                "the cloud's documentation doesn't list any claimable network interfaces for "
                f"{machine.name}"
            ),
            fix=(
                "remove --network, or read the slices of a real node (kubectl get resourceslices "
                "-o yaml)"
            ),
        )
    return found


def _gates(words: list[str]) -> dict[str, bool]:
    gates: dict[str, bool] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if value.lower() not in ("true", "false") and equals:
            raise UsageError(
                f'--gate {word}: "{value}" isn\'t true or false', fix=f"use {name}=true"
            )
        gates[name] = value.lower() != "false"
    return gates


def _as_yaml(documents: list[dict[str, Any]]) -> str:
    if not documents:
        return "# this driver doesn't publish devices on a node with this machine type\n"
    text: str = yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True
    )
    return text


def _as_json(documents: list[dict[str, Any]]) -> str:
    listed = {"apiVersion": "v1", "kind": "List", "items": documents}
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"
