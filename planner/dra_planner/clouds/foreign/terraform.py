"""Clusters of a Terraform or OpenTofu plan or state: `terraform show -json`, or a state file.

Modules don't need special handling, because a plan contains the resources that they declare. Source
of the format: https://developer.hashicorp.com/terraform/internals/json-format (format versions 0.1
to 1.x). A state file has version 4 since Terraform 0.12
(hashicorp/terraform:internal/states/statefile/version4.go@v1.13).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.clouds.foreign.terraform_providers import read_provider_settings
from dra_planner.documents.plain_values import block, blocks, text
from dra_planner.records import equality

_STATE_VERSION: Final = 4


@equality(unhashed=("references",))
class StateResource(Struct, frozen=True):
    """One managed resource: its address, type, and values. Values that are known after apply are
    missing.
    """

    address: str
    type: str
    values: Mapping[str, Any]
    references: Mapping[str, tuple[str, ...]] = {}

    @property
    def module(self) -> str:
        """The address of the module that declares the resource."""
        return self.address.rpartition(f"{self.type}.")[0].rstrip(".")


class TerraformState(Struct, frozen=True):
    """All resources of a plan or state, and the known settings of providers."""

    resources: tuple[StateResource, ...]
    provider_settings: Mapping[str, Mapping[str, Any]]

    def of_type(self, *types: str) -> list[StateResource]:
        """Return the resources of some types, in the order of their addresses."""
        return sorted(
            (each for each in self.resources if each.type in types), key=lambda each: each.address
        )

    def clusters(self, kind: str, pools: str, facts: Mapping[str, str]) -> list[StateResource]:
        """Return the clusters.

        If another configuration creates them, return a cluster for the pools of each. `facts` are
        the fields of a cluster, each with the pools' field that contains the same fact. The first
        fact identifies the cluster.
        """
        identity = next(iter(facts.values()))
        first = {text(each.values.get(identity)): each for each in reversed(self.of_type(pools))}
        return self.of_type(kind) or [
            StateResource(
                each.address, kind, {field: each.values.get(own) for field, own in facts.items()}
            )
            for each in reversed(first.values())
        ]

    def cluster_name(self, cluster: StateResource) -> str:
        """Return the name of a cluster. If it doesn't have a unique name, return its address."""
        name = text(cluster.values.get("name"))
        names = [text(each.values.get("name")) for each in self.of_type(cluster.type)]
        return cluster.address if not name or names.count(name) > 1 else name

    @property
    def charts(self) -> Mapping[str, str]:
        """The versions of the Helm charts that the configuration installs, by name of the chart."""
        releases = self.of_type("helm_release")
        return {
            text(each.values.get("chart")).rpartition("/")[2]: text(each.values.get("version"))
            for each in releases
        }

    def setting(self, provider: str, key: str) -> str:
        """Return a provider setting, or "" if it's unknown or missing."""
        return text(self.provider_settings.get(provider, {}).get(key))


def is_terraform(data: Any) -> bool:
    """Return whether plain data is the JSON of a plan or a state, or a state file."""
    return isinstance(data, Mapping) and (
        is_state_file(data)
        or ("format_version" in data and ("planned_values" in data or "values" in data))
    )


def is_state_file(data: Mapping[str, Any]) -> bool:
    """Return whether plain data is a state file of any version, readable or not."""
    return "lineage" in data and "serial" in data and "format_version" not in data


def state_file_fault(data: Any) -> str:
    """Return why a state file can't be read, or "" if it can be read, or for other data."""
    if not isinstance(data, Mapping) or not is_state_file(data):
        return ""
    if "encrypted_data" in data:
        return "is an encrypted OpenTofu state"
    if data.get("version") != _STATE_VERSION:
        return f"has Terraform state version {data.get('version')}, not {_STATE_VERSION}"
    return ""


def read_configuration(data: Mapping[str, Any]) -> TerraformState:
    """Return the resources of a plan (as they will be) or of a state (as they are)."""
    root = block(block(data, "planned_values") or block(data, "values"), "root_module")
    described = block(block(data, "configuration"), "root_module")
    references = dict(_references(described, ""))
    found = _resources_of_state(data) if is_state_file(data) else _resources(root)
    resources = tuple(
        StateResource(
            each.address, each.type, each.values, references.get(_without_keys(each.address), {})
        )
        for each in found
    )
    return TerraformState(resources, read_provider_settings(data))


def _resources(module: Mapping[str, Any]) -> Iterator[StateResource]:
    for each in blocks(module, "resources"):
        if each.get("mode", "managed") == "managed":
            yield StateResource(
                text(each.get("address")), text(each.get("type")), block(each, "values")
            )
    for child in blocks(module, "child_modules"):
        yield from _resources(child)


def _resources_of_state(data: Mapping[str, Any]) -> Iterator[StateResource]:
    """Yield the resources in a state file, one for each instance. Objects that will be destroyed
    are excluded.
    """
    for each in blocks(data, "resources"):
        if each.get("mode") != "managed":
            continue
        kind, name, module = (text(each.get(key)) for key in ("type", "name", "module"))
        address = ".".join(filter(None, (module, kind, name)))
        for instance in blocks(each, "instances"):
            if "deposed" in instance:
                continue
            key = instance.get("index_key")
            index = "" if key is None else f"[{json.dumps(key)}]"
            yield StateResource(f"{address}{index}", kind, block(instance, "attributes"))


def _references(
    module: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, Mapping[str, tuple[str, ...]]]]:
    """Yield the resources to which each resource refers, by argument.

    Their addresses don't contain instance keys.
    """
    for each in blocks(module, "resources"):
        found = {
            key: tuple(_mentioned(value, prefix))
            for key, value in block(each, "expressions").items()
        }
        yield f"{prefix}{text(each.get('address'))}", found
    for name, call in block(module, "module_calls").items():
        yield from _references(block(call, "module"), f"{prefix}module.{name}.")


def _mentioned(expression: Any, prefix: str) -> Iterator[str]:
    if isinstance(expression, Mapping):
        for key, value in expression.items():
            if key == "references" and isinstance(value, list):
                yield from (f"{prefix}{each}" for each in value if isinstance(each, str))
            else:
                yield from _mentioned(value, prefix)
    elif isinstance(expression, list):
        for value in expression:
            yield from _mentioned(value, prefix)


def _without_keys(address: str) -> str:
    """Return an address without the keys of instances: module.a["x"].b.c[0] → module.a.b.c."""
    found, depth = "", 0
    for character in address:
        depth += (character == "[") - (character == "]")
        if not depth and character != "]":
            found += character
    return found
