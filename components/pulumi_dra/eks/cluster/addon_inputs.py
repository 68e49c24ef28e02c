"""Add-ons of an EKS cluster with versions and settings: inputs of EksCluster and their checks."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pulumi
from msgspec import Struct

from pulumi_dra.eks.cluster.addons import (
    ADDONS,
    CNI,
    METRICS_SERVER,
    NODE_MONITORING,
    PREFIX_DELEGATION,
    STORAGE,
)
from pulumi_dra.inputs.reader import InputReader

# Settings that the plan must know or a component controls → the input that sets them.
_SEPARATE_INPUTS = {"enableNetworkPolicy": "network_policy", PREFIX_DELEGATION: "prefix_delegation"}


class AddonInputs(Struct, frozen=True, kw_only=True):
    """Optional add-ons, and versions and settings of all add-ons by name."""

    versions: Mapping[str, pulumi.Input[str]]
    settings: Mapping[str, Mapping[str, Any]]
    network_policy: bool
    prefix_delegation: bool
    node_monitoring: bool
    storage_drivers: list[str]
    metrics_server: bool


def read_addons(read: InputReader) -> AddonInputs:
    """Return the add-ons. Errors are recorded in `read`."""
    node_monitoring = read.flag("node_monitoring", False)
    metrics_server = read.flag("metrics_server", False)
    storage_drivers = read.texts("storage_drivers", check=_storage_fault)
    if len(set(storage_drivers)) != len(storage_drivers):
        read.refuse("storage_drivers", "contains a driver twice")
    requested = {
        name
        for name, flag in ((NODE_MONITORING, node_monitoring), (METRICS_SERVER, metrics_server))
        if flag
    }
    requested |= {STORAGE[name].addon for name in storage_drivers if name in STORAGE}
    versions, settings = read.labels("addon_versions"), read.labels("addon_settings")
    for key, addons in (("addon_versions", versions), ("addon_settings", settings)):
        for addon in addons:
            if problem := _addon_fault(addon, requested):
                read.refuse(f"{key}.{addon}", problem)
    return AddonInputs(
        versions=versions,
        settings={addon: _read_settings(read, addon, text) for addon, text in settings.items()},
        network_policy=read.flag("network_policy", True),
        prefix_delegation=read.flag("prefix_delegation", False),
        node_monitoring=node_monitoring,
        storage_drivers=storage_drivers,
        metrics_server=metrics_server,
    )


def _addon_fault(addon: str, requested: set[str]) -> str:
    optional = {NODE_MONITORING: "node_monitoring: true", METRICS_SERVER: "metrics_server: true"}
    optional |= {driver.addon: f"storage_drivers: [{name}]" for name, driver in STORAGE.items()}
    known = (*ADDONS, *optional)
    if addon not in known:
        return f"isn't an add-on that this component installs; use one of: {', '.join(known)}"
    return f"is for {optional[addon]}" if addon in optional and addon not in requested else ""


def _storage_fault(text: str) -> str:
    return (
        ""
        if text in STORAGE
        else f'"{text}" isn\'t a supported storage driver; use one of: {", ".join(STORAGE)}'
    )


def _read_settings(read: InputReader, addon: str, text: pulumi.Input[str]) -> Mapping[str, Any]:
    """Return an add-on's settings. Only EKS knows their keys (`aws eks
    describe-addon-configuration`).
    """
    at = f"addon_settings.{addon}"
    if not isinstance(text, str):
        read.refuse(
            at,
            "must be a plain value, not an output, because the component merges it with its own "
            "settings",
        )
        return {}
    try:
        settings: object = json.loads(text)
    except ValueError as error:
        read.refuse(at, f"isn't JSON: {error}")
        return {}
    if not isinstance(settings, dict):
        read.refuse(at, 'must be a JSON object, for example {"replicaCount": 3}')
        return {}
    found = cast(dict[str, Any], settings)
    of_pods: Any = found.get("env") or {}
    if not isinstance(of_pods, dict):
        read.refuse(at, 'env must be a JSON object, for example {"WARM_IP_TARGET": "5"}')
        return {}
    for key, name in _SEPARATE_INPUTS.items() if addon == CNI else ():
        if key in found or key in of_pods:
            read.refuse(at, f"{key} is already set by {name}")
    return found
